//! scatter, scatter_nd and scatter_elements: into new tensors, in place, and the shapes of their updates.

use crate::abi;
use crate::buffer::refuse_uninit;
use crate::context::{self, Context};
use crate::error::{Error, Operand, call};
use crate::handle::Handle;
use crate::layout::Layout;
use crate::operation::{SCATTER, SCATTER_ELEMENTS, SCATTER_ND, ScatterOperation};
use crate::operations::query;
use crate::options::Options;
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;

impl Context {
    /// [`scatter()`] in this context.
    pub fn scatter(
        &self,
        target: &Tensor<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.scatter_new(&SCATTER, target, indices, updates, options)
    }

    /// [`scatter_nd()`] in this context.
    pub fn scatter_nd(
        &self,
        target: &Tensor<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.scatter_new(&SCATTER_ND, target, indices, updates, options)
    }

    /// [`scatter_elements()`] in this context.
    pub fn scatter_elements(
        &self,
        target: &Tensor<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.scatter_new(&SCATTER_ELEMENTS, target, indices, updates, options)
    }

    /// [`scatter_into`] in this context.
    #[inline]
    pub fn scatter_into(
        &self,
        target: &mut TensorMut<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<(), Error> {
        self.scatter_in_place(&SCATTER, target, indices, updates, options)
    }

    /// [`scatter_nd_into`] in this context.
    #[inline]
    pub fn scatter_nd_into(
        &self,
        target: &mut TensorMut<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<(), Error> {
        self.scatter_in_place(&SCATTER_ND, target, indices, updates, options)
    }

    /// [`scatter_elements_into`] in this context.
    #[inline]
    pub fn scatter_elements_into(
        &self,
        target: &mut TensorMut<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<(), Error> {
        self.scatter_in_place(&SCATTER_ELEMENTS, target, indices, updates, options)
    }

    fn scatter_new(
        &self,
        operation: &ScatterOperation,
        target: &Tensor<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        abi::ensure()?;
        options.check_fill(&target.desc)?;
        let target = target.handle(Operand::Target)?;
        let indices = indices.handle(Operand::Indices)?;
        let updates = updates.handle(Operand::Updates)?;
        Tensor::from_handle(Handle::make(|out, err| {
            let (target, indices, updates) = (target.as_ptr(), indices.as_ptr(), updates.as_ptr());
            // SAFETY: the handles are live, and their memory is borrowed for the call.
            unsafe { (operation.make)(self.raw(), target, indices, updates, &options.raw, out, err) }
        })?)
    }

    #[inline]
    fn scatter_in_place(
        &self,
        operation: &ScatterOperation,
        target: &mut TensorMut<'_>,
        indices: &Tensor<'_>,
        updates: &Tensor<'_>,
        options: &Options,
    ) -> Result<(), Error> {
        abi::ensure()?;
        options.check_fill(&target.desc)?;
        if !target.is_init {
            return Err(refuse_uninit());
        }
        let (target, indices, updates) = (&target.desc, &indices.desc, &updates.desc);
        // SAFETY: the descriptions name no more memory than is borrowed, and that of the target exclusively and initialised.
        call(|err| unsafe { (operation.write)(self.raw(), target, indices, updates, &options.raw, err) })
    }
}

/// A copy of `target` in which slices along an axis are written, or added, .. to: those that [`gather`](crate::gather()) would
/// read there. With a = axis and b = batch_dims:
///
/// ```text
/// updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
/// out[B, O, indices[B, J], I] = reduction(the same, updates[B, O, J, I])   J in row-major order
/// ```
///
/// What no index selects is as it is in `target`. Of several updates of one slice the last one holds, or all are combined in
/// their order, see [`Reduction`](crate::Reduction), for any number of threads. The result owns its memory. Strings are
/// scattered only by this form.
///
/// Errors: [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`], [`Error::Size`],
/// [`Error::Stride`], [`Error::Device`], [`Error::Null`], [`Error::Index`], [`Error::Version`], [`Error::OutOfMemory`];
/// [`Error::Unsupported`] on a device.
///
/// ```
/// use gather::{Options, Reduction, Tensor, scatter};
///
/// let table = [0i32, 1, 2, 10, 11, 12];
/// let (target, updates) = (Tensor::new(&table, &[2, 3]), Tensor::new(&[5i32, 6, 7, 8], &[2, 2]));
/// let options = Options::new().axis(1).reduction(Reduction::Add);
/// let sums = scatter(&target, &Tensor::new(&[2u32, 2], &[2]), &updates, &options)?;
/// assert_eq!(sums.as_slice::<i32>()?, [0, 1, 13, 10, 11, 27]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn scatter(
    target: &Tensor<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.scatter(target, indices, updates, options)
}

/// A copy of `target` in which slices are written, or added, .. to by tuples of indices, the last axis of `indices`: those
/// that [`gather_nd`](crate::gather_nd) would read. With b = batch_dims and K = indices.shape\[-1\]:
///
/// ```text
/// updates.shape = indices.shape[:-1] + target.shape[b+K:]
/// out[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same, updates[B, J, :])
/// ```
///
/// This is ScatterND of ONNX and TensorFlow's tensor_scatter_nd_update, add, max and min. Errors: as [`scatter()`].
///
/// ```
/// use gather::{Options, Tensor, scatter_nd};
///
/// let table = [0i32, 1, 2, 10, 11, 12];
/// let (target, pairs) = (Tensor::new(&table, &[2, 3]), Tensor::new(&[1usize, 2, 0, 1], &[2, 2]));
/// let changed = scatter_nd(&target, &pairs, &Tensor::new(&[-1i32, -2], &[2]), &Options::new())?;
/// assert_eq!(changed.as_slice::<i32>()?, [0, -2, 2, 10, 11, -1]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn scatter_nd(
    target: &Tensor<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.scatter_nd(target, indices, updates, options)
}

/// A copy of `target` in which single elements along an axis are written, or added, .. to: those that
/// [`gather_elements`](crate::gather_elements) would read. With a = axis:
///
/// ```text
/// updates.shape = indices.shape,  rank(target) == rank(indices)
/// out[i, .., indices[i, .., j, .., k], .., k] = reduction(the same, updates[i, .., j, .., k])      j and the index are dim a
/// ```
///
/// This is torch.scatter, ScatterElements of ONNX and NumPy's put_along_axis; how far the extents of the other dims must
/// agree is a choice, see [`Extents`](crate::Extents). Errors: as [`scatter()`]; [`Error::Batch`] for any batch_dims.
///
/// ```
/// use gather::{Options, Tensor, scatter_elements};
///
/// let scores = [0.5f32, 0.1, 0.4, 0.2, 0.7, 0.1];
/// let best = [0i64, 1];
/// let (target, indices) = (Tensor::new(&scores, &[2, 3]), Tensor::new(&best, &[2, 1]));
/// let without = scatter_elements(&target, &indices, &Tensor::new(&[0.0f32; 2], &[2, 1]), &Options::new().axis(1))?;
/// assert_eq!(without.as_slice::<f32>()?, [0.0, 0.1, 0.4, 0.2, 0.0, 0.1]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn scatter_elements(
    target: &Tensor<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.scatter_elements(target, indices, updates, options)
}

