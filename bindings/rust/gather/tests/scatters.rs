//! Scatters and gradients: what they make, and what they refuse.

use std::mem::MaybeUninit;

use gather::{
    Accumulate, Bounds, Buffer, BufferMut, Context, DType, Error, Extents, Float16, Layout, OPEN, Operand, Options,
    Plan, Reduction, Tensor, TensorMut, gather, gather_elements_gradient, gather_gradient, gather_gradient_into,
    gather_nd_gradient, scatter, scatter_elements, scatter_into, scatter_nd, scatter_nd_into, updates_shape,
    updates_shape_elements, updates_shape_nd,
};

const TABLE: [f32; 6] = [0., 1., 2., 3., 4., 5.];

fn add() -> Options {
    Options::new().reduction(Reduction::Add)
}

/// Status and operand of an error, whose message begins with the name of the operand.
fn refused<T>(answer: Result<T, Error>) -> (i32, Operand) {
    let error = answer.err().expect("no error");
    let cause = error.cause().unwrap();
    let name = format!("{:?}: ", cause.operand).to_lowercase();
    assert!(cause.message.starts_with(&name), "{error}");
    (cause.status, cause.operand)
}

#[test]
fn the_last_of_several_updates_stays() {
    let mut table = TABLE;
    let rows = [10.0f32, 11., 20., 21., 30., 31.];
    let (ids, updates) = (Tensor::new(&[2u8, 0, 2], &[3]), Tensor::new(&rows, &[3, 2]));
    scatter_into(
        &mut TensorMut::new(&mut table, &[3, 2]),
        &ids,
        &updates,
        &Options::new(),
    )
    .unwrap();
    assert_eq!(table, [20., 21., 2., 3., 30., 31.]);
    scatter_into(&mut TensorMut::new(&mut table, &[3, 2]), &ids, &updates, &add()).unwrap();
    assert_eq!(table, [40., 42., 2., 3., 70., 73.]);
}

#[test]
fn strided_targets() {
    let mut table = TABLE;
    let mut column = TensorMut::new(&mut table, &[3])
        .with_strides(&[8])
        .unwrap()
        .with_offset(4);
    let repeated = Tensor::new(&[9.0f32], &[2]).with_strides(&[0]).unwrap();
    scatter_into(&mut column, &Tensor::new(&[2i64, 0], &[2]), &repeated, &Options::new()).unwrap();
    assert_eq!(table, [0., 9., 2., 3., 4., 9.]);
}

#[test]
fn new_tensors_leave_the_target_alone() {
    let target = Tensor::new(&TABLE, &[3, 2]);
    let pairs = Tensor::new(&[2u8, 1, 0, 0], &[2, 2]);
    let made = scatter_nd(&target, &pairs, &Tensor::new(&[7.0f32, 8.], &[2]), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<f32>().unwrap(), [8., 1., 2., 3., 4., 7.]);
    assert_eq!(target.as_slice::<f32>().unwrap(), TABLE);
    // From a result, whose handle is used again.
    let again = scatter_nd(&made, &pairs, &Tensor::new(&[1.0f32, 1.], &[2]), &add()).unwrap();
    assert_eq!(again.as_slice::<f32>().unwrap(), [9., 1., 2., 3., 4., 8.]);
    let mut owned = again;
    let one = Tensor::new(&[0u8], &[1]);
    scatter_into(
        &mut owned.as_mut(),
        &one,
        &Tensor::new(&[5.0f32, 6.], &[1, 2]),
        &Options::new(),
    )
    .unwrap();
    assert_eq!(owned.as_slice::<f32>().unwrap(), [5., 6., 2., 3., 4., 8.]);
    // A column of it.
    let column = target.view().with_strides(&[8, 4]).unwrap();
    let made = scatter(&column, &one, &Tensor::new(&[5.0f32, 6.], &[1, 2]), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<f32>().unwrap(), [5., 6., 2., 3., 4., 5.]);
}

