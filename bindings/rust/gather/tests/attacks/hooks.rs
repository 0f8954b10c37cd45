//! Executors that panic, call the crate again, or are used after their context is gone.

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

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

/// Panics whenever it is dropped, with a payload that does the same. It has no size, so that nothing is lost where one is
/// leaked.
struct Bomb;

static BOMBS_DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Bomb {
    fn drop(&mut self) {
        BOMBS_DROPPED.fetch_add(1, Ordering::Relaxed);
        panic_any(Bomb);
    }
}

#[test]
fn a_panic_whose_payload_panics() {
    run(&context(|_| panic_any(Bomb)));
    assert!(BOMBS_DROPPED.load(Ordering::Relaxed) > 0);
}

#[test]
fn an_executor_that_calls_the_crate() {
    let answers = Arc::new(Mutex::new(Vec::new())); // an assertion in an executor would be a panic that is caught
    let kept = Arc::clone(&answers);
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
    let answers = answers.lock().unwrap();
    assert!(
        !answers.is_empty() && answers.iter().all(|answer| answer == &[3]),
        "{answers:?}"
    );
}

#[test]
fn results_are_used_when_the_context_is_gone() {
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
fn a_context_that_is_moved_and_dropped_elsewhere() {
    let made = context(|work| while work.run_next() {});
    let boxed = Box::new(made);
    run(&boxed);
    std::thread::spawn(move || run(&boxed)).join().unwrap();
}
