//! Exchange of tensors with other libraries: DLPack, and Arrow for strings.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::abi::call;
use crate::columns::Rows;
use crate::context::Context;
use crate::error::Error;
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

/// The structs of DLPack that a [`DlPack`] can own.
pub trait Managed: sealed::Managed {}

impl Managed for sys::DLManagedTensorVersioned {}
impl Managed for sys::DLManagedTensor {}

mod sealed {
    use gather_sys as sys;

    pub trait Managed: Sized {
        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
    }

    impl Managed for sys::DLManagedTensorVersioned {
        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
            self.deleter
        }
    }

    impl Managed for sys::DLManagedTensor {
        fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
            self.deleter
        }
    }
}

/// A DLPack struct that this value owns: the versioned one, or the legacy `DlPack<sys::DLManagedTensor>`. Its deleter
/// runs when the value is dropped.
///
/// # Examples
///
/// ```
/// use gather::{Context, Export, Tensor};
///
/// let exported = Context::DEFAULT.into_dlpack(Tensor::from_vec(vec![1.0f32, 2.0], &[2])?, Export::NoCopy)?;
/// let imported = Context::DEFAULT.from_dlpack(exported)?;
/// assert_eq!(imported.as_slice::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
pub struct DlPack<T: Managed = sys::DLManagedTensorVersioned>(NonNull<T>);

// SAFETY: the deleter may run on any thread, and only the owner reads the struct.
unsafe impl<T: Managed> Send for DlPack<T> {}

impl<T: Managed> DlPack<T> {
    /// Takes the ownership of a struct.
    ///
    /// # Safety
    ///
    /// `managed` must be a valid struct. Its memory must not change before its deleter runs, which may be on any thread.
    /// Its bools must be 0 or 1.
    pub unsafe fn from_raw(managed: NonNull<T>) -> Self {
        DlPack(managed)
    }

    /// Returns the struct. The caller owns it, and must call its deleter.
    pub fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).0
    }
}

impl<T: Managed> Drop for DlPack<T> {
    fn drop(&mut self) {
        // SAFETY: this value owns the struct, whose deleter runs once, here.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter() {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl Context {
    /// Creates a tensor from a versioned DLPack struct, without a copy. The tensor owns the struct. If the call fails,
    /// the deleter of the struct has run. The tensor is read-only, because its producer and others may read the same
    /// memory.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DlPack`], [`Error::DType`], [`Error::Rank`], [`Error::Shape`], [`Error::Size`],
    /// [`Error::Stride`], [`Error::Device`], [`Error::OutOfMemory`] and [`Error::Version`].
    pub fn from_dlpack(&self, managed: DlPack) -> Result<Tensor<'static>, Error> {
        // SAFETY: the wrapper owns a valid struct.
        imported(managed, |managed, out, err| unsafe {
            sys::gth_tensor_from_dlpack(self.raw(), managed, out, err)
        })
    }

    /// Creates a tensor from a legacy DLPack struct. Other rules are those of [`Context::from_dlpack`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Context::from_dlpack`].
    pub fn from_dlpack_legacy(&self, managed: DlPack<sys::DLManagedTensor>) -> Result<Tensor<'static>, Error> {
        // SAFETY: the wrapper owns a valid struct.
        imported(managed, |managed, out, err| unsafe {
            sys::gth_tensor_from_dlpack_legacy(self.raw(), managed, out, err)
        })
    }

    /// Exports a tensor as a versioned DLPack struct. The export consumes the tensor, because another library may write
    /// to the shared memory. A view is borrowed memory, even if the tensor from which it was made owns the memory.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for strings, and for borrowed memory with [`Export::NoCopy`].
    /// [`Error::OutOfMemory`].
    pub fn into_dlpack(&self, tensor: Tensor<'_>, export: Export) -> Result<DlPack, Error> {
        // SAFETY: the handle has not been released.
        exported(tensor, |tensor, out, err| unsafe {
            sys::gth_tensor_to_dlpack(self.raw(), tensor, export.flags(), out, err)
        })
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
    ) -> Result<DlPack<sys::DLManagedTensor>, Error> {
        // SAFETY: the handle has not been released.
        exported(tensor, |tensor, out, err| unsafe {
            sys::gth_tensor_to_dlpack_legacy(self.raw(), tensor, export.flags(), out, err)
        })
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
    /// bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for other tensors, and for borrowed memory with [`Export::NoCopy`].
    /// [`Error::OutOfMemory`].
    pub fn to_arrow(&self, tensor: &Tensor<'_>, export: Export) -> Result<Rows, Error> {
        let handle = tensor.handle()?;
        // SAFETY: the handle has not been released. A successful call writes both structs, whose memory does not change.
        Rows::written(|schema, array, err| unsafe {
            sys::gth_tensor_to_arrow(self.raw(), handle.as_ptr(), export.flags(), schema, array, err)
        })
    }
}

fn imported<T: Managed>(
    managed: DlPack<T>,
    f: impl FnOnce(*mut T, *mut *mut sys::gth_tensor, *mut sys::gth_error) -> i32,
) -> Result<Tensor<'static>, Error> {
    let handle = Handle::make(|out, err| f(managed.0.as_ptr(), out, err))?;
    managed.into_raw(); // The handle owns it.
    let mut tensor = Tensor::from_handle(handle)?;
    tensor.set_read_only();
    Ok(tensor)
}

fn exported<T: Managed>(
    tensor: Tensor<'_>,
    f: impl FnOnce(*mut sys::gth_tensor, *mut *mut T, *mut sys::gth_error) -> i32,
) -> Result<DlPack<T>, Error> {
    let handle = tensor.export_handle()?;
    let mut out = ptr::null_mut();
    call(|err| f(handle.as_ptr(), &mut out, err))?;
    Ok(DlPack(NonNull::new(out).expect("an export is not null")))
}
