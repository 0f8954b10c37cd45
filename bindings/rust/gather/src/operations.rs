//! The table of operations: their numbers, their functions and the documentation.

use crate::abi::call;
use crate::context::{self, Context};
use crate::dtype::DType;
use crate::error::Error;
use crate::forms::{doc_of, gathers, gradients, infer, request, scatters};
use crate::layout::Layout;
use crate::options::Options;
use crate::plan::{Plan, ScatterPlan};
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

gathers! {
    GTH_OP_GATHER {
        /// Takes slices of `params` along an axis. With a = axis and b = batch_dims:
        ///
        /// ```text
        /// out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
        /// out[B, O, J, I] = params[B, O, indices[B, J], I]
        /// ```
        ///
        /// The result owns its memory. This is the only form of gather that supports strings.
        ///
        /// # Errors
        ///
        /// Returns [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`],
        /// [`Error::Size`], [`Error::Stride`], [`Error::Device`], [`Error::Null`], [`Error::Index`],
        /// [`Error::Version`], [`Error::OutOfMemory`].
        ///
        /// # Examples
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
        gather,
        /// Writes the result of [`gather()`] to existing memory, which must have exactly the shape of the output.
        /// Allocates nothing.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather()`], [`Error::ReadOnly`], [`Error::Alias`], and [`Error::Unsupported`] for
        /// strings.
        gather_into,
        /// Infers the shape of the output of [`gather()`]. An extent of [`OPEN`](crate::OPEN) stays open in the result.
        ///
        /// # Errors
        ///
        /// Returns [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`],
        /// [`Error::Size`], [`Error::Version`].
        ///
        /// # Examples
        ///
        /// ```
        /// use gather::{Layout, OPEN, Options, output_shape};
        ///
        /// let shape = output_shape(&Layout::new::<f32>(&[1000, 64]), &Layout::new::<i64>(&[OPEN]), &Options::new())?;
        /// assert_eq!(shape, [OPEN, 64]);
        /// # Ok::<(), gather::Error>(())
        /// ```
        output_shape,
        gather_to
    }
    GTH_OP_GATHER_ND {
        /// Takes slices of `params` by tuples of indices. The last dim of `indices` holds the components of a tuple.
        /// With b = batch_dims and K = indices.shape\[-1\]:
        ///
        /// ```text
        /// out.shape = indices.shape[:-1] + params.shape[b+K:]
        /// out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
        /// ```
        ///
        /// The result owns its memory. This is the only form of gather_nd that supports strings.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather()`].
        ///
        /// # Examples
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
        gather_nd,
        /// Writes the result of [`gather_nd`] to existing memory, as [`gather_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_into`].
        gather_nd_into,
        /// Infers the shape of the output of [`gather_nd`], as [`output_shape`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`output_shape`].
        output_shape_nd,
        gather_nd_to
    }
    GTH_OP_GATHER_ELEMENTS {
        /// Takes single elements of `params` along an axis. The default axis is 0. Every other dim is the same dim of
        /// `params`, `indices` and the result. With a = axis:
        ///
        /// ```text
        /// out.shape = indices.shape,  rank(params) == rank(indices)
        /// out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]      j and the index are in dim a
        /// ```
        ///
        /// This is torch.gather, ONNX GatherElements and numpy.take_along_axis. [`Extents`](crate::Extents) is the rule
        /// for the extents of the other dims. The result owns its memory. This is the only form of gather_elements that
        /// supports strings.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather()`]. If batch_dims is not 0, [`Error::Batch`].
        ///
        /// # Examples
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
        /// // One row of indices is used for all rows of scores, as in NumPy.
        /// let broadcast = Options::new().axis(1).extents(Extents::Broadcast);
        /// let elements = gather_elements(&params, &Tensor::new(&[2u8, 0], &[1, 2]), &broadcast)?;
        /// assert_eq!(elements.as_slice::<f32>()?, [0.4, 0.5, 0.1, 0.2]);
        /// # Ok::<(), gather::Error>(())
        /// ```
        gather_elements,
        /// Writes the result of [`gather_elements`] to existing memory, as [`gather_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_into`].
        gather_elements_into,
        /// Infers the shape of the output of [`gather_elements`], as [`output_shape`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`output_shape`].
        output_shape_elements,
        gather_elements_to
    }
}

