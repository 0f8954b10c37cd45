//! Operations whose shapes and options are validated once for many runs.

use std::fmt;
use std::ptr::{self, NonNull};

use crate::buffer::{Buffer, BufferMut, Kind, check_init};
use crate::context::{self, Context};
use crate::error::{Cause, Error, Operand, call};
use crate::forms::{read_shape, request};
use crate::layout::{Layout, OPEN, extents};
use crate::numbers::{bits, bytes_to_c, extent_to_c, struct_size};
use crate::options::Options;
use gather_sys as sys;

/// A gather, or a scatter in place, whose shapes, strides and options are validated once.
///
/// One extent may be [`OPEN`]. Each run then gives its value. It is an extent of the tuples, or the outermost batch
/// dim, which is then open in params and indices. In operations on single elements, it is the extent of indices along
/// the axis, or the outermost dim of both operands. Runs allocate nothing, except with
/// [`Accumulate::Float32`](crate::Accumulate::Float32).
///
/// # Examples
///
/// ```
/// use gather::{Layout, OPEN, Options, Plan};
///
/// // A table of 4 rows of 2, and any number of ids.
/// let plan = Plan::gather(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[OPEN]), &Options::new())?;
///
/// let table = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
/// let mut rows = [0.0f32; 4];
/// plan.run_open(2, &table, &[3i64, 1], &mut rows)?;
/// assert_eq!(rows, [3.0, 3.5, 1.0, 1.5]);
/// # Ok::<(), gather::Error>(())
/// ```
///
/// The operand that a run writes is its last argument. A run of a scatter takes updates, indices and target:
///
/// ```
/// use gather::{Layout, OPEN, Options, Plan, Reduction};
///
/// let options = Options::new().reduction(Reduction::Add);
/// let plan = Plan::scatter(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[OPEN]), &options)?;
///
/// let mut table = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
/// plan.run_open(2, &[1.0f32, 2.0, 3.0, 4.0], &[3i64, 3], &mut table)?;
/// assert_eq!(table[6..], [7.0, 9.5]);
/// # Ok::<(), gather::Error>(())
/// ```
pub struct Plan {
    raw: NonNull<sys::gth_plan>,
    written: Written,
    table: Kind,
    indices: Kind,
    rows: Kind,
}

/// The operand that an operation writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// The target of a scatter.
    Table,
    /// The output of a gather.
    Rows,
}

impl Written {
    /// Returns the names of the table and the rows in errors.
    fn names(self) -> (Operand, Operand) {
        match self {
            Written::Table => (Operand::Target, Operand::Updates),
            Written::Rows => (Operand::Params, Operand::Out),
        }
    }
}

// SAFETY: plans of the library are immutable, and any number of threads may use them. A plan cannot be dropped while a
// run borrows it.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Plan {
    /// Creates a plan. If `rows` is `None`, the rows are dense.
    pub(crate) fn create(
        op: i32,
        written: Written,
        table: &Layout<'_>,
        indices: &Layout<'_>,
        rows: Option<&Layout<'_>>,
        options: &Options,
    ) -> Result<Self, Error> {
        options.check_fill(&table.desc)?;
        let operands = sys::gth_request {
            table: &table.desc,
            indices: &indices.desc,
            rows: rows.map_or(ptr::null(), |rows| &rows.desc),
            ..Default::default()
        };
        let request = request(op, operands, options);
        let mut raw = ptr::null_mut();
        // SAFETY: the layouts borrow their shapes and strides, and have no memory.
        call(|err| unsafe { sys::gth_plan_create(&request, &mut raw, err) })?;
        Ok(Plan {
            raw: NonNull::new(raw).expect("the handle of a plan is not NULL"),
            written,
            table: Kind::of(&table.desc),
            indices: Kind::of(&indices.desc),
            rows: Kind::of(&rows.unwrap_or(table).desc),
        })
    }

    /// Infers the shape of the output, or of the updates, for an open extent of `n`. If `n` is [`OPEN`], the result has
    /// an open extent.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Shape`] if the plan has no open extent and `n` is not [`OPEN`], and [`Error::Size`].
    pub fn shape(&self, n: usize) -> Result<Vec<usize>, Error> {
        read_shape(|rows, capacity, shape, err| {
            // SAFETY: the plan has not been released, and `shape` has room for `capacity` extents.
            unsafe { sys::gth_plan_infer(self.raw.as_ptr(), extent_to_c(n), rows, capacity, shape, err) }
        })
    }

    /// Runs a plan that has no open extent. A run of a scatter takes updates, indices and target.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] and [`Error::Device`] for memory of another kind than planned. [`Error::Size`] if the
    /// memory is smaller than the run needs: the value is its size in bytes, and the limit is the required size.
    /// [`Error::Shape`] if the plan has an open extent. [`Error::Index`].
    #[inline]
    pub fn run<'p, 'i, 'o>(
        &self,
        params: impl Into<Buffer<'p>>,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run(self, params, indices, out)
    }

    /// Runs a plan with an open extent of `n`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run`]. [`Error::Shape`] if the plan has no open extent.
    #[inline]
    pub fn run_open<'p, 'i, 'o>(
        &self,
        n: usize,
        params: impl Into<Buffer<'p>>,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run_open(self, n, params, indices, out)
    }

    /// Validates the indices of a run of a plan that has no open extent, and writes nothing. A caller that gathers in
    /// several runs can validate all indices first. Then an error leaves the whole output unchanged.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run`]. If [`Bounds`](crate::Bounds) is not error, an index out of bounds is valid
    /// here.
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::{Error, Layout, Options, Plan};
    ///
    /// let plan = Plan::gather(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[2]), &Options::new())?;
    /// plan.check(&[3i64, 0])?;
    /// let Err(Error::Index(cause)) = plan.check(&[0i64, 4]) else { unreachable!() };
    /// assert_eq!((cause.position, cause.value, cause.limit), (Some(1), 4, 4));
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn check<'i>(&self, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        context::DEFAULT.check(self, indices)
    }

    /// Validates indices, as [`Plan::check`], for a plan with an open extent of `n`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::check`].
    pub fn check_open<'i>(&self, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        context::DEFAULT.check_open(self, n, indices)
    }
}

