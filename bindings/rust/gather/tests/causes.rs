//! The numbers of the errors that this crate finds before it calls the library.

use gather::{Bounds, Buffer, Cause, DType, Error, Layout, Operand, Options, Plan, Tensor, gather};

/// Compares the operand and the numbers of an error.
fn assert_cause<T>(result: Result<T, Error>, operand: Operand, value: i128, limit: i64) -> Cause {
    let error = result.err().expect("the call fails");
    let cause = error.cause().expect("the error has details").clone();
    let found = (cause.operand, cause.value, cause.limit);
    assert_eq!(found, (operand, value, limit), "{cause:?}");
    assert_eq!((cause.position, cause.item, cause.native), (None, None, 0));
    cause
}

const FLOAT32: i64 = DType::Float32 as i64;

#[test]
fn errors_of_dtypes_have_both_dtypes() {
    let floats = [0.0f32; 4];
    let tensor = Tensor::new(&floats, &[4]);
    assert_cause(DType::try_from(7), Operand::None, 7, 0);
    assert_cause(
        tensor.as_slice::<i32>(),
        Operand::Tensor,
        FLOAT32.into(),
        DType::Int32 as i64,
    );
    assert_cause(tensor.strings(), Operand::Tensor, FLOAT32.into(), DType::String as i64);
    let strings = Buffer::from_bytes(DType::String, b"abc");
    assert_cause(strings, Operand::Tensor, DType::String as i128, 0);
    let bools = Buffer::from_bytes(DType::Bool, &[0, 1, 5]);
    assert_cause(bools, Operand::Tensor, 5, DType::Bool as i64);
    let image = Options::new().fill_image(DType::Float32, &[0; 3]);
    assert_cause(image, Operand::Options, 3, 4);
    let filled = Options::new().bounds(Bounds::Fill).fill_value(1i8);
    let ids = [9i64];
    let result = gather(&tensor, &Tensor::new(&ids, &[1]), &filled);
    let cause = assert_cause(result, Operand::Options, DType::Int8 as i128, FLOAT32);
    assert_eq!(cause.component, Some(116));
    assert_eq!(
        cause.message,
        "options: the fill value is int8, the dtype of params is float32"
    );
}

#[test]
fn errors_of_strides_and_strings_have_both_counts() {
    let floats = [0.0f32; 4];
    let strided = Tensor::new(&floats, &[4]).with_strides(&[4, 4]);
    assert_cause(strided, Operand::Tensor, 2, 1);
    let words = ["a", "b"];
    assert_cause(Tensor::from_strings(&words, &[3]), Operand::Tensor, 2, 3);
    assert_cause(
        Tensor::from_strings(&words, &[1 << 40, 1 << 40]),
        Operand::Tensor,
        2,
        i64::MAX,
    );
    assert_cause(Tensor::from_strings(&words, &[1; 65]), Operand::Tensor, 65, 64);
    let views = Tensor::from_string_views(&[], b"", &[0]);
    assert_cause(views, Operand::Tensor, 0, 1);
}

#[test]
fn elements_beyond_their_memory_have_both_sizes() {
    let floats = [0.0f32; 4];
    let long = Tensor::new(&floats, &[5]);
    assert_cause(long.as_slice::<f32>(), Operand::Tensor, 20, 16);
    let moved = Tensor::new(&floats, &[4]).with_offset(8);
    assert_cause(moved.as_slice::<f32>(), Operand::Tensor, 24, 16);
}

#[test]
fn memory_of_another_dtype_than_that_of_the_plan_has_both_dtypes() {
    let plan = Plan::gather(&Layout::new::<f32>(&[2]), &Layout::new::<i64>(&[1]), &Options::new()).unwrap();
    let (table, ids) = ([0.0f32; 2], [0i64]);
    let mut wrong = [0i16];
    let result = plan.run(&table, &ids, &mut wrong);
    assert_cause(result, Operand::Out, DType::Int16 as i128, FLOAT32);
    let mut out = [0.0f32];
    let result = plan.run(&table, &[0i32], &mut out);
    assert_cause(result, Operand::Indices, DType::Int32 as i128, DType::Int64 as i64);
    let result = plan.run(&[0i8; 2], &ids, &mut out);
    assert_cause(result, Operand::Params, DType::Int8 as i128, FLOAT32);
}