scatters! {
    GTH_OP_SCATTER {
        /// Copies `target`, and combines `updates` with the slices of the copy that [`gather()`] would read along an
        /// axis. With a = axis and b = batch_dims:
        ///
        /// ```text
        /// updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
        /// out[B, O, indices[B, J], I] = reduction(the same element, updates[B, O, J, I])   J in row-major order
        /// ```
        ///
        /// Elements that no index selects are those of `target`. If several updates select one slice, the last one
        /// remains. With a [`Reduction`](crate::Reduction), all of them are combined in their order. The result
        /// does not depend on the number of threads, and owns its memory. This is the only form of scatter that
        /// supports strings.
        ///
        /// # Errors
        ///
        /// Returns [`Error::DType`], [`Error::Rank`], [`Error::Axis`], [`Error::Batch`], [`Error::Shape`],
        /// [`Error::Size`], [`Error::Stride`], [`Error::Device`], [`Error::Null`], [`Error::Index`],
        /// [`Error::Version`], [`Error::OutOfMemory`], and [`Error::Unsupported`] on a device.
        ///
        /// # Examples
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
        scatter,
        /// Changes `target` itself as [`scatter()`] changes its copy. Allocates nothing, except with
        /// [`Accumulate::Float32`](crate::Accumulate::Float32).
        ///
        /// All indices are validated before the first byte is written. So the target is unchanged after an error, with
        /// the exceptions of [`Error`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter()`], and [`Error::ReadOnly`]. [`Error::Unsupported`] for strings, and for
        /// memory that may be uninitialised, because a scatter reads its target. The exclusive borrow of the target
        /// ensures that it does not overlap the other operands.
        ///
        /// # Examples
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
        scatter_into,
        /// Infers the shape that the updates of [`scatter()`] must have. An extent of [`OPEN`](crate::OPEN) stays open
        /// in the result.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`output_shape`].
        ///
        /// # Examples
        ///
        /// ```
        /// use gather::{Layout, OPEN, Options, updates_shape};
        ///
        /// let shape = updates_shape(&Layout::new::<f32>(&[1000, 64]), &Layout::new::<i64>(&[OPEN]), &Options::new())?;
        /// assert_eq!(shape, [OPEN, 64]);
        /// # Ok::<(), gather::Error>(())
        /// ```
        updates_shape,
        scatter_from,
        /// Finds the positions of the maxima or minima of [`scatter()`]: for each element of its result, the row-major
        /// number in `updates` of the element that it has received, as `i64`. The option for the reduction is
        /// [`Reduction::Max`](crate::Reduction::Max) or [`Reduction::Min`](crate::Reduction::Min).
        ///
        /// Of equal elements, the first one has the position, and the first NaN if there is one. It is -1 if the result
        /// has the element of `target`. `target` is only read.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter()`], and [`Error::Version`] for another reduction.
        ///
        /// # Examples
        ///
        /// ```
        /// use gather::{Options, Reduction, Tensor, scatter_positions};
        ///
        /// let (target, ids, updates) = ([0.0, 0.0, 9.0], [0_i64, 1, 0, 2], [3.0, 5.0, 7.0, 8.0]);
        /// let positions = scatter_positions(
        ///     &Tensor::new(&target, &[3]),
        ///     &Tensor::new(&ids, &[4]),
        ///     &Tensor::new(&updates, &[4]),
        ///     &Options::new().reduction(Reduction::Max),
        /// )?;
        /// assert_eq!(positions.as_slice::<i64>()?, [2, 1, -1]);
        /// # Ok::<(), gather::Error>(())
        /// ```
        scatter_positions,
        scatter_positions_into
    }
    GTH_OP_SCATTER_ND {
        /// Copies `target`, and combines `updates` with the slices of the copy that [`gather_nd`] would read. With
        /// b = batch_dims and K = indices.shape\[-1\]:
        ///
        /// ```text
        /// updates.shape = indices.shape[:-1] + target.shape[b+K:]
        /// out[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same element, updates[B, J, :])
        /// ```
        ///
        /// This is ONNX ScatterND and TensorFlow's tensor_scatter_nd_update, add, max and min.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter()`].
        ///
        /// # Examples
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
        scatter_nd,
        /// Changes `target` itself as [`scatter_nd()`] changes its copy. The rules are those of [`scatter_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter_into`].
        scatter_nd_into,
        /// Infers the shape that the updates of [`scatter_nd()`] must have, as [`updates_shape`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`output_shape`].
        updates_shape_nd,
        scatter_nd_from,
        /// Finds the positions of the maxima or minima of [`scatter_nd()`], as [`scatter_positions()`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter_nd()`], and [`Error::Version`] for another reduction.
        scatter_nd_positions,
        scatter_nd_positions_into
    }
    GTH_OP_SCATTER_ELEMENTS {
        /// Copies `target`, and combines `updates` with the elements of the copy that [`gather_elements`] would read
        /// along an axis. With a = axis:
        ///
        /// ```text
        /// updates.shape = indices.shape,  rank(target) == rank(indices)
        /// out[i, .., indices[i, .., j, .., k], .., k] = reduction(the same element, updates[i, .., j, .., k])
        /// ```
        ///
        /// j and the index are in dim a. This is torch.scatter, ONNX ScatterElements and numpy.put_along_axis.
        /// [`Extents`](crate::Extents) is the rule for the extents of the other dims.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter()`]. If batch_dims is not 0, [`Error::Batch`].
        ///
        /// # Examples
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
        scatter_elements,
        /// Changes `target` itself as [`scatter_elements()`] changes its copy. The rules are those of [`scatter_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter_into`].
        scatter_elements_into,
        /// Infers the shape that the updates of [`scatter_elements()`] must have, as [`updates_shape`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`output_shape`].
        updates_shape_elements,
        scatter_elements_from,
        /// Finds the positions of the maxima or minima of [`scatter_elements()`], as [`scatter_positions()`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter_elements()`], and [`Error::Version`] for another reduction.
        scatter_elements_positions,
        scatter_elements_positions_into
    }
}

