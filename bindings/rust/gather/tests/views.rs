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
        "Options { axis: 0, profile: JaxFill, bounds: Fill, threads: 2, fill_value: [3f800000, 0] as Float32 }"
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
    plan.run(&table, &[1u8], &mut row).unwrap(); // results and slices are memory of the same kind
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
    assert_eq!(Tensor::from(&Vec::<f32>::new()).as_slice::<f32>().unwrap(), [0.0f32; 0]);
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

/// Gathers columns 2 and 0 of a strided view of rows [1, 2, 3] and [11, 12, 13].
fn columns_of(table: &Tensor<'_>, ids: &Tensor<'_>) -> Vec<i32> {
    let mut rows = [0; 4];
    let mut out = TensorMut::new(&mut rows, &[2, 2]);
    gather_into(table, ids, &Options::new().axis(1), &mut out).unwrap();
    rows.to_vec()
}

#[test]
fn tensors_are_valid_after_each_move() {
    let numbers = [0, 1, 2, 3, 10, 11, 12, 13];
    let view = || {
        Tensor::new(&numbers, &[2, 3])
            .with_strides(&[16, 4])
            .unwrap()
            .with_offset(4)
    };
    let (mut table, mut ids) = (view(), Tensor::new(&[2u8, 0], &[2]));
    let mut moved = Vec::new();
    for _ in 0..4 {
        for _ in 0..3 {
            assert_eq!(columns_of(&table, &ids), [3, 1, 13, 11]);
        }
        assert_eq!(columns_of(&table.view(), &ids.view()), [3, 1, 13, 11]);
        moved.push((table, ids)); // The vector also moves its elements when it grows.
        assert!(
            moved
                .iter()
                .all(|(table, ids)| columns_of(table, ids) == [3, 1, 13, 11])
        );
        (table, ids) = (view(), Tensor::new(&[2u8, 0], &[2]));
    }
    let layouts: Vec<_> = moved.iter().map(|(table, _)| table.layout()).collect();
    assert!(
        layouts
            .iter()
            .all(|layout| format!("{layout:?}").contains("strides: [16, 4]"))
    );
}

#[test]
fn moved_tensors_are_valid_on_several_threads() {
    let numbers = [0, 1, 2, 3, 10, 11, 12, 13];
    for _ in 0..200 {
        let table = Tensor::new(&numbers, &[2, 3])
            .with_strides(&[16, 4])
            .unwrap()
            .with_offset(4);
        let ids = Tensor::new(&[2u8, 0], &[2]);
        assert_eq!(columns_of(&table, &ids), [3, 1, 13, 11]);
        let moved = Box::new((table, ids));
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(columns_of(&moved.0, &moved.1), [3, 1, 13, 11]);
                });
            }
        });
    }
}

#[test]
fn strides_of_more_than_four_dims_replace_earlier_ones() {
    let numbers: Vec<i32> = (0..32).collect();
    let strides: [isize; 5] = [64, 32, 16, 8, 4];
    let reversed: [isize; 5] = [4, 8, 16, 32, 64];
    let table = Tensor::new(&numbers, &[2; 5]).with_strides(&strides).unwrap();
    let table = [table.with_strides(&reversed).unwrap()];
    assert_eq!(
        (table[0].shape(), table[0].strides()),
        (&[2; 5][..], Some(&reversed[..]))
    );
    let rows = gather(&table[0], &Tensor::new(&[1u8], &[1]), &Options::new()).unwrap();
    // Element [1, b, c, d, e] is at number 1 + 2 b + 4 c + 8 d + 16 e.
    let at = |i: i32| 1 + 2 * (i >> 3 & 1) + 4 * (i >> 2 & 1) + 8 * (i >> 1 & 1) + 16 * (i & 1);
    assert_eq!(rows.as_slice::<i32>().unwrap(), (0..16).map(at).collect::<Vec<_>>());
}

#[test]
fn moved_tensors_do_not_read_their_former_place() {
    let numbers = [0, 1, 2, 3, 10, 11, 12, 13];
    let view = |shape: &[usize], strides: &[isize]| {
        Tensor::new(&numbers, shape)
            .with_strides(strides)
            .unwrap()
            .with_offset(4)
    };
    let mut table = view(&[2, 3], &[16, 4]);
    let mut ids = Tensor::new(&[2u8, 0], &[2]);
    for _ in 0..3 {
        assert_eq!(columns_of(&table, &ids), [3, 1, 13, 11]);
    }
    // Both variables get new tensors. The moved tensors keep their values.
    let moved = std::mem::replace(&mut table, view(&[1, 1], &[4, 8]));
    let moved_ids = std::mem::replace(&mut ids, Tensor::new(&[1u8], &[1]));
    for _ in 0..3 {
        assert_eq!(columns_of(&moved, &moved_ids), [3, 1, 13, 11]);
    }
    assert_eq!((table.shape(), ids.shape()), (&[1, 1][..], &[1][..]));
}

#[test]
fn copies_of_layouts_have_their_own_numbers() {
    let shapes: [(&[usize], &[usize]); 2] = [(&[2, 3], &[7, 9]), (&[1, 2, 3, 1, 1, 1, 1, 1, 4], &[5; 9])];
    for (shape, other) in shapes {
        let mut layout = Layout::new::<f32>(shape);
        let copy = layout.clone();
        assert_eq!(
            format!("{copy:?}"),
            format!("Layout {{ dtype: Float32, shape: {shape:?} }}")
        );
        layout = Layout::new::<f32>(other);
        assert_eq!(
            format!("{copy:?}"),
            format!("Layout {{ dtype: Float32, shape: {shape:?} }}")
        );
        assert_eq!(
            format!("{layout:?}"),
            format!("Layout {{ dtype: Float32, shape: {other:?} }}")
        );
    }
}

#[test]
fn fill_value_of_another_dtype_is_refused_by_every_call() {
    let (numbers, mut rows) = ([1.5f32, 2.5, 3.5], [0.0f32; 2]);
    let (table, ids) = (Tensor::new(&numbers, &[3]), Tensor::new(&[2u8, 7], &[2]));
    let mut out = TensorMut::new(&mut rows, &[2]);
    let (wrong, right) = (
        Options::new().bounds(Bounds::Fill).fill_value(1.0f64),
        Options::new().bounds(Bounds::Fill).fill_value(-1.0f32),
    );
    // The first call with tensors, the second one, and later ones do not prepare them in the same way.
    for _ in 0..4 {
        let fresh = gather_into(
            &Tensor::new(&numbers, &[3]),
            &Tensor::new(&[2u8, 7], &[2]),
            &wrong,
            &mut out,
        );
        assert!(matches!(fresh, Err(Error::DType(_))), "{fresh:?}");
        let again = gather_into(&table, &ids, &wrong, &mut out);
        assert!(matches!(again, Err(Error::DType(_))), "{again:?}");
        gather_into(&table, &ids, &Options::new().bounds(Bounds::Clamp), &mut out).unwrap();
    }
    gather_into(&table, &ids, &right, &mut out).unwrap();
    assert_eq!(rows, [3.5, -1.0]);
}
