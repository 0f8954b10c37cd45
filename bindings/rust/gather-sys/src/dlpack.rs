//! The structs of DLPack 1. gather.h only names two of them.

use core::ffi::c_void;

/// The version of a struct. A consumer of another major version may only call the deleter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DLPackVersion {
    pub major: u32,
    pub minor: u32,
}

/// A device. The types are those of `GTH_DEVICE_`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DLDevice {
    pub device_type: i32,
    pub device_id: i32,
}

/// The type of an element. A dtype of gather.h is `code * 256 + bits`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DLDataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// A tensor. Strides count elements. They may be NULL if the tensor is dense.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)]
pub struct DLTensor {
    pub data: *mut c_void,
    pub device: DLDevice,
    pub ndim: i32,
    pub dtype: DLDataType,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

/// A tensor without a version. Whoever owns it calls `deleter` once, if there is one.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)]
pub struct DLManagedTensor {
    pub dl_tensor: DLTensor,
    pub manager_ctx: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor with a version. Whoever owns it calls `deleter` once, if there is one.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)]
pub struct DLManagedTensorVersioned {
    pub version: DLPackVersion,
    pub manager_ctx: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    pub flags: u64,
    pub dl_tensor: DLTensor,
}
