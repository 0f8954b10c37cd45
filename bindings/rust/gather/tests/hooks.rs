//! Executors and allocators of the caller.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather::{Context, Error, Options, Tensor, Work};

/// A call with this many rows is large enough to have several pieces.
const ROWS: usize = 1 << 14;
const WIDTH: usize = 256;

struct Large {
    table: Vec<u32>,
    ids: Vec<u32>,
}

impl Large {
    fn new() -> Self {
        Large {
            table: (0..(ROWS * WIDTH) as u32).collect(),
            ids: (0..ROWS as u32).map(|i| i * 7919 % ROWS as u32).collect(),
        }
    }

    fn check(&self, context: &Context) {
        self.check_with(context, &Options::new());
    }

    fn check_with(&self, context: &Context, options: &Options) {
        let out = context
            .gather(
                &Tensor::new(&self.table, &[ROWS, WIDTH]),
                &Tensor::new(&self.ids, &[ROWS]),
                options,
            )
            .unwrap();
        let expected = |i: usize| &self.table[self.ids[i] as usize * WIDTH..][..WIDTH];
        let found = out.as_slice::<u32>().unwrap();
        assert!((0..ROWS).all(|i| &found[i * WIDTH..][..WIDTH] == expected(i)));
    }
}

fn context(executor: impl Fn(&Work<'_>) + Send + Sync + 'static) -> Context {
    Context::builder().threads(4).executor(executor).build().unwrap()
}

#[test]
fn executor_runs_large_calls() {
    let pieces = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&pieces);
    let context = context(move |work| {
        assert!(!work.is_empty());
        std::thread::scope(|scope| {
            for _ in 0..work.len() {
                scope.spawn(|| seen.fetch_add(work.run_next().into(), Ordering::Relaxed));
            }
        });
        assert!(!work.run_next());
    });
    Large::new().check(&context);
    assert!(pieces.load(Ordering::Relaxed) > 1);
}

/// The executor runs only calls of several threads.
#[test]
fn threads_of_contexts_and_options_limit_a_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&calls);
    let limited = move |threads| {
        let seen = Arc::clone(&seen);
        let executor = move |_: &Work<'_>| {
            seen.fetch_add(1, Ordering::Relaxed);
        };
        Context::builder().threads(threads).executor(executor).build().unwrap()
    };
    let large = Large::new();
    large.check(&limited(1));
    large.check_with(&limited(4), &Options::new().threads(1));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    large.check_with(&limited(1), &Options::new().threads(4));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn executor_may_do_nothing() {
    Large::new().check(&context(|_| {}));
}

#[test]
fn executor_may_panic() {
    let large = Large::new();
    large.check(&context(|work| {
        work.run_next();
        std::panic::resume_unwind(Box::new("a panic of the executor"));
    }));
}

#[test]
fn executor_does_not_change_the_error() {
    let mut large = Large::new();
    large.ids[ROWS - 5] = ROWS as u32;
    large.ids[ROWS - 3] = u32::MAX;
    let result = context(|work| while work.run_next() {}).gather(
        &Tensor::new(&large.table, &[ROWS, WIDTH]),
        &Tensor::new(&large.ids, &[ROWS]),
        &Options::new(),
    );
    let Err(Error::Index(cause)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(cause.position, Some(ROWS as u64 - 5));
}

struct Counting {
    live: AtomicUsize,
    made: AtomicUsize,
}

// SAFETY: the system's allocator handles every call.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.live.fetch_add(1, Ordering::Relaxed);
        self.made.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        self.live.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(data, layout) }
    }
}

#[test]
fn results_of_an_allocator_outlive_their_context() {
    static MEMORY: Counting = Counting {
        live: AtomicUsize::new(0),
        made: AtomicUsize::new(0),
    };
    let context = Context::builder().allocator(&MEMORY).build().unwrap();
    let table = [1u8, 2, 3];
    let out = context
        .gather(&Tensor::new(&table, &[3]), &Tensor::new(&[2u8], &[1]), &Options::new())
        .unwrap();
    let zeros = context.zeros(gather::DType::Int64, &[2, 2]).unwrap();
    drop(context);
    assert_eq!(MEMORY.made.load(Ordering::Relaxed), 2);
    assert_eq!(out.as_slice::<u8>(), Ok(&[3][..]));
    assert_eq!(zeros.as_slice::<i64>(), Ok(&[0; 4][..]));
    std::thread::spawn(move || drop((out, zeros))).join().unwrap();
    assert_eq!(MEMORY.live.load(Ordering::Relaxed), 0);
}

#[test]
fn failing_allocator_returns_out_of_memory() {
    struct Empty;
    // SAFETY: an allocator may return null.
    unsafe impl GlobalAlloc for Empty {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            std::ptr::null_mut()
        }
        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }
    static MEMORY: Empty = Empty;
    let context = Context::builder().allocator(&MEMORY).build().unwrap();
    let result = context.zeros(gather::DType::Int8, &[3]);
    assert!(matches!(result, Err(Error::OutOfMemory(_))), "{result:?}");
}
