//! Takes rows of a record batch of the arrow crate: `cargo run --example arrow --features arrow`

use std::sync::Arc;

use arrow_array::{Array, Int32Array, Int64Array, RecordBatch, StringArray};
use gather::{Column, Take, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Arc<dyn Array> = Arc::new(StringArray::from(vec!["anna", "bert", "carl"]));
    let ages: Arc<dyn Array> = Arc::new(Int32Array::from(vec![Some(31), None, Some(27)]));
    let people = RecordBatch::try_from_iter([("name", names), ("age", ages)])?;

    let ids = Int64Array::from(vec![2, 1]);
    let rows = Column::try_from(&people)?.take(&Take::new(&Tensor::try_from(&ids)?).record())?;
    let taken = RecordBatch::try_from(rows)?;
    assert_eq!(**taken.column(0), StringArray::from(vec!["carl", "bert"]));
    assert_eq!(**taken.column(1), Int32Array::from(vec![Some(27), None]));
    println!("{taken:?}");
    Ok(())
}

#[test]
fn takes_rows_of_a_batch() {
    main().unwrap();
}