#[test]
fn sums_in_float32() {
    let ones = vec![Float16(0x3c00); 4096];
    let zeros = vec![0u16; 4096];
    let (updates, indices) = (Tensor::new(&ones, &[4096]), Tensor::new(&zeros, &[4096]));
    for (accumulate, wanted) in [(Accumulate::DType, 0x6800), (Accumulate::Float32, 0x6c00)] {
        let mut sum = [Float16(0)];
        let options = add().accumulate(accumulate);
        scatter_into(&mut TensorMut::new(&mut sum, &[1]), &indices, &updates, &options).unwrap();
        assert_eq!(sum, [Float16(wanted)]);
        let gradient = gather_gradient(&updates, &indices, &[1], &Options::new().accumulate(accumulate)).unwrap();
        assert_eq!(gradient.as_slice::<Float16>().unwrap(), [Float16(wanted)]);
    }
}

#[test]
fn strings_are_scattered_into_new_tensors() {
    let (words, more) = (["a", "bb", "", "d"], ["yellow", ""]);
    let (target, updates) = (
        Tensor::from_strings(&words, &[2, 2]).unwrap(),
        Tensor::from_strings(&more, &[1, 2]).unwrap(),
    );
    let id = Tensor::new(&[1i32], &[1]);
    let made = scatter(&target, &id, &updates, &Options::new()).unwrap();
    assert_eq!(made.strings().unwrap().to_strings().unwrap(), ["a", "bb", "yellow", ""]);
    assert_eq!(
        refused(scatter(&target, &id, &updates, &add())),
        (gather::sys::GTH_E_DTYPE, Operand::Target)
    );
    let numbers = Tensor::new(&[1u8, 2], &[1, 2]);
    assert_eq!(
        refused(scatter(&target, &id, &numbers, &Options::new())).1,
        Operand::Updates
    );
}

#[test]
fn a_bad_index_leaves_the_target_as_it_was() {
    let mut before = TABLE;
    before[1] = f32::from_bits(0x7fc0_1234);
    let mut table = before;
    let updates = Tensor::new(&TABLE, &[3, 2]);
    let bad = Tensor::new(&[1i64, 3, -1], &[3]);
    for threads in [1, 4] {
        let options = add().threads(threads);
        let Err(Error::Index(cause)) = scatter_into(&mut TensorMut::new(&mut table, &[3, 2]), &bad, &updates, &options)
        else {
            panic!("no error of index")
        };
        assert_eq!(
            (cause.operand, cause.position, cause.value, cause.limit),
            (Operand::Indices, Some(1), 3, 3)
        );
        assert_eq!(table.map(f32::to_bits), before.map(f32::to_bits));
    }
    assert!(matches!(
        scatter(&updates, &bad, &updates, &add()),
        Err(Error::Index(_))
    ));
    let skip = Options::new().bounds(Bounds::Skip);
    scatter_into(&mut TensorMut::new(&mut table, &[3, 2]), &bad, &updates, &skip).unwrap();
    assert_eq!(table[2..], [0., 1., 4., 5.]);
}

