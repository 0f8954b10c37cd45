//! Bags: the rows that runs of ids select, pooled to one row each.

use std::ptr;

use crate::abi::call;
use crate::context::{self, Context};
use crate::dtype::DType;
use crate::error::Error;
use crate::forms::{doc_of, read_shape, request};
use crate::numbers::{extent_from_c, extent_to_c};
use crate::options::Options;
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

/// How ids belong to bags. The ids of a bag are successive. Numbers may have any integer dtype.
#[derive(Clone, Copy)]
#[must_use]
pub struct Bags<'a> {
    format: i32,
    count: i64,
    numbers: Option<&'a Tensor<'a>>,
    weights: Option<&'a Tensor<'a>>,
}

impl<'a> Bags<'a> {
    const fn new(format: i32, count: i64, numbers: Option<&'a Tensor<'a>>) -> Self {
        Bags {
            format,
            count,
            numbers,
            weights: None,
        }
    }

    /// Each row of `indices` along its last dim is a bag.
    pub const fn dense() -> Self {
        Self::new(sys::GTH_BAGS_DENSE, 0, None)
    }

    /// B + 1 numbers. Bag b has the ids from `numbers[b]` up to `numbers[b + 1]`.
    pub const fn offsets(numbers: &'a Tensor<'a>) -> Self {
        Self::new(sys::GTH_BAGS_OFFSETS, 0, Some(numbers))
    }

    /// B numbers. Bag b has the ids from `numbers[b]` up to `numbers[b + 1]`, and the last bag those up to the end.
    pub const fn starts(numbers: &'a Tensor<'a>) -> Self {
        Self::new(sys::GTH_BAGS_STARTS, 0, Some(numbers))
    }

    /// B numbers. Bag b has `numbers[b]` ids.
    pub const fn lengths(numbers: &'a Tensor<'a>) -> Self {
        Self::new(sys::GTH_BAGS_LENGTHS, 0, Some(numbers))
    }

    /// One number for each id, which do not decrease. Id i is in bag `numbers[i]` of `count` bags.
    pub const fn segments(numbers: &'a Tensor<'a>, count: usize) -> Self {
        Self::new(sys::GTH_BAGS_SEGMENTS, extent_to_c(count), Some(numbers))
    }

    /// Multiplies each row by the weight of its id. Weights have the shape of `indices`, and the dtype of `params`, or
    /// float32 if `params` are floating.
    pub const fn weights(mut self, weights: &'a Tensor<'a>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Calls `run` with a request.
    fn with_request<T>(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        options: &Options,
        run: impl FnOnce(&mut sys::gth_request) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut given = *options;
        given.raw.bag_format = self.format;
        given.raw.bag_count = self.count;
        let table = params.operand();
        let operands = sys::gth_request {
            table: table.as_ptr(),
            indices: indices.desc.raw(),
            bags: self.numbers.map_or(ptr::null(), |numbers| numbers.desc.raw()),
            weights: self.weights.map_or(ptr::null(), |weights| weights.desc.raw()),
            ..Default::default()
        };
        run(&mut request(sys::GTH_OP_GATHER_BAGS, operands, &given))
    }
}

/// Pools the rows of `params` that the ids of each bag select along dim 0. [`Options::pool`] selects the sum (the
/// default), the mean, the maximum or another [`Pool`](crate::Pool).
///
/// ```text
/// out.shape = [B] + params.shape[1:]                  indices.shape == [N]
/// out.shape = indices.shape[:-1] + params.shape[1:]   with Bags::dense
/// out[b, :] = the pool of weights[k] * params[indices[k], :] for the ids k of bag b, in their order
/// ```
///
/// Rows are added in the order of their ids, so the result does not depend on the number of threads. The result owns
/// its memory. Any number of threads may call this function at the same time.
///
/// # Errors
///
/// [`Error::Offsets`] with the position, the value and the limit of a wrong number of the bags. [`Error::DType`] for
/// bools, float8 and strings. [`Error::Unsupported`] on a device. Otherwise the errors of [`gather()`](crate::gather()).
///
/// # Examples
///
/// The mean of the vectors of the words of two sentences:
///
/// ```
/// use gather::{Bags, Options, Pool, Tensor, gather_bags};
///
/// let vectors = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let (words, offsets) = ([2i64, 0, 1], [0i64, 2, 3]);
/// let offsets = Tensor::new(&offsets, &[3]);
/// let options = Options::new().pool(Pool::Mean);
/// let means = gather_bags(
///     &Tensor::new(&vectors, &[3, 2]),
///     &Tensor::new(&words, &[3]),
///     &Bags::offsets(&offsets),
///     &options,
/// )?;
/// assert_eq!(means.shape(), [2, 2]);
/// assert_eq!(means.as_slice::<f32>()?, [2.0, 3.0, 2.0, 3.0]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_bags(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_bags(params, indices, bags, options)
}

