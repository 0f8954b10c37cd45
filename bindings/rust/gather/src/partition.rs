//! The partition of ids by the shards of a table.

use std::ptr;

use crate::abi::call;
use crate::context::{self, Context};
use crate::error::{Error, room};
use crate::numbers::{bits, extent_from_c, extent_to_c, struct_size};
use crate::options::Options;
use crate::tensor::Tensor;
use gather_sys as sys;

/// The distribution of the rows of a table over shards, for a table that is too large for one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards<'a> {
    kind: i32,
    rows: usize,
    count: usize,
    borders: &'a [usize],
}

impl<'a> Shards<'a> {
    /// Each of `count` shards has `rows / count` consecutive rows, rounded up. The last ones have fewer or none.
    pub const fn blocks(rows: usize, count: usize) -> Self {
        Shards {
            kind: sys::GTH_SHARDS_BLOCKS,
            rows,
            count,
            borders: &[],
        }
    }

    /// Row r is row `r / count` of shard `r % count`.
    pub const fn modulo(rows: usize, count: usize) -> Self {
        Shards {
            kind: sys::GTH_SHARDS_MODULO,
            rows,
            count,
            borders: &[],
        }
    }

    /// Shard s has the rows from `borders[s]` up to `borders[s + 1]`. The borders do not decrease. The first one is 0,
    /// and the last one is the number of rows of the table.
    pub const fn borders(borders: &'a [usize]) -> Self {
        Shards {
            kind: sys::GTH_SHARDS_BORDERS,
            rows: match borders.last() {
                Some(&rows) => rows,
                None => 0,
            },
            count: borders.len().saturating_sub(1),
            borders,
        }
    }

    fn raw(&self) -> sys::gth_shards {
        sys::gth_shards {
            size: struct_size::<sys::gth_shards>(),
            kind: self.kind,
            rows: extent_to_c(self.rows),
            count: extent_to_c(self.count),
            borders: self.borders.as_ptr().cast(),
        }
    }
}

/// The result of [`partition`]: the rows that are requested from each shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The number of rows that are requested from each shard.
    pub counts: Vec<usize>,
    /// The row numbers within their shards: those of shard 0 first, in the order of the ids.
    pub local: Vec<i64>,
    /// For each element of `local`, the row-major position of its id.
    pub order: Vec<i64>,
}

/// The result of [`partition_once`]. It requests each row once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsOnce {
    /// The number of rows that are requested from each shard.
    pub counts: Vec<usize>,
    /// The row numbers within their shards: those of shard 0 first, in the order of their first ids.
    pub local: Vec<i64>,
    /// For each id, the position of its row in `local`, or -1 if [`Bounds`](crate::Bounds) fills or skips it.
    pub place: Vec<i64>,
}

