//! Gathers whose shapes and options are checked once and run often.

use std::fmt;
use std::ptr::{self, NonNull};

use crate::abi;
use crate::buffer::{Buffer, BufferMut};
use crate::context::{self, Context};
use crate::error::{Error, Operand, call};
use crate::layout::{Layout, OPEN};
use crate::numbers::extent_to_c;
use crate::operation::{GATHER, GATHER_ELEMENTS, GATHER_ND, Operation};
use crate::operations::read_shape;
use crate::options::Options;
use crate::span::Span;
use gather_sys as sys;

/// A gather whose shapes, strides and options have been checked once. One extent may be left [`OPEN`] and is given at each
/// run: an extent of the tuples, or the outermost batch dim of params and indices alike; of gather_elements, that of the
/// axis of indices, or the outermost dim of both where it is not the axis. Runs allocate nothing.
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
    params: Span,
    indices: Span,
    out: Span,
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
        Self::make(&GATHER, params, indices, options, None)
    }

    /// Plans a [`gather_nd`](crate::gather_nd) with a dense output. Errors: as [`Plan::gather`].
    pub fn gather_nd(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::make(&GATHER_ND, params, indices, options, None)
    }

    /// Plans a [`gather_elements`](crate::gather_elements) with a dense output. Errors: as [`Plan::gather`].
    pub fn gather_elements(params: &Layout<'_>, indices: &Layout<'_>, options: &Options) -> Result<Self, Error> {
        Self::make(&GATHER_ELEMENTS, params, indices, options, None)
    }

    /// Plans a [`gather`](crate::gather()) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::make(&GATHER, params, indices, options, Some(out))
    }

    /// Plans a [`gather_nd`](crate::gather_nd) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_nd_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::make(&GATHER_ND, params, indices, options, Some(out))
    }

    /// Plans a [`gather_elements`](crate::gather_elements) with outputs of a layout. Errors: as [`Plan::gather`].
    pub fn gather_elements_to(
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: &Layout<'_>,
    ) -> Result<Self, Error> {
        Self::make(&GATHER_ELEMENTS, params, indices, options, Some(out))
    }

    fn make(
        operation: &Operation,
        params: &Layout<'_>,
        indices: &Layout<'_>,
        options: &Options,
        out: Option<&Layout<'_>>,
    ) -> Result<Self, Error> {
        abi::ensure()?;
        options.check_fill(&params.desc)?;
        let output = out.map_or(ptr::null(), |out| ptr::from_ref(&out.desc));
        let mut raw = ptr::null_mut();
        // SAFETY: the descriptions borrow their shapes and strides; no memory is looked at.
        call(|err| unsafe { (operation.plan)(&params.desc, &indices.desc, &options.raw, output, &mut raw, err) })?;
        let mut plan = Plan {
            raw: NonNull::new(raw).expect("a made plan has a handle"),
            // SAFETY: the layouts borrow their shapes and strides.
            params: unsafe { Span::of(&params.desc) },
            // SAFETY: as above.
            indices: unsafe { Span::of(&indices.desc) },
            // Until the output's own shape is known.
            // SAFETY: as above.
            out: unsafe { Span::of(&params.desc) },
        };
        let shape = plan.shape(OPEN)?;
        let dense = Layout::from_kind(plan.params.kind, &shape);
        // SAFETY: as above.
        plan.out = unsafe { Span::of(&out.unwrap_or(&dense).desc) };
        Ok(plan)
    }

    /// The output's shape for an open extent of `n`; [`OPEN`] hands it on.
    ///
    /// Errors: [`Error::Shape`] for an `n` where nothing is open, [`Error::Size`].
    pub fn shape(&self, n: usize) -> Result<Vec<usize>, Error> {
        read_shape(|capacity, ndim, shape, err| {
            // SAFETY: the plan is live, and there is room for capacity extents.
            unsafe { sys::gth_plan_shape(self.raw.as_ptr(), extent_to_c(n), capacity, ndim, shape, err) }
        })
    }

    /// Runs a plan without an open extent.
    ///
    /// Errors: [`Error::DType`] for elements of another type than planned, [`Error::Size`] for less memory,
    /// [`Error::Shape`] for a plan with an open extent, [`Error::Index`], [`Error::Device`].
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
        // Without an open extent the memory is that of a single one. Where one is open and not given, or given and not
        // open, the library refuses before it looks at memory.
        let count = if n == OPEN { 1 } else { n };
        plan.params.check(Operand::Params, params.kind, params.bytes, count)?;
        plan.indices
            .check(Operand::Indices, indices.kind, indices.bytes, count)?;
        plan.out.check(Operand::Out, out.kind, out.bytes, count)?;
        // SAFETY: the memory is of the planned kind and at least of the planned extents, borrowed for the call, and that
        // of the output exclusively. The ABI was checked when the plan was made.
        call(|err| unsafe {
            sys::gth_plan_run(
                self.raw(),
                plan.raw.as_ptr(),
                params.data,
                indices.data,
                out.data,
                extent_to_c(n),
                err,
            )
        })
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("raw", &self.raw)
            .field("shape", &self.shape(OPEN))
            .finish()
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: released once, here, and nobody borrows the plan any more.
        let status = unsafe { sys::gth_plan_release(self.raw.as_ptr()) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}
