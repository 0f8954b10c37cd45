//! The hooks for allocators of the caller. They allocate the memory of results.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::ptr;

use gather_sys as sys;

fn layout(bytes: i64, align: i64) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(bytes).ok()?, usize::try_from(align).ok()?).ok()
}

/// The allocation hook of the library.
///
/// # Safety
///
/// `user` points to an `A` that is never dropped.
pub(crate) unsafe extern "C" fn alloc<A: GlobalAlloc + Sync>(
    user: *mut c_void,
    bytes: i64,
    align: i64,
    device: i32,
    _device_id: i32,
    _stream: *mut sys::CUstream_st,
) -> *mut c_void {
    match layout(bytes, align) {
        Some(layout) if device == sys::GTH_DEVICE_CPU && layout.size() > 0 => {
            // SAFETY: the caller guarantees it, and the size is not zero.
            unsafe { (*user.cast::<A>()).alloc(layout).cast() }
        }
        _ => ptr::null_mut(),
    }
}

/// The hook of the library that frees memory.
///
/// # Safety
///
/// `user` points to the `A` that returned `ptr` in [`alloc`], which had the same arguments.
pub(crate) unsafe extern "C" fn free<A: GlobalAlloc + Sync>(
    user: *mut c_void,
    bytes: i64,
    align: i64,
    _device: i32,
    _device_id: i32,
    _stream: *mut sys::CUstream_st,
    ptr: *mut c_void,
) {
    if let Some(layout) = layout(bytes, align) {
        // SAFETY: the caller guarantees it.
        unsafe { (*user.cast::<A>()).dealloc(ptr.cast(), layout) };
    }
}
