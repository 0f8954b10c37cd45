//! Arrays of the ndarray crate with any strides.
#![cfg(feature = "ndarray")]

use gather::{Error, Options, Tensor, TensorMut, gather, gather_into, gather_nd_into};
use ndarray::{ArcArray2, Array, Array2, Array3, Axis, CowArray, arr0, array, s};

fn numbers() -> Array3<i32> {
    Array::from_iter(0..24).into_shape_with_order((2, 3, 4)).unwrap()
}

#[test]
fn strided_views_equal_their_copies() {
    let whole = numbers();
    let mut permuted = whole.view();
    permuted.swap_axes(0, 2);
    let views = [
        whole.view(),
        permuted,
        whole.slice(s![..;-1, 1.., ..;2]),
        whole.view().slice_move(s![.., ..;-2, ..;-1]),
    ];
    let ids = array![1u8, 0, 1];
    for view in &views {
        for axis in 0..3 {
            let out = gather(&Tensor::from(view), &Tensor::from(&ids), &Options::new().axis(axis)).unwrap();
            let expected = view.select(Axis(axis as usize), &[1, 0, 1]);
            assert_eq!(out.to_array::<i32>().unwrap(), expected.into_dyn());
        }
    }
}

#[test]
fn broadcast_indices() {
    let table = numbers();
    let one = arr0(2i64);
    let ids = one.broadcast((2, 2)).unwrap();
    let out = gather(&Tensor::from(&table), &Tensor::from(&ids), &Options::new().axis(1)).unwrap();
    let expected = Array::from_shape_fn((2, 2, 2, 4), |(i, _, _, j)| table[[i, 2, j]]);
    assert_eq!(out.to_array::<i32>().unwrap(), expected.into_dyn());
}

#[test]
fn strided_outputs() {
    let table = numbers();
    let pairs = array![[1usize, 2], [0, 0]];
    let mut memory = Array2::<i32>::from_elem((8, 4), -1);
    let mut out = memory.slice_mut(s![..;-4, ..;-1]);
    let result = gather_nd_into(
        &Tensor::from(&table),
        &Tensor::from(&pairs),
        &Options::new(),
        &mut TensorMut::from(&mut out),
    );
    assert_eq!(result, Ok(()));
    assert_eq!(out, array![[20, 21, 22, 23], [0, 1, 2, 3]]);
    assert_eq!(memory.row(7), array![23, 22, 21, 20]);
    assert_eq!(memory.row(6), array![-1, -1, -1, -1]);
}

#[test]
fn shared_outputs_are_copied_before_the_write() {
    let (table, ids) = (Array2::<i64>::ones((8, 1)), Array::from_iter(0..8u8));
    let write = |out: &mut TensorMut<'_>| gather_into(&Tensor::from(&table), &Tensor::from(&ids), &Options::new(), out);

    let shared = ArcArray2::<i64>::zeros((8, 8));
    let mut column = shared.clone().slice_move(s![.., ..1]);
    assert_eq!(write(&mut TensorMut::from(&mut column)), Ok(()));
    assert_eq!(column, table);
    assert_eq!(shared, Array2::<i64>::zeros((8, 8)));

    let borrowed = Array2::<i64>::zeros((8, 8));
    let mut column = CowArray::from(borrowed.slice(s![..;-1, 3..4]));
    assert_eq!(write(&mut TensorMut::from(&mut column)), Ok(()));
    assert_eq!(column, table);
    assert_eq!(borrowed, Array2::<i64>::zeros((8, 8)));
}

#[test]
fn empty_arrays() {
    let table = Array2::<f64>::zeros((0, 3));
    let none = Array::<i64, _>::zeros(0);
    let out = gather(&Tensor::from(&table), &Tensor::from(&none), &Options::new()).unwrap();
    assert_eq!(out.to_array::<f64>().unwrap().shape(), [0, 3]);
    let mut written = Array2::<f64>::zeros((0, 3));
    let mut out = written.slice_mut(s![..;-1, ..;-1]);
    assert_eq!(
        gather_into(
            &Tensor::from(&table),
            &Tensor::from(&none),
            &Options::new(),
            &mut TensorMut::from(&mut out)
        ),
        Ok(())
    );
    let bad = gather(&Tensor::from(&table), &Tensor::from(&array![0]), &Options::new());
    assert!(matches!(bad, Err(Error::Index(_))), "{bad:?}");
}

#[test]
fn scalars() {
    let scalar = arr0(1u8);
    let out = gather(&Tensor::from(&numbers()), &Tensor::from(&scalar), &Options::new()).unwrap();
    assert_eq!(
        out.to_array::<i32>().unwrap(),
        numbers().index_axis(Axis(0), 1).into_dyn()
    );
    let view = Tensor::from(&scalar);
    assert_eq!(view.to_array::<u8>().unwrap(), arr0(1u8).into_dyn());
    let rejected = gather(&view, &view, &Options::new());
    assert!(matches!(rejected, Err(Error::Rank(_))), "{rejected:?}");
}

#[test]
fn arrays_of_a_fixed_rank() {
    let table = array![[0, 1, 2], [10, 11, 12]];
    let out = gather(&Tensor::from(&table), &Tensor::vector(&[1u8]), &Options::new()).unwrap();
    assert_eq!(out.to_array2::<i32>().unwrap(), array![[10, 11, 12]]);
    let Err(Error::Rank(cause)) = out.to_array1::<i32>() else {
        panic!()
    };
    assert_eq!((cause.value, cause.limit), (2, 1));
    assert!(matches!(out.to_array2::<f32>(), Err(Error::DType(_))));
    assert_eq!(Tensor::from(&arr0(7)).to_array0::<i32>().unwrap(), arr0(7));
    assert_eq!(Tensor::from(&numbers()).to_array3::<i32>().unwrap(), numbers());
}
