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

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    /// Returns whether the hook allocates, and frees the memory.
    fn allocates(bytes: i64, align: i64, device: i32) -> bool {
        let user = ptr::from_ref(&System).cast_mut().cast();
        // SAFETY: the allocator is static. The memory is freed with the arguments of its allocation.
        unsafe {
            let data = alloc::<System>(user, bytes, align, device, 0, ptr::null_mut());
            if !data.is_null() {
                free::<System>(user, bytes, align, device, 0, ptr::null_mut(), data);
            }
            !data.is_null()
        }
    }

    #[test]
    fn only_valid_requests_for_memory_of_the_process_are_granted() {
        assert!(allocates(1, 64, sys::GTH_DEVICE_CPU));
        assert!(!allocates(1, 64, sys::GTH_DEVICE_CUDA));
        assert!(!allocates(0, 64, sys::GTH_DEVICE_CPU)); // A GlobalAlloc must not be asked for 0 bytes.
        assert!(!allocates(-1, 64, sys::GTH_DEVICE_CPU));
        assert!(!allocates(1, 3, sys::GTH_DEVICE_CPU));
    }
}
