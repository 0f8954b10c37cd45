//! Tensors of packed rows, and plans that are bound to them, cannot outlive the memory that they read.
#![forbid(unsafe_code)]

use gather::{BoundPlan, Layout, Options, Packed, Tensor, gather};

pub fn data_that_is_freed(ids: &Tensor<'_>) {
    let data = vec![0u8; 34];
    let table = Packed::new("q8_0", &data, &[1, 32]).build().unwrap();
    drop(data); //~ E0505 attack
    let _ = gather(&table, ids, &Options::new());
}

pub fn scales_that_change(ids: &Tensor<'_>, data: &[u8]) {
    let mut scales = [1.0f32];
    let table = Packed::new("int8", data, &[1, 32])
        .scales(Tensor::new(&scales, &[1, 1]))
        .build()
        .unwrap();
    scales[0] = 2.0; //~ E0506 attack
    let _ = gather(&table, ids, &Options::new());
    println!("{scales:?}");
}

pub fn zeros_of_a_shorter_life(data: &[u8], ids: &Tensor<'_>) {
    let mut table = Packed::new("int8", data, &[1, 32]).scales(Tensor::new(&[1.0f32], &[1, 1]));
    {
        let zeros = [1u8];
        table = table.zeros(Tensor::new(&zeros, &[1, 1])); //~ E0597 attack
        println!("{zeros:?}");
    }
    let _ = gather(&table.build().unwrap(), ids, &Options::new());
}

pub fn plan_of_a_table_that_is_dropped(data: &[u8]) {
    let table = Packed::new("q8_0", data, &[1, 32]).build().unwrap();
    let plan = BoundPlan::gather(&table, &Layout::new::<u8>(&[1]), &Options::new()).unwrap();
    drop(table); //~ E0505 attack
    let _ = plan.run(&[0u8], &mut [0.0f32; 32]);
}
