//! Handles of tensors of the library.

use std::ptr::NonNull;

use crate::abi::call;
use crate::error::Error;
use crate::numbers::struct_size;
use gather_sys as sys;

/// Owns one reference to a tensor of the library.
#[derive(Debug)]
pub(crate) struct Handle(NonNull<sys::gth_tensor>);

// SAFETY: tensors of the library are immutable, and any number of threads may use them. The owner of the handle keeps
// their memory borrowed. Memory that they own is freed by functions that may run on any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Calls a function of the library that creates a tensor.
    pub fn make(f: impl FnOnce(*mut *mut sys::gth_tensor, *mut sys::gth_error) -> i32) -> Result<Self, Error> {
        let mut raw = std::ptr::null_mut();
        call(|err| f(&mut raw, err))?;
        // The value is a token of the library. It is not NULL after success.
        Ok(Handle(
            NonNull::new(raw).expect("the handle of a new tensor is not NULL"),
        ))
    }

    pub fn as_ptr(&self) -> *mut sys::gth_tensor {
        self.0.as_ptr()
    }

    /// Returns the tensor as an operand.
    pub fn operand(&self) -> sys::gth_tensor_desc {
        sys::gth_tensor_desc {
            size: struct_size::<sys::gth_tensor_desc>(),
            tensor: self.as_ptr(),
            ..Default::default()
        }
    }

    /// Returns the description of the tensor. Its shape and strides are valid as long as the handle.
    pub fn describe(&self) -> Result<sys::gth_tensor_desc, Error> {
        let mut desc = sys::gth_tensor_desc {
            size: struct_size::<sys::gth_tensor_desc>(),
            ..Default::default()
        };
        // SAFETY: the handle has not been released, and the size of the struct is set.
        call(|err| unsafe { sys::gth_tensor_describe(self.as_ptr(), &mut desc, err) })?;
        Ok(desc)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is released once, here.
        let status = unsafe { sys::gth_tensor_release(self.as_ptr()) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}
