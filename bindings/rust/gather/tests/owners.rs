//! Tensors that own their memory and are shown in another way: every call sees the same elements.

use gather::{Context, Error, Export, Options, Tensor, TensorMut, gather, gather_into};

/// 1, 2, 3 in memory of the library's, back to front.
fn reversed() -> Tensor<'static> {
    let owner = Tensor::from_vec(vec![1i32, 2, 3], &[3]).unwrap();
    owner.with_strides(&[-4]).unwrap().with_offset(8)
}

#[test]
fn both_forms_of_a_gather() {
    let (params, ids) = (reversed(), Tensor::new(&[0u8, 2], &[2]));
    let made = gather(&params, &ids, &Options::new()).unwrap();
    assert_eq!(made.as_slice::<i32>(), Ok(&[3, 1][..]));
    let mut written = [0i32; 2];
    let mut out = TensorMut::new(&mut written, &[2]);
    gather_into(&params, &ids, &Options::new(), &mut out).unwrap();
    assert_eq!(written, [3, 1]);
}

#[test]
fn as_indices_too() {
    let params = Tensor::new(&[0u8, 10, 20, 30], &[4]);
    let made = gather(&params, &reversed(), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<u8>(), Ok(&[30, 20, 10][..]));
}

#[test]
fn copies_and_exports() {
    let mut copied = [0i32; 3];
    let mut out = TensorMut::new(&mut copied, &[3]);
    Context::DEFAULT.copy(&reversed(), &mut out).unwrap();
    assert_eq!(copied, [3, 2, 1]);

    let managed = Context::DEFAULT.into_dlpack(reversed(), Export::Owned).unwrap();
    // SAFETY: what has just been exported.
    let back = unsafe { Context::DEFAULT.from_dlpack(managed) }.unwrap();
    assert_eq!(back.as_slice::<i32>(), Ok(&[3, 2, 1][..]));

    let refused = Context::DEFAULT.into_dlpack(reversed(), Export::NoCopy);
    assert!(matches!(refused, Err(Error::Unsupported(_))), "{refused:?}");
}

#[test]
fn slices() {
    let refused = reversed();
    assert!(matches!(refused.as_slice::<i32>(), Err(Error::Stride(_))));
    let plain = Tensor::from_vec(vec![1i32, 2, 3], &[3]).unwrap();
    assert_eq!(plain.with_strides(&[4]).unwrap().as_slice::<i32>(), Ok(&[1, 2, 3][..]));
}
