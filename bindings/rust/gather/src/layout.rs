//! Shapes and strides without memory, for plans and shape queries.

use std::fmt;

use crate::buffer::Kind;
use crate::description::Description;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::Error;
use crate::numbers::{bytes_to_c, extent_to_c};
use gather_sys as sys;

/// An open extent. Each run of a plan sets its value. In a shape query, the result also has an open extent.
pub const OPEN: usize = usize::MAX;

// It has the bits of -1, the open extent of the library.
const _: () = assert!(extent_to_c(OPEN) == sys::GTH_OPEN as i64);

/// Dtype, shape and strides of a tensor.
#[derive(Clone)]
pub struct Layout {
    pub(crate) desc: Description,
}

// SAFETY: shape and strides are owned, and there is no memory.
unsafe impl Send for Layout {}
// SAFETY: as above.
unsafe impl Sync for Layout {}

impl Layout {
    /// Creates a dense row-major layout of elements of a Rust type.
    pub fn new<T: Element>(shape: &[usize]) -> Self {
        Self::of(T::DTYPE, shape)
    }

    /// Creates a dense row-major layout of elements of a dtype.
    pub fn of(dtype: DType, shape: &[usize]) -> Self {
        Self::with_kind(Kind::new(dtype, Device::Cpu), shape)
    }

    /// Creates a layout without a dtype, for shape queries. They then skip the checks of the dtype.
    pub fn untyped(shape: &[usize]) -> Self {
        let mut layout = Self::of(DType::UInt8, shape);
        layout.desc.head.dtype = 0;
        layout
    }

    pub(crate) fn with_kind(kind: Kind, shape: &[usize]) -> Self {
        let desc = Description::new(kind, shape);
        Layout { desc }
    }

    /// Sets the device.
    pub fn on(mut self, device: Device) -> Self {
        (self.desc.head.device, self.desc.head.device_id) = device.numbers();
        self
    }

    /// Sets the strides in bytes, one for each dim.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Rank`] if there are more or fewer strides than dims.
    pub fn with_strides(mut self, strides: &[isize]) -> Result<Self, Error> {
        self.desc.set_strides(strides)?;
        Ok(self)
    }

    /// Sets the number of bytes from the beginning of the memory to element 0.
    pub fn with_offset(mut self, bytes: usize) -> Self {
        self.desc.head.offset = bytes_to_c(bytes);
        self
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_desc(f, "Layout", &self.desc)
    }
}

/// Formats a description for debugging. It omits default values.
pub(crate) fn fmt_desc(f: &mut fmt::Formatter<'_>, name: &str, desc: &Description) -> fmt::Result {
    let mut out = f.debug_struct(name);
    match DType::try_from(desc.head.dtype) {
        Ok(dtype) => out.field("dtype", &dtype),
        Err(_) => out.field("dtype", &"any"),
    };
    out.field("shape", &extents(desc.shape()));
    if let Some(strides) = desc.strides() {
        out.field("strides", &strides);
    }
    if desc.head.offset != 0 {
        out.field("offset", &desc.head.offset);
    }
    match desc.device() {
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
