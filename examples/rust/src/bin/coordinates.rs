//! Reads elements by their coordinates. Each row of indices is a tuple with one index for each dim.

use gather::{Options, Tensor, gather_nd};

fn main() -> Result<(), gather::Error> {
    let matrix = [0i32, 1, 2, 10, 11, 12];
    let at = [1i64, 2, 0, 0];
    let elements = gather_nd(
        &Tensor::new(&matrix, &[2, 3]),
        &Tensor::new(&at, &[2, 2]),
        &Options::new(),
    )?;
    for element in elements.as_slice::<i32>()? {
        println!("{element}");
    }
    Ok(())
}
