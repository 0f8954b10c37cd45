//! Descriptions of operands, with the shape and the strides that they own.

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::{ptr, slice};

use crate::buffer::Kind;
use crate::device::Device;
use crate::error::{Cause, Error, Operand};
use crate::numbers::{count, extent_to_c, rank_to_c, stride_to_c, struct_size};
use gather_sys as sys;

/// Descriptions of at most this number of extents and strides need no memory of the heap.
const INLINE: usize = 8;

/// A `gth_tensor_desc` whose pointers to numbers may change while threads share it.
#[repr(C)]
pub(crate) struct Head {
    size: u32,
    pub dtype: i32,
    pub device: i32,
    pub device_id: i32,
    ndim: i32,
    pub flags: u32,
    tensor: *const sys::gth_tensor,
    pub data: *const c_void,
    shape: AtomicPtr<i64>,
    strides: AtomicPtr<i64>,
    pub codec: *const sys::gth_codec,
    pub offset: i64,
    pub extent: i64,
}

const _: () = assert!(
    size_of::<Head>() == size_of::<sys::gth_tensor_desc>()
        && offset_of!(Head, shape) == offset_of!(sys::gth_tensor_desc, shape)
        && offset_of!(Head, strides) == offset_of!(sys::gth_tensor_desc, strides)
        && offset_of!(Head, extent) == offset_of!(sys::gth_tensor_desc, extent)
);

impl Head {
    #[inline]
    fn new(raw: sys::gth_tensor_desc) -> Self {
        Head {
            size: raw.size,
            dtype: raw.dtype,
            device: raw.device,
            device_id: raw.device_id,
            ndim: raw.ndim,
            flags: raw.flags,
            tensor: raw.tensor,
            data: raw.data,
            shape: AtomicPtr::new(raw.shape.cast_mut()),
            strides: AtomicPtr::new(raw.strides.cast_mut()),
            codec: raw.codec,
            offset: raw.offset,
            extent: raw.extent,
        }
    }
}

/// A description that owns its shape and its strides, or has those of a handle of the library.
pub(crate) struct Description {
    /// If the description owns its numbers, the pointers of `head` are wrong after it has moved. `raw` corrects them. So
    /// a call passes the description itself, and needs no copy.
    pub head: Head,
    /// The extents, and then the strides if there are any. They are unused if `owned` is 0.
    inline: [MaybeUninit<i64>; INLINE],
    /// The same numbers, if there are more than `INLINE`. Their address does not change.
    heap: Option<Box<[i64]>>,
    /// The number of pointers of `head` to `inline`: none, the shape, or also the strides.
    owned: u8,
    was_used: AtomicBool,
}

impl Description {
    /// Describes a dense tensor without memory. The library rejects negative extents.
    #[inline]
    pub fn new(kind: Kind, shape: &[usize]) -> Self {
        let mut desc = Self::from_raw(sys::gth_tensor_desc {
            size: struct_size::<sys::gth_tensor_desc>(),
            dtype: kind.dtype(),
            device: kind.device(),
            device_id: kind.device_id(),
            ndim: rank_to_c(shape.len()),
            ..Default::default()
        });
        if shape.len() <= INLINE {
            for (to, from) in desc.inline.iter_mut().zip(shape) {
                to.write(extent_to_c(*from));
            }
            desc.owned = 1;
        } else {
            desc.own_heap(shape.iter().map(|extent| extent_to_c(*extent)).collect(), false);
        }
        desc
    }

    /// Takes the description of a tensor of the library. Its shape and its strides must be valid as long as the value.
    #[inline]
    pub fn from_raw(raw: sys::gth_tensor_desc) -> Self {
        Description {
            head: Head::new(raw),
            inline: [MaybeUninit::uninit(); INLINE],
            heap: None,
            owned: 0,
            was_used: AtomicBool::new(false),
        }
    }

    /// Sets the numbers to memory of the heap.
    fn own_heap(&mut self, numbers: Box<[i64]>, has_strides: bool) {
        *self.head.shape.get_mut() = numbers.as_ptr().cast_mut();
        if has_strides {
            *self.head.strides.get_mut() = numbers[count(self.head.ndim)..].as_ptr().cast_mut();
        }
        self.heap = Some(numbers);
        self.owned = 0;
    }

    #[inline]
    fn own(&self) -> *const i64 {
        self.inline.as_ptr().cast()
    }

    /// Returns true if the pointers are right, and false if they may be wrong.
    #[inline]
    pub fn is_settled(&self) -> bool {
        ptr::eq(self.head.shape.load(Acquire), self.own())
    }

    /// Returns the description for a call. It is valid until this value is moved or changed.
    #[inline]
    pub fn raw(&self) -> *const sys::gth_tensor_desc {
        if !self.is_settled() {
            self.correct();
        }
        self.head()
    }

