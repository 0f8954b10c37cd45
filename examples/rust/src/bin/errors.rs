//! Shows the policies for an id out of bounds. By default it returns an error with its position.

use gather::{Bounds, Error, Negative, Options, Tensor, gather};

const TABLE: [f32; 8] = [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0];

fn look_up(id: i64, options: &Options) -> Result<[f32; 2], Error> {
    let rows = gather(&Tensor::new(&TABLE, &[4, 2]), &Tensor::new(&[0, id], &[2]), options)?;
    let rows = rows.as_slice::<f32>()?;
    Ok([rows[2], rows[3]])
}

fn show(what: &str, row: [f32; 2]) {
    println!("{what}: {} {}", row[0], row[1]);
}

fn main() -> Result<(), Error> {
    match look_up(4, &Options::new()) {
        Err(Error::Index(cause)) => {
            let position = cause.position.unwrap_or_default();
            println!(
                "refused: id {} at position {position}, of {} rows",
                cause.value, cause.limit
            );
        }
        other => println!("{other:?}"),
    }
    show("from the end", look_up(-1, &Options::new().negative(Negative::Wrap))?);
    show("clamped", look_up(9, &Options::new().bounds(Bounds::Clamp))?);
    show(
        "filled",
        look_up(9, &Options::new().bounds(Bounds::Fill).fill_value(-1.0f32))?,
    );
    Ok(())
}
