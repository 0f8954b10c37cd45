//! Arrays and record batches of the arrow crate. The expected rows are written in each test.
#![cfg(feature = "arrow")]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float32Array, Int64Array, ListArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray,
};
use gather::{Column, Error, Options, Rows, Take, Tensor, gather};

fn take(array: &dyn Array, ids: &[i64]) -> ArrayRef {
    let column = Column::try_from(array).unwrap();
    column.take(&Take::new(&Tensor::from(ids))).unwrap().try_into().unwrap()
}

#[test]
fn numbers_are_viewed_without_a_copy() {
    let (table, ids) = (Float32Array::from(vec![0.5, 1.5, 2.5]), Int64Array::from(vec![9, 2, 0]));
    let ids = ids.slice(1, 2);
    let view = Tensor::try_from(&table).unwrap();
    assert_eq!(view.as_slice::<f32>().unwrap().as_ptr(), table.values().as_ptr());
    let out = gather(&view, &Tensor::try_from(&ids).unwrap(), &Options::new()).unwrap();
    assert_eq!(out.as_slice::<f32>(), Ok(&[2.5, 0.5][..]));
    let nulls = Int64Array::from(vec![Some(1), None]);
    assert!(matches!(Tensor::try_from(&nulls), Err(Error::DType(_))));
}

#[test]
fn arrays_keep_their_type_and_their_nulls() {
    let words = StringArray::from(vec![Some("zero"), None, Some("two")]);
    assert_eq!(
        *take(&words, &[2, 1, 2]),
        StringArray::from(vec![Some("two"), None, Some("two")])
    );
    assert_eq!(*take(&words.slice(1, 2), &[1]), StringArray::from(vec!["two"]));
    let lists = |lists: &[Option<&[i32]>]| {
        let items = lists
            .iter()
            .map(|list| list.map(|list| list.iter().map(|item| Some(*item))));
        ListArray::from_iter_primitive::<Int32Type, _, _>(items)
    };
    let taken = take(&lists(&[Some(&[1, 2]), None, Some(&[])]), &[2, 0, 1]);
    assert_eq!(*taken, lists(&[Some(&[]), Some(&[1, 2]), None]));
    let colours: DictionaryArray<Int32Type> = ["red", "blue", "red"].into_iter().collect();
    let expected: DictionaryArray<Int32Type> = ["blue", "red"].into_iter().collect();
    let taken = take(&colours, &[1, 0]);
    let taken = taken.as_any().downcast_ref::<DictionaryArray<Int32Type>>().unwrap();
    let values = |array: &DictionaryArray<Int32Type>| {
        let words = array.downcast_dict::<StringArray>().unwrap();
        words.into_iter().flatten().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(values(taken), values(&expected));
}

fn batch(ids: &[i64], names: &[Option<&str>]) -> RecordBatch {
    let (ids, names) = (Int64Array::from(ids.to_vec()), StringArray::from(names.to_vec()));
    let columns: [(_, ArrayRef, _); 2] = [("id", Arc::new(ids), true), ("name", Arc::new(names), true)];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn take_rows(column: &Column, ids: &[u8]) -> Result<Rows, Error> {
    column.take(&Take::new(&Tensor::from(ids)).record())
}

#[test]
fn record_batches() {
    let column = Column::try_from(&batch(&[5, 6], &[Some("a"), None])).unwrap();
    let taken: RecordBatch = take_rows(&column, &[1, 0]).unwrap().try_into().unwrap();
    assert_eq!(taken, batch(&[6, 5], &[None, Some("a")]));
    let missing = Tensor::vector(&[2u8, 0]);
    let rows = column.take(&Take::new(&missing).null_bounds().record());
    let taken: RecordBatch = rows.unwrap().try_into().unwrap();
    assert_eq!(taken.num_rows(), 2);
    assert!(taken.columns().iter().all(|rows| rows.is_null(0) && rows.is_valid(1)));
    let words: &dyn Array = &StringArray::from(vec!["a"]);
    let rows = Column::try_from(words)
        .unwrap()
        .take(&Take::new(&Tensor::vector(&[0u8])));
    assert!(matches!(RecordBatch::try_from(rows.unwrap()), Err(Error::DType(_))));
}

#[test]
fn readers_are_tables_of_several_arrays() {
    let batches = [
        batch(&[0, 1], &[Some("a"), None]),
        batch(&[2, 3], &[Some("b"), Some("c")]),
    ];
    let schema = batches[0].schema();
    let batches = batches.map(Ok);
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(RecordBatchIterator::new(batches, schema));
    let taken: RecordBatch = take_rows(&Column::try_from(reader).unwrap(), &[3, 0])
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(taken, batch(&[3, 0], &[Some("c"), Some("a")]));
}

#[test]
fn rows_outlive_the_array() {
    let words: ArrayRef = Arc::new(StringArray::from(vec!["zero", "one"]));
    let column = Column::try_from(&*words).unwrap();
    drop(words);
    let rows = column.take(&Take::new(&Tensor::vector(&[1u8]))).unwrap();
    drop(column);
    assert_eq!(*ArrayRef::try_from(rows).unwrap(), StringArray::from(vec!["one"]));
}