    /// Returns the description of a settled value.
    #[inline]
    pub fn head(&self) -> *const sys::gth_tensor_desc {
        ptr::from_ref(&self.head).cast()
    }

    /// Returns true if a call may copy the description: if it is settled, or the call is the first one with the value.
    #[inline]
    pub fn may_copy(&self) -> bool {
        let is_first = !self.was_used.load(Relaxed);
        self.was_used.store(true, Relaxed);
        is_first | self.is_settled()
    }

    /// Returns a copy of the description, which is valid until this value is moved or changed. It costs less than to
    /// correct the pointers, which needs atomic instructions.
    #[inline]
    pub fn copied(&self) -> sys::gth_tensor_desc {
        let head = &self.head;
        let own = self.own();
        sys::gth_tensor_desc {
            size: head.size,
            dtype: head.dtype,
            device: head.device,
            device_id: head.device_id,
            ndim: head.ndim,
            flags: head.flags,
            tensor: head.tensor,
            data: head.data,
            shape: if self.owned > 0 { own } else { head.shape.load(Relaxed) },
            strides: if self.owned > 1 {
                own.wrapping_add(count(head.ndim))
            } else {
                head.strides.load(Relaxed)
            },
            codec: head.codec,
            offset: head.offset,
            extent: head.extent,
        }
    }

    /// Sets the pointers after a move. Several threads may set them at the same time. Each pointer is written once, and
    /// the shape after the strides. So no thread writes a pointer that a call of another one reads.
    #[cold]
    fn correct(&self) {
        let set = |pointer: &AtomicPtr<i64>, at: usize| {
            let (old, new) = (pointer.load(Acquire), self.own().wrapping_add(at).cast_mut());
            if old != new {
                let _ = pointer.compare_exchange(old, new, AcqRel, Acquire); // It fails if another thread has set it.
            }
        };
        if self.owned > 1 {
            set(&self.head.strides, count(self.head.ndim));
        }
        if self.owned > 0 {
            set(&self.head.shape, 0);
        }
    }

    /// Sets the strides in bytes.
    pub fn set_strides(&mut self, strides: &[isize]) -> Result<(), Error> {
        let rank = self.head.ndim;
        if strides.len() != count(rank) {
            let message = format!("{} strides for {rank} dims", strides.len());
            return Err(Cause::new(sys::GTH_E_RANK, Operand::Tensor, message)
                .numbers(strides.len() as i128, rank.into())
                .into());
        }
        let rank = count(rank);
        if 2 * rank <= INLINE {
            if self.owned == 0 {
                let mut numbers = [MaybeUninit::uninit(); INLINE];
                for (to, from) in numbers.iter_mut().zip(self.shape()) {
                    to.write(extent_to_c(*from));
                }
                self.inline = numbers;
            }
            for (to, from) in self.inline[rank..].iter_mut().zip(strides) {
                to.write(stride_to_c(*from));
            }
            self.owned = if rank > 0 { 2 } else { 1 };
            // `raw` then sets the pointers.
            (*self.head.shape.get_mut(), *self.head.strides.get_mut()) = (ptr::null_mut(), ptr::null_mut());
        } else {
            let shape = self.shape().iter().map(|extent| extent_to_c(*extent));
            let numbers = shape.chain(strides.iter().map(|stride| stride_to_c(*stride))).collect();
            self.own_heap(numbers, true);
        }
        Ok(())
    }

    pub fn kind(&self) -> Kind {
        Kind::from_numbers(self.head.dtype, self.head.device, self.head.device_id)
    }

    pub fn device(&self) -> Device {
        Device::from_numbers(self.head.device, self.head.device_id)
    }

    pub fn shape(&self) -> &[usize] {
        // SAFETY: the shape is owned, or valid as long as the value. Extents of the library are not negative, and those
        // of this crate are any usize.
        unsafe { slice::from_raw_parts((*self.raw()).shape.cast(), count(self.head.ndim)) }
    }

    /// Returns the strides in bytes, or `None` if the tensor is dense.
    pub fn strides(&self) -> Option<&[isize]> {
        // SAFETY: the description is valid.
        let strides = unsafe { (*self.raw()).strides };
        // SAFETY: the strides are owned, or valid as long as the value.
        (!strides.is_null()).then(|| unsafe { slice::from_raw_parts(strides.cast(), count(self.head.ndim)) })
    }
}

impl Clone for Description {
    fn clone(&self) -> Self {
        // SAFETY: the description is valid.
        let mut desc = Self::from_raw(unsafe { *self.raw() });
        // The pointers to `inline` are wrong, as after a move.
        (desc.inline, desc.owned) = (self.inline, self.owned);
        if let Some(numbers) = &self.heap {
            desc.own_heap(numbers.clone(), self.strides().is_some());
        }
        desc
    }
}
