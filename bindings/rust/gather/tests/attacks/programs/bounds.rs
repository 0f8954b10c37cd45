//! Types that are not elements, and hooks that must not run on other threads.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::rc::Rc;

use gather::{Buffer, BufferMut, Context, DType, Element, Layout, Options, Tensor, TensorMut};

pub fn an_executor_of_one_thread() {
    let local = Rc::new(5);
    let mut builder = Context::builder();
    let shared = Rc::clone(&local);
    builder = builder.executor(move |_| println!("{shared}")); //~ E0277 attack
    println!("{:?} {local}", builder.build());
}

pub fn an_executor_that_is_not_shared() {
    let mut builder = Context::builder();
    let count = Cell::new(0);
    builder = builder.executor(move |_| count.set(1)); //~ E0277 attack
    println!("{:?}", builder.build());
}

pub fn a_vector_of_one_thread() {
    let _ = Tensor::from_vec(vec![Rc::new(1)], &[1]); //~ E0277 attack
    let _ = Tensor::from_vec(vec![Cell::new(1)], &[1]); //~ E0277 attack
    let _ = Tensor::from_vec(vec![&1], &[1]); //~ E0277 attack
    let _ = Tensor::from_vec(vec![String::new()], &[1]); //~ E0277 attack
}

pub fn a_view_of_no_elements() {
    let _ = Tensor::new(&[Cell::new(1)], &[1]); //~ E0277 attack
    let _ = Tensor::new(&['a'], &[1]); //~ E0277 attack
    let _ = Buffer::from(&["one"]); //~ E0277 attack
    let _ = BufferMut::from(&mut [Rc::new(1)]); //~ E0277 attack
    let _ = TensorMut::new(&mut [Some(1)], &[1]); //~ E0277 attack
    let _ = Layout::new::<&u8>(&[1]); //~ E0277 attack
    let _ = Options::new().fill_value("one"); //~ E0277 attack
}

pub fn elements_of_another_kind(tensor: &Tensor<'_>) {
    let _ = tensor.as_slice::<char>(); //~ E0277 attack
    let _ = tensor.to_vec::<&u8>(); //~ E0277 attack
}

pub fn a_shared_slice_as_an_output(memory: &[i32]) {
    let _ = TensorMut::new(memory, &[1]); //~ E0277 attack
    let _ = BufferMut::from(memory); //~ E0277 attack
    println!("{memory:?}");
}

pub struct Pointer(pub *mut u8);

#[rustfmt::skip] // attack
impl Element for Pointer { const DTYPE: DType = DType::UInt64; } //~ E0277 attack
