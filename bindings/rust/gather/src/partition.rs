//! Ids dealt out to the shards of a table.

use std::ptr;

use crate::abi;
use crate::context::{self, Context};
use crate::error::{Cause, Error, Operand, call};
use crate::numbers::{bits, bytes_to_c, extent_from_c, extent_to_c, struct_size};
use crate::options::Options;
use crate::tensor::Tensor;
use gather_sys as sys;

/// How the rows of a table are dealt out that is too large for one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards<'a> {
    kind: i32,
    rows: usize,
    count: usize,
    borders: &'a [usize],
}

impl<'a> Shards<'a> {
    /// To each of `count` shards as many of `rows` rows in a row, `rows / count` rounded up; to the last ones fewer or none.
    pub const fn blocks(rows: usize, count: usize) -> Self {
        Shards {
            kind: sys::GTH_SHARDS_BLOCKS,
            rows,
            count,
            borders: &[],
        }
    }

    /// In turn: row r is row `r / count` of shard `r % count`.
    pub const fn modulo(rows: usize, count: usize) -> Self {
        Shards {
            kind: sys::GTH_SHARDS_MODULO,
            rows,
            count,
            borders: &[],
        }
    }

    /// To shard s the rows from `borders[s]` up to `borders[s + 1]`. The borders never fall; the first is 0, the last how
    /// many rows the table has.
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

/// What each shard is asked for, the shards one behind the other: what [`partition`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// How many rows each shard is asked for.
    pub counts: Vec<usize>,
    /// The rows, as the shards count them: those of shard 0 first, in the order of the ids.
    pub local: Vec<i64>,
    /// Which id each of them is, by its row-major position.
    pub order: Vec<i64>,
}

/// [`Parts`] in which no row comes twice: what [`partition_once`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsOnce {
    /// How many rows each shard is asked for.
    pub counts: Vec<usize>,
    /// The rows, as the shards count them: those of shard 0 first, in the order in which ids name them.
    pub local: Vec<i64>,
    /// For each id which of `local` is its row, or -1 if [`Bounds`](crate::Bounds) leaves it out.
    pub place: Vec<i64>,
}

impl Context {
    /// [`partition`] in this context.
    pub fn partition(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<Parts, Error> {
        let Dealt { counts, local, linked } = self.deal(ids, shards, options, false)?;
        let order = linked;
        Ok(Parts { counts, local, order })
    }

    /// [`partition_once`] in this context.
    pub fn partition_once(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<PartsOnce, Error> {
        let Dealt { counts, local, linked } = self.deal(ids, shards, options, true)?;
        let place = linked;
        Ok(PartsOnce { counts, local, place })
    }

    fn deal(&self, ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options, once: bool) -> Result<Dealt, Error> {
        abi::ensure()?;
        let (raw, flags) = (shards.raw(), if once { bits(sys::GTH_PARTS_ONCE) } else { 0 });
        let mut scratch_bytes = 0;
        // SAFETY: the description and the borders are borrowed; no ids are looked at.
        call(|err| unsafe { sys::gth_partition_scratch(&ids.desc, &raw, flags, &mut scratch_bytes, err) })?;
        // The library has judged the product, in which a later zero may stand.
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
        // SAFETY: the description names no more memory than is borrowed, and the parts have the room they say.
        call(|err| unsafe { sys::gth_partition(self.raw(), &ids.desc, &raw, &options.raw, &parts, err) })?;
        // SAFETY: on success every count is written, as many rows as they say together, each with its order, or every place.
        unsafe {
            counts.set_len(shards.count);
            let asked = counts.iter().sum();
            local.set_len(asked);
            linked.set_len(if once { n } else { asked });
        }
        Ok(Dealt { counts, local, linked })
    }
}

/// `linked` is the order, or the places.
struct Dealt {
    counts: Vec<usize>,
    local: Vec<i64>,
    linked: Vec<i64>,
}

/// An empty vector with room for so many numbers.
fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut numbers = Vec::new();
    match numbers.try_reserve_exact(count) {
        Ok(()) => Ok(numbers),
        Err(_) => {
            let bytes = bytes_to_c(count.saturating_mul(size_of::<T>()));
            let message = format!("no memory of {bytes} bytes to deal them out");
            Err(Cause::new(sys::GTH_E_NOMEM, Operand::Indices, message)
                .numbers(bytes.into(), 0)
                .into())
        }
    }
}

/// Deals out ids to the shards that have their rows: which rows each shard is to gather, and where they belong.
///
/// The ids, of any shape, are judged as [`gather`](crate::gather()) judges its indices along a dim of all the rows: one that is
/// bad is named by its position among all of them, whichever shard it would be in. What
/// [`Bounds`](crate::Bounds) fills or skips is asked of no shard. The answer is the same for any number of threads.
///
/// The rows that the shards send, put together in their order, come back by [`scatter_into`](crate::scatter_into) along `order`.
/// An error of a shard at its k-th row is one of the id at `order[first + k]`, where `first` counts the rows of the shards
/// before it.
///
/// Errors: [`Error::Index`], [`Error::DType`], [`Error::Shape`] (of shards and borders too), [`Error::Size`],
/// [`Error::Stride`], [`Error::Version`], [`Error::Race`], [`Error::OutOfMemory`]; [`Error::Device`] and
/// [`Error::Unsupported`] on a device.
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
///     let (asked, shape) = (first..first + count, [count]);
///     let local = Tensor::new(&parts.local[asked.clone()], &shape);
///     let sent = gather(&Tensor::new(shard, &[shard.len()]), &local, &options)?;
///     let order = Tensor::new(&parts.order[asked], &shape);
///     scatter_into(&mut TensorMut::new(&mut rows, &[4]), &order, &sent, &options)?;
///     first += count;
/// }
/// assert_eq!(rows, [7.0, 0.0, 8.0, 3.0]);
///
/// let answer = partition(&Tensor::new(&[2u8, 10], &[2]), &Shards::borders(&[0, 4, 10]), &options);
/// let Err(Error::Index(cause)) = answer else { unreachable!() };
/// assert_eq!((cause.position, cause.value, cause.limit), (Some(1), 10, 10));
/// # Ok::<(), gather::Error>(())
/// ```
pub fn partition(ids: &Tensor<'_>, shards: &Shards<'_>, options: &Options) -> Result<Parts, Error> {
    context::DEFAULT.partition(ids, shards, options)
}

/// [`partition`] that asks once for a row that several ids name. The rows that the shards send, put together in their order,
/// come back by [`gather`](crate::gather()) with `place` as indices.
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
