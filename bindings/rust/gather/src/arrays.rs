//! Conversions from and to arrays of the ndarray crate.

use ::ndarray::{
    Array, ArrayBase, ArrayD, ArrayViewD, Data, DataMut, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn,
};
use std::ffi::c_void;

use crate::buffer::{Buffer, BufferMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

/// The memory of an array: the offset of element 0, the number of bytes, and the strides in bytes.
struct Memory {
    offset: usize,
    bytes: usize,
    strides: Vec<isize>,
}

impl Memory {
    fn of<T>(shape: &[usize], strides: &[isize]) -> Self {
        let item = size_of::<T>();
        let (mut below, mut above) = (0usize, item);
        for (extent, stride) in shape.iter().zip(strides) {
            // The elements of an array are in memory, so their size does not overflow.
            let reach = extent.saturating_sub(1) * stride.unsigned_abs() * item;
            *(if *stride < 0 { &mut below } else { &mut above }) += reach;
        }
        let empty = shape.contains(&0);
        Memory {
            offset: if empty { 0 } else { below },
            bytes: if empty { 0 } else { below + above },
            strides: strides.iter().map(|stride| byte_stride::<T>(*stride)).collect(),
        }
    }
}

/// Returns a stride of an array in bytes. It does not overflow, because the elements are in memory.
fn byte_stride<T>(stride: isize) -> isize {
    stride * isize::try_from(size_of::<T>()).expect("an element has few bytes")
}

/// Views an array of any strides, without a copy of its elements.
///
/// # Examples
///
/// ```
/// use gather::{Options, Tensor, gather};
/// use ndarray::{array, s};
///
/// let table = array![[0, 1, 2], [10, 11, 12]];
/// let reversed = table.slice(s![.., ..;-1]);
/// let picked = gather(&Tensor::from(&reversed), &Tensor::from(&array![0i64]), &Options::new().axis(1))?;
/// assert_eq!(picked.to_array::<i32>()?, array![[2], [12]].into_dyn());
/// # Ok::<(), gather::Error>(())
/// ```
impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for Tensor<'a> {
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        if let Some(slice) = array.as_slice() {
            return Tensor::new(slice, array.shape());
        }
        let memory = Memory::of::<T>(array.shape(), array.strides());
        // SAFETY: these are the bytes that the elements of the array reach, borrowed for 'a. It has elements, because
        // an empty array is a slice.
        let buffer = unsafe {
            let first = array.as_ptr().cast::<c_void>().byte_sub(memory.offset);
            Buffer::from_raw(T::DTYPE, Device::Cpu, first, memory.bytes)
        };
        Tensor::new(buffer, array.shape())
            .with_offset(memory.offset)
            .with_strides(&memory.strides)
            .expect("an array has a stride for each dim")
    }
}

/// Views an array of any strides as a tensor that a call writes.
impl<'a, T: Element, S: DataMut<Elem = T>, D: Dimension> From<&'a mut ArrayBase<S, D>> for TensorMut<'a> {
    fn from(array: &'a mut ArrayBase<S, D>) -> Self {
        // This call copies an array that shares its memory, which may change the strides. So it comes first.
        let first = array.as_mut_ptr().cast::<c_void>();
        let memory = Memory::of::<T>(array.shape(), array.strides());
        // SAFETY: these are the bytes that the elements of the array reach, borrowed exclusively for 'a.
        let buffer = unsafe { BufferMut::from_raw(T::DTYPE, Device::Cpu, first.byte_sub(memory.offset), memory.bytes) };
        TensorMut::new(buffer, array.shape())
            .with_offset(memory.offset)
            .with_strides(&memory.strides)
            .expect("an array has a stride for each dim")
    }
}

impl Tensor<'_> {
    /// Views a dense tensor as an array.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tensor::as_slice`].
    pub fn array_view<T: Element>(&self) -> Result<ArrayViewD<'_, T>, Error> {
        ArrayViewD::from_shape(IxDyn(self.shape()), self.as_slice()?)
            .map_err(|error| Cause::new(sys::GTH_E_SHAPE, Operand::Tensor, error.to_string()).into())
    }

    /// Copies a dense tensor to an array.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tensor::as_slice`].
    pub fn to_array<T: Element>(&self) -> Result<ArrayD<T>, Error> {
        Ok(self.array_view()?.to_owned())
    }
}

/// Defines the copies to arrays of a fixed rank.
macro_rules! fixed_ranks {
    ($($name:ident: $dim:ident $rank:literal;)*) => {
        impl Tensor<'_> {
            $(
                #[doc = concat!("Copies a dense tensor of rank ", $rank, " to an array.")]
                ///
                /// # Errors
                ///
                /// Returns the errors of [`Tensor::as_slice`], and [`Error::Rank`] for another rank.
                pub fn $name<T: Element>(&self) -> Result<Array<T, $dim>, Error> {
                    let view = self.array_view()?.into_dimensionality().map_err(|_| self.rank_error($rank))?;
                    Ok(view.to_owned())
                }
            )*
        }
    };
}

fixed_ranks! {
    to_array0: Ix0 0;
    to_array1: Ix1 1;
    to_array2: Ix2 2;
    to_array3: Ix3 3;
    to_array4: Ix4 4;
    to_array5: Ix5 5;
    to_array6: Ix6 6;
}

impl Tensor<'_> {
    #[cold]
    fn rank_error(&self, wanted: i64) -> Error {
        let rank = self.shape().len();
        Cause::new(
            sys::GTH_E_RANK,
            Operand::Tensor,
            format!("the rank is {rank}, not {wanted}"),
        )
        .numbers(rank as i128, wanted)
        .into()
    }
}
