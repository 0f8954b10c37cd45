//! Invalid arguments return errors. They never crash.

use std::ptr;

use gather::{
    Buffer, BufferMut, Context, DType, Device, Error, Extents, Fill, Layout, OPEN, Operand, Options, Plan, Tensor,
    TensorMut, gather, gather_elements, gather_into, gather_nd, output_shape, output_shape_elements, sys,
};

const TABLE: [f32; 6] = [0., 1., 2., 3., 4., 5.];

macro_rules! assert_error {
    ($result:expr, $variant:ident) => {
        // A match keeps temporaries of the expression alive.
        match $result {
            result => assert!(matches!(result, Err(Error::$variant(_))), "{result:?}"),
        }
    };
}

fn rows(params: &Tensor<'_>, indices: &Tensor<'_>) -> Result<Tensor<'static>, Error> {
    gather(params, indices, &Options::new())
}

#[test]
fn shapes_larger_than_their_memory_return_errors() {
    let id = [0u8];
    let ids = Tensor::new(&id, &[1]);
    assert_error!(rows(&Tensor::new(&TABLE, &[3, 3]), &ids), Stride);
    assert_error!(rows(&Tensor::new(&TABLE, &[usize::MAX, 2]), &ids), Shape);
    assert_error!(rows(&Tensor::new(&TABLE, &[isize::MAX as usize, 2]), &ids), Size);
    assert_error!(rows(&Tensor::new(&TABLE, &[1; 65]), &ids), Rank);
    assert_error!(rows(&Tensor::new(&[] as &[f32], &[3, 2]), &ids), Null);
    assert_error!(rows(&Tensor::new(&TABLE, &[3, 2]).with_offset(4), &ids), Stride);
    assert_error!(
        rows(&Tensor::new(&TABLE, &[3, 2]).with_offset(usize::MAX), &ids),
        Stride
    );
    let before = Tensor::new(&TABLE, &[3]).with_strides(&[-8]).unwrap();
    assert_error!(rows(&before, &ids), Stride);
    let far = Tensor::new(&TABLE, &[3]).with_strides(&[isize::MAX]).unwrap();
    assert!(rows(&far, &ids).is_err());
}

#[test]
fn errors_of_views_name_their_operand() {
    let wrong = rows(&Tensor::new(&TABLE, &[3, 2]), &Tensor::new(&[0u8], &[2])).unwrap_err();
    assert_eq!(wrong.cause().unwrap().operand, Operand::Indices);
    let wrong = rows(&Tensor::new(&TABLE, &[3, 3]), &Tensor::new(&[0u8], &[1])).unwrap_err();
    assert_eq!(wrong.cause().unwrap().operand, Operand::Params);
    assert!(wrong.to_string().starts_with("params: "), "{wrong}");
    let wrong = rows(&Tensor::new(&TABLE, &[3, 2]), &Tensor::new(&[0u8], &[2])).unwrap_err();
    assert!(wrong.to_string().starts_with("indices: "), "{wrong}");
    let (table, mut out) = (Tensor::new(&TABLE, &[6]), [0.0f32; 6]);
    let mut out = TensorMut::new(&mut out, &[7]);
    let wrong = Context::DEFAULT.copy(&table, &mut out).unwrap_err();
    assert!(wrong.to_string().starts_with("out: "), "{wrong}");
}