/// Writes the result of [`gather_bags()`] to existing memory, which must have exactly the shape of the output. The
/// output is unchanged after an error, with the exceptions of [`Error`]. Allocates nothing.
///
/// # Errors
///
/// Returns the errors of [`gather_bags()`], [`Error::ReadOnly`] and [`Error::Alias`].
pub fn gather_bags_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    options: &Options,
    out: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_bags_into(params, indices, bags, options, out)
}

/// Computes the gradient of [`gather_bags()`] with respect to `params`, from the gradient of its output. The result has
/// the shape of `params`. Each of its rows is the sum of the gradients of the bags that have read the row, in the order
/// of the ids, so it does not depend on the number of threads. With [`Pool::Max`](crate::Pool::Max) and
/// [`Pool::Min`](crate::Pool::Min), the first of equal elements receives the gradient. `options` must be those of the
/// [`gather_bags()`] call.
///
/// # Errors
///
/// Returns the errors of [`gather_bags()`]. They name [`Operand::Target`](crate::Operand::Target) for the result, and
/// [`Operand::Updates`](crate::Operand::Updates) for `gradient`.
///
/// # Examples
///
/// ```
/// use gather::{Bags, Options, Tensor, gather_bags_gradient};
///
/// let vectors = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let (words, offsets, gradient) = ([2i64, 0, 2], [0i64, 2, 3], [1.0f32, 2.0, 3.0, 4.0]);
/// let (offsets, gradient) = (Tensor::new(&offsets, &[3]), Tensor::new(&gradient, &[2, 2]));
/// let (vectors, words) = (Tensor::new(&vectors, &[3, 2]), Tensor::new(&words, &[3]));
/// let table = gather_bags_gradient(&vectors, &words, &Bags::offsets(&offsets), &gradient, &Options::new())?;
/// assert_eq!(table.as_slice::<f32>()?, [1.0, 2.0, 0.0, 0.0, 4.0, 6.0]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_bags_gradient(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    gradient: &Tensor<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_bags_gradient(params, indices, bags, gradient, options)
}

/// Writes the result of [`gather_bags_gradient()`] to existing memory, which has the shape of `params`. All of it is
/// overwritten. It is unchanged after an error.
///
/// # Errors
///
/// Returns the errors of [`gather_bags_gradient()`], [`Error::ReadOnly`], [`Error::Alias`] and [`Error::OutOfMemory`].
pub fn gather_bags_gradient_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    gradient: &Tensor<'_>,
    options: &Options,
    target: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_bags_gradient_into(params, indices, bags, gradient, options, target)
}

