//! Bags: the rows that runs of ids select, pooled to one row each.

use crate::context::{self, Context};
use crate::error::{Error, call};
use crate::forms::{doc_of, request};
use crate::numbers::extent_to_c;
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
        params: &sys::gth_tensor_desc,
        indices: &Tensor<'_>,
        options: &Options,
        run: impl FnOnce(&mut sys::gth_request) -> Result<T, Error>,
    ) -> Result<T, Error> {
        options.check_fill(params)?;
        let mut given = *options;
        given.raw.bag_format = self.format;
        given.raw.bag_count = self.count;
        let operands = sys::gth_request {
            table: params,
            indices: &indices.desc,
            bags: self.numbers.map_or(std::ptr::null(), |numbers| &numbers.desc),
            weights: self.weights.map_or(std::ptr::null(), |weights| &weights.desc),
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

impl Context {
    #[doc = doc_of!("Runs " gather_bags " in this context.")]
    pub fn gather_bags(
        &self,
        params: &Tensor<'_>,
        indices: &Tensor<'_>,
        bags: &Bags<'_>,
        options: &Options,
    ) -> Result<Tensor<'static>, Error> {
        bags.with_request(&params.operand(), indices, options, |request| {
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
        bags.with_request(&params.desc, indices, options, |request| {
            request.rows = &out.desc;
            // SAFETY: tensors borrow or hold the memory that they describe, and the output borrows its own exclusively.
            call(|err| unsafe { sys::gth_run_request(self.raw(), request, err) })
        })
    }
}