/// Errors of this crate have the form of errors of the library. They name the operand, the given value and the required
/// value.
#[test]
fn errors_of_this_crate_have_the_form_of_the_library() {
    fn expect_message<T>(result: Result<T, Error>, message: &str, operand: Operand, value: i128, limit: i64) {
        let error = result.err().expect(message);
        let cause = error.cause().unwrap();
        assert_eq!(error.to_string(), message);
        assert_eq!(
            (cause.operand, cause.value, cause.limit),
            (operand, value, limit),
            "{message}"
        );
    }
    let table = Tensor::new(&TABLE, &[3, 2]);
    expect_message(
        table.view().with_offset(8).as_slice::<f32>(),
        "tensor: elements reach byte 32 of the 24 described (offset 8)",
        Operand::Tensor,
        32,
        24,
    );
    expect_message(
        table.as_slice::<f64>(),
        "tensor: the elements are float32, not float64",
        Operand::Tensor,
        DType::Float32 as i128,
        DType::Float64 as i64,
    );
    expect_message(
        gather(&table, &Tensor::new(&[0u8], &[1]), &Options::new().fill_value(1.0f64)),
        "options: the fill value is float64, the dtype of params is float32",
        Operand::Options,
        DType::Float64 as i128,
        DType::Float32 as i64,
    );
    let plan = Plan::gather(&Layout::new::<f32>(&[3, 2]), &Layout::new::<i64>(&[1]), &Options::new()).unwrap();
    expect_message(
        plan.run(&TABLE, &[0i32, 0], &mut [0.0f32; 2]),
        "indices: the dtype is another one than the plan's: Int32 on Cpu, not Int64 on Cpu",
        Operand::Indices,
        DType::Int32 as i128,
        DType::Int64 as i64,
    );
    expect_message(
        Tensor::from_string_views(&[], b"", &[0]),
        "tensor: no offsets: even no strings have one",
        Operand::Tensor,
        0,
        1,
    );
    expect_message(
        Tensor::new(&TABLE, &[3, 2]).with_strides(&[8]),
        "tensor: 1 strides for 2 dims",
        Operand::Tensor,
        1,
        2,
    );
}

#[test]
fn strides_of_another_rank_return_an_error() {
    assert_error!(Tensor::new(&TABLE, &[3, 2]).with_strides(&[8]), Rank);
    assert_error!(Layout::new::<f32>(&[3]).with_strides(&[]), Rank);
    let mut out = [0u8; 4];
    assert_error!(TensorMut::new(&mut out, &[4]).with_strides(&[1, 1]), Rank);
}

#[test]
fn indices_that_are_not_integers_return_an_error() {
    let params = Tensor::new(&TABLE, &[3, 2]);
    assert_error!(rows(&params, &Tensor::new(&[0.0f32], &[1])), DType);
    assert_error!(rows(&params, &Tensor::new(&[true], &[1])), DType);
    let words = Tensor::from_strings(&["0"], &[1]).unwrap();
    assert_error!(rows(&params, &words), DType);
}

#[test]
fn attributes_out_of_range_return_errors() {
    let (params, indices) = (Tensor::new(&TABLE, &[3, 2]), Tensor::new(&[0u8], &[1]));
    for axis in [2, -3, i64::MAX, i64::MIN] {
        assert_error!(gather(&params, &indices, &Options::new().axis(axis)), Axis);
    }
    for batch_dims in [2, -2, i64::MAX, i64::MIN] {
        assert_error!(gather(&params, &indices, &Options::new().batch_dims(batch_dims)), Batch);
    }
    assert_error!(gather_nd(&params, &indices, &Options::new().axis(0)), Axis);
    let pairs = Tensor::new(&[0u8, 0], &[1, 2]);
    assert_error!(gather_elements(&params, &pairs, &Options::new().axis(2)), Axis);
    assert_error!(gather_elements(&params, &pairs, &Options::new().batch_dims(1)), Batch);
    assert_error!(gather_elements(&params, &indices, &Options::new()), Rank);
    let onnx = Options::new().profile(gather::Profile::Onnx);
    assert_error!(gather(&params, &Tensor::new(&[0i64], &[1]), &onnx.opset(-1)), Version);
    assert!(gather(&params, &indices, &Options::new().threads(usize::MAX)).is_ok());
}

#[test]
fn different_extents_return_an_error() {
    let (params, indices) = (Layout::new::<f32>(&[3, 2]), Layout::new::<u8>(&[1, 1]));
    let shape = |extents| output_shape_elements(&params, &indices, &Options::new().extents(extents));
    let rejected = shape(Extents::Equal).unwrap_err();
    let cause = rejected.cause().unwrap();
    assert_eq!((cause.status, cause.operand), (sys::GTH_E_SHAPE, Operand::Indices));
    assert_eq!((cause.component, cause.value, cause.limit), (Some(1), 1, 2));
    assert_eq!(shape(Extents::Prefix), Ok(vec![1, 1]));
    assert_eq!(shape(Extents::Broadcast), Ok(vec![1, 2]));
}

