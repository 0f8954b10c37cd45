//! Replays every recorded gradient of a gather, into a new tensor and into existing memory.

use gather::{BufferMut, Error, Options, Tensor, TensorMut};
use gather::{gather_elements_gradient, gather_elements_gradient_into};
use gather::{gather_gradient, gather_gradient_into, gather_nd_gradient, gather_nd_gradient_into};

use super::case::Case;
use super::scatter::{expect_bytes, expect_tensor, updates};
use super::{UNTOUCHED, expect_failure, tensor};

type Make = fn(&Tensor<'_>, &Tensor<'_>, &[usize], &Options) -> Result<Tensor<'static>, Error>;
type Write = fn(&Tensor<'_>, &Tensor<'_>, &Options, &mut TensorMut<'_>) -> Result<(), Error>;

fn named(name: &str) -> (Make, Write) {
    match name {
        "gather_gradient" => (gather_gradient, gather_gradient_into),
        "gather_nd_gradient" => (gather_nd_gradient, gather_nd_gradient_into),
        "gather_elements_gradient" => (gather_elements_gradient, gather_elements_gradient_into),
        _ => panic!("op {name}"),
    }
}

pub fn run(test: &Case) {
    let (make, write) = named(&test.operation);
    for threads in [1, 3] {
        let options = test.options.threads(threads);
        run_new(make, test, &options);
        run_into(write, test, &options);
    }
}

fn run_new(make: Make, test: &Case, options: &Options) {
    let (gradient, indices) = (tensor(updates(test)), tensor(&test.indices));
    match (make(&gradient, &indices, &test.params.shape, options), &test.expect) {
        (Ok(out), Ok(expected)) => expect_tensor(test, &out, expected),
        (Err(error), Err(expected)) => expect_failure(test, expected, &error),
        (Ok(_), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}

fn run_into(write: Write, test: &Case, options: &Options) {
    let mut memory = vec![UNTOUCHED; test.params.bytes.len()];
    let (gradient, indices) = (tensor(updates(test)), tensor(&test.indices));
    let buffer = BufferMut::from_bytes(test.params.dtype, &mut memory).unwrap();
    let result = write(
        &gradient,
        &indices,
        options,
        &mut TensorMut::new(buffer, &test.params.shape),
    );
    match (result, &test.expect) {
        (Ok(()), Ok(expected)) => expect_bytes(test, &memory, expected),
        (Err(error), Err(expected)) => {
            expect_failure(test, expected, &error);
            assert!(
                memory.iter().all(|byte| *byte == UNTOUCHED),
                "{}: an error wrote to the output",
                test.name
            );
        }
        (Ok(()), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}
