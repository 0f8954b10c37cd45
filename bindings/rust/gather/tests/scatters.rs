//! The results and the errors of scatters and gradients.

use std::mem::MaybeUninit;

use gather::{
    Accumulate, Bounds, Buffer, BufferMut, Context, DType, Error, Extents, Float16, Initial, Layout, OPEN, Operand,
    Options, Order, Reduction, ScatterPlan, Tensor, TensorMut, gather, gather_elements_gradient, gather_gradient,
    gather_gradient_into, gather_nd_gradient, scatter, scatter_elements, scatter_elements_positions_into, scatter_into,
    scatter_nd, scatter_nd_into, scatter_nd_positions, scatter_positions, scatter_positions_into, updates_shape,
    updates_shape_elements, updates_shape_nd,
};

const TABLE: [f32; 6] = [0., 1., 2., 3., 4., 5.];

fn add() -> Options {
    Options::new().reduction(Reduction::Add)
}

/// Returns status and operand of an error. Its message must begin with the name of the operand.
fn rejected<T>(result: Result<T, Error>) -> (i32, Operand) {
    let error = result.err().expect("no error");
    let cause = error.cause().unwrap();
    let name = format!("{:?}: ", cause.operand).to_lowercase();
    assert!(cause.message.starts_with(&name), "{error}");
    (cause.status, cause.operand)
}

