//! The debug output of views, views of views, memory that is longer than its shape, and uninitialised memory.

use std::mem::MaybeUninit;

use gather::{Bounds, Device, Error, Layout, OPEN, Options, Plan, Profile, Tensor, TensorMut, gather, gather_into};

#[test]
fn debug_output_of_views() {
    let table = [0.0f32; 12];
    let dense = Tensor::new(&table, &[4, 3]);
    assert_eq!(format!("{dense:?}"), "Tensor { dtype: Float32, shape: [4, 3] }");
    let column = Tensor::new(&table, &[4]).with_strides(&[12]).unwrap().with_offset(8);
    assert_eq!(
        format!("{column:?}"),
        "Tensor { dtype: Float32, shape: [4], strides: [12], offset: 8 }"
    );
    let mut out = [0u8; 2];
    assert_eq!(
        format!("{:?}", TensorMut::new(&mut out, &[2])),
        "TensorMut { dtype: UInt8, shape: [2] }"
    );
    let layout = Layout::new::<i64>(&[OPEN, 2]).on(Device::Cuda(1));
    assert_eq!(
        format!("{layout:?}"),
        "Layout { dtype: Int64, shape: [OPEN, 2], device: Cuda(1) }"
    );
    assert_eq!(
        format!("{:?}", Layout::untyped(&[])),
        "Layout { dtype: \"any\", shape: [] }"
    );
    let plan = Plan::gather(
        &Layout::new::<f32>(&[4, 3]),
        &Layout::new::<i64>(&[OPEN]),
        &Options::new(),
    );
    assert_eq!(format!("{:?}", plan.unwrap()), "Plan { shape: Ok([OPEN, 3]) }");
    assert_eq!(format!("{:?}", Options::new()), "Options");
    let options = Options::new().axis(0).profile(Profile::JaxFill).bounds(Bounds::Fill);
    assert_eq!(
        format!("{:?}", options.fill_value(1.0f32).threads(2)),
        "Options { axis: 0, profile: JaxFill, bounds: Fill, fill_value: [3f800000, 0] as Float32, threads: 2 }"
    );
}

#[test]
fn views_of_views_and_of_results() {
    let table = [10i32, 11, 20, 21];
    let params = Tensor::new(&table, &[2, 2]);
    let rows = gather(&params.view(), &Tensor::new(&[1u8, 0], &[2]), &Options::new()).unwrap();
    let again = gather(&rows.view(), &Tensor::new(&[1u8], &[1]), &Options::new()).unwrap();
    assert_eq!(again.as_slice::<i32>().unwrap(), [10, 11]);
    let transposed = rows.view().with_strides(&[4, 8]).unwrap();
    let column = gather(&transposed, &Tensor::new(&[1u8], &[1]), &Options::new()).unwrap();
    assert_eq!(column.as_slice::<i32>().unwrap(), [21, 11]);
    assert_eq!(rows.as_slice::<i32>().unwrap(), [20, 21, 10, 11]);

    let plan = Plan::gather(&rows.layout(), &Layout::new::<u8>(&[1]), &Options::new()).unwrap();
    let mut row = [0i32; 2];
    plan.run(&table, &[1u8], &mut row).unwrap(); // The memory of results is that of slices.
    assert_eq!(row, [20, 21]);

    let column = Tensor::new(&table, &[2, 1])
        .with_strides(&[8, 4])
        .unwrap()
        .with_offset(4);
    let layout = column.layout();
    assert_eq!(
        format!("{layout:?}"),
        "Layout { dtype: Int32, shape: [2, 1], strides: [8, 4], offset: 4 }"
    );
    let plan = Plan::gather(&layout, &Layout::new::<u8>(&[1]), &Options::new()).unwrap();
    plan.run(&table, &[1u8], &mut row[..1]).unwrap();
    assert_eq!(row, [21, 21]);

    let words = Tensor::from_strings(&["red", "green"], &[2]).unwrap();
    let picked = gather(&words.view(), &Tensor::new(&[1i16], &[1]), &Options::new()).unwrap();
    assert_eq!(picked.strings().unwrap().iter().collect::<Vec<_>>(), [b"green"]);
}

#[test]
fn memory_longer_than_its_shape() {
    let table = [0i16, 1, 10, 11, 20, 21, 30, 31];
    let mut room = [-1i16; 6];
    let (params, ids) = (Tensor::new(&table, &[3, 2]), [1u32, 0, 99]);
    let mut out = TensorMut::new(&mut room, &[2, 2]);
    gather_into(&params, &Tensor::new(&ids, &[2]), &Options::new(), &mut out).unwrap();
    assert_eq!(room, [10, 11, 0, 1, -1, -1]);
    let fourth = gather(&params, &Tensor::new(&[3u32], &[1]), &Options::new());
    assert!(matches!(fourth, Err(Error::Index(cause)) if cause.value == 3 && cause.limit == 3));
    let short = gather(
        &Tensor::new(&table, &[5, 2]),
        &Tensor::new(&[0u32], &[1]),
        &Options::new(),
    );
    assert!(matches!(short, Err(Error::Stride(cause)) if cause.value == 20 && cause.limit == 16));
}

#[test]
fn gather_into_uninitialised_memory() {
    let table = [1.5f64, 2.5];
    let mut rows = [MaybeUninit::<f64>::uninit(); 2];
    let ids = Tensor::new(&[1u8, 0], &[2]);
    gather_into(
        &Tensor::new(&table, &[2]),
        &ids,
        &Options::new(),
        &mut TensorMut::new(&mut rows, &[2]),
    )
    .unwrap();
    // SAFETY: both elements have been written.
    assert_eq!(rows.map(|row| unsafe { row.assume_init() }), [2.5, 1.5]);
}