/// [`scatter()`] in place: `target` itself is changed. Allocates nothing, but for
/// [`Accumulate::Float32`](crate::Accumulate::Float32).
///
/// All indices are judged before the first byte is written: on every error but [`Error::Race`] the target is as it was.
///
/// Errors: as [`scatter()`] and [`Error::ReadOnly`]; [`Error::Unsupported`] for strings, and for memory that may not have
/// been written: a scatter reads what it changes. That the target is borrowed exclusively keeps it apart from what is read.
///
/// ```
/// use gather::{Error, Options, Tensor, TensorMut, scatter_into};
///
/// let mut table = [0u8, 1, 10, 11, 20, 21];
/// let rows = [7u8, 8, 9, 9];
/// let (updates, mut target) = (Tensor::new(&rows, &[2, 2]), TensorMut::new(&mut table, &[3, 2]));
/// scatter_into(&mut target, &Tensor::new(&[2i32, 0], &[2]), &updates, &Options::new())?;
/// let Err(Error::Index(cause)) = scatter_into(&mut target, &Tensor::new(&[1i32, 3], &[2]), &updates, &Options::new())
/// else {
///     unreachable!()
/// };
/// assert_eq!((cause.position, cause.value, cause.limit), (Some(1), 3, 3));
/// assert_eq!(table, [9, 9, 10, 11, 7, 8]);
/// # Ok::<(), gather::Error>(())
/// ```
///
/// The updates cannot be the target:
///
/// ```compile_fail,E0502
/// # use gather::{Options, Tensor, TensorMut, scatter_into};
/// let mut table = [0u8, 1, 2];
/// let mut target = TensorMut::new(&mut table, &[3]);
/// let updates = Tensor::new(&table, &[3]);
/// scatter_into(&mut target, &Tensor::new(&[2u8, 1, 0], &[3]), &updates, &Options::new());
/// ```
#[inline]
pub fn scatter_into(
    target: &mut TensorMut<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<(), Error> {
    context::DEFAULT.scatter_into(target, indices, updates, options)
}

/// [`scatter_nd()`] in place. As [`scatter_into`].
#[inline]
pub fn scatter_nd_into(
    target: &mut TensorMut<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<(), Error> {
    context::DEFAULT.scatter_nd_into(target, indices, updates, options)
}

/// [`scatter_elements()`] in place. As [`scatter_into`].
#[inline]
pub fn scatter_elements_into(
    target: &mut TensorMut<'_>,
    indices: &Tensor<'_>,
    updates: &Tensor<'_>,
    options: &Options,
) -> Result<(), Error> {
    context::DEFAULT.scatter_elements_into(target, indices, updates, options)
}

/// The shape that the updates of [`scatter()`] must have. An extent of [`OPEN`](crate::OPEN) is handed on.
///
/// Errors: as [`output_shape`](crate::output_shape).
///
/// ```
/// use gather::{Layout, OPEN, Options, updates_shape};
///
/// let shape = updates_shape(&Layout::new::<f32>(&[1000, 64]), &Layout::new::<i64>(&[OPEN]), &Options::new())?;
/// assert_eq!(shape, [OPEN, 64]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn updates_shape(target: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Vec<usize>, Error> {
    query(SCATTER.shape, target, indices, options)
}

/// The shape that the updates of [`scatter_nd()`] must have. As [`updates_shape`].
pub fn updates_shape_nd(target: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Vec<usize>, Error> {
    query(SCATTER_ND.shape, target, indices, options)
}

/// The shape that the updates of [`scatter_elements()`] must have. As [`updates_shape`].
pub fn updates_shape_elements(
    target: &Layout<'_>,
    indices: &Layout<'_>,
    options: &Options,
) -> Result<Vec<usize>, Error> {
    query(SCATTER_ELEMENTS.shape, target, indices, options)
}
