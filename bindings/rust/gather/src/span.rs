//! How much memory a run of a plan touches.

use crate::buffer::Kind;
use crate::error::{Cause, Error, Operand};
use crate::layout::{OPEN, shape, strides};
use crate::numbers::{bytes_to_c, extent_from_c};
use gather_sys as sys;

/// The bytes that an operand of a plan reaches, [low, high) from its data pointer, for an open extent of 1 and for each
/// one more. What is beyond int64 is saturated: no memory has so much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub kind: Kind,
    low: i64,
    low_step: i64,
    high: i64,
    high_step: i64,
    /// The bytes that memory must have for an open extent of 1, or without one; more than any has if low is negative.
    one: usize,
}

impl Span {
    /// # Safety
    /// The description's shape and strides must be live.
    pub unsafe fn of(desc: &sys::gth_tensor_desc) -> Self {
        // SAFETY: by contract.
        let (shape, strides) = unsafe { (shape(desc), strides(desc)) };
        let mut span = Span {
            kind: Kind::from_numbers(desc.dtype, desc.device, desc.device_id),
            low: 0,
            low_step: 0,
            high: 0,
            high_step: 0,
            one: 0,
        };
        if shape.contains(&0) {
            return span;
        }
        (span.low, span.high) = (desc.offset, desc.offset);
        let item = i64::from(desc.dtype % 256 / 8);
        match strides {
            Some(strides) => span.reach_strided(shape, strides, item),
            None => span.reach_dense(shape, item),
        }
        span.one = if span.low < 0 {
            usize::MAX
        } else {
            extent_from_c(span.high)
        };
        span
    }

    fn reach_dense(&mut self, shape: &[usize], item: i64) {
        let unit = shape
            .iter()
            .filter(|extent| **extent != OPEN)
            .fold(item, |bytes, extent| bytes.saturating_mul(bytes_to_c(*extent)));
        self.high = self.high.saturating_add(unit);
        if shape.contains(&OPEN) {
            self.high_step = unit;
        }
    }

    fn reach_strided(&mut self, shape: &[usize], strides: &[isize], item: i64) {
        self.high = self.high.saturating_add(item);
        for (extent, stride) in shape.iter().zip(strides) {
            let stride = *stride as i64;
            if *extent == OPEN {
                (self.low_step, self.high_step) = (stride.min(0), stride.max(0));
            } else {
                let reach = (bytes_to_c(*extent) - 1).saturating_mul(stride);
                self.low = self.low.saturating_add(reach.min(0));
                self.high = self.high.saturating_add(reach.max(0));
            }
        }
    }

    /// Whether memory of this kind and size will do for `n` of the open extent; 1 where there is none.
    #[inline(always)]
    pub fn check(&self, operand: Operand, kind: Kind, bytes: usize, n: usize) -> Result<(), Error> {
        if self.kind == kind && (n == 1 && bytes >= self.one || self.fits(bytes, n)) {
            Ok(())
        } else {
            Err(self.refuse(operand, kind, bytes, n))
        }
    }

    #[inline(never)]
    fn fits(&self, bytes: usize, n: usize) -> bool {
        let (low, high) = self.reach(n);
        n == 0 || low >= 0 && high <= bytes as i128
    }

    fn reach(&self, n: usize) -> (i128, i128) {
        let more = n as i128 - 1;
        (
            i128::from(self.low) + more * i128::from(self.low_step),
            i128::from(self.high) + more * i128::from(self.high_step),
        )
    }

    #[cold]
    fn refuse(&self, operand: Operand, kind: Kind, bytes: usize, n: usize) -> Error {
        let (low, high) = self.reach(n);
        let (status, value, limit, message) = if self.kind.dtype() != kind.dtype() {
            let message = "the plan was made for another dtype".to_owned();
            let (value, limit) = (kind.dtype().into(), self.kind.dtype().into());
            (sys::GTH_E_DTYPE, value, limit, message)
        } else if self.kind != kind {
            let message = "the plan was made for another device".to_owned();
            let (value, limit) = (kind.device().into(), self.kind.device().into());
            (sys::GTH_E_DEVICE, value, limit, message)
        } else if low < 0 {
            let message = format!("the plan reaches {} bytes before the memory", -low);
            (sys::GTH_E_STRIDE, low, bytes_to_c(bytes), message)
        } else {
            let message = format!("the plan needs {high} bytes, the memory has {bytes}");
            let limit = i64::try_from(high).unwrap_or(i64::MAX);
            (sys::GTH_E_SIZE, bytes as i128, limit, message)
        };
        Cause::new(status, operand, message).numbers(value, limit).into()
    }
}