impl Context {
    /// Runs [`Plan::run`] in this context.
    #[inline]
    pub fn run<'p, 'i, 'o>(
        &self,
        plan: &Plan,
        params: impl Into<Buffer<'p>>,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        self.run_plan(plan, OPEN, params.into(), indices.into(), out.into())
    }

    /// Runs [`Plan::run_open`] in this context.
    #[inline]
    pub fn run_open<'p, 'i, 'o>(
        &self,
        plan: &Plan,
        n: usize,
        params: impl Into<Buffer<'p>>,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        self.run_plan(plan, n, params.into(), indices.into(), out.into())
    }

    /// Runs [`Plan::check`] in this context. On a device the error is reported by [`Context::take_error`], as that of a
    /// run.
    pub fn check<'i>(&self, plan: &Plan, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.check_plan(plan, OPEN, indices.into())
    }

    /// Runs [`Plan::check_open`] in this context.
    pub fn check_open<'i>(&self, plan: &Plan, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.check_plan(plan, n, indices.into())
    }

    /// Runs a plan. It is always inlined. Passing three buffers in memory would cost as much as checking them.
    #[inline(always)]
    fn run_plan(
        &self,
        plan: &Plan,
        n: usize,
        read: Buffer<'_>,
        indices: Buffer<'_>,
        written: BufferMut<'_>,
    ) -> Result<(), Error> {
        let is_init = written.is_init;
        let (table, rows) = match plan.written {
            Written::Table => (written.into_read(), read),
            Written::Rows => (read, written.into_read()),
        };
        if table.kind != plan.table || indices.kind != plan.indices || rows.kind != plan.rows {
            return Err(plan.kind_error(table.kind, indices.kind, rows.kind));
        }
        if plan.written == Written::Table {
            check_init(is_init)?;
        }
        let args = sys::gth_plan_args {
            size: struct_size::<sys::gth_plan_args>(),
            flags: bits(sys::GTH_ARGS_EXTENTS),
            n: extent_to_c(n),
            table: table.data,
            indices: indices.data,
            rows: rows.data,
            table_extent: bytes_to_c(table.bytes),
            indices_extent: bytes_to_c(indices.bytes),
            rows_extent: bytes_to_c(rows.bytes),
            ..Default::default()
        };
        // SAFETY: the memory is of the planned kinds and of the given extents, and borrowed for the call. The memory of
        // the written operand is borrowed exclusively, and the memory of a target is initialised.
        call(|err| unsafe { sys::gth_plan_run_args(self.raw(), plan.raw.as_ptr(), &args, err) })
    }

    fn check_plan(&self, plan: &Plan, n: usize, indices: Buffer<'_>) -> Result<(), Error> {
        check_kind(Operand::Indices, indices.kind, plan.indices)?;
        let args = sys::gth_plan_args {
            size: struct_size::<sys::gth_plan_args>(),
            flags: bits(sys::GTH_ARGS_EXTENTS),
            n: extent_to_c(n),
            indices: indices.data,
            indices_extent: bytes_to_c(indices.bytes),
            ..Default::default()
        };
        // SAFETY: the memory is of the planned kind and of the given extent, and borrowed for the call.
        call(|err| unsafe { sys::gth_plan_check(self.raw(), plan.raw.as_ptr(), &args, err) })
    }
}

impl Plan {
    /// Returns the error of the first operand whose kind differs from the planned kind.
    #[cold]
    fn kind_error(&self, table: Kind, indices: Kind, rows: Kind) -> Error {
        let names = self.written.names();
        check_kind(names.0, table, self.table)
            .and_then(|()| check_kind(Operand::Indices, indices, self.indices))
            .and_then(|()| check_kind(names.1, rows, self.rows))
            .expect_err("one of the kinds differs")
    }
}

/// Checks that memory has the dtype and the device of the plan.
fn check_kind(operand: Operand, kind: Kind, planned: Kind) -> Result<(), Error> {
    if kind == planned {
        return Ok(());
    }
    let (status, what, value, limit) = if kind.dtype() != planned.dtype() {
        (sys::GTH_E_DTYPE, "dtype", kind.dtype(), planned.dtype())
    } else {
        (sys::GTH_E_DEVICE, "device", kind.device(), planned.device())
    };
    let message = format!("the {what} is another one than the plan's: {kind:?}, not {planned:?}");
    Err(Cause::new(status, operand, message)
        .numbers(value.into(), limit.into())
        .into())
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape(OPEN).map(|shape| extents(&shape));
        f.debug_struct("Plan").field("shape", &shape).finish()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the plan is released once, here, and is no longer borrowed.
        let status = unsafe { sys::gth_plan_release(self.raw.as_ptr()) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}
