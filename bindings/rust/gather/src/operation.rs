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

type Scatter = unsafe extern "C" fn(
    *mut sys::gth_context,
    *const sys::gth_tensor,
    *const sys::gth_tensor,
    *const sys::gth_tensor,
    *const sys::gth_options,
    *mut *mut sys::gth_tensor,
    *mut sys::gth_error,
) -> i32;

type ScatterInPlace = unsafe extern "C" fn(
    *mut sys::gth_context,
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    *mut sys::gth_error,
) -> i32;

type Gradient = unsafe extern "C" fn(
    *mut sys::gth_context,
    *const sys::gth_tensor,
    *const sys::gth_tensor,
    i32,
    *const i64,
    *const sys::gth_options,
    *mut *mut sys::gth_tensor,
    *mut sys::gth_error,
) -> i32;

pub(crate) type Shape = unsafe extern "C" fn(
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    i32,
    *mut i32,
    *mut i64,
    *mut sys::gth_error,
) -> i32;

pub(crate) type Plan = unsafe extern "C" fn(
    *const sys::gth_tensor_desc,
    *const sys::gth_tensor_desc,
    *const sys::gth_options,
    *const sys::gth_tensor_desc,
    *mut *mut sys::gth_plan,
    *mut sys::gth_error,
) -> i32;

/// The forms of a gather.
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

/// The forms of a scatter.
pub(crate) struct ScatterOperation {
    pub make: Scatter,
    pub write: ScatterInPlace,
    pub shape: Shape,
    pub plan: Plan,
}

pub(crate) const SCATTER: ScatterOperation = ScatterOperation {
    make: sys::gth_scatter,
    write: sys::gth_scatter_desc,
    shape: sys::gth_scatter_shape,
    plan: sys::gth_scatter_plan,
};

pub(crate) const SCATTER_ND: ScatterOperation = ScatterOperation {
    make: sys::gth_scatter_nd,
    write: sys::gth_scatter_nd_desc,
    shape: sys::gth_scatter_nd_shape,
    plan: sys::gth_scatter_nd_plan,
};

pub(crate) const SCATTER_ELEMENTS: ScatterOperation = ScatterOperation {
    make: sys::gth_scatter_elements,
    write: sys::gth_scatter_elements_desc,
    shape: sys::gth_scatter_elements_shape,
    plan: sys::gth_scatter_elements_plan,
};

/// The forms of the gradient of a gather.
pub(crate) struct GradientOperation {
    pub make: Gradient,
    pub write: Write,
}

pub(crate) const GATHER_GRADIENT: GradientOperation = GradientOperation {
    make: sys::gth_gather_gradient,
    write: sys::gth_gather_gradient_desc,
};

pub(crate) const GATHER_ND_GRADIENT: GradientOperation = GradientOperation {
    make: sys::gth_gather_nd_gradient,
    write: sys::gth_gather_nd_gradient_desc,
};

pub(crate) const GATHER_ELEMENTS_GRADIENT: GradientOperation = GradientOperation {
    make: sys::gth_gather_elements_gradient,
    write: sys::gth_gather_elements_gradient_desc,
};
