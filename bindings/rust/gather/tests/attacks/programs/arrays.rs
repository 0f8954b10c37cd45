//! Views of arrays of the ndarray crate.
#![forbid(unsafe_code)]

use gather::{Context, Tensor, TensorMut};
use ndarray::Array1;

pub fn from_and_a_change() {
    let mut array = Array1::<i32>::zeros(4);
    let tensor = Tensor::from(&array);
    array[0] = 1; //~ E0502 attack
    println!("{tensor:?}");
}

pub fn from_and_a_drop() {
    let array = Array1::<i32>::zeros(4);
    let tensor = Tensor::from(&array);
    drop(array); //~ E0505 attack
    println!("{tensor:?}");
}

pub fn from_a_temporary_view() {
    let array = Array1::<i32>::zeros(4);
    let mut tensor = Tensor::from(&array);
    {
        let reversed = array.view();
        tensor = Tensor::from(&reversed); //~ E0597 attack
    }
    println!("{tensor:?}");
}

pub fn output_twice() {
    let mut array = Array1::<i32>::zeros(4);
    let target = TensorMut::from(&mut array);
    array[0] = 1; //~ E0499 attack
    println!("{target:?}");
}

pub fn array_view_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.array_view::<i32>().unwrap();
    drop(owned); //~ E0505 attack
    println!("{view:?}");
}

pub fn array_view_and_a_write() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.array_view::<i32>().unwrap();
    let _ = Context::DEFAULT.copy(&Tensor::new(&[1; 4], &[4]), &mut owned.as_mut()); //~ E0502 attack
    println!("{view:?}");
}
