//! Numbers of the C ABI in Rust. The library is 64-bit only, so that a usize and an int64 have the same bits: this is the one
//! file where a number changes its type without a check, each time for the reason that is given.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

/// The size that a struct of the ABI begins with: a few hundred bytes.
pub(crate) const fn struct_size<T>() -> u32 {
    size_of::<T>() as u32
}

/// An extent as the int64 of the same bits: an open one is -1, and what is negative else the library refuses.
pub(crate) const fn extent_to_c(extent: usize) -> i64 {
    extent as i64
}

/// An extent that the library gave: -1 is an open one, the others are not negative.
pub(crate) const fn extent_from_c(extent: i64) -> usize {
    extent as usize
}

/// A count that the library gave, or a description of ours: not negative.
pub(crate) const fn count(number: i32) -> usize {
    number as usize
}

/// The bits of a number that is flags or an identity.
pub(crate) const fn bits(number: i32) -> u32 {
    number as u32
}

/// The pattern of an unsigned 64-bit number that travels as an int64.
pub(crate) const fn unsigned(pattern: i64) -> u64 {
    pattern as u64
}

/// A number of bytes. What no memory has is the largest number, which the library refuses.
#[inline]
pub(crate) fn bytes_to_c(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// A rank. What is too large for the ABI is the largest number, which the library refuses.
#[inline]
pub(crate) fn rank_to_c(rank: usize) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX)
}
