//! Memory with an element type and without a shape. Tensors and runs of plans use it.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::numbers::bits;
use gather_sys as sys;

/// The dtype, the device and the device number of memory, in one word that is fast to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(u64);

impl Kind {
    pub const fn new(dtype: DType, device: Device) -> Self {
        let (device, id) = device.numbers();
        Self::from_numbers(dtype as i32, device, id)
    }

    /// Combines the numbers. A dtype needs 17 bits, and a device fewer than 8.
    pub const fn from_numbers(dtype: i32, device: i32, id: i32) -> Self {
        let low = bits(dtype) & 0xff_ffff | bits(device) << 24;
        Kind(low as u64 | (bits(id) as u64) << 32)
    }

    pub const fn dtype(self) -> i32 {
        (self.0 & 0xff_ffff) as i32
    }

    pub const fn device(self) -> i32 {
        (self.0 >> 24 & 0xff) as i32
    }

    pub const fn device_id(self) -> i32 {
        (self.0 >> 32) as i32
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = Device::from_numbers(self.device(), self.device_id());
        match DType::try_from(self.dtype()) {
            Ok(dtype) => write!(f, "{dtype:?} on {device:?}"),
            Err(_) => write!(f, "any dtype on {device:?}"),
        }
    }
}

/// Memory that a call reads. Slices, vectors and arrays of [`Element`]s convert into it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    pub(crate) kind: Kind,
    pub(crate) data: *const c_void,
    pub(crate) bytes: usize,
    borrow: PhantomData<&'a [u8]>,
}

/// Memory that a call writes. Slices, vectors and arrays of [`Element`]s convert into it. Their elements may be
/// [`MaybeUninit`].
///
/// A gather that returns `Ok` has written every element of its output, except for the rows that
/// [`Bounds::Skip`](crate::Bounds::Skip) leaves unchanged. Scatters read their target: if it is memory of
/// [`MaybeUninit`] elements, they return [`Error::Unsupported`].
///
/// # Examples
///
/// ```
/// use gather::{Options, Tensor, TensorMut, gather_into};
///
/// let table = [10i32, 11, 20, 21, 30, 31];
/// let mut rows = Vec::<i32>::with_capacity(100);
/// let mut out = TensorMut::new(rows.spare_capacity_mut(), &[2, 2]);
/// gather_into(&Tensor::new(&table, &[3, 2]), &Tensor::new(&[2u8, 0], &[2]), &Options::new(), &mut out)?;
/// // SAFETY: the call has written 2 * 2 elements.
/// unsafe { rows.set_len(4) };
/// assert_eq!(rows, [30, 31, 10, 11]);
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
pub struct BufferMut<'a> {
    pub(crate) kind: Kind,
    pub(crate) data: *mut c_void,
    pub(crate) bytes: usize,
    /// True if the memory may be read.
    pub(crate) is_init: bool,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a buffer is a shared slice `&[T]` of elements that are Sync. The caller of `from_raw` ensures the same.
unsafe impl Send for Buffer<'_> {}
// SAFETY: as above.
unsafe impl Sync for Buffer<'_> {}
// SAFETY: a BufferMut is an exclusive slice `&mut [T]` of elements that are Send.
unsafe impl Send for BufferMut<'_> {}
// SAFETY: a shared reference gives no access to the memory.
unsafe impl Sync for BufferMut<'_> {}

