//! gather, gather_nd and gather_elements: allocating, into the caller's memory, and their shapes.

use std::ptr;

use crate::abi;
use crate::context::{self, Context};
use crate::dtype::DType;
use crate::error::{Error, Operand, call};
use crate::handle::Handle;
use crate::layout::Layout;
use crate::numbers::{count, extent_from_c};
use crate::operation::{GATHER, GATHER_ELEMENTS, GATHER_ND, Operation, Shape};
use crate::options::Options;
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

impl Context {
    /// [`gather`] in this context.
    pub fn gather(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.make(&GATHER, params, indices, options)
    }

    /// [`gather_nd`] in this context.
    pub fn gather_nd(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.make(&GATHER_ND, params, indices, options)
    }

    /// [`gather_elements`] in this context.
    pub fn gather_elements(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.make(&GATHER_ELEMENTS, params, indices, options)
    }

    /// [`gather_into`] in this context.
    #[inline]
    pub fn gather_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.write(&GATHER, params, indices, options, out)
    }

    /// [`gather_nd_into`] in this context.
    #[inline]
    pub fn gather_nd_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.write(&GATHER_ND, params, indices, options, out)
    }

    /// [`gather_elements_into`] in this context.
    #[inline]
    pub fn gather_elements_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        self.write(&GATHER_ELEMENTS, params, indices, options, out)
    }

    fn make(
        &self,
        operation: &Operation,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        options.check_fill(&params.desc)?;
        let handles = params.own_handle().is_some() && indices.own_handle().is_some();
        if handles || params.dtype() == DType::String {
            self.make_by_handles(operation, params, indices, options)
        } else {
            self.make_described(operation, params, indices, options)
        }
    }

    fn make_by_handles(
        &self,
        operation: &Operation,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        let (params, indices) = (params.handle(Operand::Params)?, indices.handle(Operand::Indices)?);
        Tensor::from_handle(Handle::make(|out, err| {
            // SAFETY: both handles are live, and their memory is borrowed for the call.
            unsafe { (operation.make)(self.raw(), params.as_ptr(), indices.as_ptr(), &options.raw, out, err) }
        })?)
    }

    /// The result is made here, and then written: handles for views would cost more than to gather a few rows.
    fn make_described(
        &self,
        operation: &Operation,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        let mut shape = [0i64; sys::GTH_MAX_NDIM as usize];
        let mut ndim = 0;
        call(|err| {
            let (capacity, shape) = (sys::GTH_MAX_NDIM, shape.as_mut_ptr());
            // SAFETY: the descriptions borrow their shapes, and there is room for capacity extents.
            unsafe {
                (operation.shape)(
                    &params.desc,
                    &indices.desc,
                    &options.raw,
                    capacity,
                    &mut ndim,
                    shape,
                    err,
                )
            }
        })?;
        let made = Handle::make(|out, err| {
            // SAFETY: the shape has ndim extents.
            unsafe { sys::gth_tensor_alloc(self.raw(), params.desc.dtype, ndim, shape.as_ptr(), out, err) }
        });
        let made = Tensor::from_handle(made.map_err(|error| error.about(Operand::Out))?)?;
        let mut out = made.desc;
        out.strides = ptr::null(); // dense, which is quicker to see than to find out
        // SAFETY: the descriptions name no more memory than is borrowed, and that of the output nobody else knows of.
        call(|err| unsafe { (operation.write)(self.raw(), &params.desc, &indices.desc, &options.raw, &out, err) })?;
        Ok(made)
    }

    #[inline]
    fn write(
        &self,
        operation: &Operation,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        abi::ensure()?;
        options.check_fill(&params.desc)?;
        // SAFETY: the descriptions name no more memory than is borrowed, and that of the output exclusively.
        call(|err| unsafe { (operation.write)(self.raw(), &params.desc, &indices.desc, &options.raw, &out.desc, err) })
    }
}

/// Takes slices of `params` along an axis. With a = axis and b = batch_dims:
///
/// ```text
/// out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
/// out[B, O, J, I] = params[B, O, indices[B, J], I]
/// ```
///
/// The result owns its memory. Strings are taken only by this form.
///
/// Errors: [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`], [`Error::Size`],
/// [`Error::Stride`], [`Error::Device`], [`Error::Null`], [`Error::Index`], [`Error::Version`], [`Error::OutOfMemory`].
///
/// ```
/// use gather::{Options, Tensor, gather};
///
/// let params = [0i32, 1, 2, 10, 11, 12];
/// let columns = gather(&Tensor::new(&params, &[2, 3]), &Tensor::new(&[2u32, 0], &[2]), &Options::new().axis(1))?;
/// assert_eq!(columns.shape(), [2, 2]);
/// assert_eq!(columns.as_slice::<i32>()?, [2, 0, 12, 10]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather(params: &Tensor<'_>, indices: &Tensor<'_>, options: &Options) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather(params, indices, options)
}

