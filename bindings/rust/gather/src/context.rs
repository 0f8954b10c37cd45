//! Contexts: devices, streams and hooks of calls.

use std::alloc::GlobalAlloc;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use crate::abi::call;
use crate::allocator;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Error;
use crate::executor::{Executor, Work, parallel_for};
use crate::handle::Handle;
use crate::numbers::{rank_to_c, struct_size};
use crate::tensor::Tensor;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

/// The context of the functions that have no context argument.
pub(crate) static DEFAULT: Context = Context::DEFAULT;

/// A device, a stream and hooks, with which calls run. The functions of this crate use [`Context::DEFAULT`], the CPU
/// with the threads of the library. Other contexts have other numbers of threads, executors, allocators or devices.
///
/// # Examples
///
/// ```
/// use gather::{Context, Options, Tensor};
///
/// let context = Context::builder().threads(2).build()?;
/// let table = [1.0f64, 2.0, 3.0];
/// let picked = context.gather(&Tensor::new(&table, &[3]), &Tensor::new(&[2u8], &[1]), &Options::new())?;
/// assert_eq!(picked.as_slice::<f64>()?, [3.0]);
/// # Ok::<(), gather::Error>(())
/// ```
pub struct Context {
    raw: *mut sys::gth_context,
    /// The library keeps the address of the executor. A pointer into a Box is invalid after the Box has moved, so this
    /// is an Arc.
    _executor: Option<Arc<Executor>>,
}

// SAFETY: contexts of the library are immutable, and any number of threads may use them. The executor is Send and Sync.
// A context cannot be dropped while a call borrows it.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The CPU with the threads of the library.
    pub const DEFAULT: Context = Context {
        raw: ptr::null_mut(),
        _executor: None,
    };

    /// Creates a builder of a context.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    #[inline]
    pub(crate) fn raw(&self) -> *mut sys::gth_context {
        self.raw
    }

    /// Creates a dense tensor of zeros on the device of the context, in memory of its allocator.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Rank`], [`Error::Shape`], [`Error::Size`], [`Error::OutOfMemory`], and [`Error::Unsupported`]
    /// for strings. On a device also [`Error::Cuda`], [`Error::Fork`] and [`Error::Capture`].
    pub fn zeros(&self, dtype: DType, shape: &[usize]) -> Result<Tensor<'static>, Error> {
        let ndim = rank_to_c(shape.len());
        let handle = Handle::make(|out, err| {
            // SAFETY: the shape has ndim extents.
            unsafe { sys::gth_tensor_alloc(self.raw, dtype as i32, ndim, shape.as_ptr().cast(), out, err) }
        })?;
        Tensor::from_handle(handle)
    }

    /// Creates a tensor of zeros, and lets `write` replace them.
    pub(crate) fn written(
        &self,
        dtype: DType,
        shape: &[usize],
        write: impl FnOnce(&mut TensorMut<'_>) -> Result<(), Error>,
    ) -> Result<Tensor<'static>, Error> {
        let made = self.zeros(dtype, shape)?;
        write(&mut TensorMut::from_desc(made.desc.clone()))?;
        Ok(made)
    }

    /// Copies every element of `source` to `destination`. Both must have the same dtype and shape. They may have any
    /// strides. On a device the copy runs in stream order. If one of the tensors is in memory of the process, the call
    /// waits for the copy, as [`Context::sync`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`], [`Error::Rank`], [`Error::Shape`], [`Error::Stride`], [`Error::ReadOnly`],
    /// [`Error::Device`], [`Error::Null`], and [`Error::Unsupported`] for strings. A copy that waits also returns the
    /// errors of earlier calls on the device.
    pub fn copy(&self, source: &Tensor<'_>, destination: &mut TensorMut<'_>) -> Result<(), Error> {
        let (source, destination) = (&source.desc, &destination.desc);
        // SAFETY: the descriptions name only memory that is borrowed for the call, that of the destination exclusively.
        // The owner of device memory guarantees it until the stream has executed the copy.
        call(|err| unsafe { sys::gth_copy(self.raw, source.raw(), destination.raw(), err) })?;
        if source.device() == Device::Cpu || destination.device() == Device::Cpu {
            self.sync()
        } else {
            Ok(())
        }
    }

    /// Waits until the work enqueued on the stream of the context is complete, and takes its error, as
    /// [`Context::take_error`]. On the CPU it does nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Context::take_error`].
    pub fn sync(&self) -> Result<(), Error> {
        self.take_error() // It waits too.
    }

    /// Waits for the stream of the context, returns the error of the first device call that has failed since the last
    /// take, and clears it. On the CPU it always returns `Ok`, because calls return their own errors.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Index`] or [`Error::Race`] of a device call. If the take itself fails, [`Error::Cuda`],
    /// [`Error::Fork`] or [`Error::Capture`].
    pub fn take_error(&self) -> Result<(), Error> {
        // SAFETY: the context has not been released.
        call(|err| unsafe { sys::gth_context_take_error(self.raw, err) })
    }

    /// Enqueues a copy of the error record to `record`, and then clears that of the context. On the CPU it does
    /// nothing.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Null`], [`Error::Device`], [`Error::Cuda`] and [`Error::Fork`].
    ///
    /// # Safety
    ///
    /// `record` must be device or pinned host memory that stays valid until the stream has executed the copy.
    pub unsafe fn enqueue_take_error(&self, record: *mut sys::gth_error_record) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        call(|err| unsafe { sys::gth_context_enqueue_take_error(self.raw, record, err) })
    }

    /// Makes the stream of the context wait for the work enqueued on a CUDA stream so far.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Device`] on the CPU, [`Error::Cuda`], [`Error::Fork`] and [`Error::Capture`].
    ///
    /// # Safety
    ///
    /// `stream` must be an existing CUDA stream, or one of CUDA's special values.
    pub unsafe fn wait(&self, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        call(|err| unsafe { sys::gth_context_wait(self.raw, stream.cast(), err) })
    }

    /// Makes a CUDA stream wait for the work enqueued on the stream of the context so far.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Context::wait`].
    ///
    /// # Safety
    ///
    /// `stream` must be an existing CUDA stream, or one of CUDA's special values.
    pub unsafe fn signal(&self, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        call(|err| unsafe { sys::gth_context_signal(self.raw, stream.cast(), err) })
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.raw).finish()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return; // The default context has no handle.
        }
        // SAFETY: the context is released once, here, and is no longer borrowed.
        let status = unsafe { sys::gth_context_release(self.raw) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}

