//! Every view is read-only. So no call writes to memory behind a shared reference.

use gather::{
    Buffer, Context, DType, Error, Options, Tensor, TensorMut, gather_elements_gradient_into, gather_elements_into,
    gather_gradient_into, gather_into, gather_nd_gradient_into, gather_nd_into, scatter_elements_into, scatter_into,
    scatter_nd_into,
};

const ELEMENTS: [i32; 4] = [1, 2, 3, 4];
const OTHERS: [i32; 4] = [9, 9, 9, 9];
const SHAPE: &[usize] = &[2, 2];

/// Calls every function that writes to a tensor, and returns the results.
fn results(target: &mut TensorMut<'_>) -> Vec<(&'static str, Result<(), Error>)> {
    let source = Tensor::new(&OTHERS, SHAPE);
    let ids = Tensor::new(&[1i64, 0], &[2]);
    let tuples = Tensor::new(&[1i64, 0], &[2, 1]);
    let elements = Tensor::new(&[0i64; 4], SHAPE);
    let options = &Options::new();
    vec![
        ("gather", gather_into(&source, &ids, options, target)),
        ("gather_nd", gather_nd_into(&source, &tuples, options, target)),
        (
            "gather_elements",
            gather_elements_into(&source, &elements, options, target),
        ),
        ("scatter", scatter_into(target, &ids, &source, options)),
        ("scatter_nd", scatter_nd_into(target, &tuples, &source, options)),
        (
            "scatter_elements",
            scatter_elements_into(target, &elements, &source, options),
        ),
        ("gradient", gather_gradient_into(&source, &ids, options, target)),
        (
            "gradient_nd",
            gather_nd_gradient_into(&source, &tuples, options, target),
        ),
        (
            "gradient_elements",
            gather_elements_gradient_into(&source, &elements, options, target),
        ),
        ("copy", Context::DEFAULT.copy(&source, target)),
    ]
}

/// Tries to write to a view of 2 * 2 elements that differ from [`OTHERS`]. They must not change.
fn attack(name: &str, mut view: Tensor<'_>) {
    let mut before = [0i32; 4];
    let read = |view: &Tensor<'_>, copy: &mut [i32]| {
        Context::DEFAULT.copy(view, &mut TensorMut::new(copy, SHAPE)).unwrap();
    };
    read(&view, &mut before);
    for (function, result) in results(&mut view.as_mut()) {
        assert!(
            matches!(result, Err(Error::ReadOnly(_))),
            "{name}, {function}: {result:?}"
        );
    }
    let mut after = [0i32; 4];
    read(&view, &mut after);
    assert_eq!(after, before, "{name}");
}

fn owner() -> Tensor<'static> {
    Tensor::from_vec(ELEMENTS.to_vec(), SHAPE).unwrap()
}

#[test]
fn owned_tensors_are_writable() {
    let mut owned = owner();
    for (function, result) in results(&mut owned.as_mut()) {
        assert_eq!(result, Ok(()), "{function}");
    }
    assert_eq!(owned.as_slice(), Ok(&OTHERS[..]));
}

#[test]
fn views_of_borrowed_memory_are_read_only() {
    let vec = ELEMENTS.to_vec();
    attack("slice", Tensor::new(&ELEMENTS[..], SHAPE));
    attack("array", Tensor::new(&ELEMENTS, SHAPE));
    attack("vector", Tensor::new(&vec, SHAPE));
    attack("buffer", Tensor::new(Buffer::from(&vec), SHAPE));
    let bytes = [1u8; 16];
    attack(
        "bytes",
        Tensor::new(Buffer::from_bytes(DType::Int32, &bytes).unwrap(), SHAPE),
    );
    attack("view of a view", Tensor::new(&vec, SHAPE).view());
    attack("transposed", Tensor::new(&vec, SHAPE).with_strides(&[4, 8]).unwrap());
    attack("offset", Tensor::new(&[0, 1, 2, 3, 4], SHAPE).with_offset(4));
    assert_eq!(vec, ELEMENTS);
    assert_eq!(bytes, [1; 16]);
}

#[test]
fn views_of_owned_tensors_are_read_only() {
    let owned = owner();
    let borrowed = owned.as_slice::<i32>().unwrap();
    attack("view", owned.view());
    attack("view of a view", owned.view().view());
    attack("transposed", owned.view().with_strides(&[4, 8]).unwrap());
    attack("offset", owned.view().with_offset(0));
    assert_eq!(borrowed, ELEMENTS);

    let transposed = owner().with_strides(&[4, 8]).unwrap();
    attack("view of a strided owner", transposed.view());
    let zeros = Context::DEFAULT.zeros(DType::Int32, SHAPE).unwrap();
    attack("view of zeros", zeros.view());
    assert_eq!(zeros.as_slice::<i32>(), Ok(&[0; 4][..]));
}

#[test]
fn swapped_view_is_read_only() {
    let owned = owner();
    let (mut tensor, mut other) = (owner(), owned.view());
    std::mem::swap(&mut tensor, &mut other);
    attack("swapped", tensor);
    assert_eq!(owned.as_slice(), Ok(&ELEMENTS[..]));
}

#[test]
fn views_in_two_threads_are_read_only() {
    let owned = owner();
    let borrowed = owned.as_slice::<i32>().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    attack("view in a thread", owned.view());
                    assert_eq!(borrowed, ELEMENTS);
                }
            });
        }
    });
}

#[cfg(feature = "ndarray")]
#[test]
fn views_of_arrays_are_read_only() {
    use ndarray::{Array2, Axis};

    let array = Array2::from_shape_vec((2, 2), ELEMENTS.to_vec()).unwrap();
    attack("array", Tensor::from(&array));
    let mut reversed = array.view();
    reversed.invert_axis(Axis(0));
    attack("array back to front", Tensor::from(&reversed));
    attack("view of that", Tensor::from(&reversed).view());
    assert_eq!(array.as_slice(), Some(&ELEMENTS[..]));
}