/// Takes slices of `params` by tuples of indices, the last axis of `indices`. With b = batch_dims and
/// K = indices.shape\[-1\]:
///
/// ```text
/// out.shape = indices.shape[:-1] + params.shape[b+K:]
/// out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
/// ```
///
/// Errors: as [`gather`].
///
/// ```
/// use gather::{Options, Tensor, gather_nd};
///
/// let params = [0i32, 1, 2, 10, 11, 12];
/// let pairs = [1usize, 2, 0, 1];
/// let elements = gather_nd(&Tensor::new(&params, &[2, 3]), &Tensor::new(&pairs, &[2, 2]), &Options::new())?;
/// assert_eq!(elements.as_slice::<i32>()?, [12, 1]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_nd(params: &Tensor<'_>, indices: &Tensor<'_>, options: &Options) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_nd(params, indices, options)
}

/// Takes single elements of `params` along an axis, which is 0 where none is given: every other dim is the same dim of
/// `params`, `indices` and the result. With a = axis:
///
/// ```text
/// out.shape = indices.shape,  rank(params) == rank(indices)
/// out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]      j and the index are dim a
/// ```
///
/// This is torch.gather, GatherElements of ONNX and NumPy's take_along_axis; how far the extents of the other dims must
/// agree is a choice, see [`Extents`](crate::Extents). The result owns its memory. Strings are taken only by this form.
///
/// Errors: as [`gather`]; [`Error::Batch`] for any batch_dims.
///
/// ```
/// use gather::{Extents, Options, Tensor, gather_elements};
///
/// let scores = [0.5f32, 0.1, 0.4, 0.2, 0.7, 0.1];
/// let best = [0i64, 1];
/// let (params, indices) = (Tensor::new(&scores, &[2, 3]), Tensor::new(&best, &[2, 1]));
/// let elements = gather_elements(&params, &indices, &Options::new().axis(1))?;
/// assert_eq!(elements.shape(), [2, 1]);
/// assert_eq!(elements.as_slice::<f32>()?, [0.5, 0.7]);
///
/// // One row of indices for all rows of scores, as in NumPy.
/// let everywhere = Options::new().axis(1).extents(Extents::Broadcast);
/// let elements = gather_elements(&params, &Tensor::new(&[2u8, 0], &[1, 2]), &everywhere)?;
/// assert_eq!(elements.as_slice::<f32>()?, [0.4, 0.5, 0.1, 0.2]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_elements(params: &Tensor<'_>, indices: &Tensor<'_>, options: &Options) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_elements(params, indices, options)
}

/// [`gather`] into the caller's memory, of exactly the output's shape. Allocates nothing.
///
/// Errors: as [`gather`], [`Error::ReadOnly`] and [`Error::Alias`]; [`Error::Unsupported`] for strings.
#[inline]
pub fn gather_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_into(params, indices, options, out)
}

/// [`gather_nd`] into the caller's memory, of exactly the output's shape. Allocates nothing.
///
/// Errors: as [`gather_into`].
#[inline]
pub fn gather_nd_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_nd_into(params, indices, options, out)
}

/// [`gather_elements`] into the caller's memory, of exactly the output's shape. Allocates nothing.
///
/// Errors: as [`gather_into`].
#[inline]
pub fn gather_elements_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_elements_into(params, indices, options, out)
}

/// The shape of what [`gather`] makes. An extent of [`OPEN`](crate::OPEN) is handed on.
///
/// Errors: [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`], [`Error::Size`],
/// [`Error::Version`].
///
/// ```
/// use gather::{Layout, OPEN, Options, output_shape};
///
/// let shape = output_shape(&Layout::new::<f32>(&[1000, 64]), &Layout::new::<i64>(&[OPEN]), &Options::new())?;
/// assert_eq!(shape, [OPEN, 64]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn output_shape(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Vec<usize>, Error> {
    query(GATHER.shape, params, indices, options)
}

/// The shape of what [`gather_nd`] makes. As [`output_shape`].
pub fn output_shape_nd(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Vec<usize>, Error> {
    query(GATHER_ND.shape, params, indices, options)
}

/// The shape of what [`gather_elements`] makes. As [`output_shape`].
pub fn output_shape_elements(
    params: &Layout<'_>,
    indices: &Layout<'_>,
    options: &Options,
) -> Result<Vec<usize>, Error> {
    query(GATHER_ELEMENTS.shape, params, indices, options)
}

/// The shape that one of the library's queries finds.
pub(crate) fn query(
    shape_of: Shape,
    params: &Layout<'_>,
    indices: &Layout<'_>,
    options: &Options,
) -> Result<Vec<usize>, Error> {
    abi::ensure()?;
    options.check_fill(&params.desc)?;
    read_shape(|capacity, ndim, shape, err| {
        // SAFETY: the descriptions borrow their shapes; no memory is looked at.
        unsafe { shape_of(&params.desc, &indices.desc, &options.raw, capacity, ndim, shape, err) }
    })
}

/// Runs a function of the library that writes a shape.
pub(crate) fn read_shape(
    f: impl FnOnce(i32, *mut i32, *mut i64, *mut sys::gth_error) -> i32,
) -> Result<Vec<usize>, Error> {
    let mut shape = [0i64; sys::GTH_MAX_NDIM as usize];
    let mut ndim = 0;
    let capacity = sys::GTH_MAX_NDIM;
    call(|err| f(capacity, ptr::from_mut(&mut ndim), shape.as_mut_ptr(), err))?;
    // An open extent is -1 there and usize::MAX here: the same bits.
    Ok(shape[..count(ndim)].iter().copied().map(extent_from_c).collect())
}
