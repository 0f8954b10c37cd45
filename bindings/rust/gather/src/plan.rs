//! Operations whose shapes and options are validated once for many runs.

use std::fmt;
use std::ptr::{self, NonNull};

use crate::abi::call;
use crate::buffer::{Buffer, BufferMut, Kind, check_init};
use crate::context::{self, Context};
use crate::error::{Cause, Error, Operand};
use crate::forms::{read_shape, request};
use crate::layout::{Layout, OPEN, extents};
use crate::numbers::{bits, bytes_to_c, extent_to_c, struct_size};
use crate::options::Options;
use gather_sys as sys;

/// A gather whose shapes, strides and options are validated once.
///
/// One extent may be [`OPEN`]. Each run then gives its value. It is an extent of the tuples, or the outermost batch
/// dim, which is then open in params and indices. In operations on single elements, it is the extent of indices along
/// the axis, or the outermost dim of both operands. Runs allocate nothing.
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
pub struct Plan {
    raw: NonNull<sys::gth_plan>,
    table: Kind,
    indices: Kind,
    rows: Kind,
}

/// A scatter in place whose shapes, strides and options are validated once. The rules are those of [`Plan`]. Runs
/// allocate nothing, except with [`Accumulate::Float32`](crate::Accumulate::Float32).
///
/// # Examples
///
/// ```
/// use gather::{Layout, OPEN, Options, Reduction, ScatterPlan};
///
/// let options = Options::new().reduction(Reduction::Add);
/// let plan = ScatterPlan::scatter(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[OPEN]), &options)?;
///
/// let mut table = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
/// plan.run_open(2, &mut table, &[3i64, 3], &[1.0f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(table[6..], [7.0, 9.5]);
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
pub struct ScatterPlan(pub(crate) Plan);

/// The names of the table and the rows in errors.
type Names = (Operand, Operand);
const GATHER: Names = (Operand::Params, Operand::Out);
const SCATTER: Names = (Operand::Target, Operand::Updates);

