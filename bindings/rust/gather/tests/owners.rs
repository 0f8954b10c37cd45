//! Tensors that own their memory and have other strides. Every call must use these strides.

use gather::{Context, Error, Export, Options, Tensor, TensorMut, gather, gather_into};

/// The elements 3, 2, 1 as a reversed view of memory of the library.
fn reversed() -> Tensor<'static> {
    let owner = Tensor::from_vec(vec![1i32, 2, 3], &[3]).unwrap();
    owner.with_strides(&[-4]).unwrap().with_offset(8)
}

#[test]
fn strided_owner_as_params() {
    let (params, ids) = (reversed(), Tensor::new(&[0u8, 2], &[2]));
    let made = gather(&params, &ids, &Options::new()).unwrap();
    assert_eq!(made.as_slice::<i32>(), Ok(&[3, 1][..]));
    let mut written = [0i32; 2];
    let mut out = TensorMut::new(&mut written, &[2]);
    gather_into(&params, &ids, &Options::new(), &mut out).unwrap();
    assert_eq!(written, [3, 1]);
}

#[test]
fn strided_owner_as_indices() {
    let params = Tensor::new(&[0u8, 10, 20, 30], &[4]);
    let made = gather(&params, &reversed(), &Options::new()).unwrap();
    assert_eq!(made.as_slice::<u8>(), Ok(&[30, 20, 10][..]));
}

#[test]
fn strided_owner_is_copied_and_exported() {
    let mut copied = [0i32; 3];
    let mut out = TensorMut::new(&mut copied, &[3]);
    Context::DEFAULT.copy(&reversed(), &mut out).unwrap();
    assert_eq!(copied, [3, 2, 1]);

    let managed = Context::DEFAULT.into_dlpack(reversed(), Export::Owned).unwrap();
    let back = Context::DEFAULT.from_dlpack(managed).unwrap();
    assert_eq!(back.as_slice::<i32>(), Ok(&[3, 2, 1][..]));

    let repeated = Tensor::from_vec(vec![1i32, 2, 3], &[3]).unwrap().with_strides(&[0]);
    for view in [reversed(), repeated.unwrap()] {
        let rejected = Context::DEFAULT.into_dlpack(view, Export::NoCopy);
        assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    }
}

#[test]
fn strided_owner_has_no_slice() {
    let rejected = reversed();
    assert!(matches!(rejected.as_slice::<i32>(), Err(Error::Stride(_))));
    let plain = || Tensor::from_vec(vec![1i32, 2, 3], &[3, 1]).unwrap();
    // The stride of an extent of 1 has no effect.
    for strides in [[4, 4], [4, 0], [4, -8]] {
        assert_eq!(
            plain().with_strides(&strides).unwrap().as_slice::<i32>(),
            Ok(&[1, 2, 3][..])
        );
    }
    for strides in [[8, 4], [0, 4], [-4, 4]] {
        let strided = plain().with_strides(&strides).unwrap();
        assert!(
            matches!(strided.as_slice::<i32>(), Err(Error::Stride(_))),
            "{strides:?}"
        );
    }
}
