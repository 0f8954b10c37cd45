//! The Rust types of elements, and newtypes for the dtypes that have no Rust type.

use crate::dtype::DType;

mod sealed {
    /// A type that implements this trait has the size of its dtype and no padding. The library copies and reduces
    /// elements, and the result must be a valid bit pattern of the type.
    pub trait Sealed {}
}

/// A type of elements. The trait is sealed, because the library supports a fixed set of types.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype in the library.
    const DTYPE: DType;
}

macro_rules! element {
    ($($type:ty = $dtype:ident,)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Element for $type {
                const DTYPE: DType = DType::$dtype;
            }
            const _: () = assert!(size_of::<$type>() == DType::$dtype.size());
        )*
    };
}

macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident($bits:ty),)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            #[repr(transparent)]
            pub struct $name(
                /// The bits of the number.
                pub $bits,
            );
            element! { $name = $name, }
        )*
    };
}

element! {
    bool = Bool,
    i8 = Int8,
    i16 = Int16,
    i32 = Int32,
    i64 = Int64,
    isize = Int64,
    u8 = UInt8,
    u16 = UInt16,
    u32 = UInt32,
    u64 = UInt64,
    usize = UInt64,
    f32 = Float32,
    f64 = Float64,
}

bits! {
    /// The bits of an IEEE 754 binary16 number. With the feature `half`, `half::f16` is an element too.
    Float16(u16),
    /// The bits of a bfloat16 number. With the feature `half`, `half::bf16` is an element too.
    BFloat16(u16),
    /// A float8 of 3 exponent and 4 mantissa bits.
    Float8E3M4(u8),
    /// A float8 of 4 exponent and 3 mantissa bits, with the rules of IEEE 754.
    Float8E4M3(u8),
    /// A float8 of 4 exponent and 3 mantissa bits, bias 11, finite, without negative zero.
    Float8E4M3B11Fnuz(u8),
    /// A float8 of 4 exponent and 3 mantissa bits, finite.
    Float8E4M3Fn(u8),
    /// A float8 of 4 exponent and 3 mantissa bits, finite, without negative zero.
    Float8E4M3Fnuz(u8),
    /// A float8 of 5 exponent and 2 mantissa bits, with the rules of IEEE 754.
    Float8E5M2(u8),
    /// A float8 of 5 exponent and 2 mantissa bits, finite, without negative zero.
    Float8E5M2Fnuz(u8),
    /// A power of two in 8 bits, the scale of block formats.
    Float8E8M0Fnu(u8),
}

macro_rules! complex {
    ($($(#[$doc:meta])* $name:ident($part:ty),)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq)]
            #[repr(C)]
            pub struct $name {
                /// The real part.
                pub re: $part,
                /// The imaginary part.
                pub im: $part,
            }
            element! { $name = $name, }
        )*
    };
}

complex! {
    /// A complex number of two `f32`. With the feature `num-complex`, `num_complex::Complex<f32>` is an element too.
    Complex64(f32),
    /// A complex number of two `f64`. With the feature `num-complex`, `num_complex::Complex<f64>` is an element too.
    Complex128(f64),
}

#[cfg(feature = "half")]
element! {
    half::f16 = Float16,
    half::bf16 = BFloat16,
}

#[cfg(feature = "num-complex")]
element! {
    num_complex::Complex<f32> = Complex64,
    num_complex::Complex<f64> = Complex128,
}