#[test]
fn fill_value_of_another_dtype_returns_an_error() {
    let (params, indices) = (Tensor::new(&[true, false], &[2]), Tensor::new(&[9u8], &[1]));
    let options = Options::new().bounds(gather::Bounds::Fill);
    assert_error!(gather(&params, &indices, &options.fill_value(2u8)), DType);
    let mut room = [false];
    let mut out = TensorMut::new(&mut room, &[1]);
    assert_error!(
        gather_into(&params, &indices, &options.fill_value(2u8), &mut out),
        DType
    );
    let (table, ids) = (params.layout(), indices.layout());
    assert_error!(output_shape(&table, &ids, &options.fill_value(2u8)), DType);
    assert_error!(Plan::gather(&table, &ids, &options.fill_value(2u8)), DType);
    assert_error!(options.fill_image(DType::Bool, &[2]), DType);
    assert_error!(options.fill_image(DType::Float32, &[2]), DType);
    assert_error!(options.fill_image(DType::String, &[]), DType);
    let filled = gather(&params, &indices, &options.fill_value(true)).unwrap();
    assert_eq!(filled.as_slice::<bool>(), Ok(&[true][..]));
    let zeroed = gather(&params, &indices, &options.fill_value(2u8).fill(Fill::Zero)).unwrap();
    assert_eq!(zeroed.as_slice::<bool>(), Ok(&[false][..]));
}

#[test]
fn invalid_bytes_return_errors() {
    assert_error!(Buffer::from_bytes(DType::Bool, &[0, 1, 2]), DType);
    assert_error!(Buffer::from_bytes(DType::String, b"abc"), DType);
    assert_error!(BufferMut::from_bytes(DType::String, &mut [0]), DType);
    assert!(Buffer::from_bytes(DType::Bool, &[0, 1]).is_ok());
}

#[test]
fn outputs_of_another_layout_return_errors() {
    let (params, indices) = (Tensor::new(&TABLE, &[3, 2]), Tensor::new(&[2u8], &[1]));
    let into = |out: &mut TensorMut<'_>| gather_into(&params, &indices, &Options::new(), out);
    let mut floats = [7.0f32; 4];
    assert_error!(into(&mut TensorMut::new(&mut floats, &[2, 2])), Shape);
    assert_error!(into(&mut TensorMut::new(&mut floats, &[2])), Rank);
    assert_error!(into(&mut TensorMut::new(&mut floats[..1], &[1, 2])), Stride);
    let mut integers = [7i32; 2];
    assert_error!(into(&mut TensorMut::new(&mut integers, &[1, 2])), DType);
    let overlapping = TensorMut::new(&mut floats, &[1, 2]).with_strides(&[8, 2]);
    assert_error!(into(&mut overlapping.unwrap()), Stride);
    assert_eq!(floats, [7.0; 4]);
}

#[test]
fn borrowed_tensors_are_read_only() {
    let (params, indices) = (Tensor::new(&TABLE, &[3, 2]), Tensor::new(&[2u8], &[1]));
    let other = [0.0f32; 2];
    let mut view = Tensor::new(&other, &[1, 2]);
    assert_error!(
        gather_into(&params, &indices, &Options::new(), &mut view.as_mut()),
        ReadOnly
    );
    let mut owned = Tensor::from_vec(vec![0.0f32; 2], &[1, 2]).unwrap();
    gather_into(&params, &indices, &Options::new(), &mut owned.as_mut()).unwrap();
    assert_eq!(owned.as_slice(), Ok(&TABLE[4..]));
}

