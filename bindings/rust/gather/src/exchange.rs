//! Tensors from and for other libraries: DLPack, and Arrow for strings.

use std::ptr::{self, NonNull};

use crate::abi;
use crate::context::Context;
use crate::error::{Error, call};
use crate::handle::Handle;
use crate::numbers::rank_to_c;
use crate::tensor::Tensor;
use gather_sys as sys;

/// Whether an export may share memory with the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Export {
    /// Share memory that the library owns, copy memory that is borrowed.
    #[default]
    Owned,
    /// Always copy.
    Copy,
    /// Never copy: a borrowed tensor is [`Error::Unsupported`].
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
    /// A tensor from a versioned DLPack struct, without a copy. The struct is taken over on success only. The tensor is
    /// read-only, because its producer and others may read the same memory.
    ///
    /// Errors: [`Error::DlPack`], [`Error::DType`], [`Error::Rank`], [`Error::Shape`], [`Error::Size`],
    /// [`Error::Stride`], [`Error::Device`], [`Error::OutOfMemory`], [`Error::Version`].
    ///
    /// # Safety
    /// `managed` must be a valid struct whose memory nobody changes while the tensor lives, whose bools are 0 or 1, and
    /// whose deleter may run on any thread.
    pub unsafe fn from_dlpack(
        &self,
        managed: NonNull<sys::DLManagedTensorVersioned>,
    ) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        // SAFETY: by contract.
        imported(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_dlpack(self.raw(), managed.as_ptr(), out, err)
        })?)
    }

    /// A tensor from a DLPack struct of the time before versions. As [`Context::from_dlpack`].
    ///
    /// # Safety
    /// As [`Context::from_dlpack`].
    pub unsafe fn from_dlpack_legacy(&self, managed: NonNull<sys::DLManagedTensor>) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        // SAFETY: by contract.
        imported(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_dlpack_legacy(self.raw(), managed.as_ptr(), out, err)
        })?)
    }

    /// A tensor as a versioned DLPack struct, for another library to take; its deleter must be called in the end. The
    /// tensor is given away, because the other library may write to memory that they share. A view is borrowed memory, also
    /// where the tensor it was made from owns it.
    ///
    /// Errors: [`Error::Unsupported`] for strings, and for borrowed memory that is not to be copied;
    /// [`Error::OutOfMemory`].
    pub fn into_dlpack(
        &self,
        tensor: Tensor<'_>,
        export: Export,
    ) -> Result<NonNull<sys::DLManagedTensorVersioned>, Error> {
        abi::ensure()?;
        let handle = tensor.export_handle()?;
        let mut out = ptr::null_mut();
        // SAFETY: the handle is live.
        call(|err| unsafe { sys::gth_tensor_to_dlpack(self.raw(), handle.as_ptr(), export.flags(), &mut out, err) })?;
        Ok(NonNull::new(out).expect("an export is not null"))
    }

    /// A tensor as a DLPack struct of the time before versions. As [`Context::into_dlpack`]; [`Error::ReadOnly`] for
    /// memory that is read-only and would be shared.
    pub fn into_dlpack_legacy(
        &self,
        tensor: Tensor<'_>,
        export: Export,
    ) -> Result<NonNull<sys::DLManagedTensor>, Error> {
        abi::ensure()?;
        let handle = tensor.export_handle()?;
        let mut out = ptr::null_mut();
        // SAFETY: the handle is live.
        call(|err| unsafe {
            sys::gth_tensor_to_dlpack_legacy(self.raw(), handle.as_ptr(), export.flags(), &mut out, err)
        })?;
        Ok(NonNull::new(out).expect("an export is not null"))
    }

    /// A tensor of strings from an Arrow array of format u, U, z or Z. The array is taken over on success only; `shape`
    /// cuts its length into dims, without it there is one.
    ///
    /// Errors: [`Error::DType`] for another format and for nulls, [`Error::Arrow`], [`Error::Rank`], [`Error::Shape`],
    /// [`Error::Size`], [`Error::OutOfMemory`].
    ///
    /// # Safety
    /// Both must be valid structs of Arrow's C data interface; the array's buffers must not change while the tensor
    /// lives, and its release must be callable on any thread.
    pub unsafe fn from_arrow(
        &self,
        schema: *const sys::ArrowSchema,
        array: *mut sys::ArrowArray,
        shape: Option<&[usize]>,
    ) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        let (ndim, extents) = shape.map_or((-1, ptr::null()), |shape| {
            (rank_to_c(shape.len()), shape.as_ptr().cast())
        });
        // SAFETY: by contract; the shape has ndim extents.
        Tensor::from_handle(Handle::make(|out, err| unsafe {
            sys::gth_tensor_from_arrow(self.raw(), schema, array, ndim, extents, out, err)
        })?)
    }

    /// Writes a tensor of strings as an Arrow array, flat in row-major order: U for text, Z for other bytes. The release
    /// of both must be called in the end.
    ///
    /// Errors: [`Error::Unsupported`] for other tensors, and for borrowed memory that is not to be copied;
    /// [`Error::OutOfMemory`].
    ///
    /// # Safety
    /// Both must point to memory for the structs of Arrow's C data interface, which is overwritten.
    pub unsafe fn to_arrow(
        &self,
        tensor: &Tensor<'_>,
        export: Export,
        schema: *mut sys::ArrowSchema,
        array: *mut sys::ArrowArray,
    ) -> Result<(), Error> {
        abi::ensure()?;
        let handle = tensor.handle()?;
        // SAFETY: by contract; the handle is live.
        call(|err| unsafe { sys::gth_tensor_to_arrow(self.raw(), handle.as_ptr(), export.flags(), schema, array, err) })
    }
}

fn imported(handle: Handle) -> Result<Tensor<'static>, Error> {
    let mut tensor = Tensor::from_handle(handle)?;
    tensor.set_read_only();
    Ok(tensor)
}
