//! A borrowed value cannot move to a thread that may outlive it. Threads cannot share an output.
#![forbid(unsafe_code)]

use std::alloc::System;
use std::sync::{Mutex, OnceLock};
use std::thread;

use gather::{Context, Options, Tensor, TensorMut, Work, gather_into};

pub fn a_view_in_a_thread() {
    let table = vec![0i32; 4];
    let tensor = Tensor::new(&[0i32; 4], &[4]);
    let tensor = Tensor::new(&table, &[4]); //~ E0597 attack
    thread::spawn(move || println!("{tensor:?}"));
}

pub fn a_view_of_an_owner_in_a_thread() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = Tensor::new(&[0i32; 4], &[4]);
    let view = owned.view(); //~ E0597 attack
    thread::spawn(move || println!("{view:?}"));
}

pub fn strings_in_a_thread() {
    let words = Tensor::from_strings(&["one"], &[1]).unwrap();
    let strings = 0;
    let strings = words.strings().unwrap(); //~ E0597 attack
    thread::spawn(move || println!("{strings:?}"));
}

pub fn an_output_in_two_threads() {
    let mut memory = [0i32; 1];
    let mut target = TensorMut::new(&mut memory, &[1]);
    let (params, ids, options) = (Tensor::new(&[1i32], &[1]), Tensor::new(&[0u8], &[1]), Options::new());
    thread::scope(|scope| {
        scope.spawn(|| gather_into(&params, &ids, &options, &mut target));
        scope.spawn(|| gather_into(&params, &ids, &options, &mut target)); //~ E0499 attack
    });
}

pub fn a_read_during_a_write_in_a_thread() {
    let mut owned = Tensor::from_vec(vec![0i32; 1], &[1]).unwrap();
    let (params, ids, options) = (Tensor::new(&[1i32], &[1]), Tensor::new(&[0u8], &[1]), Options::new());
    thread::scope(|scope| {
        scope.spawn(|| gather_into(&params, &ids, &options, &mut owned.as_mut()));
        println!("{:?}", owned.as_slice::<i32>()); //~ E0502 attack
    });
}

pub fn an_output_behind_a_shared_reference(target: &TensorMut<'_>) {
    let (params, ids, options) = (Tensor::new(&[1i32], &[1]), Tensor::new(&[0u8], &[1]), Options::new());
    let _ = gather_into(&params, &ids, &options, target); //~ E0308 attack
    println!("{target:?} {params:?} {ids:?} {options:?}");
}

pub fn an_executor_that_borrows() {
    let local = 5;
    let mut builder = Context::builder();
    builder = builder.executor(|_| println!("{local}")); //~ E0373 attack
    println!("{:?} {local}", builder.build());
}

pub fn an_allocator_that_is_dropped() {
    let allocator = System;
    let mut builder = Context::builder();
    builder = builder.allocator(&allocator); //~ E0597 attack
    println!("{:?} {allocator:?}", builder.build());
}

pub fn work_in_a_thread_that_outlives_it() {
    let builder = Context::builder().executor(|work: &Work<'_>| {
        thread::spawn(|| work.run_next()); //~ E0521 attack
        work.run_next();
    });
    drop(builder);
}

pub fn work_that_is_kept() {
    static KEPT: OnceLock<Mutex<Vec<&'static Work<'static>>>> = OnceLock::new();
    let kept = KEPT.get_or_init(Mutex::default);
    let builder = Context::builder().executor(|work: &Work<'_>| {
        kept.lock().unwrap().push(work); //~ E0521 attack
        work.run_next();
    });
    drop(builder);
}