// SAFETY: plans of the library are immutable, and any number of threads may use them. A plan cannot be dropped while a
// run borrows it.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Plan {
    /// Creates a plan. If `rows` is `None`, the rows are dense.
    pub(crate) fn create(
        op: i32,
        table: &Layout,
        indices: &Layout,
        rows: Option<&Layout>,
        options: &Options,
    ) -> Result<Self, Error> {
        Self::create_for(op, (table.desc.kind(), table.desc.raw()), indices, rows, options)
    }

    /// Creates a plan for a table of a kind, whose description has no memory or is that of a handle.
    pub(crate) fn create_for(
        op: i32,
        (kind, table): (Kind, *const sys::gth_tensor_desc),
        indices: &Layout,
        rows: Option<&Layout>,
        options: &Options,
    ) -> Result<Self, Error> {
        let operands = sys::gth_request {
            table,
            indices: indices.desc.raw(),
            rows: rows.map_or(ptr::null(), |rows| rows.desc.raw()),
            ..Default::default()
        };
        let request = request(op, operands, options);
        let mut raw = ptr::null_mut();
        // SAFETY: the layouts own their shapes and strides, and have no memory. The handle has not been released.
        call(|err| unsafe { sys::gth_plan_create(&request, &mut raw, err) })?;
        Ok(Plan {
            raw: NonNull::new(raw).expect("the handle of a plan is not NULL"),
            table: kind,
            indices: indices.desc.kind(),
            rows: rows.map_or(kind, |rows| rows.desc.kind()),
        })
    }

    /// Returns the table of a run if the plan has bound it.
    pub(crate) fn no_table(&self) -> Buffer<'static> {
        Buffer::none(self.table)
    }

    /// Infers the shape of the output for an open extent of `n`. If `n` is [`OPEN`], the result has
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

    /// Runs a plan that has no open extent.
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
        self.run_plan(
            plan,
            GATHER,
            OPEN,
            params.into(),
            indices.into(),
            out.into().into_read(),
        )
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
        self.run_plan(plan, GATHER, n, params.into(), indices.into(), out.into().into_read())
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

    /// Runs [`ScatterPlan::run`] in this context.
    #[inline]
    pub fn run_scatter<'t, 'i, 'u>(
        &self,
        plan: &ScatterPlan,
        target: impl Into<BufferMut<'t>>,
        indices: impl Into<Buffer<'i>>,
        updates: impl Into<Buffer<'u>>,
    ) -> Result<(), Error> {
        self.run_scatter_open(plan, OPEN, target, indices, updates)
    }

    /// Runs [`ScatterPlan::run_open`] in this context.
    #[inline]
    pub fn run_scatter_open<'t, 'i, 'u>(
        &self,
        plan: &ScatterPlan,
        n: usize,
        target: impl Into<BufferMut<'t>>,
        indices: impl Into<Buffer<'i>>,
        updates: impl Into<Buffer<'u>>,
    ) -> Result<(), Error> {
        let target = target.into();
        check_init(target.is_init)?;
        self.run_plan(&plan.0, SCATTER, n, target.into_read(), indices.into(), updates.into())
    }

    /// Runs [`ScatterPlan::check`] in this context, as [`Context::check`].
    pub fn check_scatter<'i>(&self, plan: &ScatterPlan, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.check(&plan.0, indices)
    }

    /// Runs [`ScatterPlan::check_open`] in this context, as [`Context::check`].
    pub fn check_scatter_open<'i>(
        &self,
        plan: &ScatterPlan,
        n: usize,
        indices: impl Into<Buffer<'i>>,
    ) -> Result<(), Error> {
        self.check_open(&plan.0, n, indices)
    }

    /// Runs a plan. It is always inlined. Passing three buffers in memory would cost as much as checking them.
    #[inline(always)]
    fn run_plan(
        &self,
        plan: &Plan,
        names: Names,
        n: usize,
        table: Buffer<'_>,
        indices: Buffer<'_>,
        rows: Buffer<'_>,
    ) -> Result<(), Error> {
        if table.kind != plan.table || indices.kind != plan.indices || rows.kind != plan.rows {
            return Err(plan.kind_error(names, table.kind, indices.kind, rows.kind));
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
    fn kind_error(&self, names: Names, table: Kind, indices: Kind, rows: Kind) -> Error {
        check_kind(names.0, table, self.table)
            .and_then(|()| check_kind(Operand::Indices, indices, self.indices))
            .and_then(|()| check_kind(names.1, rows, self.rows))
            .expect_err("one of the kinds differs")
    }
}

impl ScatterPlan {
    /// Infers the shape of the updates for an open extent of `n`, as [`Plan::shape`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::shape`].
    pub fn shape(&self, n: usize) -> Result<Vec<usize>, Error> {
        self.0.shape(n)
    }

    /// Runs a plan that has no open extent.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run`], and [`Error::Unsupported`] for a target that may be uninitialised.
    #[inline]
    pub fn run<'t, 'i, 'u>(
        &self,
        target: impl Into<BufferMut<'t>>,
        indices: impl Into<Buffer<'i>>,
        updates: impl Into<Buffer<'u>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run_scatter(self, target, indices, updates)
    }

    /// Runs a plan with an open extent of `n`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ScatterPlan::run`]. [`Error::Shape`] if the plan has no open extent.
    #[inline]
    pub fn run_open<'t, 'i, 'u>(
        &self,
        n: usize,
        target: impl Into<BufferMut<'t>>,
        indices: impl Into<Buffer<'i>>,
        updates: impl Into<Buffer<'u>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run_scatter_open(self, n, target, indices, updates)
    }

    /// Validates the indices of a run, and writes nothing, as [`Plan::check`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::check`].
    pub fn check<'i>(&self, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.0.check(indices)
    }

    /// Validates the indices of a run with an open extent of `n`, as [`Plan::check_open`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::check`].
    pub fn check_open<'i>(&self, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.0.check_open(n, indices)
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