/// Writes the result of [`gather_bags_gradient()`] in sparse form: the numbers of the rows that bags have read, in
/// ascending order, and their gradients. Returns the number of these rows. `unique` are int64, and `target` has as many
/// rows as `unique` has elements. Further elements of both are unchanged.
///
/// # Errors
///
/// Returns the errors of [`gather_bags_gradient_into()`]. If there are more rows than elements of `unique`, the error is
/// [`Error::Size`], whose limit is their number.
///
/// # Examples
///
/// ```
/// use gather::{Bags, Options, Tensor, TensorMut, gather_bags_sparse_gradient_into};
///
/// let vectors = [0.0f32; 2000];
/// let (words, gradient) = ([7i32, 3, 7], [1.0f32, 2.0]);
/// let (mut rows, mut gradients) = ([0i64; 3], [0.0f32; 6]);
/// let count = gather_bags_sparse_gradient_into(
///     &Tensor::new(&vectors, &[1000, 2]),
///     &Tensor::new(&words, &[1, 3]),
///     &Bags::dense(),
///     &Tensor::new(&gradient, &[1, 2]),
///     &Options::new(),
///     &mut TensorMut::new(&mut rows, &[3]),
///     &mut TensorMut::new(&mut gradients, &[3, 2]),
/// )?;
/// assert_eq!((count, &rows[..2], &gradients[..4]), (2, &[3, 7][..], &[1.0, 2.0, 2.0, 4.0][..]));
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_bags_sparse_gradient_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    gradient: &Tensor<'_>,
    options: &Options,
    unique: &mut TensorMut<'_>,
    target: &mut TensorMut<'_>,
) -> Result<usize, Error> {
    context::DEFAULT.gather_bags_sparse_gradient_into(params, indices, bags, gradient, options, unique, target)
}

/// Computes the gradient of [`gather_bags()`] with respect to the weights of `bags`. Without weights, each of them is 1,
/// and the result has the dtype of `params`. It has the shape of `indices`.
///
/// # Errors
///
/// Returns the errors of [`gather_bags_gradient()`], and [`Error::Unsupported`] for the maximum, the minimum and complex
/// numbers.
pub fn gather_bags_weight_gradient(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    gradient: &Tensor<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_bags_weight_gradient(params, indices, bags, gradient, options)
}

/// Writes the result of [`gather_bags_weight_gradient()`] to existing memory. It is unchanged after an error.
///
/// # Errors
///
/// Returns the errors of [`gather_bags_weight_gradient()`], [`Error::ReadOnly`], [`Error::Alias`] and
/// [`Error::OutOfMemory`].
pub fn gather_bags_weight_gradient_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    gradient: &Tensor<'_>,
    options: &Options,
    target: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_bags_weight_gradient_into(params, indices, bags, gradient, options, target)
}

/// Finds the positions of the maxima or minima of [`gather_bags()`]: for each element of its output, the position in
/// `indices` of the id whose row has this element, as `i64`. The option for the pool is [`Pool::Max`](crate::Pool::Max)
/// or [`Pool::Min`](crate::Pool::Min).
///
/// Of equal elements, the first one has the position, and the first NaN if there is one. A bag that has read no id has
/// -1. Positions in several dims are row-major numbers.
///
/// # Errors
///
/// Returns the errors of [`gather_bags()`], and [`Error::Version`] for another pool.
///
/// # Examples
///
/// ```
/// use gather::{Bags, Options, Pool, Tensor, gather_bags_positions};
///
/// let (params, ids, offsets) = ([1.0, 8.0, 5.0, 2.0], [1_i64, 0, 0], [0_i64, 2, 2, 3]);
/// let positions = gather_bags_positions(
///     &Tensor::new(&params, &[2, 2]),
///     &Tensor::new(&ids, &[3]),
///     &Bags::offsets(&Tensor::new(&offsets, &[4])),
///     &Options::new().pool(Pool::Max),
/// )?;
/// assert_eq!(positions.as_slice::<i64>()?, [0, 1, -1, -1, 2, 2]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn gather_bags_positions(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    options: &Options,
) -> Result<Tensor<'static>, Error> {
    context::DEFAULT.gather_bags_positions(params, indices, bags, options)
}

/// Writes the result of [`gather_bags_positions()`] to existing memory of `i64`. It is unchanged after an error.
///
/// # Errors
///
/// Returns the errors of [`gather_bags_positions()`], [`Error::ReadOnly`], [`Error::Alias`] and
/// [`Error::OutOfMemory`].
pub fn gather_bags_positions_into(
    params: &Tensor<'_>,
    indices: &Tensor<'_>,
    bags: &Bags<'_>,
    options: &Options,
    positions: &mut TensorMut<'_>,
) -> Result<(), Error> {
    context::DEFAULT.gather_bags_positions_into(params, indices, bags, options, positions)
}