#[test]
fn last_update_remains() {
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
fn one_row_is_repeated() {
    let mut table = TABLE;
    let mut target = TensorMut::new(&mut table, &[3, 2]);
    let ids = Tensor::new(&[2u8, 0], &[2]);
    scatter_into(&mut target, &ids, &Tensor::new(&[7f32, 8.], &[2]), &Options::new()).unwrap();
    assert_eq!(table, [7., 8., 2., 3., 7., 8.]);
    let mut target = TensorMut::new(&mut table, &[3, 2]);
    scatter_into(&mut target, &ids, &Tensor::new(&[9f32], &[]), &Options::new()).unwrap();
    assert_eq!(table, [9., 9., 2., 3., 9., 9.]);
}

#[test]
fn means_of_the_updates() {
    let rows = [1f32, 2., 4., 8., 100., 100.];
    let means = Options::new()
        .reduction(Reduction::Mean)
        .initial(Initial::Update)
        .padding_index(-1);
    let ids = Tensor::new(&[1i32, 1, -1], &[3]);
    let made = scatter(
        &Tensor::new(&TABLE, &[3, 2]),
        &ids,
        &Tensor::new(&rows, &[3, 2]),
        &means,
    )
    .unwrap();
    assert_eq!(made.as_slice::<f32>().unwrap(), [0., 1., 2.5, 5., 4., 5.]);
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
fn scatter_does_not_change_its_target() {
    let target = Tensor::new(&TABLE, &[3, 2]);
    let pairs = Tensor::new(&[2u8, 1, 0, 0], &[2, 2]);
    let made = scatter_nd(&target, &pairs, &Tensor::new(&[7.0f32, 8.], &[2]), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<f32>().unwrap(), [8., 1., 2., 3., 4., 7.]);
    assert_eq!(target.as_slice::<f32>().unwrap(), TABLE);
    // The target is a result, so the library uses its handle.
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
    // The target is a strided view.
    let column = target.view().with_strides(&[8, 4]).unwrap();
    let made = scatter(&column, &one, &Tensor::new(&[5.0f32, 6.], &[1, 2]), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<f32>().unwrap(), [5., 6., 2., 3., 4., 5.]);
}

#[test]
fn accumulate_sets_the_type_of_sums() {
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

// On the CPU, the sum is always that of the updates in their order: (1e8 + 1) - 1e8 is 0 in float32.
#[test]
fn sums_have_the_order_of_updates_on_the_cpu() {
    let (numbers, ids) = ([1e8f32, 1., -1e8], [1i32; 3]);
    let (updates, indices) = (Tensor::new(&numbers, &[3]), Tensor::new(&ids, &[3]));
    for order in [Order::Updates, Order::Any] {
        let mut sums = [4f32, 0.];
        scatter_into(
            &mut TensorMut::new(&mut sums, &[2]),
            &indices,
            &updates,
            &add().order(order),
        )
        .unwrap();
        assert_eq!(sums, [4., 0.]);
        let gradient = gather_gradient(&updates, &indices, &[2], &Options::new().order(order)).unwrap();
        assert_eq!(gradient.as_slice::<f32>().unwrap(), [0., 0.]);
    }
    assert_eq!(
        rejected(gather(&updates, &indices, &Options::new().order(Order::Any))),
        (gather::sys::GTH_E_VERSION, Operand::Options)
    );
}

#[test]
fn scatter_of_strings() {
    let (words, more) = (["a", "bb", "", "d"], ["yellow", ""]);
    let (target, updates) = (
        Tensor::from_strings(&words, &[2, 2]).unwrap(),
        Tensor::from_strings(&more, &[1, 2]).unwrap(),
    );
    let id = Tensor::new(&[1i32], &[1]);
    let made = scatter(&target, &id, &updates, &Options::new()).unwrap();
    assert_eq!(made.strings().unwrap().to_strings().unwrap(), ["a", "bb", "yellow", ""]);
    assert_eq!(
        rejected(scatter(&target, &id, &updates, &add())),
        (gather::sys::GTH_E_DTYPE, Operand::Target)
    );
    let numbers = Tensor::new(&[1u8, 2], &[1, 2]);
    assert_eq!(
        rejected(scatter(&target, &id, &numbers, &Options::new())).1,
        Operand::Updates
    );
}

#[test]
fn invalid_index_leaves_the_target_unchanged() {
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
fn error_partial_names_the_first_invalid_index() {
    let options = Options::new().reduction(Reduction::Add).bounds(Bounds::ErrorPartial);
    let mut ids = vec![1i64; 5000];
    let ones = vec![1f32; 5000];
    let mut sums = [0f32; 3];
    let updates = Tensor::new(&ones, &[5000]);
    let mut target = TensorMut::new(&mut sums, &[3]);
    scatter_into(&mut target, &Tensor::new(&ids, &[5000]), &updates, &options).unwrap();
    (ids[3000], ids[4000]) = (3, -1);
    let error = scatter_into(&mut target, &Tensor::new(&ids, &[5000]), &updates, &options).unwrap_err();
    let Error::Index(cause) = error else { panic!("{error}") };
    assert_eq!((cause.position, cause.value, cause.limit), (Some(3000), 3, 3));
    assert!((5000.0..=9998.0).contains(&sums[1]) && sums[0] == 0.0 && sums[2] == 0.0);
}

#[test]
fn errors_name_their_operand() {
    use gather::sys::*;
    let mut table = TABLE;
    let ids = Tensor::new(&[1i64, 2], &[2]);
    let updates = Tensor::new(&TABLE, &[2, 2]);
    let whole = [0i32; 4];
    let mut reject = |ids: &Tensor<'_>, updates: &Tensor<'_>, options: &Options| {
        let result = rejected(scatter_into(
            &mut TensorMut::new(&mut table, &[3, 2]),
            ids,
            updates,
            options,
        ));
        assert_eq!(table, TABLE);
        result
    };
    let plain = Options::new();
    assert_eq!(
        reject(&ids, &Tensor::new(&whole, &[2, 2]), &plain),
        (GTH_E_DTYPE, Operand::Updates)
    );
    assert_eq!(reject(&updates, &updates, &plain), (GTH_E_DTYPE, Operand::Indices));
    assert_eq!(
        reject(&ids, &Tensor::new(&TABLE, &[3, 2]), &plain),
        (GTH_E_SHAPE, Operand::Updates)
    );
    assert_eq!(
        reject(&ids, &Tensor::new(&TABLE, &[4]), &plain),
        (GTH_E_RANK, Operand::Updates)
    );
    assert_eq!(
        reject(&ids, &Tensor::new(&TABLE[..3], &[2, 2]), &plain),
        (GTH_E_STRIDE, Operand::Updates)
    );
    assert_eq!(reject(&ids, &updates, &plain.axis(2)), (GTH_E_AXIS, Operand::Options));
    assert_eq!(
        reject(&ids, &updates, &plain.bounds(Bounds::Fill)),
        (GTH_E_VERSION, Operand::Options)
    );

    let (views, plain) = (Tensor::new(&TABLE, &[4, 2]), &Options::new());
    assert_eq!(
        rejected(scatter(&views, &ids, &updates, plain)),
        (GTH_E_STRIDE, Operand::Target)
    );
    let nothing = Tensor::new(&[] as &[f32], &[3, 2]);
    assert_eq!(
        rejected(scatter(&nothing, &ids, &updates, plain)),
        (GTH_E_NULL, Operand::Target)
    );
    let target = Tensor::new(&TABLE, &[3, 2]);
    assert_eq!(
        rejected(scatter(&target, &Tensor::new(&[0u8], &[2]), &updates, plain)),
        (GTH_E_STRIDE, Operand::Indices)
    );
    // The library checks shapes before the sizes of memory.
    assert_eq!(
        rejected(scatter(&target, &ids, &views, plain)),
        (GTH_E_SHAPE, Operand::Updates)
    );
    let short = Tensor::new(&TABLE[..3], &[2, 2]);
    assert_eq!(
        rejected(scatter(&target, &ids, &short, plain)),
        (GTH_E_STRIDE, Operand::Updates)
    );
    let mut overlapping = TensorMut::new(&mut table, &[3, 2]).with_strides(&[4, 4]).unwrap();
    assert_eq!(
        rejected(scatter_into(&mut overlapping, &ids, &updates, plain)),
        (GTH_E_STRIDE, Operand::Target)
    );
    let mut borrowed = Tensor::new(&TABLE, &[3, 2]);
    let result = scatter_into(&mut borrowed.as_mut(), &ids, &updates, plain);
    assert_eq!(rejected(result), (GTH_E_READONLY, Operand::Target));
    // Other calls reject a reduction.
    assert_eq!(
        rejected(gather(&target, &ids, &add())),
        (GTH_E_VERSION, Operand::Options)
    );
    assert_eq!(
        rejected(gather_gradient(&updates, &ids, &[3, 2], &add())),
        (GTH_E_VERSION, Operand::Options)
    );
    assert_eq!(table, TABLE);
}

#[test]
fn reduction_of_an_unsupported_dtype_returns_an_error() {
    let (target, id) = ([gather::Float8E4M3(1)], Tensor::new(&[0u8], &[1]));
    let float8 = Tensor::new(&target, &[1]);
    let complex = [gather::Complex64 { re: 1., im: 2. }];
    let complex = Tensor::new(&complex, &[1]);
    assert!(scatter(&float8, &id, &float8, &Options::new()).is_ok());
    assert!(scatter(&complex, &id, &complex, &add()).is_ok());
    for (tensor, reduction) in [(&float8, Reduction::Add), (&complex, Reduction::Max)] {
        let result = scatter(tensor, &id, tensor, &Options::new().reduction(reduction));
        assert_eq!(rejected(result), (gather::sys::GTH_E_DTYPE, Operand::Target));
    }
    let (bools, other) = (Tensor::new(&[true, false], &[2]), Tensor::new(&[true], &[1]));
    let made = scatter(&bools, &id, &other, &add()).unwrap();
    assert_eq!(made.as_slice::<bool>().unwrap(), [true, false]);
}

/// A scatter reads its target. So the target must be initialised.
#[test]
fn uninitialised_target_is_unsupported() {
    let mut memory = [MaybeUninit::<f32>::uninit(); 6];
    let (ids, updates) = (Tensor::new(&[1i64, 2], &[2]), Tensor::new(&TABLE, &[2, 2]));
    let unsupported = (gather::sys::GTH_E_UNSUPPORTED, Operand::Target);
    let mut target = TensorMut::new(&mut memory, &[3, 2]).with_offset(0);
    assert_eq!(
        rejected(scatter_into(&mut target, &ids, &updates, &Options::new())),
        unsupported
    );
    let plan = ScatterPlan::scatter(&Layout::new::<f32>(&[3, 2]), &ids.layout(), &Options::new()).unwrap();
    assert_eq!(rejected(plan.run(&mut memory, &[1i64, 2], &TABLE)), unsupported);
    // A gradient overwrites all elements.
    let mut out = TensorMut::new(&mut memory, &[3, 2]);
    gather_gradient_into(&updates, &ids, &Options::new(), &mut out).unwrap();
    // SAFETY: every element has been written.
    let memory = memory.map(|element| unsafe { element.assume_init() });
    assert_eq!(memory, [0., 0., 0., 1., 2., 3.]);
}

#[test]
fn plans_of_scatters() {
    let view = Tensor::new(&TABLE, &[3, 2]);
    let table_layout = view.layout(); // The view is read-only, but a layout has no memory.
    let plan = ScatterPlan::scatter(&table_layout, &Layout::new::<u16>(&[OPEN]), &add()).unwrap();
    assert_eq!((plan.shape(2), plan.shape(OPEN)), (Ok(vec![2, 2]), Ok(vec![OPEN, 2])));
    let mut table = TABLE;
    plan.run_open(2, &mut table, &[2u16, 2], &[1.0f32, 2., 3., 4.]).unwrap();
    assert_eq!(table, [0., 1., 2., 3., 8., 11.]);
    let before = table;
    let numbers = |result: Result<(), Error>| {
        let result = result.unwrap_err();
        let cause = result.cause().unwrap();
        (cause.status, cause.operand, cause.value, cause.limit)
    };
    use gather::sys::*;
    let rows = [1.0f32; 4];
    assert_eq!(
        numbers(plan.run_open(2, &mut table, &[0u16, 1], &rows[1..])),
        (GTH_E_SIZE, Operand::Updates, 12, 16)
    );
    assert_eq!(
        numbers(plan.run_open(2, &mut table[1..], &[0u16, 1], &rows)),
        (GTH_E_SIZE, Operand::Target, 20, 24)
    );
    assert_eq!(
        rejected(plan.run_open(2, &mut table, &[0u16, 1], &[0.0f64; 4])),
        (GTH_E_DTYPE, Operand::Updates)
    );
    assert_eq!(
        rejected(plan.run_open(2, &mut table, &[0i16, 1], &rows)),
        (GTH_E_DTYPE, Operand::Indices)
    );
    assert_eq!(
        rejected(plan.run_open(2, &mut [0i32; 6], &[0u16, 1], &rows)),
        (GTH_E_DTYPE, Operand::Target)
    );
    assert_eq!(
        numbers(plan.run_open(2, &mut table, &[0u16, 3], &rows)),
        (GTH_E_INDEX, Operand::Indices, 3, 3)
    );
    assert!(plan.check_open(2, &[0u16, 2]).is_ok() && plan.check_open(2, &[0u16, 3]).is_err());
    assert_eq!(table, before);

    let one = [1usize];
    let updates = Layout::new::<f32>(&one).with_offset(4);
    let element =
        ScatterPlan::scatter_nd_from(&table_layout, &Layout::new::<u8>(&[1, 2]), &Options::new(), &updates).unwrap();
    element.run(&mut table, &[0u8, 1], &[7.0f32, 9.]).unwrap();
    assert_eq!(table[..2], [0., 9.]);
    let wide = Layout::new::<f64>(&one);
    let result = ScatterPlan::scatter_nd_from(&table_layout, &Layout::new::<u8>(&[1, 2]), &Options::new(), &wide);
    assert_eq!(rejected(result), (GTH_E_DTYPE, Operand::Updates));
    let strings = Layout::of(DType::String, &[3]);
    assert_eq!(
        rejected(ScatterPlan::scatter(
            &strings,
            &Layout::new::<u8>(&[1]),
            &Options::new()
        ))
        .0,
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
        rejected(updates_shape(&target, &Layout::new::<f32>(&[2]), &Options::new())).1,
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
    let result = gather_gradient(&gradient, &ids, &[3, 3], &Options::new());
    assert_eq!(rejected(result), (GTH_E_SHAPE, Operand::Updates));
    let result = gather_gradient(&gradient, &ids, &[1; 65], &Options::new());
    assert_eq!(rejected(result), (GTH_E_RANK, Operand::Target));
    let result = gather_gradient(&gradient, &ids, &[usize::MAX, 2], &Options::new());
    assert_eq!(rejected(result), (GTH_E_SHAPE, Operand::Target));
    // The library checks shapes before the sizes of memory.
    let result = gather_gradient(&Tensor::new(&rows, &[4, 2]), &ids, &[3, 2], &Options::new());
    assert_eq!(rejected(result), (GTH_E_SHAPE, Operand::Updates));
    let result = gather_gradient(&Tensor::new(&rows[1..], &[3, 2]), &ids, &[3, 2], &Options::new());
    assert_eq!(rejected(result), (GTH_E_STRIDE, Operand::Updates));
}

#[test]
fn scatter_of_empty_updates() {
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
    let result = scatter(
        &updates,
        &Tensor::new(&[0u8], &[1]),
        &Tensor::new(&TABLE, &[1, 2]),
        &Options::new(),
    );
    assert!(matches!(result, Err(Error::Index(_))), "{result:?}");
    // A tuple without indices selects the whole target.
    let mut two = [1u8, 2];
    let mut target = TensorMut::new(&mut two, &[2]);
    let (tuple, both) = (Tensor::new(&[] as &[i64], &[0]), Tensor::new(&[5u8, 5], &[2]));
    scatter_nd_into(&mut target, &tuple, &both, &add()).unwrap();
    assert_eq!(two, [6, 7]);
}

#[test]
fn scatter_and_gradient_in_a_context() {
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

#[test]
fn scatter_into_bytes() {
    let mut target = [0u8; 4];
    let updates = Buffer::from_bytes(DType::BFloat16, &[0x80, 0x3f]).unwrap();
    let memory = BufferMut::from_bytes(DType::BFloat16, &mut target).unwrap();
    let (id, updates) = (Tensor::new(&[1u8], &[1]), Tensor::new(updates, &[1]));
    scatter_into(&mut TensorMut::new(memory, &[2]), &id, &updates, &add()).unwrap();
    assert_eq!(target, [0, 0, 0x80, 0x3f]);
}

/// The target, whose third row stays, and updates with equal elements.
const TARGET: [f32; 6] = [1.0, 8.0, 4.0, 4.0, 9.0, 9.0];
const UPDATES: [f32; 8] = [3.0, 2.0, 5.0, 4.0, 3.0, 9.0, 6.0, f32::NAN];

#[test]
fn positions_are_those_of_the_first_extreme_updates() {
    let (target, ids) = (Tensor::new(&TARGET, &[3, 2]), [0i64, 1, 0, 1]);
    let (ids, updates) = (Tensor::new(&ids, &[4]), Tensor::new(&UPDATES, &[4, 2]));
    let (max, min) = (
        Options::new().reduction(Reduction::Max),
        Options::new().reduction(Reduction::Min),
    );
    let made = scatter_positions(&target, &ids, &updates, &max).unwrap();
    assert_eq!((made.dtype(), made.shape()), (DType::Int64, &[3, 2][..]));
    assert_eq!(made.as_slice::<i64>().unwrap(), [0, 5, 6, 7, -1, -1]);
    let mut out = [7i64; 6];
    let min = min.initial(Initial::Update);
    scatter_positions_into(&target, &ids, &updates, &min, &mut TensorMut::new(&mut out, &[3, 2])).unwrap();
    assert_eq!(out, [0, 1, 2, 7, -1, -1]);
    let (tuples, places) = ([1i64, 0, 0, 0, 1, 0], [2u8, 0, 0, 1]);
    let numbers = Tensor::new(&UPDATES[2..5], &[3]);
    let nd = scatter_nd_positions(&target, &Tensor::new(&tuples, &[3, 2]), &numbers, &max).unwrap();
    assert_eq!(nd.as_slice::<i64>().unwrap(), [1, -1, 0, -1, -1, -1]);
    let (places, pairs) = (Tensor::new(&places, &[2, 2]), Tensor::new(&UPDATES[4..], &[2, 2]));
    let mut written = TensorMut::new(&mut out, &[3, 2]);
    scatter_elements_positions_into(&target, &places, &pairs, &max.axis(0), &mut written).unwrap();
    assert_eq!(out, [2, 1, -1, 3, -1, -1]);
}

#[test]
fn positions_name_their_operands() {
    let (target, ids, mut out) = (Tensor::new(&TARGET, &[3, 2]), [0i64, 3, 0, 1], [7i64; 6]);
    let (ids, updates) = (Tensor::new(&ids, &[4]), Tensor::new(&UPDATES, &[4, 2]));
    let max = Options::new().reduction(Reduction::Max);
    let sum = scatter_positions(&target, &ids, &updates, &Options::new().reduction(Reduction::Add)).unwrap_err();
    assert!(
        matches!(&sum, Error::Version(cause) if cause.operand == Operand::Options),
        "{sum}"
    );
    let mut written = TensorMut::new(&mut out, &[2, 3]);
    let shape = scatter_positions_into(&target, &ids, &updates, &max, &mut written).unwrap_err();
    assert!(
        matches!(&shape, Error::Shape(cause) if cause.operand == Operand::Out),
        "{shape}"
    );
    let index = scatter_positions(&target, &ids, &updates, &max).unwrap_err();
    assert!(
        matches!(&index, Error::Index(cause) if cause.position == Some(1)),
        "{index}"
    );
    assert_eq!(out, [7i64; 6]);
}