#[test]
fn errors_name_the_operand() {
    use gather::sys::*;
    let mut table = TABLE;
    let ids = Tensor::new(&[1i64, 2], &[2]);
    let updates = Tensor::new(&TABLE, &[2, 2]);
    let whole = [0i32; 4];
    let mut refuse = |ids: &Tensor<'_>, updates: &Tensor<'_>, options: &Options| {
        let answer = refused(scatter_into(
            &mut TensorMut::new(&mut table, &[3, 2]),
            ids,
            updates,
            options,
        ));
        assert_eq!(table, TABLE);
        answer
    };
    let plain = Options::new();
    assert_eq!(
        refuse(&ids, &Tensor::new(&whole, &[2, 2]), &plain),
        (GTH_E_DTYPE, Operand::Updates)
    );
    assert_eq!(refuse(&updates, &updates, &plain), (GTH_E_DTYPE, Operand::Indices));
    assert_eq!(
        refuse(&ids, &Tensor::new(&TABLE, &[3, 2]), &plain),
        (GTH_E_SHAPE, Operand::Updates)
    );
    assert_eq!(
        refuse(&ids, &Tensor::new(&TABLE, &[4]), &plain),
        (GTH_E_RANK, Operand::Updates)
    );
    assert_eq!(
        refuse(&ids, &Tensor::new(&TABLE[..3], &[2, 2]), &plain),
        (GTH_E_STRIDE, Operand::Updates)
    );
    assert_eq!(refuse(&ids, &updates, &plain.axis(2)), (GTH_E_AXIS, Operand::Options));
    assert_eq!(
        refuse(&ids, &updates, &plain.bounds(Bounds::Fill)),
        (GTH_E_VERSION, Operand::Options)
    );

    let (views, plain) = (Tensor::new(&TABLE, &[4, 2]), &Options::new());
    assert_eq!(
        refused(scatter(&views, &ids, &updates, plain)),
        (GTH_E_STRIDE, Operand::Target)
    );
    let nothing = Tensor::new(&[] as &[f32], &[3, 2]);
    assert_eq!(
        refused(scatter(&nothing, &ids, &updates, plain)),
        (GTH_E_NULL, Operand::Target)
    );
    let target = Tensor::new(&TABLE, &[3, 2]);
    assert_eq!(
        refused(scatter(&target, &Tensor::new(&[0u8], &[2]), &updates, plain)),
        (GTH_E_STRIDE, Operand::Indices)
    );
    // Shapes are checked before the memory that they need.
    assert_eq!(
        refused(scatter(&target, &ids, &views, plain)),
        (GTH_E_SHAPE, Operand::Updates)
    );
    let short = Tensor::new(&TABLE[..3], &[2, 2]);
    assert_eq!(
        refused(scatter(&target, &ids, &short, plain)),
        (GTH_E_STRIDE, Operand::Updates)
    );
    let mut overlapping = TensorMut::new(&mut table, &[3, 2]).with_strides(&[4, 4]).unwrap();
    assert_eq!(
        refused(scatter_into(&mut overlapping, &ids, &updates, plain)),
        (GTH_E_STRIDE, Operand::Target)
    );
    let mut borrowed = Tensor::new(&TABLE, &[3, 2]);
    let answer = scatter_into(&mut borrowed.as_mut(), &ids, &updates, plain);
    assert_eq!(refused(answer), (GTH_E_READONLY, Operand::Target));
    // Other calls have no reduction.
    assert_eq!(
        refused(gather(&target, &ids, &add())),
        (GTH_E_VERSION, Operand::Options)
    );
    assert_eq!(
        refused(gather_gradient(&updates, &ids, &[3, 2], &add())),
        (GTH_E_VERSION, Operand::Options)
    );
    assert_eq!(table, TABLE);
}

#[test]
fn dtypes_that_a_reduction_does_not_take() {
    let (target, id) = ([gather::Float8E4M3(1)], Tensor::new(&[0u8], &[1]));
    let float8 = Tensor::new(&target, &[1]);
    let complex = [gather::Complex64 { re: 1., im: 2. }];
    let complex = Tensor::new(&complex, &[1]);
    assert!(scatter(&float8, &id, &float8, &Options::new()).is_ok());
    assert!(scatter(&complex, &id, &complex, &add()).is_ok());
    for (tensor, reduction) in [(&float8, Reduction::Add), (&complex, Reduction::Max)] {
        let answer = scatter(tensor, &id, tensor, &Options::new().reduction(reduction));
        assert_eq!(refused(answer), (gather::sys::GTH_E_DTYPE, Operand::Target));
    }
    let (bools, other) = (Tensor::new(&[true, false], &[2]), Tensor::new(&[true], &[1]));
    let made = scatter(&bools, &id, &other, &add()).unwrap();
    assert_eq!(made.as_slice::<bool>().unwrap(), [true, false]);
}

