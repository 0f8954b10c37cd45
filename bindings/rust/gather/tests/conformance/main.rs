//! Replays every recorded case in every form: into a new tensor, into existing memory, as a plan, and as a shape query.
//! [`scatter`] replays scatters, [`gradient`] replays gradients, [`bags`] replays bags, and [`packed`] replays packed
//! rows.

mod bags;
mod case;
mod gradient;
mod operation;
mod packed;
mod scatter;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use case::{Case, TensorText, read_file};
use gather::{Buffer, BufferMut, DType, Device, Error, Layout, Options, Tensor, TensorMut, sys};
use operation::Operation;

const UNTOUCHED: u8 = 0xa5;

fn buffer(text: &TensorText) -> Buffer<'_> {
    // SAFETY: the bytes are borrowed, and elements of bools are 0 or 1. The checked constructor would reject the bytes
    // between the elements of strided bools.
    unsafe { Buffer::from_raw(text.dtype, Device::Cpu, text.bytes.as_ptr().cast(), text.bytes.len()) }
}

fn tensor(text: &TensorText) -> Tensor<'_> {
    if text.dtype == DType::String {
        return Tensor::from_string_views(&text.string_offsets, &text.bytes, &text.shape).unwrap();
    }
    let view = Tensor::new(buffer(text), &text.shape).with_offset(text.offset);
    match &text.strides {
        Some(strides) => view.with_strides(strides).unwrap(),
        None => view,
    }
}

fn layout(text: &TensorText) -> Layout {
    let layout = Layout::of(text.dtype, &text.shape).with_offset(text.offset);
    match &text.strides {
        Some(strides) => layout.with_strides(strides).unwrap(),
        None => layout,
    }
}

fn expect_failure(test: &Case, expected: &sys::gth_error, error: &Error) {
    let cause = error.cause().unwrap();
    let found = (
        (
            cause.status,
            cause.operand as i32,
            cause.component.map_or(-1, |component| component as i32),
        ),
        (
            cause.position.map_or(-1, |position| position as i64),
            cause.value,
            cause.limit,
            cause.wraps,
        ),
    );
    let has = |flag| expected.flags as i32 & flag != 0;
    let value = if has(sys::GTH_ERROR_UNSIGNED) {
        i128::from(expected.value as u64)
    } else {
        expected.value.into()
    };
    let wanted = (
        (expected.status, expected.operand, expected.component),
        (expected.position, value, expected.limit, has(sys::GTH_ERROR_WRAP)),
    );
    assert_eq!(found, wanted, "{}: {error}", test.name);
    assert!(!error.to_string().is_empty(), "{}", test.name);
}

