//! Replays every recorded call of gather_bags, into a new tensor and into existing memory.

use gather::{Bags, BufferMut, Error, Options, Tensor, TensorMut, gather_bags, gather_bags_into, sys};

use super::case::Case;
use super::scatter::{expect_bytes, expect_tensor};
use super::{UNTOUCHED, expect_failure, tensor};

pub fn run(test: &Case) {
    run_for(test, &tensor(&test.params));
}

/// Replays a case whose params are plain or packed.
pub fn run_for(test: &Case, params: &Tensor<'_>) {
    let numbers = test.bags.as_ref().map(tensor);
    let weights = test.weights.as_ref().map(tensor);
    let mut bags = match (test.bag_format, &numbers) {
        (sys::GTH_BAGS_OFFSETS, Some(numbers)) => Bags::offsets(numbers),
        (sys::GTH_BAGS_STARTS, Some(numbers)) => Bags::starts(numbers),
        (sys::GTH_BAGS_LENGTHS, Some(numbers)) => Bags::lengths(numbers),
        (sys::GTH_BAGS_SEGMENTS, Some(numbers)) => Bags::segments(numbers, test.bag_count),
        (sys::GTH_BAGS_DENSE, None) => Bags::dense(),
        (other, _) => panic!("bag_format {other}"),
    };
    if let Some(weights) = &weights {
        bags = bags.weights(weights);
    }
    for threads in [1, 3] {
        run_with(test, params, &bags, &test.options.threads(threads));
    }
}

fn run_with(test: &Case, params: &Tensor<'_>, bags: &Bags<'_>, options: &Options) {
    let indices = tensor(&test.indices);
    match (gather_bags(params, &indices, bags, options), &test.expect) {
        (Ok(out), Ok(expected)) => expect_tensor(test, &out, expected),
        (Err(error), Err(expected)) => return expect_failure(test, expected, &error),
        (Ok(_), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
    let expected = test.expect.as_ref().unwrap();
    let mut memory = vec![UNTOUCHED; expected.bytes.len()];
    let buffer = BufferMut::from_bytes(test.params.dtype, &mut memory).unwrap();
    let written: Result<(), Error> = gather_bags_into(
        params,
        &indices,
        bags,
        options,
        &mut TensorMut::new(buffer, &expected.shape),
    );
    assert_eq!(written, Ok(()), "{}", test.name);
    expect_bytes(test, &memory, expected);
}