/// A scatter reads its target: memory that may not have been written is none.
#[test]
fn uninitialised_memory_is_no_target() {
    let mut memory = [MaybeUninit::<f32>::uninit(); 6];
    let (ids, updates) = (Tensor::new(&[1i64, 2], &[2]), Tensor::new(&TABLE, &[2, 2]));
    let unsupported = (gather::sys::GTH_E_UNSUPPORTED, Operand::Target);
    let mut target = TensorMut::new(&mut memory, &[3, 2]).with_offset(0);
    assert_eq!(
        refused(scatter_into(&mut target, &ids, &updates, &Options::new())),
        unsupported
    );
    let plan = Plan::scatter(&Layout::new::<f32>(&[3, 2]), &ids.layout(), &Options::new()).unwrap();
    assert_eq!(refused(plan.run(&TABLE, &[1i64, 2], &mut memory)), unsupported);
    // A gradient writes all of it.
    let mut out = TensorMut::new(&mut memory, &[3, 2]);
    gather_gradient_into(&updates, &ids, &Options::new(), &mut out).unwrap();
    // SAFETY: every element has been written.
    let memory = memory.map(|element| unsafe { element.assume_init() });
    assert_eq!(memory, [0., 0., 0., 1., 2., 3.]);
}

#[test]
fn planned_scatters() {
    let table_layout = Layout::new::<f32>(&[3, 2]);
    let plan = Plan::scatter(&table_layout, &Layout::new::<u16>(&[OPEN]), &add()).unwrap();
    assert_eq!((plan.shape(2), plan.shape(OPEN)), (Ok(vec![2, 2]), Ok(vec![OPEN, 2])));
    let mut table = TABLE;
    plan.run_open(2, &[1.0f32, 2., 3., 4.], &[2u16, 2], &mut table).unwrap();
    assert_eq!(table, [0., 1., 2., 3., 8., 11.]);
    let before = table;
    let numbers = |answer: Result<(), Error>| {
        let answer = answer.unwrap_err();
        let cause = answer.cause().unwrap();
        (cause.status, cause.operand, cause.value, cause.limit)
    };
    use gather::sys::*;
    let rows = [1.0f32; 4];
    assert_eq!(
        numbers(plan.run_open(2, &rows[1..], &[0u16, 1], &mut table)),
        (GTH_E_SIZE, Operand::Updates, 12, 16)
    );
    assert_eq!(
        numbers(plan.run_open(2, &rows, &[0u16, 1], &mut table[1..])),
        (GTH_E_SIZE, Operand::Target, 20, 24)
    );
    assert_eq!(
        refused(plan.run_open(2, &[0.0f64; 4], &[0u16, 1], &mut table)),
        (GTH_E_DTYPE, Operand::Updates)
    );
    assert_eq!(
        refused(plan.run_open(2, &rows, &[0i16, 1], &mut table)),
        (GTH_E_DTYPE, Operand::Indices)
    );
    assert_eq!(
        refused(plan.run_open(2, &rows, &[0u16, 1], &mut [0i32; 6])),
        (GTH_E_DTYPE, Operand::Target)
    );
    assert_eq!(
        numbers(plan.run_open(2, &rows, &[0u16, 3], &mut table)),
        (GTH_E_INDEX, Operand::Indices, 3, 3)
    );
    assert!(plan.check_open(2, &[0u16, 2]).is_ok() && plan.check_open(2, &[0u16, 3]).is_err());
    assert_eq!(table, before);

    let one = [1usize];
    let updates = Layout::new::<f32>(&one).with_offset(4);
    let element = Plan::scatter_nd_from(&table_layout, &Layout::new::<u8>(&[1, 2]), &Options::new(), &updates).unwrap();
    element.run(&[7.0f32, 9.], &[0u8, 1], &mut table).unwrap();
    assert_eq!(table[..2], [0., 9.]);
    let wide = Layout::new::<f64>(&one);
    let answer = Plan::scatter_nd_from(&table_layout, &Layout::new::<u8>(&[1, 2]), &Options::new(), &wide);
    assert_eq!(refused(answer), (GTH_E_DTYPE, Operand::Updates));
    let strings = Layout::of(DType::String, &[3]);
    assert_eq!(
        refused(Plan::scatter(&strings, &Layout::new::<u8>(&[1]), &Options::new())).0,
        GTH_E_UNSUPPORTED
    );
}