/// The options of a new [`Context`].
#[derive(Default)]
#[must_use]
pub struct ContextBuilder {
    options: sys::gth_context_options,
    executor: Option<Executor>,
}

impl ContextBuilder {
    /// Sets the highest number of threads of a call. 0 means all that the process may use.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = i32::try_from(threads).unwrap_or(i32::MAX);
        self
    }

    /// Sets the device. With a library without CUDA, [`ContextBuilder::build`] returns [`Error::Device`].
    pub fn device(mut self, device: Device) -> Self {
        (self.options.device, self.options.device_id) = device.numbers();
        self
    }

    /// Sets a closure that runs large calls on threads of the caller. It calls [`Work::run_next`], on any threads,
    /// until that returns false. The calling thread runs the pieces that the closure has not run, even if the closure
    /// panics. So the result is always complete. The closure must not call this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::{Context, Work};
    ///
    /// let context = Context::builder()
    ///     .threads(4)
    ///     .executor(|work: &Work<'_>| {
    ///         std::thread::scope(|scope| {
    ///             for _ in 1..work.len() {
    ///                 scope.spawn(|| work.run_next());
    ///             }
    ///         })
    ///     })
    ///     .build()?;
    /// # context.sync()?;
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn executor(mut self, executor: impl Fn(&Work<'_>) + Send + Sync + 'static) -> Self {
        self.executor = Some(Box::new(executor));
        self
    }

    /// Sets an allocator for the memory of results on the CPU. It must not call this crate.
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::Context;
    /// use std::alloc::System;
    ///
    /// static ALLOCATOR: System = System;
    /// let context = Context::builder().allocator(&ALLOCATOR).build()?;
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn allocator<A: GlobalAlloc + Sync>(mut self, allocator: &'static A) -> Self {
        self.options.alloc = Some(allocator::alloc::<A>);
        self.options.free = Some(allocator::free::<A>);
        self.options.memory_user = ptr::from_ref(allocator).cast_mut().cast();
        self
    }

    /// Sets the CUDA stream.
    ///
    /// # Safety
    ///
    /// `stream` must be a stream of the device of the context, or one of CUDA's special values. It must outlive the
    /// context and the tensors made with it. Memory is freed in the order of this stream. If another stream uses these
    /// tensors, [`wait`](Context::wait) and [`signal`](Context::signal) must order both before the tensors are dropped.
    /// The per-thread stream (0x2) needs one context for each thread.
    pub unsafe fn stream(mut self, stream: *mut c_void) -> Self {
        self.options.stream = stream.cast();
        self
    }

    /// Sets the record for errors of device calls.
    ///
    /// # Safety
    ///
    /// `record` must be device or mapped pinned memory that outlives the context and every graph captured with it.
    pub unsafe fn record(mut self, record: *mut sys::gth_error_record) -> Self {
        self.options.record = record;
        self
    }

    /// Creates the context.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Device`], [`Error::Cuda`], [`Error::Fork`] and [`Error::OutOfMemory`].
    pub fn build(self) -> Result<Context, Error> {
        let mut options = self.options;
        options.size = struct_size::<sys::gth_context_options>();
        let executor = self.executor.map(Arc::new);
        if let Some(executor) = &executor {
            options.parallel_for = Some(parallel_for);
            options.parallel_user = Arc::as_ptr(executor).cast_mut().cast();
        }
        let mut raw = ptr::null_mut();
        // SAFETY: each hook gets the user pointer of its type. The context keeps the executor alive, and the allocator
        // is 'static.
        call(|err| unsafe { sys::gth_context_create(&options, &mut raw, err) })?;
        Ok(Context {
            raw,
            _executor: executor,
        })
    }
}

impl fmt::Debug for ContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextBuilder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