#[test]
fn vectors_have_the_shape_of_their_slice() {
    let ids = vec![2u8, 0, 1];
    let table = [10i32, 20, 30];
    let view = |tensor: &Tensor<'_>| gather(&Tensor::from(&table), tensor, &Options::new()).unwrap();
    assert_eq!(view(&Tensor::vector(&ids)).as_slice::<i32>().unwrap(), [30, 10, 20]);
    assert_eq!(view(&Tensor::from(&ids[1..])).as_slice::<i32>().unwrap(), [10, 20]);
    assert_eq!(view(&Tensor::from(&ids).view()).shape(), [3]);
    assert_eq!(Tensor::from(&Vec::<f32>::new()).as_slice::<f32>().unwrap(), []);
    let column = Tensor::from(&table).with_strides(&[-4]).unwrap().with_offset(8);
    assert_eq!(view(&Tensor::from(&[0u8])).as_slice::<i32>().unwrap(), [10]);
    let reversed = gather(&column, &Tensor::from(&ids), &Options::new()).unwrap();
    assert_eq!(reversed.as_slice::<i32>().unwrap(), [10, 30, 20]);
}

#[test]
fn options_are_equal_if_all_their_values_are() {
    let options = Options::new().axis(1).fill_value(2u8);
    assert_eq!(options, Options::new().fill_value(2u8).axis(1));
    assert_ne!(options, options.fill_value(2u16));
    assert_ne!(options, options.axis(0));
    assert_ne!(Options::new(), Options::new().axis(0));
}

#[test]
fn views_and_layouts_own_shapes_that_the_caller_computes() {
    let mut table = [10i32, 11, 20, 21, 30, 31];
    let n = table.len() / 2;
    let layout = Layout::new::<i32>(&[n, 2]).with_strides(&[4 * n as isize, 4]).unwrap();
    assert_eq!(
        format!("{layout:?}"),
        "Layout { dtype: Int32, shape: [3, 2], strides: [12, 4] }"
    );
    let tensor = Tensor::new(&table, &[table.len() / 2, 2]);
    assert_eq!((tensor.shape(), tensor.strides()), (&[3, 2][..], None));
    let columns = Tensor::new(&table, &[2, table.len() / 2]).with_strides(&[4, 2 * size_of::<i32>() as isize]);
    let columns = columns.unwrap();
    let rows = gather(&columns, &Tensor::from(&[1u8]), &Options::new()).unwrap();
    assert_eq!(rows.as_slice::<i32>().unwrap(), [11, 21, 31]);
    let mut out = TensorMut::new(&mut table, &[n, 2])
        .with_strides(&[4, 4 * n as isize])
        .unwrap();
    let ids = Tensor::from(&[0u8, 1, 0]);
    gather_into(
        &Tensor::new(&[5i32, 6, 7, 8], &[n - 1, 2]),
        &ids,
        &Options::new(),
        &mut out,
    )
    .unwrap();
    assert_eq!(table, [5, 7, 5, 6, 8, 6]);
}

/// Some of these numbers of extents and strides fit in the tensor, and others do not.
#[test]
fn views_of_any_rank_keep_shape_and_strides_when_they_move() {
    let table: Vec<u16> = (100..106).collect();
    for rank in 0..=64 {
        let (mut shape, mut strides) = (vec![1; rank], vec![2; rank]);
        for (dim, (extent, stride)) in [(3, 2), (2, 6)].into_iter().enumerate().take(rank) {
            (shape[rank - 1 - dim], strides[rank - 1 - dim]) = (extent, stride);
        }
        let (dense, view) = (Tensor::new(&table, &shape), Tensor::new(&table, &shape));
        let given = strides.clone();
        let moved = Box::new([view.with_strides(&strides).unwrap(), dense]);
        strides.fill(0); // The views have copied them.
        let layout = moved[0].layout();
        for tensor in moved.iter() {
            assert_eq!((tensor.shape(), tensor.view().shape()), (&shape[..], &shape[..]));
            let (axis, ids) = (Options::new().axis(-1), Tensor::from(&[1u8]));
            if rank > 0 {
                let column = gather(tensor, &ids, &axis).unwrap();
                assert_eq!(
                    column.as_slice::<u16>().unwrap(),
                    if rank > 1 { &[101, 104][..] } else { &[101] }
                );
            }
        }
        assert_eq!(moved[0].strides(), (rank > 0).then_some(&given[..]));
        let strided = Tensor::new(&table, &shape).with_strides(&given).unwrap();
        drop(moved);
        assert_eq!(format!("{layout:?}"), format!("{:?}", strided.layout()));
    }
    let error = gather(&Tensor::new(&table, &[1; 65]), &Tensor::from(&[0u8]), &Options::new()).unwrap_err();
    assert!(matches!(error, Error::Rank(_)), "{error}");
}

#[test]
fn strides_of_a_result_replace_those_of_its_handle() {
    let rows = gather(
        &Tensor::new(&[1i64, 2, 3, 4], &[2, 2]),
        &Tensor::from(&[1u8, 0]),
        &Options::new(),
    )
    .unwrap();
    let columns = rows.with_strides(&[8, 16]).unwrap();
    assert_eq!((columns.shape(), columns.strides()), (&[2, 2][..], Some(&[8, 16][..])));
    let column = gather(&columns, &Tensor::from(&[1u8]), &Options::new()).unwrap();
    assert_eq!(column.as_slice::<i64>().unwrap(), [4, 2]);
}
