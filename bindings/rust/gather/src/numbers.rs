//! Conversions of numbers from and to the C ABI. The library is 64-bit only, so that a usize and an int64 have the same
//! bits. Only this file converts numbers without a check. Each function says why its conversion is valid.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

/// The size of a struct of the ABI, which is a few hundred bytes.
pub(crate) const fn struct_size<T>() -> u32 {
    size_of::<T>() as u32
}

/// An extent as the int64 of the same bits. An open one is -1. The library refuses other negative extents.
pub(crate) const fn extent_to_c(extent: usize) -> i64 {
    extent as i64
}

/// An extent of the library: -1 is an open one, and others are not negative.
pub(crate) const fn extent_from_c(extent: i64) -> usize {
    extent as usize
}

/// A count of the library, or of a description of this crate. It is not negative.
pub(crate) const fn count(number: i32) -> usize {
    number as usize
}

/// The bits of flags, or of an identity.
pub(crate) const fn bits(number: i32) -> u32 {
    number as u32
}

/// The unsigned 64-bit number that has the bits of an int64.
pub(crate) const fn unsigned(pattern: i64) -> u64 {
    pattern as u64
}

/// A number of bytes. A number that exceeds an int64 becomes the largest one, which the library refuses.
#[inline]
pub(crate) fn bytes_to_c(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// A rank. A rank that exceeds an int32 becomes the largest one, which the library refuses.
#[inline]
pub(crate) fn rank_to_c(rank: usize) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX)
}
