//! Writes rows to a table by id, in place. The last of several rows remains, or all of them are added.

use gather::{Options, Reduction, Tensor, TensorMut, scatter_into};

fn print(table: &[f32]) {
    for row in table.chunks_exact(2) {
        println!("{} {}", row[0], row[1]);
    }
}

fn main() -> Result<(), gather::Error> {
    let mut table = [0.0f32, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0];
    let (ids, rows) = ([3i64, 0, 3], [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (indices, updates) = (Tensor::new(&ids, &[3]), Tensor::new(&rows, &[3, 2]));
    scatter_into(
        &mut TensorMut::new(&mut table, &[4, 2]),
        &indices,
        &updates,
        &Options::new(),
    )?;
    print(&table);
    let add = Options::new().reduction(Reduction::Add);
    scatter_into(&mut TensorMut::new(&mut table, &[4, 2]), &indices, &updates, &add)?;
    print(&table);
    Ok(())
}
