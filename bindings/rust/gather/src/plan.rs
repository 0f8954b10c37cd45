//! Gathers and scatters whose shapes and options are checked once and run often.

use std::fmt;
use std::ptr::{self, NonNull};

use crate::abi;
use crate::buffer::{Buffer, BufferMut, Kind, refuse_uninit};
use crate::context::{self, Context};
use crate::error::{Cause, Error, Operand, call};
use crate::layout::{Layout, OPEN, extents};
use crate::numbers::{bytes_to_c, extent_to_c};
use crate::operation::{GATHER, GATHER_ELEMENTS, GATHER_ND, Plan as MakePlan, SCATTER, SCATTER_ELEMENTS, SCATTER_ND};
use crate::operations::read_shape;
use crate::options::Options;
use gather_sys as sys;

/// A gather, or a scatter in place, whose shapes, strides and options have been checked once. One extent may be left [`OPEN`]
/// and is given at each run: an extent of the tuples, or the outermost batch dim of params and indices alike; of single
/// elements, that of the axis of indices, or the outermost dim of both where it is not the axis. Runs allocate nothing, but
/// for [`Accumulate::Float32`](crate::Accumulate::Float32).
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
/// What a run reads comes first and what it writes last: that of a scatter takes updates, indices and target.
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
    reads: Operand,
    writes: Operand,
    source: Kind,
    indices: Kind,
    destination: Kind,
}

