//! Shapes and strides without memory, for plans and shape queries.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::slice;

use crate::buffer::Kind;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::numbers::{bytes_to_c, count, extent_to_c, rank_to_c, struct_size};
use gather_sys as sys;

/// An open extent. Each run of a plan sets its value. In a shape query, the result also has an open extent.
pub const OPEN: usize = usize::MAX;

// It has the bits of -1, the open extent of the library.
const _: () = assert!(extent_to_c(OPEN) == sys::GTH_OPEN as i64);

/// Dtype, shape and strides of a tensor.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    pub(crate) desc: sys::gth_tensor_desc,
    borrow: PhantomData<&'a [usize]>,
}

// SAFETY: the pointers are those of borrowed slices of integers. Calls only read them.
unsafe impl Send for Layout<'_> {}
// SAFETY: as above.
unsafe impl Sync for Layout<'_> {}

impl<'a> Layout<'a> {
    /// Creates a dense row-major layout of elements of a Rust type.
    pub fn new<T: Element>(shape: &'a [usize]) -> Self {
        Self::of(T::DTYPE, shape)
    }

    /// Creates a dense row-major layout of elements of a dtype.
    pub fn of(dtype: DType, shape: &'a [usize]) -> Self {
        Self::from_desc(describe(Kind::new(dtype, Device::Cpu), shape))
    }

    /// Creates a layout without a dtype, for shape queries. They then skip the checks of the dtype.
    pub fn untyped(shape: &'a [usize]) -> Self {
        let mut layout = Self::of(DType::UInt8, shape);
        layout.desc.dtype = 0;
        layout
    }

    /// Sets the device.
    pub fn on(mut self, device: Device) -> Self {
        (self.desc.device, self.desc.device_id) = device.numbers();
        self
    }

    /// Sets the strides in bytes, one for each dim.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Rank`] if there are more or fewer strides than dims.
    pub fn with_strides(mut self, strides: &'a [isize]) -> Result<Self, Error> {
        set_strides(&mut self.desc, strides)?;
        Ok(self)
    }

    /// Sets the number of bytes from the beginning of the memory to element 0.
    pub fn with_offset(mut self, bytes: usize) -> Self {
        self.desc.offset = bytes_to_c(bytes);
        self
    }

    pub(crate) fn from_desc(desc: sys::gth_tensor_desc) -> Self {
        Layout {
            desc,
            borrow: PhantomData,
        }
    }
}

impl fmt::Debug for Layout<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: shape and strides are borrowed for 'a.
        unsafe { fmt_desc(f, "Layout", &self.desc) }
    }
}

/// Formats a description for debugging. It omits default values.
///
/// # Safety
///
/// The description's shape and strides must be valid.
pub(crate) unsafe fn fmt_desc(f: &mut fmt::Formatter<'_>, name: &str, desc: &sys::gth_tensor_desc) -> fmt::Result {
    let mut out = f.debug_struct(name);
    match DType::try_from(desc.dtype) {
        Ok(dtype) => out.field("dtype", &dtype),
        Err(_) => out.field("dtype", &"any"),
    };
    // SAFETY: the caller guarantees it.
    let (shape, strides) = unsafe { (shape(desc), strides(desc)) };
    out.field("shape", &extents(shape));
    if let Some(strides) = strides {
        out.field("strides", &strides);
    }
    if desc.offset != 0 {
        out.field("offset", &desc.offset);
    }
    match Device::from_numbers(desc.device, desc.device_id) {
        Device::Cpu => &mut out,
        device => out.field("device", &device),
    };
    out.finish()
}

/// Formats a shape as programs write it.
pub(crate) fn extents(shape: &[usize]) -> impl fmt::Debug + use<> {
    shape.iter().map(|&extent| Extent(extent)).collect::<Vec<_>>()
}

struct Extent(usize);

impl fmt::Debug for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            OPEN => f.write_str("OPEN"),
            extent => extent.fmt(f),
        }
    }
}

/// Returns a description without memory. The library reads a usize as the int64 of the same bits, and rejects negative
/// extents.
#[inline]
pub(crate) fn describe(kind: Kind, shape: &[usize]) -> sys::gth_tensor_desc {
    sys::gth_tensor_desc {
        size: struct_size::<sys::gth_tensor_desc>(),
        dtype: kind.dtype(),
        device: kind.device(),
        device_id: kind.device_id(),
        ndim: rank_to_c(shape.len()),
        flags: 0,
        tensor: ptr::null(),
        data: ptr::null(),
        shape: shape.as_ptr().cast(),
        strides: ptr::null(),
        codec: ptr::null(),
        offset: 0,
        extent: 0,
    }
}

/// Sets the strides of a description. They must outlive the description.
pub(crate) fn set_strides(desc: &mut sys::gth_tensor_desc, strides: &[isize]) -> Result<(), Error> {
    if strides.len() != count(desc.ndim) {
        let message = format!("{} strides for {} dims", strides.len(), desc.ndim);
        return Err(Cause::new(sys::GTH_E_RANK, Operand::Tensor, message)
            .numbers(strides.len() as i128, desc.ndim.into())
            .into());
    }
    desc.strides = strides.as_ptr().cast();
    Ok(())
}

/// Returns the shape of a description.
///
/// # Safety
///
/// The description's shape must be valid for `'a`.
pub(crate) unsafe fn shape<'a>(desc: &sys::gth_tensor_desc) -> &'a [usize] {
    if desc.shape.is_null() {
        return &[];
    }
    // SAFETY: the caller guarantees it. Extents of the library are not negative, and those of this crate are any usize.
    unsafe { slice::from_raw_parts(desc.shape.cast(), count(desc.ndim)) }
}

/// Returns the strides of a description in bytes, or `None` if it is dense.
///
/// # Safety
///
/// The description's strides must be valid for `'a`.
pub(crate) unsafe fn strides<'a>(desc: &sys::gth_tensor_desc) -> Option<&'a [isize]> {
    if desc.strides.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    Some(unsafe { slice::from_raw_parts(desc.strides.cast(), count(desc.ndim)) })
}
