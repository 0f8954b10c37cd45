//! The consumer of an export may write to it. So an export never shares borrowed memory.

use gather::{Context, Error, Export, Tensor};

/// Attempts exports without a copy, which would share the memory.
fn attack<'t>(name: &str, view: impl Fn() -> Tensor<'t>) {
    let result = Context::DEFAULT.into_dlpack(view(), Export::NoCopy);
    assert!(matches!(result, Err(Error::Unsupported(_))), "{name}: {result:?}");
    let result = Context::DEFAULT.into_dlpack_legacy(view(), Export::NoCopy);
    assert!(matches!(result, Err(Error::Unsupported(_))), "{name}: {result:?}");
}

#[test]
fn views_are_not_exported_without_a_copy() {
    let elements = vec![1i32, 2, 3, 4];
    attack("slice", || Tensor::new(&elements, &[4]));
    let owned = Tensor::from_vec(elements.clone(), &[2, 2]).unwrap();
    attack("view of an owner", || owned.view());
    attack("offset view of an owner", || owned.view().with_offset(0));
    attack("transposed view of an owner", || {
        owned.view().with_strides(&[4, 8]).unwrap()
    });
    let view = owned.view();
    attack("view of a view of an owner", || view.view());
    let zeros = Context::DEFAULT.zeros(gather::DType::Int32, &[4]).unwrap();
    attack("view of zeros", || zeros.view());
}

#[test]
fn string_views_are_not_exported_without_a_copy() {
    let words = Tensor::from_strings(&["one", "two"], &[2]).unwrap();
    attack("view of strings", || words.view());
    let (offsets, bytes) = ([0i64, 3, 6], b"onetwo");
    attack("borrowed strings", || {
        Tensor::from_string_views(&offsets, bytes, &[2]).unwrap()
    });
}
