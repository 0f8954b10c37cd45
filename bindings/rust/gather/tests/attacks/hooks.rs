//! Executors that panic or call the crate, and results that outlive their context.

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use gather::{Context, DType, Options, Tensor, TensorMut, Work};

/// A call with this many rows is large enough to have several pieces.
const ROWS: usize = 1 << 14;
const WIDTH: usize = 256;

fn context(executor: impl Fn(&Work<'_>) + Send + Sync + 'static) -> Context {
    Context::builder().threads(4).executor(executor).build().unwrap()
}

/// Runs a large gather in a context and checks its result.
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

/// A drop of this type panics, with a payload of the same type. It has size 0, so a leaked payload costs no memory.
struct Bomb;

static BOMBS_DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Bomb {
    fn drop(&mut self) {
        BOMBS_DROPPED.fetch_add(1, Ordering::Relaxed);
        panic_any(Bomb);
    }
}

#[test]
fn panic_payload_that_panics_on_drop() {
    run(&context(|_| panic_any(Bomb)));
    assert!(BOMBS_DROPPED.load(Ordering::Relaxed) > 0);
}

#[test]
fn executor_may_call_the_crate() {
    let results = Arc::new(Mutex::new(Vec::new())); // A failed assertion in the executor would be caught as a panic.
    let kept = Arc::clone(&results);
    let own = Arc::new_cyclic(|own: &Weak<Context>| {
        let own = own.clone();
        context(move |work| {
            let own = own.upgrade().unwrap();
            for context in [&Context::DEFAULT, &own] {
                let (table, ids) = (Tensor::new(&[1u8, 2, 3], &[3]), Tensor::new(&[2u8], &[1]));
                let rows = context.gather(&table, &ids, &Options::new()).unwrap();
                kept.lock().unwrap().push(rows.to_vec::<u8>().unwrap());
            }
            while work.run_next() {}
        })
    });
    run(&own);
    let results = results.lock().unwrap();
    assert!(
        !results.is_empty() && results.iter().all(|result| result == &[3]),
        "{results:?}"
    );
}

#[test]
fn results_outlive_their_context() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let context = context(move |work| {
        counted.fetch_add(1, Ordering::Relaxed);
        while work.run_next() {}
    });
    let mut rows = context.zeros(DType::UInt32, &[ROWS, WIDTH]).unwrap();
    run(&context);
    drop(context);
    let before = calls.load(Ordering::Relaxed);
    assert!(before > 0);
    assert_eq!(Arc::strong_count(&calls), 1, "the executor has not been dropped");
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
    drop(rows);
    assert_eq!(calls.load(Ordering::Relaxed), before);
}

#[test]
fn context_may_move_to_another_thread() {
    let made = context(|work| while work.run_next() {});
    let boxed = Box::new(made);
    run(&boxed);
    std::thread::spawn(move || run(&boxed)).join().unwrap();
}
