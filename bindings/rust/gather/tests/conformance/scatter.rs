//! Replays every recorded scatter in every form: into a new tensor, in place, as a plan, and as a shape query.

use gather::{BufferMut, DType, Error, Options, Tensor, TensorMut, sys};

use super::case::{Case, TensorText};
use super::operation::Scatter;
use super::{buffer, expect_failure, layout, tensor};

pub fn run(test: &Case) {
    let scatter = Scatter::named(&test.operation);
    for threads in [1, 3] {
        let options = test.options.threads(threads);
        run_new(scatter, test, &options);
        if test.params.dtype != DType::String {
            run_in_place(scatter, test, &options);
        }
    }
    run_shape(scatter, test);
    if test.params.dtype != DType::String {
        run_planned(scatter, test);
    }
}

pub fn updates(test: &Case) -> &TensorText {
    test.updates.as_ref().expect("a scatter has updates")
}

fn run_new(scatter: &Scatter, test: &Case, options: &Options) {
    let (target, indices, updates) = (tensor(&test.params), tensor(&test.indices), tensor(updates(test)));
    match ((scatter.make)(&target, &indices, &updates, options), &test.expect) {
        (Ok(out), Ok(expected)) => expect_tensor(test, &out, expected),
        (Err(error), Err(expected)) => expect_failure(test, expected, &error),
        (Ok(_), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}

pub fn expect_tensor(test: &Case, out: &Tensor<'_>, expected: &TensorText) {
    assert_eq!(out.dtype(), expected.dtype, "{}", test.name);
    assert_eq!(out.shape(), expected.shape, "{}", test.name);
    if out.dtype() != DType::String {
        return expect_bytes(test, out.as_bytes().unwrap(), expected);
    }
    let strings = expected.string_offsets.windows(2);
    let strings = strings.map(|ends| &expected.bytes[ends[0] as usize..ends[1] as usize]);
    assert!(out.strings().unwrap().iter().eq(strings), "{}", test.name);
}

/// Compares with the recorded bytes. After a reduction, any NaN equals any other NaN.
pub fn expect_bytes(test: &Case, found: &[u8], expected: &TensorText) {
    assert_eq!(found.len(), expected.bytes.len(), "{}", test.name);
    let part = part_size(expected.dtype);
    for (i, (found, wanted)) in found.chunks(part).zip(expected.bytes.chunks(part)).enumerate() {
        let both_nan = test.reduces && is_nan(expected.dtype, found) && is_nan(expected.dtype, wanted);
        assert!(both_nan || found == wanted, "{}: number {i}", test.name);
    }
}

/// Returns the size of a number in bytes. A complex element has two numbers.
fn part_size(dtype: DType) -> usize {
    match dtype {
        DType::Complex64 | DType::Complex128 => dtype.size() / 2,
        _ => dtype.size(),
    }
}

fn is_nan(dtype: DType, part: &[u8]) -> bool {
    let bits = || u16::from_le_bytes(part.try_into().unwrap()) & 0x7fff;
    match dtype {
        DType::Float16 => bits() > 0x7c00,
        DType::BFloat16 => bits() > 0x7f80,
        DType::Float32 | DType::Complex64 => f32::from_le_bytes(part.try_into().unwrap()).is_nan(),
        DType::Float64 | DType::Complex128 => f64::from_le_bytes(part.try_into().unwrap()).is_nan(),
        _ => false,
    }
}

fn run_in_place(scatter: &Scatter, test: &Case, options: &Options) {
    let mut memory = test.params.bytes.clone();
    let buffer = BufferMut::from_bytes(test.params.dtype, &mut memory).unwrap();
    let mut target = TensorMut::new(buffer, &test.params.shape).with_offset(test.params.offset);
    if let Some(strides) = &test.params.strides {
        target = target.with_strides(strides).unwrap();
    }
    let (indices, updates) = (tensor(&test.indices), tensor(updates(test)));
    let result = (scatter.write)(&mut target, &indices, &updates, options);
    expect_target(test, result, &memory);
}

fn run_planned(scatter: &Scatter, test: &Case) {
    let mut memory = test.params.bytes.clone();
    let updates = updates(test);
    let plan = (scatter.plan)(
        &layout(&test.params),
        &layout(&test.indices),
        &test.options,
        &layout(updates),
    );
    let target = BufferMut::from_bytes(test.params.dtype, &mut memory).unwrap();
    let result = plan.and_then(|plan| plan.run(target, buffer(&test.indices), buffer(updates)));
    expect_target(test, result, &memory);
}

fn expect_target(test: &Case, result: Result<(), Error>, memory: &[u8]) {
    match (result, &test.expect) {
        (Ok(()), Ok(expected)) => expect_bytes(test, &elements(&test.params, memory), expected),
        (Err(error), Err(expected)) => {
            expect_failure(test, expected, &error);
            assert!(
                memory == test.params.bytes,
                "{}: an error wrote to the target",
                test.name
            );
        }
        (Ok(()), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}

/// Returns the elements of a tensor in row-major order, without gaps.
fn elements(text: &TensorText, memory: &[u8]) -> Vec<u8> {
    let Some(strides) = &text.strides else {
        return memory.to_vec();
    };
    let count = text.shape.iter().product::<usize>();
    let places = (0..count).map(|mut number| {
        let mut at = text.offset as isize;
        for (extent, stride) in text.shape.iter().zip(strides).rev() {
            at += (number % extent) as isize * stride;
            number /= extent;
        }
        at as usize
    });
    places
        .flat_map(|at| &memory[at..at + text.dtype.size()])
        .copied()
        .collect()
}

fn run_shape(scatter: &Scatter, test: &Case) {
    let shape = (scatter.shape)(&layout(&test.params), &layout(&test.indices), &test.options);
    let is_given = |shape: &Result<Vec<usize>, Error>| shape.as_ref().unwrap() == &updates(test).shape;
    match &test.expect {
        Ok(_) => assert!(is_given(&shape), "{}", test.name),
        Err(expected) if expected.status == sys::GTH_E_INDEX => assert!(is_given(&shape), "{}", test.name),
        // If the updates have the inferred shape, the error must concern something other than their shape.
        Err(expected) if expected.operand == sys::GTH_OPERAND_UPDATES => {
            let of_shape = [sys::GTH_E_SHAPE, sys::GTH_E_RANK].contains(&expected.status);
            assert_eq!(!is_given(&shape), of_shape, "{}", test.name);
        }
        Err(expected) => expect_failure(test, expected, &shape.unwrap_err()),
    }
}
