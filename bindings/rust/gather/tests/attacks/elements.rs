//! A bool must be a byte of 0 or 1, and uninitialised memory is never read.

use std::mem::MaybeUninit;

use gather::{
    Buffer, BufferMut, Context, DType, Error, Layout, Options, Plan, Profile, Reduction, ScatterPlan, Tensor,
    TensorMut, gather, gather_into, scatter_elements_into, scatter_into, scatter_nd_into,
};

const SEVENS: [u8; 2] = [7; 2];

macro_rules! assert_error {
    ($result:expr, $variant:ident) => {
        match $result {
            result => assert!(matches!(result, Err(Error::$variant(_))), "{result:?}"),
        }
    };
}

#[test]
fn bytes_other_than_0_and_1_are_rejected_as_bools() {
    assert_error!(Buffer::from_bytes(DType::Bool, &SEVENS), DType);
    assert_error!(Options::new().fill_image(DType::Bool, &[7]), DType);
    assert_error!(Tensor::new(&SEVENS, &[2]).as_slice::<bool>(), DType);
    let ids = Tensor::new(&[0u8, 9], &[2]);
    let (bytes, bools) = (Tensor::new(&SEVENS, &[2]), Tensor::new(&[true, false], &[2]));
    let mut out = [false; 2];
    let mut out = TensorMut::new(&mut out, &[2]);
    let one = Tensor::new(&[0u8], &[1]);
    let options = Options::new();
    assert_error!(
        gather_into(&bytes, &Tensor::new(&[0u8, 1], &[2]), &options, &mut out),
        DType
    );
    assert_error!(Context::DEFAULT.copy(&bytes, &mut out), DType);
    assert_error!(
        scatter_into(&mut out, &one, &Tensor::new(&[7u8], &[1]), &options),
        DType
    );
    let filling = options.profile(Profile::JaxFill).fill_value(7u8);
    assert_error!(gather(&bools, &ids, &filling), DType);
    assert_error!(gather_into(&bools, &ids, &filling, &mut out), DType);
}

#[test]
fn plans_reject_bytes_as_bools() {
    let (bytes, bools) = (Layout::new::<u8>(&[2]), Layout::new::<bool>(&[2]));
    let (ids, options) = (Layout::new::<u8>(&[2]), Options::new());
    assert_error!(Plan::gather_to(&bytes, &ids, &options, &bools), DType);
    assert_error!(
        Plan::gather_nd_to(&bytes, &Layout::new::<u8>(&[2, 1]), &options, &bools),
        DType
    );
    assert_error!(Plan::gather_elements_to(&bytes, &ids, &options, &bools), DType);
    assert_error!(ScatterPlan::scatter_from(&bools, &ids, &options, &bytes), DType);
    assert_error!(
        ScatterPlan::scatter_nd_from(&bools, &Layout::new::<u8>(&[2, 1]), &options, &bytes),
        DType
    );
    assert_error!(
        ScatterPlan::scatter_elements_from(&bools, &ids, &options, &bytes),
        DType
    );
    assert_error!(
        Plan::gather(&Layout::untyped(&[2]), &ids, &options.fill_value(7u8)),
        DType
    );
    assert_error!(Plan::gather(&bools, &ids, &options.fill_value(7u8)), DType);

    let plan = Plan::gather(&bools, &ids, &options).unwrap();
    let mut out = [false; 2];
    assert_error!(plan.run(&SEVENS, &[0u8, 0], &mut out), DType);
    assert_eq!(out, [false; 2]);
}

#[test]
fn reductions_of_bools_are_bools() {
    let mut target = [true, false];
    let ids = Tensor::new(&[0u8, 0, 0], &[3]);
    let updates = Tensor::new(&[true, true, true], &[3]);
    for reduction in [Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Min] {
        let options = Options::new().reduction(reduction);
        let mut out = TensorMut::new(&mut target, &[2]);
        scatter_into(&mut out, &ids, &updates, &options).unwrap();
        let bytes = target.map(u8::from);
        assert_eq!(bytes, [1, 0], "{reduction:?}");
    }
    let mut raw = [7u8, 0];
    let out = BufferMut::from_bytes(DType::Bool, &mut raw).unwrap();
    Context::DEFAULT
        .copy(&Tensor::new(&[true, true], &[2]), &mut TensorMut::new(out, &[2]))
        .unwrap();
    assert_eq!(raw, [1, 1]);
}

#[test]
fn scatter_into_uninitialised_memory_is_unsupported() {
    let mut memory = [MaybeUninit::<i32>::uninit(); 2];
    let (ids, updates) = (Tensor::new(&[0u8, 1], &[2]), Tensor::new(&[1i32, 2], &[2]));
    let tuples = Tensor::new(&[0u8, 1], &[2, 1]);
    let options = Options::new().reduction(Reduction::Add);
    let mut target = TensorMut::new(&mut memory, &[2]);
    assert_error!(scatter_into(&mut target, &ids, &updates, &options), Unsupported);
    assert_error!(scatter_nd_into(&mut target, &tuples, &updates, &options), Unsupported);
    assert_error!(
        scatter_elements_into(&mut target, &ids, &updates, &options),
        Unsupported
    );
    let mut target = target.with_strides(&[4]).unwrap().with_offset(0);
    assert_error!(scatter_into(&mut target, &ids, &updates, &options), Unsupported);

    let plan = ScatterPlan::scatter(&Layout::new::<i32>(&[2]), &Layout::new::<u8>(&[2]), &options).unwrap();
    assert_error!(plan.run(&mut memory, &[0u8, 1], &[1i32, 2]), Unsupported);
}

#[test]
fn runs_reject_short_memory() {
    let plan = Plan::gather(&Layout::new::<i32>(&[4]), &Layout::new::<u8>(&[2]), &Options::new()).unwrap();
    let mut out = [0i32; 2];
    assert_error!(plan.run(&[1i32, 2, 3], &[3u8, 3], &mut out), Size);
    assert_error!(plan.run(&[] as &[i32], &[3u8, 3], &mut out), Size);
    assert_error!(plan.run(&[1i32, 2, 3, 4], &[3u8], &mut out), Size);
    assert_error!(plan.run(&[1i32, 2, 3, 4], &[] as &[u8], &mut out), Size);
    assert_error!(plan.run(&[1i32, 2, 3, 4], &[3u8, 3], &mut out[..1]), Size);
    assert_error!(plan.run(&[1i32, 2, 3, 4], &[3u8, 3], &mut out[..0]), Size);
    assert_error!(plan.check(&[3u8]), Size);
    assert_error!(plan.check(&[] as &[u8]), Size);
    assert_eq!(out, [0; 2]);
}
