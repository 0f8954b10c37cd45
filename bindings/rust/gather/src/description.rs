//! Descriptions of operands, with the shape and the strides that they own.

use std::slice;

use crate::buffer::Kind;
use crate::device::Device;
use crate::error::{Cause, Error, Operand};
use crate::numbers::{count, extent_to_c, rank_to_c, stride_to_c, struct_size};
use gather_sys as sys;

/// Descriptions of at most this number of extents and strides need no memory of the heap.
const INLINE: usize = 8;

/// A description that owns its shape and its strides, or has those of a handle of the library.
#[derive(Clone)]
pub(crate) struct Description {
    /// It has no pointers to numbers that the description owns, because they move with it.
    pub head: sys::gth_tensor_desc,
    /// The extents, and then the strides if there are any. They are valid if `head` has no shape.
    inline: [i64; INLINE],
    /// The same numbers, if there are more than `INLINE`.
    heap: Option<Box<[i64]>>,
    has_strides: bool,
}

impl Description {
    /// Describes a dense tensor without memory. The library rejects negative extents.
    #[inline]
    pub fn new(kind: Kind, shape: &[usize]) -> Self {
        let head = sys::gth_tensor_desc {
            size: struct_size::<sys::gth_tensor_desc>(),
            dtype: kind.dtype(),
            device: kind.device(),
            device_id: kind.device_id(),
            ndim: rank_to_c(shape.len()),
            ..Default::default()
        };
        let mut desc = Self::from_raw(head);
        if shape.len() <= INLINE {
            for (to, from) in desc.inline.iter_mut().zip(shape) {
                *to = extent_to_c(*from);
            }
        } else {
            desc.heap = Some(shape.iter().map(|extent| extent_to_c(*extent)).collect());
        }
        desc
    }

    /// Takes the description of a tensor of the library. Its shape and its strides must be valid as long as the value.
    #[inline]
    pub fn from_raw(head: sys::gth_tensor_desc) -> Self {
        Description {
            head,
            inline: [0; INLINE],
            heap: None,
            has_strides: false,
        }
    }

    /// Returns the description for a call. Its pointers are valid until this value is moved or changed.
    #[inline]
    pub fn raw(&self) -> sys::gth_tensor_desc {
        let mut raw = self.head;
        if raw.shape.is_null() {
            let numbers = self.numbers();
            raw.shape = numbers.as_ptr();
            if self.has_strides {
                raw.strides = numbers[count(raw.ndim)..].as_ptr();
            }
        }
        raw
    }

    #[inline]
    fn numbers(&self) -> &[i64] {
        self.heap.as_deref().unwrap_or(&self.inline)
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
        // The numbers of a handle are copied too, because the pointers of `head` are valid only together.
        let mut desc = Self::new(self.kind(), self.shape());
        let strides = strides.iter().map(|stride| stride_to_c(*stride));
        if 2 * count(rank) <= INLINE {
            for (to, from) in desc.inline[count(rank)..].iter_mut().zip(strides) {
                *to = from;
            }
        } else {
            desc.heap = Some(desc.numbers()[..count(rank)].iter().copied().chain(strides).collect());
        }
        desc.has_strides = rank > 0;
        desc.head = sys::gth_tensor_desc {
            shape: std::ptr::null(),
            strides: std::ptr::null(),
            ..self.head
        };
        *self = desc;
        Ok(())
    }

    pub fn kind(&self) -> Kind {
        Kind::of(&self.head)
    }

    pub fn device(&self) -> Device {
        Device::from_numbers(self.head.device, self.head.device_id)
    }

    pub fn shape(&self) -> &[usize] {
        // SAFETY: the shape is owned, or valid as long as the value. Extents of the library are not negative, and those
        // of this crate are any usize.
        unsafe { slice::from_raw_parts(self.raw().shape.cast(), count(self.head.ndim)) }
    }

    /// Returns the strides in bytes, or `None` if the tensor is dense.
    pub fn strides(&self) -> Option<&[isize]> {
        let strides = self.raw().strides;
        // SAFETY: the strides are owned, or valid as long as the value.
        (!strides.is_null()).then(|| unsafe { slice::from_raw_parts(strides.cast(), count(self.head.ndim)) })
    }
}