// SAFETY: the library's plans are immutable and may be used by any number of threads; a plan cannot be dropped while a
// run borrows it.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Plan {
    /// Plans a [`gather`](crate::gather()) with a dense output.
    ///
    /// Errors: those of `gather` that need no data, [`Error::OutOfMemory`]; [`Error::Unsupported`] for strings.
    pub fn gather(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::gathering(GATHER.plan, params, indices, options, None)
    }

    /// Plans a [`gather_nd`](crate::gather_nd) with a dense output. Errors: as [`Plan::gather`].
    pub fn gather_nd(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::gathering(GATHER_ND.plan, params, indices, options, None)
    }

    /// Plans a [`gather_elements`](crate::gather_elements) with a dense output. Errors: as [`Plan::gather`].
    pub fn gather_elements(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::gathering(GATHER_ELEMENTS.plan, params, indices, options, None)
    }

    /// Plans a [`gather`](crate::gather()) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::gathering(GATHER.plan, params, indices, options, Some(out))
    }

    /// Plans a [`gather_nd`](crate::gather_nd) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_nd_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::gathering(GATHER_ND.plan, params, indices, options, Some(out))
    }

    /// Plans a [`gather_elements`](crate::gather_elements) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_elements_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::gathering(GATHER_ELEMENTS.plan, params, indices, options, Some(out))
    }

    /// Plans a [`scatter_into`](crate::scatter_into) of dense updates.
    ///
    /// Errors: those of `scatter_into` that need no data, [`Error::OutOfMemory`]; [`Error::Unsupported`] for strings.
    pub fn scatter(target: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::scattering(SCATTER.plan, target, indices, options, None)
    }

    /// Plans a [`scatter_nd_into`](crate::scatter_nd_into) of dense updates. Errors: as [`Plan::scatter`].
    pub fn scatter_nd(target: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::scattering(SCATTER_ND.plan, target, indices, options, None)
    }

    /// Plans a [`scatter_elements_into`](crate::scatter_elements_into) of dense updates. Errors: as [`Plan::scatter`].
    pub fn scatter_elements(target: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::scattering(SCATTER_ELEMENTS.plan, target, indices, options, None)
    }

    /// Plans a [`scatter_into`](crate::scatter_into) of updates of a layout. Errors: as [`Plan::scatter`].
    pub fn scatter_from(
        target: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        updates: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::scattering(SCATTER.plan, target, indices, options, Some(updates))
    }

    /// Plans a [`scatter_nd_into`](crate::scatter_nd_into) of updates of a layout. Errors: as [`Plan::scatter`].
    pub fn scatter_nd_from(
        target: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        updates: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::scattering(SCATTER_ND.plan, target, indices, options, Some(updates))
    }

    /// Plans a [`scatter_elements_into`](crate::scatter_elements_into) of updates of a layout. Errors: as [`Plan::scatter`].
    pub fn scatter_elements_from(
        target: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        updates: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::scattering(SCATTER_ELEMENTS.plan, target, indices, options, Some(updates))
    }

    fn gathering(
        make: MakePlan,
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: Option<&Layout<'_>>,
    ) -> Result<Self, Error> {
        Ok(Plan {
            raw: make_plan(make, params, indices, options, out)?,
            reads: Operand::Params,
            writes: Operand::Out,
            source: Kind::of(&params.desc),
            indices: Kind::of(&indices.desc),
            destination: Kind::of(&out.unwrap_or(params).desc),
        })
    }

    fn scattering(
        make: MakePlan,
        target: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        updates: Option<&Layout<'_>>,
    ) -> Result<Self, Error> {
        Ok(Plan {
            raw: make_plan(make, target, indices, options, updates)?,
            reads: Operand::Updates,
            writes: Operand::Target,
            source: Kind::of(&updates.unwrap_or(target).desc),
            indices: Kind::of(&indices.desc),
            destination: Kind::of(&target.desc),
        })
    }

    /// The shape of the output, or of the updates, for an open extent of `n`; [`OPEN`] hands it on.
    ///
    /// Errors: [`Error::Shape`] for an `n` where nothing is open, [`Error::Size`].
    pub fn shape(&self, n: usize) -> Result<Vec<usize>, Error> {
        read_shape(|capacity, ndim, shape, err| {
            // SAFETY: the plan is live, and there is room for capacity extents.
            unsafe { sys::gth_plan_shape(self.raw.as_ptr(), extent_to_c(n), capacity, ndim, shape, err) }
        })
    }

    /// How many bytes of indices a run with an open extent of `n` reads.
    fn bytes_of_indices(&self, n: usize) -> Result<i64, Error> {
        let mut bytes = 0;
        // SAFETY: the plan is live; what is NULL is not asked for.
        call(|err| unsafe {
            let (unasked, bytes) = (ptr::null_mut(), ptr::from_mut(&mut bytes));
            sys::gth_plan_extents(self.raw.as_ptr(), extent_to_c(n), unasked, bytes, unasked, err)
        })?;
        Ok(bytes)
    }

    /// Runs a plan without an open extent.
    ///
    /// Errors: [`Error::DType`] for elements of another type than planned; [`Error::Size`] for less memory than the run
    /// touches, with the operand, the bytes that came as the value and those needed as the limit; [`Error::Shape`] for a
    /// plan with an open extent, [`Error::Index`], [`Error::Device`].
    #[inline]
    pub fn run<'p, 'i, 'o>(
        &self,
        params: impl Into<Buffer<'p>>,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run(self, params, indices, out)
    }

    /// Runs a plan with an open extent of `n`. Errors: as [`Plan::run`]; [`Error::Shape`] for a plan without one.
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

    /// Judges the indices of a run of a plan without an open extent and does nothing else: for who gathers in pieces and
    /// still promises an output that is unchanged on error.
    ///
    /// Errors: as [`Plan::run`]; what [`Bounds`](crate::Bounds) has an answer for is none.
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

    /// [`Plan::check`] for a plan with an open extent of `n`.
    pub fn check_open<'i>(&self, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        context::DEFAULT.check_open(self, n, indices)
    }
}

impl Context {
    /// [`Plan::run`] in this context.
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

    /// [`Plan::run_open`] in this context.
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

