//! While a tensor that a call writes exists, no other code can read, write or move its memory.
#![forbid(unsafe_code)]

use std::mem::MaybeUninit;

use gather::{Buffer, BufferMut, Context, DType, Options, Tensor, TensorMut, gather_into, scatter_into};

pub fn new_twice() {
    let mut memory = [0i32; 4];
    let one = TensorMut::new(&mut memory, &[4]);
    let other = TensorMut::new(&mut memory, &[4]); //~ E0499 attack
    println!("{other:?}"); // attack
    println!("{one:?}");
}

pub fn new_and_a_read() {
    let mut memory = [0i32; 4];
    let target = TensorMut::new(&mut memory, &[4]);
    println!("{memory:?}"); //~ E0502 attack
    println!("{target:?}");
}

pub fn new_and_a_drop() {
    let mut memory = vec![0i32; 4];
    let target = TensorMut::new(&mut memory, &[4]);
    drop(memory); //~ E0505 attack
    println!("{target:?}");
}

pub fn new_outlives_its_memory() {
    let mut first = [0i32; 4];
    let mut target = TensorMut::new(&mut first, &[4]);
    {
        let mut memory = [0i32; 4];
        target = TensorMut::new(&mut memory, &[4]); //~ E0597 attack
    }
    println!("{target:?}");
}

pub fn with_offset_splits_nothing() {
    let mut memory = [0i32; 4];
    let target = TensorMut::new(&mut memory, &[2]);
    let back = target.with_offset(8);
    println!("{target:?}"); //~ E0382 attack
    println!("{back:?}");
}

pub fn buffer_twice() {
    let mut memory = vec![0i32; 4];
    let buffer = BufferMut::from(&mut memory);
    let target = TensorMut::new(buffer, &[4]);
    let _ = TensorMut::new(buffer, &[4]); //~ E0382 attack
    println!("{target:?}");
}

pub fn from_bytes_twice() {
    let mut bytes = [0u8; 4];
    let buffer = BufferMut::from_bytes(DType::Bool, &mut bytes).unwrap();
    bytes[0] = 7; //~ E0506 attack
    println!("{buffer:?}");
}

pub fn memory_without_values_twice() {
    let mut memory = [MaybeUninit::<i32>::uninit(); 4];
    let buffer = BufferMut::from(&mut memory);
    memory[0].write(1); //~ E0499 attack
    println!("{buffer:?}");
}

pub fn an_output_over_the_params() {
    let mut table = [0i32; 4];
    let mut target = TensorMut::new(&mut table, &[4]);
    let params = Tensor::new(&[0i32; 4], &[4]);
    let params = Tensor::new(&table, &[4]); //~ E0502 attack
    let _ = gather_into(&params, &Tensor::new(&[0u8; 4], &[4]), &Options::new(), &mut target);
}

pub fn updates_that_are_the_target() {
    let mut table = [0i32; 4];
    let mut target = TensorMut::new(&mut table, &[4]);
    let updates = Tensor::new(&[0i32; 4], &[4]);
    let updates = Tensor::new(&table, &[4]); //~ E0502 attack
    let _ = scatter_into(&mut target, &Tensor::new(&[0u8; 4], &[4]), &updates, &Options::new());
}

pub fn an_owner_over_itself() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let _ = Context::DEFAULT.copy(&owned, &mut owned.as_mut()); //~ E0502 attack
    println!("{:?}", owned.as_mut());
}

pub fn a_buffer_and_an_output() {
    let mut memory = [0i32; 4];
    let buffer = Buffer::from(&memory);
    println!("{:?}", TensorMut::new(&mut memory, &[4])); //~ E0502 attack
    println!("{buffer:?}");
    memory[0] = 1;
}
