//! A gather of every element type.

use gather::{Element, Options, Tensor, gather};

fn round_trip<T: Element + PartialEq + std::fmt::Debug>(values: [T; 3]) {
    let out = gather(
        &Tensor::new(&values, &[3]),
        &Tensor::new(&[2u8, 0], &[2]),
        &Options::new(),
    )
    .unwrap();
    assert_eq!(out.dtype(), T::DTYPE);
    assert_eq!(out.as_slice::<T>(), Ok(&[values[2], values[0]][..]));
}

#[test]
fn primitive_types_are_elements() {
    round_trip([true, false, false]);
    round_trip([-1i8, 2, 3]);
    round_trip([-1i16, 2, 3]);
    round_trip([-1i32, 2, 3]);
    round_trip([-1i64, 2, 3]);
    round_trip([-1isize, 2, 3]);
    round_trip([1u8, 2, 3]);
    round_trip([1u16, 2, 3]);
    round_trip([1u32, 2, 3]);
    round_trip([1u64, 2, 3]);
    round_trip([1usize, 2, 3]);
    round_trip([0.5f32, -0.0, f32::INFINITY]);
    round_trip([0.5f64, -0.0, f64::MIN]);
}

#[test]
fn newtypes_are_elements() {
    use gather::*;
    round_trip([1, 2, 0x7e00].map(Float16));
    round_trip([1, 2, 0x7fc0].map(BFloat16));
    round_trip([1, 2, 0xff].map(Float8E3M4));
    round_trip([1, 2, 0xff].map(Float8E4M3));
    round_trip([1, 2, 0xff].map(Float8E4M3B11Fnuz));
    round_trip([1, 2, 0xff].map(Float8E4M3Fn));
    round_trip([1, 2, 0xff].map(Float8E4M3Fnuz));
    round_trip([1, 2, 0xff].map(Float8E5M2));
    round_trip([1, 2, 0xff].map(Float8E5M2Fnuz));
    round_trip([1, 2, 0xff].map(Float8E8M0Fnu));
    round_trip([1.0, 2.0, 3.0].map(|re| Complex64 { re, im: -re }));
    round_trip([1.0, 2.0, 3.0].map(|re| Complex128 { re, im: -re }));
}

#[cfg(feature = "half")]
#[test]
fn types_of_half_are_elements() {
    round_trip([1.0, 2.0, 3.5].map(half::f16::from_f32));
    round_trip([1.0, 2.0, 3.5].map(half::bf16::from_f32));
}

#[cfg(feature = "num-complex")]
#[test]
fn types_of_num_complex_are_elements() {
    round_trip([1.0f32, 2.0, 3.5].map(|re| num_complex::Complex::new(re, -re)));
    round_trip([1.0f64, 2.0, 3.5].map(|re| num_complex::Complex::new(re, -re)));
}
