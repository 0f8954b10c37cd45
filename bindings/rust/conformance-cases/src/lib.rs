//! The declarations of tests/conformance/reader/cases.h.

use std::ffi::c_char;

use gather_sys::{gth_error, gth_options, gth_tensor_desc};

#[repr(C)]
pub struct Tensor {
    pub desc: gth_tensor_desc,
    pub string_offsets: *const i64,
    pub string_count: i64,
}

#[repr(C)]
pub struct Case {
    pub name: *const c_char,
    pub op_name: *const c_char,
    pub codec: *const c_char,
    pub op: i32,
    pub has_crc: i32,
    pub options: gth_options,
    pub error: gth_error,
    pub params: Tensor,
    pub indices: Tensor,
    pub updates: Tensor,
    pub bags: Tensor,
    pub weights: Tensor,
    pub scales: Tensor,
    pub zeros: Tensor,
    pub out: Tensor,
}

#[repr(C)]
pub struct File {
    pub cases: *const Case,
    pub count: i64,
    pub error: [c_char; 512],
    text: *mut c_char,
    numbers: *mut i64,
}

unsafe extern "C" {
    pub fn conformance_read(path: *const c_char, file: *mut File);
    pub fn conformance_free(file: *mut File);
}