#[test]
fn as_slice_of_another_type_or_layout_returns_an_error() {
    let tensor = Tensor::new(&TABLE, &[3, 2]);
    assert_error!(tensor.as_slice::<i32>(), DType);
    assert_error!(tensor.strings(), DType);
    assert_error!(Tensor::new(&TABLE, &[4, 2]).as_slice::<f32>(), Size);
    assert_error!(Tensor::new(&TABLE, &[usize::MAX, 2]).as_slice::<f32>(), Size);
    assert_error!(Tensor::new(&TABLE, &[6]).with_offset(4).as_slice::<f32>(), Size);
    assert_error!(
        Tensor::new(&TABLE, &[6]).with_offset(usize::MAX).as_slice::<f32>(),
        Size
    );
    let far = Tensor::new(&[1u8, 2, 3], &[3]).with_offset(isize::MAX as usize);
    assert_error!(far.as_slice::<u8>(), Size);
    assert_error!(far.as_bytes(), Size);
    let column = Tensor::new(&TABLE, &[3]).with_strides(&[8]).unwrap();
    assert_error!(column.as_slice::<f32>(), Stride);
    let unaligned = Tensor::new(&TABLE, &[5]).with_offset(2);
    assert_error!(unaligned.as_slice::<f32>(), Stride);
    assert_eq!(Tensor::new(&TABLE, &[0, 7]).as_slice::<f32>(), Ok(&[][..]));
    let words = Tensor::from_strings(&["a"], &[1]).unwrap();
    assert_error!(words.as_bytes(), DType);
}

#[test]
fn strings_have_no_strides() {
    let words = || Tensor::from_strings(&["a", "b"], &[2]).unwrap();
    let owner = words();
    let shared = [owner.view().with_offset(8), owner.view().with_strides(&[8]).unwrap()];
    for view in [words().with_offset(8), words().with_strides(&[8]).unwrap()]
        .into_iter()
        .chain(shared)
    {
        assert_error!(view.strings(), Unsupported);
        assert_error!(rows(&view, &Tensor::new(&[0u8], &[1])), Unsupported);
    }
}

#[test]
fn plan_runs_over_other_memory_return_errors() {
    let plan = Plan::gather(&Layout::new::<f32>(&[3, 2]), &Layout::new::<i64>(&[1]), &Options::new()).unwrap();
    let mut row = [7.0f32; 2];
    assert_error!(plan.run(&[0.0f64; 6], &[0i64], &mut row), DType);
    assert_error!(plan.run(&TABLE, &[0u64], &mut row), DType);
    assert_error!(plan.run(&TABLE, &[0i64], &mut [0i32; 2]), DType);
    assert_error!(plan.run(&TABLE[1..], &[0i64], &mut row), Size);
    assert_error!(plan.run(&TABLE, &[] as &[i64], &mut row), Size);
    assert_error!(plan.run(&TABLE, &[0i64], &mut row[..1]), Size);
    for n in [0, 1, 2, usize::MAX - 1, isize::MAX as usize] {
        assert_error!(plan.run_open(n, &TABLE, &[0i64], &mut row), Shape);
    }
    assert_error!(
        plan.run_open(0, &[] as &[f32], &[] as &[i64], &mut [] as &mut [f32]),
        Shape
    );
    assert_eq!(row, [7.0; 2]);
    plan.run(&TABLE, &[2i64], &mut row).unwrap();
    assert_eq!(row, [4.0, 5.0]);
}

