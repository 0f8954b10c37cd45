//! A moved value cannot be used again, so every object has one owner.
#![forbid(unsafe_code)]

use gather::{Context, Export, Layout, Options, Plan, Tensor};

pub fn from_vec_takes_the_vector() {
    let table = vec![0i32; 4];
    let tensor = Tensor::from_vec(table, &[4]).unwrap();
    println!("{table:?}"); //~ E0382 attack
    println!("{tensor:?}");
}

pub fn into_dlpack_takes_the_tensor() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let exported = Context::DEFAULT.into_dlpack(owned, Export::NoCopy);
    println!("{owned:?}"); //~ E0382 attack
    println!("{exported:?}");
}

pub fn into_dlpack_twice() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let exported = Context::DEFAULT.into_dlpack(owned, Export::NoCopy);
    let _ = Context::DEFAULT.into_dlpack(owned, Export::NoCopy); //~ E0382 attack
    println!("{exported:?}");
}

pub fn into_dlpack_legacy_takes_the_tensor() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let exported = Context::DEFAULT.into_dlpack_legacy(owned, Export::NoCopy);
    println!("{owned:?}"); //~ E0382 attack
    println!("{exported:?}");
}

pub fn into_dlpack_of_a_reference(owned: &Tensor<'static>) {
    let _ = Context::DEFAULT.into_dlpack(*owned, Export::NoCopy); //~ E0507 attack
    println!("{owned:?}");
}

pub fn with_strides_takes_the_tensor() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let other = owned.with_strides(&[4]);
    println!("{owned:?}"); //~ E0382 attack
    println!("{other:?}");
}

pub fn a_plan_that_is_dropped_twice() {
    let plan = Plan::gather(&Layout::new::<i32>(&[4]), &Layout::new::<u8>(&[4]), &Options::new()).unwrap();
    let other = plan;
    drop(plan); //~ E0382 attack
    println!("{other:?}");
}

pub fn a_plan_that_is_dropped_in_a_run() {
    let plan = Plan::gather(&Layout::new::<i32>(&[4]), &Layout::new::<u8>(&[4]), &Options::new()).unwrap();
    let run = || plan.run(&[0i32; 4], &[0u8; 4], &mut [0i32; 4]);
    drop(plan); //~ E0505 attack
    let _ = run();
}

pub fn a_context_that_is_dropped_in_a_call() {
    let context = Context::builder().build().unwrap();
    let call = || context.sync();
    drop(context); //~ E0505 attack
    let _ = call();
}

pub fn a_context_that_is_dropped_twice() {
    let context = Context::builder().build().unwrap();
    let other = context;
    drop(context); //~ E0382 attack
    println!("{other:?}");
}

pub fn a_builder_that_is_used_twice() {
    let builder = Context::builder().executor(|_| {});
    let context = builder.build();
    let _ = builder.build(); //~ E0382 attack
    println!("{context:?}");
}
