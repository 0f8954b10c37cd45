//! Conversions of numbers from and to the C ABI. The library supports only 64-bit platforms, so a usize has 64 bits
//! like an int64. Only this file converts numbers without a check. The comment of each function states why its
//! conversion is valid.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

/// Returns the size of a struct of the ABI. It is at most a few hundred bytes.
pub(crate) const fn struct_size<T>() -> u32 {
    size_of::<T>() as u32
}

/// Converts an extent to the int64 of the same bits. An open extent becomes -1. The library rejects other negative
/// extents.
pub(crate) const fn extent_to_c(extent: usize) -> i64 {
    extent as i64
}

/// Converts a stride of an isize, which has 64 bits.
pub(crate) const fn stride_to_c(stride: isize) -> i64 {
    stride as i64
}

/// Converts an extent of the library. It is -1 if it is open, and otherwise not negative.
pub(crate) const fn extent_from_c(extent: i64) -> usize {
    extent as usize
}

/// Converts a count of the library, or of a description of this crate. It is not negative.
pub(crate) const fn count(number: i32) -> usize {
    number as usize
}

/// Returns the bits of flags, or of a device number.
pub(crate) const fn bits(number: i32) -> u32 {
    number as u32
}

/// Returns the unsigned number with the bits of an int64.
pub(crate) const fn unsigned(pattern: i64) -> u64 {
    pattern as u64
}

/// Converts a number of bytes. A number that exceeds an int64 becomes the largest int64, which the library rejects.
#[inline]
pub(crate) fn bytes_to_c(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Converts a rank. A rank that exceeds an int32 becomes the largest int32, which the library rejects.
#[inline]
pub(crate) fn rank_to_c(rank: usize) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX)
}
