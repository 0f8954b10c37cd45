//! Reads rows of a table by id.

use gather::{Options, Tensor, gather};

fn main() -> Result<(), gather::Error> {
    let table = [0.0f32, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0];
    let ids = [3i64, 0, 3];
    let rows = gather(&Tensor::new(&table, &[4, 2]), &Tensor::new(&ids, &[3]), &Options::new())?;
    for (id, row) in ids.iter().zip(rows.as_slice::<f32>()?.chunks_exact(2)) {
        println!("{id}: {} {}", row[0], row[1]);
    }
    Ok(())
}