impl Context {
    /// Runs [`partition`] in this context.
    pub fn partition(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<Parts, Error> {
        let Split { counts, local, linked } = self.split(ids, shards, options, false)?;
        let order = linked;
        Ok(Parts { counts, local, order })
    }

    /// Runs [`partition_once`] in this context.
    pub fn partition_once(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<PartsOnce, Error> {
        let Split { counts, local, linked } = self.split(ids, shards, options, true)?;
        let place = linked;
        Ok(PartsOnce { counts, local, place })
    }

    fn split(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options, once: bool) -> Result<Split, Error> {
        let (raw, flags) = (shards.raw(), if once { bits(sys::GTH_PARTS_ONCE) } else { 0 });
        let mut scratch_bytes = 0;
        let desc = ids.desc.raw();
        // SAFETY: the description and the borders are borrowed, and no ids are read.
        call(|err| unsafe { sys::gth_partition_scratch(desc, &raw, flags, &mut scratch_bytes, err) })?;
        // The library has checked the product. A partial product may overflow if a later extent is 0.
        let n = ids.shape().iter().fold(1, |n: usize, &extent| n.wrapping_mul(extent));
        let mut counts: Vec<usize> = room(shards.count)?;
        let (mut local, mut linked): (Vec<i64>, Vec<i64>) = (room(n)?, room(n)?);
        let mut scratch: Vec<i64> = room(extent_from_c(scratch_bytes) / size_of::<i64>())?;
        let (order, place) = if once {
            (ptr::null_mut(), linked.as_mut_ptr())
        } else {
            (linked.as_mut_ptr(), ptr::null_mut())
        };
        let parts = sys::gth_parts {
            size: struct_size::<sys::gth_parts>(),
            flags,
            capacity: extent_to_c(n),
            counts: counts.as_mut_ptr().cast(),
            local: local.as_mut_ptr(),
            order,
            place,
            scratch: scratch.as_mut_ptr().cast(),
            scratch_bytes,
        };
        // SAFETY: the description names only memory that is borrowed, and the buffers of the parts have their capacity.
        call(|err| unsafe { sys::gth_partition(self.raw(), desc, &raw, &options.raw, &parts, err) })?;
        // SAFETY: on success every count is written. The sum of the counts is the number of rows that are written. Each
        // of these rows has its order, or each id has its place.
        unsafe {
            counts.set_len(shards.count);
            let requested = counts.iter().sum();
            local.set_len(requested);
            linked.set_len(if once { n } else { requested });
        }
        Ok(Split { counts, local, linked })
    }
}

/// The vectors of a result. `linked` holds the order, or the places.
struct Split {
    counts: Vec<usize>,
    local: Vec<i64>,
    linked: Vec<i64>,
}

/// Assigns each id to the shard that stores its row. The result has the rows that each shard must gather, and the
/// positions of their ids.
///
/// The ids may have any shape. They are validated as the indices of a [`gather`](crate::gather()) along a dim of all
/// rows. An error has the position of the id among all ids. Ids that [`Bounds`](crate::Bounds) fills or skips request
/// no row. The result does not depend on the number of threads.
///
/// Concatenate the rows of all shards in the order of the shards. [`scatter_into`](crate::scatter_into) with `order` as
/// indices then writes each row to the position of its id. Let `first` be the number of rows of the shards before a
/// shard. An error of this shard at its k-th row belongs to the id at `order[first + k]`.
///
/// # Errors
///
/// Returns [`Error::Index`], [`Error::DType`], [`Error::Shape`] (also of shards and borders), [`Error::Size`],
/// [`Error::Stride`], [`Error::Version`], [`Error::Race`] and [`Error::OutOfMemory`]. On a device also
/// [`Error::Device`] and [`Error::Unsupported`].
///
/// # Examples
///
/// ```
/// use gather::{Error, Options, Shards, Tensor, TensorMut, gather, partition, scatter_into};
///
/// let shards = [vec![0.0f32, 3.0, 6.0, 9.0], vec![1.0, 4.0, 7.0], vec![2.0, 5.0, 8.0]]; // a row is its own number
/// let (ids, options) = ([7i64, 0, 8, 3], Options::new());
/// let parts = partition(&Tensor::new(&ids, &[4]), &Shards::modulo(10, shards.len()), &options)?;
/// assert_eq!(parts.counts, [2, 1, 1]);
/// let (mut rows, mut first) = ([0.0f32; 4], 0);
/// for (shard, count) in shards.iter().zip(parts.counts) {
///     let (range, shape) = (first..first + count, [count]);
///     let local = Tensor::new(&parts.local[range.clone()], &shape);
///     let received = gather(&Tensor::new(shard, &[shard.len()]), &local, &options)?;
///     let order = Tensor::new(&parts.order[range], &shape);
///     scatter_into(&mut TensorMut::new(&mut rows, &[4]), &order, &received, &options)?;
///     first += count;
/// }
/// assert_eq!(rows, [7.0, 0.0, 8.0, 3.0]);
///
/// let result = partition(&Tensor::new(&[2u8, 10], &[2]), &Shards::borders(&[0, 4, 10]), &options);
/// let Err(Error::Index(cause)) = result else { unreachable!() };
/// assert_eq!((cause.position, cause.value, cause.limit), (Some(1), 10, 10));
/// # Ok::<(), gather::Error>(())
/// ```
pub fn partition(ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<Parts, Error> {
    context::DEFAULT.partition(ids, shards, options)
}

/// Partitions ids like [`partition`], but requests a row once if several ids select it. Concatenate the rows of all
/// shards. [`gather`](crate::gather()) with `place` as indices then returns the row of each id.
///
/// # Errors
///
/// Returns the errors of [`partition`].
///
/// # Examples
///
/// ```
/// use gather::{Options, Shards, Tensor, partition_once};
///
/// let ids = [7u32, 0, 7, 7];
/// let parts = partition_once(&Tensor::new(&ids, &[4]), &Shards::blocks(10, 2), &Options::new())?;
/// assert_eq!((parts.counts, parts.local, parts.place), (vec![1, 1], vec![0, 2], vec![1, 0, 1, 1]));
/// # Ok::<(), gather::Error>(())
/// ```
pub fn partition_once(ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<PartsOnce, Error> {
    context::DEFAULT.partition_once(ids, shards, options)
}
