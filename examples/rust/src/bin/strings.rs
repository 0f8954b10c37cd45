//! Reads strings by id.

use gather::{Options, Tensor, gather};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = Tensor::from_strings(&["zero", "one", "two", "three"], &[4])?;
    let found = gather(&words, &Tensor::new(&[3i64, 1], &[2]), &Options::new())?;
    for word in found.strings()?.to_strings()? {
        println!("{word}");
    }
    Ok(())
}
