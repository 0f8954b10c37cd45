//! Takes rows of an array of the ndarray crate: `cargo run --example ndarray --features ndarray`

use gather::{Options, Tensor, gather};
use ndarray::array;

fn main() -> Result<(), gather::Error> {
    let table = array![[0.0f32, 0.1], [1.0, 1.1], [2.0, 2.1]];
    let rows = gather(&Tensor::from(&table), &Tensor::vector(&[2i64, 0]), &Options::new())?.to_array2::<f32>()?;
    assert_eq!(rows, array![[2.0, 2.1], [0.0, 0.1]]);
    println!("{rows}");
    Ok(())
}

#[test]
fn takes_rows_of_an_array() {
    main().unwrap();
}
