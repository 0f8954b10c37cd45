//! A view cannot outlive its memory. Borrowed memory cannot change while the view exists.
#![forbid(unsafe_code)]

use gather::{Buffer, Context, DType, Export, Layout, Shards, Tensor, TensorMut};

pub fn new_and_a_change() {
    let mut table = [0i32; 4];
    let tensor = Tensor::new(&table, &[4]);
    table[0] = 1; //~ E0506 attack
    println!("{tensor:?}");
}

pub fn new_and_an_exclusive_borrow() {
    let mut table = vec![0i32; 4];
    let tensor = Tensor::new(&table, &[4]);
    table.push(1); //~ E0502 attack
    println!("{tensor:?}");
}

pub fn new_and_a_drop() {
    let table = vec![0i32; 4];
    let tensor = Tensor::new(&table, &[4]);
    drop(table); //~ E0505 attack
    println!("{tensor:?}");
}

pub fn new_outlives_its_memory() {
    let mut tensor = Tensor::new(&[0i32; 4], &[4]);
    {
        let table = vec![0i32; 4];
        tensor = Tensor::new(&table, &[4]); //~ E0597 attack
    }
    println!("{tensor:?}");
    tensor = Tensor::new(&[0i32; 4], &[4]);
    drop(tensor);
}

pub fn with_offset_and_a_drop() {
    let table = vec![0i32; 4];
    let tensor = Tensor::new(&table, &[3]).with_offset(4);
    drop(table); //~ E0505 attack
    println!("{tensor:?}");
}

pub fn buffer_and_a_drop() {
    let table = vec![0i32; 4];
    let buffer = Buffer::from(&table);
    drop(table); //~ E0505 attack
    println!("{buffer:?}");
}

pub fn from_bytes_and_a_change() {
    let mut bytes = [0u8; 4];
    let buffer = Buffer::from_bytes(DType::Bool, &bytes).unwrap();
    bytes[0] = 7; //~ E0506 attack
    println!("{buffer:?}");
}

pub fn view_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.view();
    drop(owned); //~ E0505 attack
    println!("{view:?}");
}

pub fn view_and_an_export_of_its_owner() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.view();
    let _ = Context::DEFAULT.into_dlpack(owned, Export::NoCopy); //~ E0505 attack
    println!("{view:?}");
}

pub fn view_and_a_legacy_export_of_its_owner() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.view();
    let _ = Context::DEFAULT.into_dlpack_legacy(owned, Export::NoCopy); //~ E0505 attack
    println!("{view:?}");
}

pub fn view_and_a_write_to_its_owner() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.view();
    let _ = Context::DEFAULT.copy(&Tensor::new(&[1; 4], &[4]), &mut owned.as_mut()); //~ E0502 attack
    println!("{view:?}");
}

pub fn view_of_a_view_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let view = owned.view();
    let again = view.view();
    drop(owned); //~ E0505 attack
    println!("{again:?}");
}

pub fn view_is_returned() -> Tensor<'static> {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    return owned.view(); //~ E0515 attack
    owned
}

pub fn shape_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let shape = owned.shape();
    drop(owned); //~ E0505 attack
    println!("{shape:?}");
}

pub fn strides_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let strides = owned.strides();
    drop(owned); //~ E0505 attack
    println!("{strides:?}");
}

pub fn as_slice_and_a_drop() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let slice = owned.as_slice::<i32>().unwrap();
    drop(owned); //~ E0505 attack
    println!("{slice:?}");
}

pub fn as_slice_and_a_write() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let slice = owned.as_slice::<i32>().unwrap();
    let _ = Context::DEFAULT.copy(&Tensor::new(&[1; 4], &[4]), &mut owned.as_mut()); //~ E0502 attack
    println!("{slice:?}");
}

pub fn as_slice_and_an_export() {
    let owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let slice = owned.as_slice::<i32>().unwrap();
    let _ = Context::DEFAULT.into_dlpack(owned, Export::Owned); //~ E0505 attack
    println!("{slice:?}");
}

pub fn as_bytes_and_a_write() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let bytes = owned.as_bytes().unwrap();
    let _ = Context::DEFAULT.copy(&Tensor::new(&[1; 4], &[4]), &mut owned.as_mut()); //~ E0502 attack
    println!("{bytes:?}");
}

pub fn a_swap_of_a_lender() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let slice = owned.as_slice::<i32>().unwrap();
    std::mem::swap(&mut owned, &mut Tensor::new(&[0i32; 4], &[4])); //~ E0502 attack
    println!("{slice:?}");
}

pub fn from_string_views_and_their_offsets() {
    let mut offsets = vec![0i64, 3];
    let words = Tensor::from_string_views(&offsets, b"one", &[1]).unwrap();
    offsets[1] = 99; //~ E0502 attack
    println!("{words:?}");
}

pub fn from_string_views_and_their_bytes() {
    let bytes = b"one".to_vec();
    let words = Tensor::from_string_views(&[0i64, 3], &bytes, &[1]).unwrap();
    drop(bytes); //~ E0505 attack
    println!("{words:?}");
}

pub fn strings_and_a_drop() {
    let words = Tensor::from_strings(&["one"], &[1]).unwrap();
    let strings = words.strings().unwrap();
    drop(words); //~ E0505 attack
    println!("{strings:?}");
}

pub fn strings_of_a_view_and_a_drop() {
    let words = Tensor::from_strings(&["one"], &[1]).unwrap();
    let view = words.view();
    let strings = view.strings().unwrap();
    drop(words); //~ E0505 attack
    println!("{strings:?}");
}

pub fn get_and_a_drop() {
    let words = Tensor::from_byte_strings(&["one"], &[1]).unwrap();
    let word = words.strings().unwrap().get(0);
    drop(words); //~ E0505 attack
    println!("{word:?}");
}

pub fn iter_and_a_drop() {
    let words = Tensor::from_strings(&["one"], &[1]).unwrap();
    let iter = words.strings().unwrap().iter();
    drop(words); //~ E0505 attack
    println!("{}", iter.count());
}

pub fn borders_and_a_drop() {
    let borders = vec![0, 4];
    let shards = Shards::borders(&borders);
    drop(borders); //~ E0505 attack
    println!("{shards:?}");
}

pub fn as_mut_and_a_read() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let target = owned.as_mut();
    println!("{:?}", owned.as_slice::<i32>()); //~ E0502 attack
    println!("{target:?}");
}

pub fn as_mut_twice() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let target = owned.as_mut();
    let _ = owned.as_mut(); //~ E0499 attack
    println!("{target:?}");
}

pub fn as_mut_and_an_export() {
    let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
    let target = owned.as_mut();
    let _ = Context::DEFAULT.into_dlpack(owned, Export::NoCopy); //~ E0505 attack
    println!("{target:?}");
}

pub fn as_mut_outlives_its_tensor() {
    let mut memory = [0i32; 4];
    let mut target = TensorMut::new(&mut memory, &[4]);
    {
        let mut owned = Tensor::from_vec(vec![0i32; 4], &[4]).unwrap();
        target = owned.as_mut(); //~ E0597 attack
    }
    println!("{target:?}");
}

pub fn as_mut_of_a_shared_reference(owned: &Tensor<'static>) {
    println!("{:?}", owned.as_mut()); //~ E0596 attack
}
