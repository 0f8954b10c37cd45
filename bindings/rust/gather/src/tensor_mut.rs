//! Tensors to write.

use std::fmt;
use std::marker::PhantomData;

use crate::buffer::{BufferMut, check_init, pointer};
use crate::error::Error;
use crate::layout::{describe, fmt_desc, set_strides, shape};
use crate::numbers::bytes_to_c;
use gather_sys as sys;

/// A tensor to write: a view of memory borrowed for `'a`.
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
/// It cannot outlive its data, and nobody else can use them meanwhile:
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
    pub(crate) desc: sys::gth_tensor_desc,
    /// Whether the memory may be read.
    is_init: bool,
    _strides: Option<Box<[i64]>>,
    lent: PhantomData<&'a mut [u8]>,
}

// SAFETY: gives what `&'a mut [T]` of elements gives, which is Send.
unsafe impl Send for TensorMut<'_> {}
// SAFETY: a shared reference gives access to the shape only.
unsafe impl Sync for TensorMut<'_> {}

impl<'a> TensorMut<'a> {
    /// A dense row-major view of a slice, or of any other [`BufferMut`], which may be longer.
    #[inline]
    pub fn new(data: impl Into<BufferMut<'a>>, shape: &'a [usize]) -> Self {
        let data = data.into();
        let mut desc = describe(data.kind, shape);
        desc.data = pointer(data.data, data.bytes);
        desc.extent = bytes_to_c(data.bytes);
        TensorMut {
            is_init: data.is_init,
            ..Self::from_desc(desc)
        }
    }

    /// With strides in bytes, one for each dim. An output must not overlap itself.
    ///
    /// Errors: [`Error::Rank`] for more or fewer strides than dims.
    pub fn with_strides(mut self, strides: &'a [isize]) -> Result<Self, Error> {
        set_strides(&mut self.desc, strides)?;
        Ok(self)
    }

    /// With element 0 so many bytes behind the beginning of the memory.
    pub fn with_offset(mut self, bytes: usize) -> Self {
        self.desc.offset = bytes_to_c(bytes);
        self
    }

    #[cfg(feature = "ndarray")]
    pub(crate) fn with_own_strides(mut self, strides: Box<[i64]>) -> Self {
        self.desc.strides = strides.as_ptr();
        self._strides = Some(strides);
        self
    }

    /// Of memory that may be read.
    #[inline]
    pub(crate) fn from_desc(desc: sys::gth_tensor_desc) -> Self {
        TensorMut {
            desc,
            is_init: true,
            _strides: None,
            lent: PhantomData,
        }
    }

    /// Checks that the memory may be read, as scatters do.
    #[inline]
    pub(crate) fn check_init(&self) -> Result<(), Error> {
        check_init(self.is_init)
    }

    /// Number of elements along each dim.
    pub fn shape(&self) -> &[usize] {
        // SAFETY: the shape is borrowed for 'a.
        unsafe { shape(&self.desc) }
    }
}

impl fmt::Debug for TensorMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: shape and strides are borrowed for 'a or held.
        unsafe { fmt_desc(f, "TensorMut", &self.desc) }
    }
}
