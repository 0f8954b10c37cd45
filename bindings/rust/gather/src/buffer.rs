//! Memory with an element type, but without a shape: what tensors are cut from and what plans run on.

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

/// What memory must agree on to stand in for other memory: dtype, device and its number, in one word to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(u64);

impl Kind {
    pub const fn new(dtype: DType, device: Device) -> Self {
        let (device, id) = device.numbers();
        Self::from_numbers(dtype as i32, device, id)
    }

    /// That of the memory that a description is for.
    pub const fn of(desc: &sys::gth_tensor_desc) -> Self {
        Self::from_numbers(desc.dtype, desc.device, desc.device_id)
    }

    /// Dtypes have 17 bits, devices a few.
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

/// Memory to read. Slices, vectors and arrays of [`Element`]s turn into it by themselves.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    pub(crate) kind: Kind,
    pub(crate) data: *const c_void,
    pub(crate) bytes: usize,
    lent: PhantomData<&'a [u8]>,
}

/// Memory to write. Slices, vectors and arrays of [`Element`]s turn into it by themselves, and so do those of
/// [`MaybeUninit`] elements: nothing of it is read. A call that returns `Ok` has written every element of the output,
/// but for the rows that [`Bounds::Skip`](crate::Bounds::Skip) leaves as they are. Scatters read what they change: to
/// them such memory is [`Error::Unsupported`].
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
    /// Whether what is there may be read.
    pub(crate) is_init: bool,
    lent: PhantomData<&'a mut [u8]>,
}

// SAFETY: as `&[T]` of elements, which are Sync. Device memory is the business of who made it, see from_raw.
unsafe impl Send for Buffer<'_> {}
// SAFETY: as above.
unsafe impl Sync for Buffer<'_> {}
// SAFETY: as `&mut [T]` of elements, which are Send.
unsafe impl Send for BufferMut<'_> {}
// SAFETY: as above; a shared reference gives access to nothing.
unsafe impl Sync for BufferMut<'_> {}

impl<'a> Buffer<'a> {
    /// Bytes that hold elements of a dtype, in the machine's byte order and of any alignment.
    ///
    /// Errors: [`Error::DType`] for strings, and for bytes other than 0 and 1 where they are to be bools.
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

    /// Any memory, that of a device too.
    ///
    /// # Safety
    /// `data` must point to `bytes` bytes on `device`, readable and unchanged by others for `'a` and, on a device,
    /// until the stream has passed every call that reads them. Bools must be 0 or 1 where a tensor over it has
    /// elements.
    pub unsafe fn from_raw(dtype: DType, device: Device, data: *const c_void, bytes: usize) -> Self {
        Buffer {
            kind: Kind::new(dtype, device),
            data,
            bytes,
            lent: PhantomData,
        }
    }
}

impl<'a> BufferMut<'a> {
    /// Bytes to write elements of a dtype to, of any alignment.
    ///
    /// Errors: [`Error::DType`] for strings.
    pub fn from_bytes(dtype: DType, bytes: &'a mut [u8]) -> Result<Self, Error> {
        Buffer::from_bytes(dtype, &[])?;
        // SAFETY: the slice is borrowed for 'a, and every byte that can be written is a byte.
        Ok(unsafe { Self::from_raw(dtype, Device::Cpu, bytes.as_mut_ptr().cast(), bytes.len()) })
    }

    /// Any memory, that of a device too.
    ///
    /// # Safety
    /// `data` must point to `bytes` bytes on `device`, writable and used by nobody else for `'a` and, on a device,
    /// until the stream has passed every call that writes them. They must be initialised where they are scattered into.
    pub unsafe fn from_raw(dtype: DType, device: Device, data: *mut c_void, bytes: usize) -> Self {
        BufferMut {
            kind: Kind::new(dtype, device),
            data,
            bytes,
            is_init: true,
            lent: PhantomData,
        }
    }

    /// The same memory, for an argument of the library, whose pointers are all const.
    #[inline]
    pub(crate) fn into_read(self) -> Buffer<'a> {
        Buffer {
            kind: self.kind,
            data: self.data,
            bytes: self.bytes,
            lent: PhantomData,
        }
    }
}

/// A bool of any other byte would be undefined behaviour where it comes out again as a Rust bool.
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
            lent: PhantomData,
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
            lent: PhantomData,
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
            lent: PhantomData,
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

/// Checks that memory to scatter into may be read.
#[inline]
pub(crate) fn check_init(is_init: bool) -> Result<(), Error> {
    if is_init { Ok(()) } else { Err(refuse_uninit()) }
}

#[cold]
fn refuse_uninit() -> Error {
    let message = "memory that may be uninitialised cannot be the target of a scatter";
    Cause::new(sys::GTH_E_UNSUPPORTED, Operand::Target, message).into()
}

/// The pointer of a description. No bytes are no pointer: an extent of 0 means as much as the shape reaches.
#[inline]
pub(crate) fn pointer(data: *const c_void, bytes: usize) -> *const c_void {
    if bytes == 0 { ptr::null() } else { data }
}