#[test]
fn shapes_of_updates() {
    let target = Layout::new::<f32>(&[4, 5]);
    assert_eq!(
        updates_shape(&target, &Layout::new::<u8>(&[2, OPEN]), &Options::new()),
        Ok(vec![2, OPEN, 5])
    );
    assert_eq!(
        updates_shape_nd(&target, &Layout::new::<u8>(&[3, 2]), &Options::new()),
        Ok(vec![3])
    );
    let prefix = Options::new().extents(Extents::Prefix);
    assert_eq!(
        updates_shape_elements(&target, &Layout::new::<u8>(&[7, 2]), &prefix),
        Ok(vec![7, 2])
    );
    assert_eq!(
        refused(updates_shape(&target, &Layout::new::<f32>(&[2]), &Options::new())).1,
        Operand::Indices
    );
}

#[test]
fn gradients() {
    let rows = [1.0f32, 2., 3., 4., 5., 6.];
    let (gradient, ids) = (Tensor::new(&rows, &[3, 2]), Tensor::new(&[2i64, 0, 2], &[3]));
    let wanted = [3.0f32, 4., 0., 0., 6., 8.];
    let made = gather_gradient(&gradient, &ids, &[3, 2], &Options::new()).unwrap();
    assert_eq!((made.shape(), made.as_slice()), (&[3, 2][..], Ok(&wanted[..])));
    let tuples = Tensor::new(&[2i64, 0, 2], &[3, 1]);
    let made = gather_nd_gradient(&gradient, &tuples, &[3, 2], &Options::new()).unwrap();
    assert_eq!(made.as_slice(), Ok(&wanted[..]));
    let column = Tensor::new(&rows, &[3, 1]);
    let made = gather_elements_gradient(&column, &tuples, &[4, 1], &Options::new()).unwrap();
    assert_eq!(made.as_slice(), Ok(&[2.0f32, 0., 4., 0.][..]));

    let mut out = [7.0f32; 6];
    let bad = Tensor::new(&[2i64, 0, 3], &[3]);
    let Err(Error::Index(cause)) =
        gather_gradient_into(&gradient, &bad, &Options::new(), &mut TensorMut::new(&mut out, &[3, 2]))
    else {
        panic!("no error of index")
    };
    assert_eq!((cause.position, out), (Some(2), [7.0; 6]));
    let fill = Options::new().bounds(Bounds::Fill).fill_value(0.5f32);
    gather_gradient_into(&gradient, &bad, &fill, &mut TensorMut::new(&mut out, &[3, 2])).unwrap();
    assert_eq!(out, [3., 4., 0., 0., 1., 2.]);
    use gather::sys::*;
    let answer = gather_gradient(&gradient, &ids, &[3, 3], &Options::new());
    assert_eq!(refused(answer), (GTH_E_SHAPE, Operand::Updates));
    let answer = gather_gradient(&gradient, &ids, &[1; 65], &Options::new());
    assert_eq!(refused(answer), (GTH_E_RANK, Operand::Target));
    let answer = gather_gradient(&gradient, &ids, &[usize::MAX, 2], &Options::new());
    assert_eq!(refused(answer), (GTH_E_SHAPE, Operand::Target));
    // Shapes are checked before the memory that they need.
    let answer = gather_gradient(&Tensor::new(&rows, &[4, 2]), &ids, &[3, 2], &Options::new());
    assert_eq!(refused(answer), (GTH_E_SHAPE, Operand::Updates));
    let answer = gather_gradient(&Tensor::new(&rows[1..], &[3, 2]), &ids, &[3, 2], &Options::new());
    assert_eq!(refused(answer), (GTH_E_STRIDE, Operand::Updates));
}

