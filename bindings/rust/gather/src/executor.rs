//! Executors of the caller, which replace the threads of the library.

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};

use crate::numbers::extent_from_c;

/// The pieces of one large call. An executor runs them on any threads. See [`ContextBuilder::executor`].
///
/// [`ContextBuilder::executor`]: crate::ContextBuilder::executor
#[derive(Debug)]
pub struct Work<'w> {
    task: unsafe extern "C" fn(*mut c_void, i64),
    arg: *mut c_void,
    count: i64,
    next: AtomicI64,
    borrow: PhantomData<&'w ()>,
}

// SAFETY: any threads may run the pieces, and each piece runs once.
unsafe impl Sync for Work<'_> {}

impl Work<'_> {
    /// Returns the number of pieces.
    pub fn len(&self) -> usize {
        extent_from_c(self.count)
    }

    /// Returns whether there are no pieces.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Runs the next piece that has not been started. Returns false if there is none.
    pub fn run_next(&self) -> bool {
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        if i >= self.count {
            return false;
        }
        // SAFETY: 0 <= i < count, and no other caller has this i. A safe executor cannot keep the borrow of the work,
        // so it ends before the call of the library.
        unsafe { (self.task)(self.arg, i) };
        true
    }
}

pub(crate) type Executor = Box<dyn Fn(&Work<'_>) + Send + Sync>;

/// The hook for large calls of the library.
///
/// # Safety
///
/// `user` points to an [`Executor`]. The other arguments are those of gth_parallel_for_fn.
pub(crate) unsafe extern "C" fn parallel_for(
    user: *mut c_void,
    count: i64,
    task: Option<unsafe extern "C" fn(*mut c_void, i64)>,
    arg: *mut c_void,
) {
    let Some(task) = task else { return };
    // SAFETY: the caller guarantees it, and the context keeps the executor alive.
    let executor = unsafe { &*user.cast::<Executor>() };
    let work = Work {
        task,
        arg,
        count,
        next: AtomicI64::new(0),
        borrow: PhantomData,
    };
    // A panic must not unwind into C. The panic hook has already reported it. This function runs the pieces that the
    // executor has not run. So the call is always complete.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| executor(&work))) {
        discard(payload);
    }
    while work.run_next() {}
}

/// Drops the payload of a panic. If its drop panics too, that panic ends here as well. Its payload is leaked, because
/// its drop might panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;
    use std::sync::Mutex;

    unsafe extern "C" fn note(pieces: *mut c_void, i: i64) {
        // SAFETY: the test passes a mutex that outlives the call.
        unsafe { &*pieces.cast::<Mutex<Vec<i64>>>() }.lock().unwrap().push(i);
    }

    #[test]
    fn each_piece_runs_once() {
        let executors: [Executor; 3] = [
            Box::new(|_| ()),
            Box::new(|work| assert_eq!((work.len(), work.is_empty(), work.run_next()), (3, false, true))),
            Box::new(|work| {
                while work.run_next() {}
                assert!(!work.run_next());
            }),
        ];
        for executor in executors {
            let pieces = Mutex::new(Vec::<i64>::new());
            let (user, arg) = (ptr::from_ref(&executor), ptr::from_ref(&pieces));
            // SAFETY: both outlive the call.
            unsafe { parallel_for(user.cast_mut().cast(), 3, Some(note), arg.cast_mut().cast()) };
            assert_eq!(*pieces.lock().unwrap(), [0, 1, 2]);
        }
    }
}