impl<'a> Buffer<'a> {
    /// Creates a buffer of bytes with elements of a dtype, in the byte order of the machine. They may have any
    /// alignment.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] for strings, and for bools whose byte is not 0 or 1.
    pub fn from_bytes(dtype: DType, bytes: &'a [u8]) -> Result<Self, Error> {
        if dtype == DType::String {
            return Err(
                Cause::new(sys::GTH_E_DTYPE, Operand::Tensor, "strings are not plain bytes")
                    .numbers(dtype as i128, 0)
                    .into(),
            );
        }
        if dtype == DType::Bool {
            check_bools(bytes)?;
        }
        // SAFETY: the slice is borrowed for 'a, and bools have been checked.
        Ok(unsafe { Self::from_raw(dtype, Device::Cpu, bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Creates a buffer of any memory, including that of a device.
    ///
    /// # Safety
    ///
    /// `data` must point to `bytes` readable bytes on `device`. They must not change for `'a`. On a device, they must
    /// also not change until the stream has executed every call that reads them. Elements of tensors of bools must be 0
    /// or 1.
    pub unsafe fn from_raw(dtype: DType, device: Device, data: *const c_void, bytes: usize) -> Self {
        Buffer {
            kind: Kind::new(dtype, device),
            data,
            bytes,
            borrow: PhantomData,
        }
    }

    /// Creates a buffer without memory, for an operand that a plan has bound.
    pub(crate) const fn none(kind: Kind) -> Self {
        Buffer {
            kind,
            data: ptr::null(),
            bytes: 0,
            borrow: PhantomData,
        }
    }

    /// Returns the number of whole elements. Memory of strings has none.
    pub(crate) fn len(&self) -> usize {
        DType::try_from(self.kind.dtype())
            .ok()
            .and_then(|dtype| self.bytes.checked_div(dtype.size()))
            .unwrap_or(0)
    }
}

impl<'a> BufferMut<'a> {
    /// Creates a buffer of bytes to which a call writes elements of a dtype. They may have any alignment.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] for strings.
    pub fn from_bytes(dtype: DType, bytes: &'a mut [u8]) -> Result<Self, Error> {
        Buffer::from_bytes(dtype, &[])?;
        // SAFETY: the slice is borrowed for 'a, and any byte may be written to it.
        Ok(unsafe { Self::from_raw(dtype, Device::Cpu, bytes.as_mut_ptr().cast(), bytes.len()) })
    }

    /// Creates a buffer of any memory, including that of a device.
    ///
    /// # Safety
    ///
    /// `data` must point to `bytes` writable bytes on `device`. They must have no other user for `'a`. On a device,
    /// they must also have no other user until the stream has executed every call that writes them. The target of a
    /// scatter must be initialised.
    pub unsafe fn from_raw(dtype: DType, device: Device, data: *mut c_void, bytes: usize) -> Self {
        BufferMut {
            kind: Kind::new(dtype, device),
            data,
            bytes,
            is_init: true,
            borrow: PhantomData,
        }
    }

    /// Returns the same memory as a [`Buffer`]. All pointers in the arguments of the library are const.
    #[inline]
    pub(crate) fn into_read(self) -> Buffer<'a> {
        Buffer {
            kind: self.kind,
            data: self.data,
            bytes: self.bytes,
            borrow: PhantomData,
        }
    }
}

/// Checks that each byte is 0 or 1. A Rust bool of any other byte is undefined behaviour.
pub(crate) fn check_bools(bytes: &[u8]) -> Result<(), Error> {
    match bytes.iter().find(|byte| **byte > 1) {
        None => Ok(()),
        Some(byte) => Err(Cause::new(
            sys::GTH_E_DTYPE,
            Operand::Tensor,
            format!("a bool is 0 or 1, not {byte}"),
        )
        .numbers((*byte).into(), DType::Bool as i64)
        .into()),
    }
}

impl<'a, T: Element> From<&'a [T]> for Buffer<'a> {
    #[inline]
    fn from(slice: &'a [T]) -> Self {
        Buffer {
            kind: const { Kind::new(T::DTYPE, Device::Cpu) },
            data: slice.as_ptr().cast(),
            bytes: size_of_val(slice),
            borrow: PhantomData,
        }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for BufferMut<'a> {
    #[inline]
    fn from(slice: &'a mut [T]) -> Self {
        BufferMut {
            kind: const { Kind::new(T::DTYPE, Device::Cpu) },
            data: slice.as_mut_ptr().cast(),
            bytes: size_of_val(slice),
            is_init: true,
            borrow: PhantomData,
        }
    }
}

impl<'a, T: Element> From<&'a mut [MaybeUninit<T>]> for BufferMut<'a> {
    #[inline]
    fn from(slice: &'a mut [MaybeUninit<T>]) -> Self {
        BufferMut {
            kind: const { Kind::new(T::DTYPE, Device::Cpu) },
            data: slice.as_mut_ptr().cast(),
            bytes: size_of_val(slice),
            is_init: false,
            borrow: PhantomData,
        }
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [MaybeUninit<T>; N]> for BufferMut<'a> {
    #[inline]
    fn from(array: &'a mut [MaybeUninit<T>; N]) -> Self {
        array.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Buffer<'a> {
    #[inline]
    fn from(vec: &'a Vec<T>) -> Self {
        vec.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for BufferMut<'a> {
    #[inline]
    fn from(vec: &'a mut Vec<T>) -> Self {
        vec.as_mut_slice().into()
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Buffer<'a> {
    #[inline]
    fn from(array: &'a [T; N]) -> Self {
        array.as_slice().into()
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for BufferMut<'a> {
    #[inline]
    fn from(array: &'a mut [T; N]) -> Self {
        array.as_mut_slice().into()
    }
}

/// Returns an error if the target of a scatter may be uninitialised.
#[inline]
pub(crate) fn check_init(is_init: bool) -> Result<(), Error> {
    if is_init { Ok(()) } else { Err(uninit_error()) }
}

#[cold]
fn uninit_error() -> Error {
    let message = "memory that may be uninitialised cannot be the target of a scatter";
    Cause::new(sys::GTH_E_UNSUPPORTED, Operand::Target, message).into()
}

/// Returns the pointer for a description. Memory of 0 bytes has the pointer NULL. With another pointer, an extent of 0
/// would mean that the shape decides the size.
#[inline]
pub(crate) fn pointer(data: *const c_void, bytes: usize) -> *const c_void {
    if bytes == 0 { ptr::null() } else { data }
}