    /// [`Plan::check`] in this context. On a device the error is taken from the context, as that of a run.
    pub fn check<'i>(&self, plan: &Plan, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.check_plan(plan, OPEN, indices.into())
    }

    /// [`Plan::check_open`] in this context.
    pub fn check_open<'i>(&self, plan: &Plan, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.check_plan(plan, n, indices.into())
    }

    /// Always inlined: three buffers handed over in memory would cost as much as checking them.
    #[inline(always)]
    fn run_plan(
        &self,
        plan: &Plan,
        n: usize,
        params: Buffer<'_>,
        indices: Buffer<'_>,
        out: BufferMut<'_>,
    ) -> Result<(), Error> {
        check_kind(plan.reads, params.kind, plan.source)?;
        check_kind(Operand::Indices, indices.kind, plan.indices)?;
        check_kind(plan.writes, out.kind, plan.destination)?;
        if !out.is_init && plan.writes == Operand::Target {
            return Err(refuse_uninit());
        }
        // SAFETY: the memory is of the planned kind and of the given extents, borrowed for the call, and that of the output
        // exclusively; what a scatter reads of it may be read. The ABI was checked when the plan was made.
        call(|err| unsafe {
            sys::gth_plan_run_checked(
                self.raw(),
                plan.raw.as_ptr(),
                params.data,
                bytes_to_c(params.bytes),
                indices.data,
                bytes_to_c(indices.bytes),
                out.data,
                bytes_to_c(out.bytes),
                extent_to_c(n),
                err,
            )
        })
    }

    fn check_plan(&self, plan: &Plan, n: usize, indices: Buffer<'_>) -> Result<(), Error> {
        check_kind(Operand::Indices, indices.kind, plan.indices)?;
        let needed = plan.bytes_of_indices(n)?;
        let given = bytes_to_c(indices.bytes);
        if given < needed {
            let message = format!("memory of {given} bytes, needed are {needed}");
            return Err(Cause::new(sys::GTH_E_SIZE, Operand::Indices, message)
                .numbers(given.into(), needed)
                .into());
        }
        // SAFETY: the memory is of the planned kind and at least of the extent that a run reads, borrowed for the call.
        call(|err| unsafe { sys::gth_plan_check(self.raw(), plan.raw.as_ptr(), indices.data, extent_to_c(n), err) })
    }
}

fn make_plan(
    make: MakePlan,
    indexed: &Layout<'_>,
    indices: &Layout<'_>,
    options: &Options,
    other: Option<&Layout<'_>>,
) -> Result<NonNull<sys::gth_plan>, Error> {
    abi::ensure()?;
    options.check_fill(&indexed.desc)?;
    let other = other.map_or(ptr::null(), |other| ptr::from_ref(&other.desc));
    let mut raw = ptr::null_mut();
    // SAFETY: the descriptions borrow their shapes and strides; no memory is looked at.
    call(|err| unsafe { make(&indexed.desc, &indices.desc, &options.raw, other, &mut raw, err) })?;
    Ok(NonNull::new(raw).expect("a made plan has a handle"))
}

/// Whether memory is of the dtype and on the device that a plan was made for.
#[inline(always)]
fn check_kind(operand: Operand, kind: Kind, planned: Kind) -> Result<(), Error> {
    if kind == planned {
        Ok(())
    } else {
        Err(refuse_kind(operand, kind, planned))
    }
}

#[cold]
fn refuse_kind(operand: Operand, kind: Kind, planned: Kind) -> Error {
    let (status, what, value, limit) = if kind.dtype() != planned.dtype() {
        (sys::GTH_E_DTYPE, "dtype", kind.dtype(), planned.dtype())
    } else {
        (sys::GTH_E_DEVICE, "device", kind.device(), planned.device())
    };
    let message = format!("the {what} is another one than the plan's: {kind:?}, not {planned:?}");
    Cause::new(status, operand, message)
        .numbers(value.into(), limit.into())
        .into()
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape(OPEN).map(|shape| extents(&shape));
        f.debug_struct("Plan").field("shape", &shape).finish()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: released once, here, and nobody borrows the plan any more.
        let status = unsafe { sys::gth_plan_release(self.raw.as_ptr()) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}
