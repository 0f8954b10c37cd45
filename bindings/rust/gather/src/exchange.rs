//! Exchange of tensors with other libraries: DLPack, and Arrow for strings.

use std::ptr::{self, NonNull};

use crate::context::Context;
use crate::error::{Error, call};
use crate::handle::Handle;
use crate::numbers::rank_to_c;
use crate::tensor::Tensor;
use gather_sys as sys;

/// The rule whether an export shares memory with the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Export {
    /// Memory that the library owns is shared, and memory that is borrowed is copied.
    #[default]
    Owned,
    /// The memory is always copied.
    Copy,
    /// The memory is never copied. A borrowed tensor returns [`Error::Unsupported`].
    NoCopy,
}

impl Export {
    fn flags(self) -> u32 {
        match self {
            Export::Owned => 0,
            Export::Copy => sys::GTH_EXPORT_COPY as u32,
            Export::NoCopy => sys::GTH_EXPORT_NO_COPY as u32,
        }
    }
}

impl Context {
    /// Creates a tensor from a versioned DLPack struct, without a copy. If the call succeeds, the tensor owns the
    /// struct. The tensor is read-only, because its producer and others may read the same memory.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DlPack`], [`Error::DType`], [`Error::Rank`], [`Error::Shape`], [`Error::Size`],
    /// [`Error::Stride`], [`Error::Device`], [`Error::OutOfMemory`] and [`Error::Version`].
    ///
    /// # Safety
    ///
    /// `managed` must be a valid struct. Its memory must not change before the tensor is released. Its bools must be 0
    /// or 1. Its deleter may run on any thread.
    pub unsafe fn from_dlpack(
        &self,
        managed: NonNull<sys::DLManagedTensorVersioned>,
    ) -> Result<Tensor<'static>, Error> {
        // SAFETY: the caller guarantees it.
        imported(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_dlpack(self.raw(), managed.as_ptr(), out, err)
        })?)
    }

    /// Creates a tensor from a legacy DLPack struct. Other rules are those of [`Context::from_dlpack`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Context::from_dlpack`].
    ///
    /// # Safety
    ///
    /// The requirements are those of [`Context::from_dlpack`].
    pub unsafe fn from_dlpack_legacy(&self, managed: NonNull<sys::DLManagedTensor>) -> Result<Tensor<'static>, Error> {
        // SAFETY: the caller guarantees it.
        imported(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_dlpack_legacy(self.raw(), managed.as_ptr(), out, err)
        })?)
    }

    /// Exports a tensor as a versioned DLPack struct. The caller must call its deleter. The export consumes the tensor,
    /// because another library may write to the shared memory. A view is borrowed memory, even if the tensor from which
    /// it was made owns the memory.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for strings, and for borrowed memory with [`Export::NoCopy`].
    /// [`Error::OutOfMemory`].
    pub fn into_dlpack(
        &self,
        tensor: Tensor<'_>,
        export: Export,
    ) -> Result<NonNull<sys::DLManagedTensorVersioned>, Error> {
        let handle = tensor.export_handle()?;
        let mut out = ptr::null_mut();
        // SAFETY: the handle has not been released.
        call(|err| unsafe { sys::gth_tensor_to_dlpack(self.raw(), handle.as_ptr(), export.flags(), &mut out, err) })?;
        Ok(NonNull::new(out).expect("an export is not null"))
    }

    /// Exports a tensor as a legacy DLPack struct. Other rules are those of [`Context::into_dlpack`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Context::into_dlpack`], and [`Error::ReadOnly`] for read-only memory that would be
    /// shared.
    pub fn into_dlpack_legacy(
        &self,
        tensor: Tensor<'_>,
        export: Export,
    ) -> Result<NonNull<sys::DLManagedTensor>, Error> {
        let handle = tensor.export_handle()?;
        let mut out = ptr::null_mut();
        // SAFETY: the handle has not been released.
        call(|err| unsafe {
            sys::gth_tensor_to_dlpack_legacy(self.raw(), handle.as_ptr(), export.flags(), &mut out, err)
        })?;
        Ok(NonNull::new(out).expect("an export is not null"))
    }

    /// Creates a tensor of strings from an Arrow array of format u, U, z or Z. If the call succeeds, the tensor owns
    /// the array. Without `shape` the tensor has one dim.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] for another format and for nulls, [`Error::Arrow`], [`Error::Rank`], [`Error::Shape`],
    /// [`Error::Size`] and [`Error::OutOfMemory`].
    ///
    /// # Safety
    ///
    /// Both must be valid structs of Arrow's C data interface. The buffers of the array must not change before the
    /// tensor is released. The release of the array must be callable on any thread.
    pub unsafe fn from_arrow(
        &self,
        schema: *const sys::ArrowSchema,
        array: *mut sys::ArrowArray,
        shape: Option<&[usize]>,
    ) -> Result<Tensor<'static>, Error> {
        let (ndim, extents) = shape.map_or((-1, ptr::null()), |shape| {
            (rank_to_c(shape.len()), shape.as_ptr().cast())
        });
        // SAFETY: the caller guarantees it, and the shape has ndim extents.
        Tensor::from_handle(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_arrow(self.raw(), schema, array, ndim, extents, out, err)
        })?)
    }

    /// Exports a tensor of strings as a flat Arrow array in row-major order. The format is U for text, and Z for other
    /// bytes. The caller must call the release of both structs.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for other tensors, and for borrowed memory with [`Export::NoCopy`].
    /// [`Error::OutOfMemory`].
    ///
    /// # Safety
    ///
    /// Both must point to memory for the structs of Arrow's C data interface, which is overwritten.
    pub unsafe fn to_arrow(
        &self,
        tensor: &Tensor<'_>,
        export: Export,
        schema: *mut sys::ArrowSchema,
        array: *mut sys::ArrowArray,
    ) -> Result<(), Error> {
        let handle = tensor.handle()?;
        // SAFETY: the caller guarantees it, and the handle has not been released.
        call(|err| unsafe { sys::gth_tensor_to_arrow(self.raw(), handle.as_ptr(), export.flags(), schema, array, err) })
    }
}

fn imported(handle: Handle) -> Result<Tensor<'static>, Error> {
    let mut tensor = Tensor::from_handle(handle)?;
    tensor.set_read_only();
    Ok(tensor)
}