impl Context {
    #[doc = doc_of!("Runs " gather_bags " in this context.")]
    pub fn gather_bags(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        bags.with_request(params, indices, options, |request| {
            // SAFETY: tensors borrow or hold the memory that they describe.
            unsafe { self.make_requested(request) }
        })
    }

    #[doc = doc_of!("Runs " gather_bags_into " in this context.")]
    pub fn gather_bags_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        options: &Options,
        out: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        bags.with_request(params, indices, options, |request| {
            request.rows = out.desc.raw();
            // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own exclusively.
            call(|err| unsafe { sys::gth_run_request(self.raw(), request, err) })
        })
    }

    #[doc = doc_of!("Runs " gather_bags_gradient " in this context.")]
    pub fn gather_bags_gradient(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        gradient: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.written(params.dtype(), params.shape(), |out| {
            self.gather_bags_gradient_into(params, indices, bags, gradient, options, out)
        })
    }

    #[doc = doc_of!("Runs " gather_bags_gradient_into " in this context.")]
    pub fn gather_bags_gradient_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        gradient: &Tensor<'_>,
        options: &Options,
        target: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        bags.with_request(params, indices, options, |request| {
            request.rows = gradient.desc.raw();
            // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own exclusively.
            call(|err| unsafe { sys::gth_gather_bags_gradient(self.raw(), request, target.desc.raw(), err) })
        })
    }

    #[doc = doc_of!("Runs " gather_bags_sparse_gradient_into " in this context.")]
    #[expect(
        clippy::too_many_arguments,
        reason = "the function of the crate has one argument less"
    )]
    pub fn gather_bags_sparse_gradient_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        gradient: &Tensor<'_>,
        options: &Options,
        unique: &mut TensorMut<'_>,
        target: &mut TensorMut<'_>,
    ) -> Result<usize, Error> {
        bags.with_request(params, indices, options, |request| {
            request.rows = gradient.desc.raw();
            let mut count = 0;
            call(|err| {
                // SAFETY: tensors borrow or hold the memory that they describe, and outputs borrow theirs exclusively.
                unsafe {
                    sys::gth_gather_bags_sparse_gradient(
                        self.raw(),
                        request,
                        unique.desc.raw(),
                        target.desc.raw(),
                        &mut count,
                        err,
                    )
                }
            })?;
            Ok(extent_from_c(count))
        })
    }

    #[doc = doc_of!("Runs " gather_bags_weight_gradient " in this context.")]
    pub fn gather_bags_weight_gradient(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        gradient: &Tensor<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        self.written(bags.weights.unwrap_or(params).dtype(), indices.shape(), |out| {
            self.gather_bags_weight_gradient_into(params, indices, bags, gradient, options, out)
        })
    }

    #[doc = doc_of!("Runs " gather_bags_weight_gradient_into " in this context.")]
    pub fn gather_bags_weight_gradient_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        gradient: &Tensor<'_>,
        options: &Options,
        target: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        bags.with_request(params, indices, options, |request| {
            request.rows = gradient.desc.raw();
            // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own exclusively.
            call(|err| unsafe { sys::gth_gather_bags_weight_gradient(self.raw(), request, target.desc.raw(), err) })
        })
    }

    #[doc = doc_of!("Runs " gather_bags_positions " in this context.")]
    pub fn gather_bags_positions(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        let shape = bags.with_request(params, indices, options, |request| {
            read_shape(|rows, capacity, shape, err| {
                // SAFETY: tensors own their shapes, and `shape` has room for `capacity` extents.
                unsafe { sys::gth_infer(request, rows, capacity, shape, err) }
            })
        })?;
        self.written(DType::Int64, &shape, |out| {
            self.gather_bags_positions_into(params, indices, bags, options, out)
        })
    }

    #[doc = doc_of!("Runs " gather_bags_positions_into " in this context.")]
    pub fn gather_bags_positions_into(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        options: &Options,
        positions: &mut TensorMut<'_>,
    ) -> Result<(), Error> {
        bags.with_request(params, indices, options, |request| {
            // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own exclusively.
            call(|err| unsafe { sys::gth_gather_bags_positions(self.raw(), request, positions.desc.raw(), err) })
        })
    }
}
