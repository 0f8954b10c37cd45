//! Tensors that a call writes.

use std::fmt;
use std::marker::PhantomData;

use crate::buffer::{BufferMut, check_init, pointer};
use crate::description::Description;
use crate::error::Error;
use crate::layout::fmt_desc;
use crate::numbers::bytes_to_c;

/// A tensor that a call writes. It is a view of memory that is borrowed exclusively for `'a`.
///
/// # Examples
///
/// ```
/// use gather::{Options, Tensor, TensorMut, gather_into};
///
/// let table = [10u16, 11, 20, 21, 30, 31];
/// let mut rows = [0u16; 4];
/// gather_into(
///     &Tensor::new(&table, &[3, 2]),
///     &Tensor::new(&[2i32, 0], &[2]),
///     &Options::new(),
///     &mut TensorMut::new(&mut rows, &[2, 2]),
/// )?;
/// assert_eq!(rows, [30, 31, 10, 11]);
/// # Ok::<(), gather::Error>(())
/// ```
///
/// It cannot outlive its data, and no other code can use the data at the same time:
///
/// ```compile_fail,E0505
/// # use gather::TensorMut;
/// let mut rows = vec![0u16; 4];
/// let out = TensorMut::new(&mut rows, &[2, 2]);
/// drop(rows);
/// println!("{:?}", out.shape());
/// ```
///
/// ```compile_fail,E0502
/// # use gather::{Tensor, TensorMut};
/// let mut rows = vec![0u16; 4];
/// let out = TensorMut::new(&mut rows, &[2, 2]);
/// let params = Tensor::new(&rows, &[4]);
/// println!("{:?} {:?}", out.shape(), params.shape());
/// ```
pub struct TensorMut<'a> {
    pub(crate) desc: Description,
    /// True if the memory may be read.
    is_init: bool,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a TensorMut is an exclusive slice `&'a mut [T]` of elements that are Send.
unsafe impl Send for TensorMut<'_> {}
// SAFETY: a shared reference gives access to the shape only.
unsafe impl Sync for TensorMut<'_> {}

impl<'a> TensorMut<'a> {
    /// Creates a dense row-major view of a slice, or of any other [`BufferMut`]. The memory may be longer than the
    /// shape needs.
    #[inline]
    pub fn new(data: impl Into<BufferMut<'a>>, shape: &[usize]) -> Self {
        let data = data.into();
        let mut tensor = Self::from_desc(Description::new(data.kind, shape));
        tensor.is_init = data.is_init;
        tensor.desc.head.data = pointer(data.data, data.bytes);
        tensor.desc.head.extent = bytes_to_c(data.bytes);
        tensor
    }

    /// Sets the strides in bytes, one for each dim. Elements of an output must not overlap.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Rank`] if there are more or fewer strides than dims.
    pub fn with_strides(mut self, strides: &[isize]) -> Result<Self, Error> {
        self.desc.set_strides(strides)?;
        Ok(self)
    }

    /// Sets the number of bytes from the beginning of the memory to element 0.
    pub fn with_offset(mut self, bytes: usize) -> Self {
        self.desc.head.offset = bytes_to_c(bytes);
        self
    }

    /// Creates a view of memory that may be read.
    #[inline]
    pub(crate) fn from_desc(desc: Description) -> Self {
        TensorMut {
            desc,
            is_init: true,
            borrow: PhantomData,
        }
    }

    /// Returns an error if the memory may be uninitialised. Scatters read their target.
    #[inline]
    pub(crate) fn check_init(&self) -> Result<(), Error> {
        check_init(self.is_init)
    }

    /// Returns the number of elements along each dim.
    pub fn shape(&self) -> &[usize] {
        self.desc.shape()
    }
}

impl fmt::Debug for TensorMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_desc(f, "TensorMut", &self.desc)
    }
}
