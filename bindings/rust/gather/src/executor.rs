//! The caller's threads instead of the library's.

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};

use crate::numbers::extent_from_c;

/// The pieces of one large call, for an executor to run on any threads. See [`ContextBuilder::executor`].
///
/// [`ContextBuilder::executor`]: crate::ContextBuilder::executor
#[derive(Debug)]
pub struct Work<'w> {
    task: unsafe extern "C" fn(*mut c_void, i64),
    arg: *mut c_void,
    count: i64,
    next: AtomicI64,
    lent: PhantomData<&'w ()>,
}

// SAFETY: the library lets its pieces be run by any threads, and each is handed out once.
unsafe impl Sync for Work<'_> {}

impl Work<'_> {
    /// How many pieces there are.
    pub fn len(&self) -> usize {
        extent_from_c(self.count)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Runs the next piece that nobody has taken; false if there is none left.
    pub fn run_next(&self) -> bool {
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        if i >= self.count {
            return false;
        }
        // SAFETY: 0 <= i < count and no other caller has got this i. The borrow of the work, which a safe executor
        // cannot keep, ends before the library's call does.
        unsafe { (self.task)(self.arg, i) };
        true
    }
}

pub(crate) type Executor = Box<dyn Fn(&Work<'_>) + Send + Sync>;

/// The hook that the library calls.
///
/// # Safety
/// `user` points to an [`Executor`]; the rest is as gth_parallel_for_fn documents.
pub(crate) unsafe extern "C" fn parallel_for(
    user: *mut c_void,
    count: i64,
    task: Option<unsafe extern "C" fn(*mut c_void, i64)>,
    arg: *mut c_void,
) {
    let Some(task) = task else { return };
    // SAFETY: by contract; the context keeps the executor.
    let executor = unsafe { &*user.cast::<Executor>() };
    let work = Work {
        task,
        arg,
        count,
        next: AtomicI64::new(0),
        lent: PhantomData,
    };
    // A panic may not pass through C. What it left undone, like what the executor forgot, is done here, so that the
    // library gets what it asks for whatever the closure does. The panic has already been reported by its hook.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| executor(&work))) {
        discard(payload);
    }
    while work.run_next() {}
}

/// Drops the payload of a panic. If its drop panics too, that panic ends here as well, and its payload is leaked, because
/// its drop might panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(next);
    }
}
