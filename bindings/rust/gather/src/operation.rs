//! What the library calls an operation: one row of its functions.

use gather_sys as sys;

type Make = unsafe extern "C" fn(
    *mut sys::gth_context,
    *const sys::gth_tensor,
    *const sys::gth_tensor,
    *const sys::gth_options,
    *mut *mut sys::gth_tensor,
    *mut sys::gth_error,
) -> i32;

type Write = unsafe extern "C" fn(
    *mut sys::gth_context,
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    *const sys::gth_tensor_desc,
    *mut sys::gth_error,
) -> i32;

type Shape = unsafe extern "C" fn(
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    i32,
    *mut i32,
    *mut i64,
    *mut sys::gth_error,
) -> i32;

type Plan = unsafe extern "C" fn(
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    *const sys::gth_tensor_desc,
    *mut *mut sys::gth_plan,
    *mut sys::gth_error,
) -> i32;

/// The forms of one operation.
pub(crate) struct Operation {
    pub make: Make,
    pub write: Write,
    pub shape: Shape,
    pub plan: Plan,
}

pub(crate) const GATHER: Operation = Operation {
    make: sys::gth_gather,
    write: sys::gth_gather_desc,
    shape: sys::gth_gather_shape,
    plan: sys::gth_gather_plan,
};

pub(crate) const GATHER_ND: Operation = Operation {
    make: sys::gth_gather_nd,
    write: sys::gth_gather_nd_desc,
    shape: sys::gth_gather_nd_shape,
    plan: sys::gth_gather_nd_plan,
};

pub(crate) const GATHER_ELEMENTS: Operation = Operation {
    make: sys::gth_gather_elements,
    write: sys::gth_gather_elements_desc,
    shape: sys::gth_gather_elements_shape,
    plan: sys::gth_gather_elements_plan,
};
