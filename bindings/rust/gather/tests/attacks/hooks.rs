//! Executors that panic, call the crate again, or are used after their context is gone.

use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gather::{Context, DType, Options, Tensor, TensorMut, Work};

/// Large enough for a call to be cut into pieces.
const ROWS: usize = 1 << 14;
const WIDTH: usize = 256;

fn context(executor: impl Fn(&Work<'_>) + Send + Sync + 'static) -> Context {
    Context::builder().threads(4).executor(executor).build().unwrap()
}

/// A large gather in a context, whose result must be right.
fn run(context: &Context) {
    let table = vec![3u32; ROWS * WIDTH];
    let ids: Vec<u32> = (0..ROWS as u32).rev().collect();
    let rows = context
        .gather(
            &Tensor::new(&table, &[ROWS, WIDTH]),
            &Tensor::new(&ids, &[ROWS]),
            &Options::new(),
        )
        .unwrap();
    assert_eq!(rows.as_slice::<u32>(), Ok(&table[..]));
}

/// Panics when it is dropped. The payload of that panic panics too, and so on: `left` panics in all.
struct Bomb {
    left: usize,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        if self.left > 0 {
            panic_any(Bomb {
                left: self.left - 1,
                dropped: Arc::clone(&self.dropped),
            });
        }
    }
}

#[test]
fn a_panic_whose_payload_panics() {
    for left in [0, 1, 2, 5] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&dropped);
        run(&context(move |_| {
            panic_any(Bomb {
                left,
                dropped: Arc::clone(&seen),
            })
        }));
        assert!(dropped.load(Ordering::Relaxed) >= 1, "{left}");
    }
}

#[test]
fn an_executor_that_calls_the_crate() {
    static OWN: OnceLock<Context> = OnceLock::new();
    let own = OWN.get_or_init(|| {
        context(|work| {
            for context in [&Context::DEFAULT, OWN.get().unwrap()] {
                let rows = context.gather(
                    &Tensor::new(&[1u8, 2, 3], &[3]),
                    &Tensor::new(&[2u8], &[1]),
                    &Options::new(),
                );
                assert_eq!(rows.unwrap().as_slice::<u8>(), Ok(&[3][..]));
            }
            while work.run_next() {}
        })
    });
    run(own);
}

/// Says when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn results_are_used_when_the_context_is_gone() {
    let gone = Arc::new(AtomicBool::new(false));
    let flag = Flag(Arc::clone(&gone));
    let context = context(move |work| {
        assert!(!flag.0.load(Ordering::Relaxed), "the executor has been dropped");
        while work.run_next() {}
    });
    let mut rows = context.zeros(DType::UInt32, &[ROWS, WIDTH]).unwrap();
    run(&context);
    drop(context);
    assert!(gone.load(Ordering::Relaxed));
    let ones = vec![1u32; ROWS * WIDTH];
    Context::DEFAULT
        .copy(&Tensor::new(&ones, &[ROWS, WIDTH]), &mut rows.as_mut())
        .unwrap();
    let mut out = vec![0u32; ROWS * WIDTH];
    let ids: Vec<u32> = (0..ROWS as u32).collect();
    gather::gather_into(
        &rows,
        &Tensor::new(&ids, &[ROWS]),
        &Options::new(),
        &mut TensorMut::new(&mut out, &[ROWS, WIDTH]),
    )
    .unwrap();
    assert_eq!(out, ones);
}

#[test]
fn a_context_that_is_moved_and_dropped_elsewhere() {
    let made = context(|work| while work.run_next() {});
    let boxed = Box::new(made);
    run(&boxed);
    std::thread::spawn(move || run(&boxed)).join().unwrap();
}
