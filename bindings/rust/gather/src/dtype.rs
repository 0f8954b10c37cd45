//! Element types, and their numbers in the library.

use std::fmt;

use crate::error::{Cause, Error, Operand};
use crate::numbers::count;
use gather_sys as sys;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $number:ident $name:literal,)*) => {
        /// The element type of a tensor. The numbers are those of the C ABI and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        #[allow(missing_docs, reason = "the names are sufficient")]
        pub enum DType {
            $($(#[$doc])* $variant = sys::$number,)*
        }

        impl DType {
            /// Every dtype.
            pub const ALL: &[DType] = &[$(DType::$variant,)*];

            /// Returns the name, such as `float32`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }
        }

        impl TryFrom<i32> for DType {
            type Error = Error;

            fn try_from(number: i32) -> Result<Self, Error> {
                match number {
                    $(sys::$number => Ok(DType::$variant),)*
                    _ => Err(Cause::new(sys::GTH_E_DTYPE, Operand::None, format!("no dtype has the number {number}"))
                        .numbers(number.into(), 0)
                        .into()),
                }
            }
        }
    };
}

dtypes! {
    Bool = GTH_DTYPE_BOOL "bool",
    Int8 = GTH_DTYPE_INT8 "int8",
    Int16 = GTH_DTYPE_INT16 "int16",
    Int32 = GTH_DTYPE_INT32 "int32",
    Int64 = GTH_DTYPE_INT64 "int64",
    UInt8 = GTH_DTYPE_UINT8 "uint8",
    UInt16 = GTH_DTYPE_UINT16 "uint16",
    UInt32 = GTH_DTYPE_UINT32 "uint32",
    UInt64 = GTH_DTYPE_UINT64 "uint64",
    Float16 = GTH_DTYPE_FLOAT16 "float16",
    BFloat16 = GTH_DTYPE_BFLOAT16 "bfloat16",
    Float32 = GTH_DTYPE_FLOAT32 "float32",
    Float64 = GTH_DTYPE_FLOAT64 "float64",
    Complex64 = GTH_DTYPE_COMPLEX64 "complex64",
    Complex128 = GTH_DTYPE_COMPLEX128 "complex128",
    Float8E3M4 = GTH_DTYPE_FLOAT8_E3M4 "float8_e3m4",
    Float8E4M3 = GTH_DTYPE_FLOAT8_E4M3 "float8_e4m3",
    Float8E4M3B11Fnuz = GTH_DTYPE_FLOAT8_E4M3B11FNUZ "float8_e4m3b11fnuz",
    Float8E4M3Fn = GTH_DTYPE_FLOAT8_E4M3FN "float8_e4m3fn",
    Float8E4M3Fnuz = GTH_DTYPE_FLOAT8_E4M3FNUZ "float8_e4m3fnuz",
    Float8E5M2 = GTH_DTYPE_FLOAT8_E5M2 "float8_e5m2",
    Float8E5M2Fnuz = GTH_DTYPE_FLOAT8_E5M2FNUZ "float8_e5m2fnuz",
    Float8E8M0Fnu = GTH_DTYPE_FLOAT8_E8M0FNU "float8_e8m0fnu",
    /// Byte strings of any length.
    String = GTH_DTYPE_STRING "string",
}

impl DType {
    /// Returns the size of one element in bytes, or 0 for strings.
    pub const fn size(self) -> usize {
        // The low byte of the number is the number of bits of an element, or 0 for strings.
        count(self as i32 % 256 / 8)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn names_and_sizes_match_the_library() {
        for number in 0..=sys::GTH_DTYPE_STRING {
            // SAFETY: the functions accept any number, and names are static.
            let (size, name) = unsafe { (sys::gth_dtype_size(number), CStr::from_ptr(sys::gth_dtype_name(number))) };
            match DType::try_from(number) {
                Ok(dtype) => {
                    assert_eq!(crate::numbers::bytes_to_c(dtype.size()), size, "{dtype}");
                    assert_eq!(Ok(dtype.name()), name.to_str());
                }
                Err(_) => assert_eq!(size, 0, "{number}"),
            }
        }
        assert_eq!(DType::ALL.len(), 24);
    }
}