fn run_allocating(operation: &Operation, test: &Case, options: &Options) {
    let (params, indices) = (tensor(&test.params), tensor(&test.indices));
    match ((operation.make)(&params, &indices, options), &test.expect) {
        (Ok(out), Ok(expected)) => expect_tensor(test, &out, expected),
        (Err(error), Err(expected)) => expect_failure(test, expected, &error),
        (Ok(_), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}

fn expect_tensor(test: &Case, out: &Tensor<'_>, expected: &TensorText) {
    assert_eq!(out.dtype(), expected.dtype, "{}", test.name);
    assert_eq!(out.shape(), expected.shape, "{}", test.name);
    if out.dtype() == DType::String {
        let strings: Vec<&[u8]> = expected
            .string_offsets
            .windows(2)
            .map(|ends| &expected.bytes[ends[0] as usize..ends[1] as usize])
            .collect();
        let found: Vec<&[u8]> = out.strings().unwrap().iter().collect();
        assert_eq!(found, strings, "{}", test.name);
        return;
    }
    let found = out.as_bytes().unwrap();
    assert_eq!(found.len(), expected.bytes.len(), "{}", test.name);
    for (i, (found, expected)) in found.iter().zip(&expected.bytes).enumerate() {
        // Skipped rows of a new output are zeros.
        let skipped = test.skips && *expected == UNTOUCHED && *found == 0;
        assert!(skipped || found == expected, "{} byte {i}", test.name);
    }
}

fn query_shape(operation: &Operation, test: &Case) -> Result<Vec<usize>, Error> {
    (operation.shape)(&layout(&test.params), &layout(&test.indices), &test.options)
}

/// Returns the shape and the memory of an output. If the case has no recorded output, the shape is the inferred one, or
/// an arbitrary one.
fn output(operation: &Operation, test: &Case) -> (Vec<usize>, Vec<u8>) {
    if let Ok(expected) = &test.expect {
        return (expected.shape.clone(), vec![UNTOUCHED; expected.bytes.len()]);
    }
    let shape = query_shape(operation, test).unwrap_or(vec![1]);
    let bytes = shape
        .iter()
        .try_fold(test.params.dtype.size(), |size, extent| size.checked_mul(*extent))
        .filter(|bytes| *bytes < 1 << 20)
        .unwrap_or(16); // A call with a size error writes nothing.
    (shape, vec![UNTOUCHED; bytes])
}

fn expect_output(test: &Case, result: Result<(), Error>, bytes: &[u8]) {
    match (result, &test.expect) {
        (Ok(()), Ok(expected)) => assert_eq!(bytes, expected.bytes, "{}", test.name),
        (Err(error), Err(expected)) => {
            expect_failure(test, expected, &error);
            assert!(
                bytes.iter().all(|byte| *byte == UNTOUCHED),
                "{}: an error wrote to the output",
                test.name
            );
        }
        (Ok(()), Err(expected)) => panic!("{}: no error, not {expected:?}", test.name),
        (Err(error), Ok(_)) => panic!("{}: {error}", test.name),
    }
}

fn run_into(operation: &Operation, test: &Case, options: &Options) {
    if let Err(error @ Error::Size(_)) = query_shape(operation, test) {
        return expect_failure(test, test.expect.as_ref().err().unwrap(), &error); // No output can have this shape.
    }
    let (shape, mut bytes) = output(operation, test);
    let (params, indices) = (tensor(&test.params), tensor(&test.indices));
    let memory = BufferMut::from_bytes(test.params.dtype, &mut bytes).unwrap();
    let mut out = TensorMut::new(memory, &shape);
    let result = (operation.write)(&params, &indices, options, &mut out);
    expect_output(test, result, &bytes);
}

fn run_planned(operation: &Operation, test: &Case) {
    let (_, mut bytes) = output(operation, test);
    let (params, indices) = (layout(&test.params), layout(&test.indices));
    let plan = (operation.plan)(&params, &indices, &test.options);
    let memory = BufferMut::from_bytes(test.params.dtype, &mut bytes).unwrap();
    let result = plan.and_then(|plan| plan.run(buffer(&test.params), buffer(&test.indices), memory));
    expect_output(test, result, &bytes);
}

fn run_shape(operation: &Operation, test: &Case) {
    let shape = query_shape(operation, test);
    match &test.expect {
        Ok(expected) => assert_eq!(shape.as_ref(), Ok(&expected.shape), "{}", test.name),
        Err(expected) if expected.status == sys::GTH_E_INDEX => {
            assert!(shape.is_ok(), "{}", test.name);
        }
        // The number of bytes may exceed an int64 although the number of elements does not.
        Err(expected) if expected.status == sys::GTH_E_SIZE => {}
        Err(expected) => expect_failure(test, expected, &shape.unwrap_err()),
    }
}

fn run(test: &Case) {
    let operation = Operation::named(&test.operation);
    for threads in [1, 3] {
        let options = test.options.threads(threads);
        run_allocating(operation, test, &options);
        if test.params.dtype != DType::String {
            run_into(operation, test, &options);
        }
    }
    run_shape(operation, test);
    if test.params.dtype != DType::String {
        run_planned(operation, test);
    }
}

/// Reads the cases of a file. GATHER_CONFORMANCE_CASES sets another folder of cases.
fn cases(file: &str) -> Vec<Case> {
    let folder = std::env::var_os("GATHER_CONFORMANCE_CASES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build/conformance/cases"),
        PathBuf::from,
    );
    read_file(&folder.join(format!("{file}.txt")))
}

/// Returns the number of cases that a file must have.
fn count(file: &str) -> usize {
    let digests = include_str!("../../../../../tests/conformance/digests.txt");
    let name = format!("cases/{file}.txt");
    let line = digests.lines().find(|line| line.ends_with(&name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn run_file(file: &str, run: fn(&Case)) {
    let cases = cases(file);
    assert_eq!(cases.len(), count(file), "cases of {file}");
    let failed = cases.iter().filter(|test| catch_unwind(|| run(test)).is_err()).count();
    assert_eq!(failed, 0, "of {} cases", cases.len());
    // The test runner may have written a part of a line.
    println!("\nconformance {file}: {} cases", cases.len());
}

macro_rules! profiles {
    ($($profile:ident)*) => {
        $(
            #[test]
            fn $profile() {
                run_file(stringify!($profile), run);
            }
        )*

        mod elements {
            $(
                #[test]
                fn $profile() {
                    super::run_file(concat!("elements/", stringify!($profile)), super::run);
                }
            )*
        }

        mod scatters {
            $(
                #[test]
                fn $profile() {
                    super::run_file(concat!("scatter/", stringify!($profile)), super::scatter::run);
                }
            )*
        }
    };
}

/// The gradients of the systems that have them.
mod gradients {
    #[test]
    fn every_profile() {
        for profile in ["none", "tensorflow", "torch", "jax_fill", "jax_clip", "random"] {
            super::run_file(&format!("gradient/{profile}"), super::gradient::run);
        }
    }
}

/// Bags of the systems that have them.
mod bags_of {
    #[test]
    fn every_profile() {
        for profile in ["none", "tensorflow", "torch", "jax_fill", "jax_clip"] {
            super::run_file(&format!("bags/{profile}"), super::bags::run);
        }
    }
}

/// Packed rows in the formats of each system.
mod packed_rows_of {
    #[test]
    fn every_system() {
        for system in ["gguf", "ort", "torch", "ml_dtypes", "bitsandbytes", "formula"] {
            super::run_file(&format!("packed/{system}"), super::packed::run);
        }
    }
}

profiles! { none tensorflow tensorflow_gpu onnx ort numpy_raise numpy_wrap numpy_clip torch jax_fill jax_clip random }