gradients! {
    GTH_OP_GATHER_GRADIENT {
        /// Computes the gradient of [`gather()`] with respect to its params. `shape` is the shape of the params. The
        /// result begins with zeros. Each slice of the gradient of the output is added to the slice that the gather
        /// read. The options are those of the gather. Rows that it filled or skipped contribute nothing. The result
        /// does not depend on the number of threads.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`scatter()`], with [`Operand::Target`](crate::Operand::Target) for the result and
        /// [`Operand::Updates`](crate::Operand::Updates) for `gradient`.
        ///
        /// # Examples
        ///
        /// ```
        /// use gather::{Options, Tensor, gather_gradient};
        ///
        /// let gradient = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // the gradients of rows 2, 0 and 2
        /// let (gradient, ids) = (Tensor::new(&gradient, &[3, 2]), Tensor::new(&[2i64, 0, 2], &[3]));
        /// let table = gather_gradient(&gradient, &ids, &[3, 2], &Options::new())?;
        /// assert_eq!(table.as_slice::<f32>()?, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
        /// # Ok::<(), gather::Error>(())
        /// ```
        gather_gradient,
        /// Writes the result of [`gather_gradient`] to existing memory, which has the shape of the params. All of it is
        /// overwritten.
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_gradient`], [`Error::ReadOnly`] and [`Error::Alias`].
        gather_gradient_into
    }
    GTH_OP_GATHER_ND_GRADIENT {
        /// Computes the gradient of [`gather_nd`] with respect to its params, as [`gather_gradient`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_gradient`].
        gather_nd_gradient,
        /// Writes the result of [`gather_nd_gradient`] to existing memory, as [`gather_gradient_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_gradient_into`].
        gather_nd_gradient_into
    }
    GTH_OP_GATHER_ELEMENTS_GRADIENT {
        /// Computes the gradient of [`gather_elements`] with respect to its params, as [`gather_gradient`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_gradient`].
        gather_elements_gradient,
        /// Writes the result of [`gather_elements_gradient`] to existing memory, as [`gather_gradient_into`].
        ///
        /// # Errors
        ///
        /// Returns the errors of [`gather_gradient_into`].
        gather_elements_gradient_into
    }
}