#[test]
fn nothing_to_scatter() {
    let mut table = TABLE;
    let (ids, updates) = (Tensor::new(&[] as &[i64], &[0]), Tensor::new(&[] as &[f32], &[0, 2]));
    scatter_into(
        &mut TensorMut::new(&mut table, &[3, 2]),
        &ids,
        &updates,
        &Options::new(),
    )
    .unwrap();
    assert_eq!(table, TABLE);
    let made = scatter(&updates, &ids, &updates, &Options::new()).unwrap();
    assert_eq!(made.shape(), [0, 2]);
    let zeros = gather_gradient(&updates, &ids, &[3, 2], &Options::new()).unwrap();
    assert_eq!(zeros.as_slice(), Ok(&[0.0f32; 6][..]));
    let answer = scatter(
        &updates,
        &Tensor::new(&[0u8], &[1]),
        &Tensor::new(&TABLE, &[1, 2]),
        &Options::new(),
    );
    assert!(matches!(answer, Err(Error::Index(_))), "{answer:?}");
    // A tuple of no indices selects all of it.
    let mut two = [1u8, 2];
    let mut target = TensorMut::new(&mut two, &[2]);
    let (tuple, both) = (Tensor::new(&[] as &[i64], &[0]), Tensor::new(&[5u8, 5], &[2]));
    scatter_nd_into(&mut target, &tuple, &both, &add()).unwrap();
    assert_eq!(two, [6, 7]);
}

#[test]
fn in_a_context() {
    let context = Context::builder().threads(3).build().unwrap();
    let rows: Vec<i64> = (0..60_000).collect();
    let ids: Vec<i32> = (0..30_000).map(|i| i % 7).collect();
    let (indices, updates) = (Tensor::new(&ids, &[30_000]), Tensor::new(&rows, &[30_000, 2]));
    let mut sums = vec![0i64; 14];
    context
        .scatter_into(&mut TensorMut::new(&mut sums, &[7, 2]), &indices, &updates, &add())
        .unwrap();
    let gradient = context
        .gather_gradient(&updates, &indices, &[7, 2], &Options::new())
        .unwrap();
    assert_eq!(gradient.as_slice(), Ok(&sums[..]));
    assert_eq!(sums.iter().sum::<i64>(), 60_000 * 59_999 / 2);
    let target = Tensor::new(&[0u8; 4], &[2, 2]);
    let (row, more) = (Tensor::new(&[1u8, 0], &[1, 2]), Tensor::new(&[1u8, 2], &[1, 2]));
    let made = context
        .scatter_elements(&target, &row, &more, &Options::new().extents(Extents::Prefix))
        .unwrap();
    assert_eq!(made.as_slice(), Ok(&[0u8, 2, 1, 0][..]));
    assert_eq!(
        made.as_slice::<u8>(),
        scatter_elements(&target, &row, &more, &Options::new().extents(Extents::Prefix))
            .unwrap()
            .as_slice()
    );
}

/// Bytes are elements of any dtype.
#[test]
fn bytes() {
    let mut target = [0u8; 4];
    let updates = Buffer::from_bytes(DType::BFloat16, &[0x80, 0x3f]).unwrap();
    let memory = BufferMut::from_bytes(DType::BFloat16, &mut target).unwrap();
    let (id, updates) = (Tensor::new(&[1u8], &[1]), Tensor::new(updates, &[1]));
    scatter_into(&mut TensorMut::new(memory, &[2]), &id, &updates, &add()).unwrap();
    assert_eq!(target, [0, 0, 0x80, 0x3f]);
}