/// Returns operand, value and limit of a size error.
fn size_of(result: Result<(), Error>) -> (Operand, i128, i64) {
    match result {
        Err(Error::Size(cause)) => (cause.operand, cause.value, cause.limit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn size_error_has_both_sizes() {
    let (params, indices) = (Layout::new::<f32>(&[3, 2]), Layout::new::<i64>(&[OPEN]));
    let open = Plan::gather(&params, &indices, &Options::new()).unwrap();
    let mut rows = [7.0f32; 4];
    let ids = [0i64, 2];
    assert_eq!(
        size_of(open.run_open(2, &TABLE[1..], &ids, &mut rows)),
        (Operand::Params, 20, 24)
    );
    assert_eq!(
        size_of(open.run_open(2, &TABLE, &ids[1..], &mut rows)),
        (Operand::Indices, 8, 16)
    );
    assert_eq!(
        size_of(open.run_open(2, &TABLE, &ids, &mut rows[1..])),
        (Operand::Out, 12, 16)
    );
    assert_eq!(
        size_of(open.run_open(1 << 60, &TABLE, &ids, &mut rows)).0,
        Operand::Plan
    );
    assert_eq!(size_of(open.check_open(2, &ids[1..])), (Operand::Indices, 8, 16));
    assert_eq!(size_of(open.check_open(1 << 60, &ids)).0, Operand::Plan);
    assert_eq!(rows, [7.0; 4]);
    // Memory that a run does not use may be empty.
    open.run_open(0, &[] as &[f32], &[] as &[i64], &mut [] as &mut [f32])
        .unwrap();
    open.run_open(2, &TABLE, &ids, &mut rows).unwrap();
    assert_eq!(rows, [0.0, 1.0, 4.0, 5.0]);
}

#[test]
fn strided_plans_check_the_size_of_memory() {
    let indices = [4usize];
    let backwards = Layout::new::<i64>(&indices).with_strides(&[-8]).unwrap();
    let params = Layout::new::<f32>(&[6]);
    assert_error!(Plan::gather(&params, &backwards, &Options::new()), Stride);
    let plan = Plan::gather(&params, &backwards.with_offset(24), &Options::new()).unwrap();
    let (ids, mut out) = ([3i64, 2, 1, 9], [7.0f32; 4]);
    assert_eq!(
        size_of(plan.run(&TABLE, &ids[1..], &mut out)),
        (Operand::Indices, 24, 32)
    );
    assert_error!(plan.check(&ids), Index);
    assert_error!(plan.run(&TABLE, &ids, &mut out), Index);
    assert_eq!(out, [7.0; 4]);
    plan.run(&TABLE, &[3i64, 2, 1, 0], &mut out).unwrap();
    assert_eq!(out, [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn check_validates_indices() {
    let (params, open) = (Layout::new::<f32>(&[3, 2]), Layout::new::<i64>(&[1, OPEN]));
    let options = Options::new().axis(1);
    let plan = Plan::gather_elements(&params, &open, &options.extents(Extents::Prefix)).unwrap();
    assert_eq!(plan.check_open(3, &[1i64, 0, 1]), Ok(()));
    let Err(Error::Index(cause)) = plan.check_open(3, &[1i64, 2, -1]) else {
        panic!("no error of index")
    };
    assert_eq!((cause.position, cause.value, cause.limit), (Some(1), 2, 2));
    assert_eq!(plan.check_open(0, &[] as &[i64]), Ok(()));
    assert_error!(plan.check(&[1i64]), Shape);
    assert_error!(plan.check_open(1, &[1i32]), DType);
    let filling = options.extents(Extents::Prefix).bounds(gather::Bounds::Fill);
    let plan = Plan::gather_elements(&params, &open, &filling).unwrap();
    assert_eq!(plan.check_open(1, &[9i64]), Ok(()));
    let closed = Plan::gather(&params, &Layout::new::<u8>(&[2]), &Options::new()).unwrap();
    assert_eq!(closed.check(&[0u8, 2]), Ok(()));
    assert_error!(closed.check(&[0u8, 3]), Index);
    assert_error!(closed.check_open(2, &[0u8, 2]), Shape);
    assert_eq!(size_of(closed.check(&[0u8])), (Operand::Indices, 1, 2));
}

#[test]
fn plan_of_gather_elements_with_strided_output() {
    let shape = [2usize, 1];
    let out = Layout::new::<f32>(&shape).with_strides(&[8, 4]).unwrap().with_offset(4);
    let (params, indices) = (Layout::new::<f32>(&[2, 3]), Layout::new::<u8>(&shape));
    let plan = Plan::gather_elements_to(&params, &indices, &Options::new().axis(1), &out).unwrap();
    let mut memory = [7.0f32; 4];
    plan.run(&TABLE, &[2u8, 1], &mut memory).unwrap();
    assert_eq!(memory, [7.0, 2.0, 7.0, 4.0]);
    assert_eq!(
        size_of(plan.run(&TABLE, &[2u8, 1], &mut memory[1..])),
        (Operand::Out, 12, 16)
    );
}

#[test]
fn open_plans_need_their_extent() {
    let (params, indices) = (Layout::new::<f32>(&[3, 2]), Layout::new::<i64>(&[OPEN]));
    let plan = Plan::gather(&params, &indices, &Options::new()).unwrap();
    let mut row = [7.0f32; 2];
    assert_error!(plan.run(&TABLE, &[0i64], &mut row), Shape);
    assert_error!(plan.run_open(2, &TABLE, &[0i64], &mut row), Size);
    for n in [usize::MAX - 1, isize::MAX as usize, 1 << 62] {
        assert!(plan.run_open(n, &TABLE, &[0i64], &mut row).is_err());
    }
    assert_eq!(plan.shape(5), Ok(vec![5, 2]));
    assert_eq!(plan.shape(OPEN), Ok(vec![OPEN, 2]));
    assert_eq!(row, [7.0; 2]);
    let twice = Layout::new::<i64>(&[OPEN, OPEN]);
    assert_error!(Plan::gather(&params, &twice, &Options::new()), Shape);
    assert_error!(
        Plan::gather(
            &Layout::new::<f32>(&[OPEN, 2]),
            &Layout::new::<i64>(&[1]),
            &Options::new()
        ),
        Shape
    );
}

#[test]
fn plans_of_strings_and_untyped_layouts_return_errors() {
    let indices = Layout::new::<i64>(&[1]);
    let strings = Layout::of(DType::String, &[3]);
    assert_error!(Plan::gather(&strings, &indices, &Options::new()), Unsupported);
    // Without a dtype, runs could not check the sizes of memory.
    assert_error!(Plan::gather(&Layout::untyped(&[3]), &indices, &Options::new()), DType);
    assert_error!(
        Plan::gather(&Layout::new::<u8>(&[3]), &Layout::untyped(&[1]), &Options::new()),
        DType
    );
    assert_eq!(
        output_shape(&Layout::untyped(&[3, 4]), &Layout::untyped(&[2]), &Options::new()),
        Ok(vec![2, 4])
    );
}

#[test]
fn plan_with_strided_output() {
    let out_shape = [2usize, 2];
    let out = Layout::new::<f32>(&out_shape)
        .with_strides(&[16, 4])
        .unwrap()
        .with_offset(4);
    let (params, indices) = (Layout::new::<f32>(&[3, 2]), Layout::new::<u8>(&[2]));
    let plan = Plan::gather_to(&params, &indices, &Options::new(), &out).unwrap();
    let mut memory = [7.0f32; 7];
    plan.run(&TABLE, &[2u8, 0], &mut memory).unwrap();
    assert_eq!(memory, [7., 4., 5., 7., 7., 0., 1.]);
    assert_error!(plan.run(&TABLE, &[2u8, 0], &mut memory[1..]), Size);
    let far = Layout::new::<f32>(&out_shape).with_strides(&[isize::MAX, 4]).unwrap();
    assert!(
        Plan::gather_to(&params, &indices, &Options::new(), &far)
            .and_then(|plan| plan.run(&TABLE, &[2u8, 0], &mut memory))
            .is_err()
    );
}

#[test]
fn strings_are_rejected_by_other_forms() {
    let words = Tensor::from_strings(&["a", "b"], &[2]).unwrap();
    let mut out = [0u8; 1];
    let result = gather_into(
        &words,
        &Tensor::new(&[0u8], &[1]),
        &Options::new(),
        &mut TensorMut::new(&mut out, &[1]),
    );
    assert!(
        matches!(result, Err(Error::Unsupported(_) | Error::DType(_))),
        "{result:?}"
    );
    assert_error!(Context::DEFAULT.zeros(DType::String, &[1]), Unsupported);
    assert_error!(Tensor::from_strings(&["a"], &[2]), Shape);
    assert_error!(Tensor::from_strings(&["a"], &[1; 65]), Rank);
    assert_error!(Tensor::from_strings(&["a"], &[usize::MAX, usize::MAX]), Shape);
    assert_error!(Tensor::from_string_views(&[], b"", &[0]), Shape);
    assert_error!(Tensor::from_string_views(&[0, 5], b"abc", &[1]), Arrow);
    assert_error!(Tensor::from_string_views(&[0, 2, 1], b"abc", &[2]), Arrow);
    assert_error!(Tensor::from_string_views(&[-1, 2], b"abc", &[1]), Arrow);
}

#[test]
fn copies() {
    let column = Tensor::new(&TABLE, &[3]).with_strides(&[8]).unwrap();
    let mut out = [0.0f32; 3];
    Context::DEFAULT
        .copy(&column, &mut TensorMut::new(&mut out, &[3]))
        .unwrap();
    assert_eq!(out, [0.0, 2.0, 4.0]);
    assert_error!(
        Context::DEFAULT.copy(&column, &mut TensorMut::new(&mut out[..2], &[2])),
        Shape
    );
    assert_error!(
        Context::DEFAULT.copy(&column, &mut TensorMut::new(&mut [0i32; 3], &[3])),
        DType
    );
}

#[test]
fn from_vec_with_a_wrong_shape_returns_an_error() {
    assert_error!(Tensor::from_vec(vec![1u8; 3], &[4]), Stride);
    assert_error!(Tensor::from_vec(vec![1u8; 3], &[1; 65]), Rank);
    assert_eq!(
        Tensor::from_vec(vec![1u8; 3], &[3]).unwrap().as_slice(),
        Ok(&[1u8; 3][..])
    );
    assert_eq!(Tensor::from_vec(Vec::<u8>::new(), &[0, 2]).unwrap().shape(), [0, 2]);
    assert!(Context::DEFAULT.zeros(DType::Float64, &[1 << 60]).is_err());
    assert_error!(Context::DEFAULT.zeros(DType::Float64, &[1; 65]), Rank);
}

#[test]
fn device_calls_without_cuda_return_errors() {
    if gather::capabilities().unwrap().cuda_runtime.is_some() {
        return; // Other tests cover builds with CUDA.
    }
    assert_error!(Context::builder().device(Device::Cuda(0)).build(), Device);
    // SAFETY: without CUDA the library does not read device memory.
    let params = unsafe { Buffer::from_raw(DType::Float32, Device::Cuda(0), ptr::without_provenance(4096), 24) };
    let (view, id) = (Tensor::new(params, &[3, 2]), [0u8]);
    assert_eq!(view.device(), Device::Cuda(0));
    assert_error!(view.as_slice::<f32>(), Device);
    assert_error!(rows(&view, &Tensor::new(&id, &[1])), Device);
    let mut out = [0.0f32; 2];
    assert_error!(
        gather_into(
            &view,
            &Tensor::new(&id, &[1]),
            &Options::new(),
            &mut TensorMut::new(&mut out, &[1, 2])
        ),
        Device
    );
    let plan = Plan::gather(&Layout::new::<f32>(&[3, 2]), &Layout::new::<u8>(&[1]), &Options::new()).unwrap();
    assert_error!(plan.run(params, &id, &mut out), Device);
    let context = Context::builder().build().unwrap();
    // SAFETY: on the CPU the library reads no stream and no record.
    unsafe {
        assert_error!(context.wait(ptr::null_mut()), Device);
        assert_error!(context.signal(ptr::null_mut()), Device);
        let mut record = sys::gth_error_record::default();
        assert_eq!(context.enqueue_take_error(&mut record), Ok(()));
    }
    assert_eq!(context.take_error(), Ok(()));
    assert_eq!(context.sync(), Ok(()));
}
