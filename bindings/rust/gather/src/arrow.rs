//! Conversions from and to arrays and record batches of the arrow crate.

use ::arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use ::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use ::arrow_array::types::ArrowPrimitiveType;
use ::arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchReader, StructArray, make_array};
use std::fmt;
use std::mem::transmute;
use std::ptr;

use crate::columns::{Column, Rows};
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::tensor::Tensor;
use gather_sys as sys;

/// Views the numbers of an array without nulls as a tensor of rank 1, without a copy.
///
/// # Errors
///
/// Returns [`Error::DType`] if the array has nulls. [`Take::validity`](crate::Take::validity) takes indices with nulls.
///
/// # Examples
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, StringArray};
/// use gather::{Column, Take, Tensor};
///
/// let names = StringArray::from(vec![Some("anna"), None, Some("carl")]);
/// let ids = Int64Array::from(vec![2, 1]);
/// let rows = Column::try_from(&names as &dyn arrow_array::Array)?.take(&Take::new(&Tensor::try_from(&ids)?))?;
/// let taken: ArrayRef = rows.try_into()?;
/// assert_eq!(*taken, StringArray::from(vec![Some("carl"), None]));
/// # Ok::<(), gather::Error>(())
/// ```
impl<'a, T: ArrowPrimitiveType<Native: Element>> TryFrom<&'a PrimitiveArray<T>> for Tensor<'a> {
    type Error = Error;

    fn try_from(array: &'a PrimitiveArray<T>) -> Result<Self, Error> {
        match array.null_count() {
            0 => Ok(Tensor::vector(&array.values()[..])),
            nulls => Err(arrow_error(sys::GTH_E_DTYPE, format!("the array has {nulls} nulls"))),
        }
    }
}

/// Shares the memory of an array of any type.
impl TryFrom<&dyn Array> for Column {
    type Error = Error;

    fn try_from(array: &dyn Array) -> Result<Self, Error> {
        let (mut array, schema) = to_ffi(&array.to_data()).map_err(malformed)?;
        // SAFETY: both structs are valid, and the memory of arrays of this crate is immutable and belongs to any thread.
        // After a failure, the array is released here.
        unsafe { Column::from_arrow(ptr::from_ref(&schema).cast(), &[ptr::from_mut(&mut array).cast()]) }
    }
}

/// Shares the memory of a record batch. The column is a table: see [`Take::record`](crate::Take::record).
impl TryFrom<&RecordBatch> for Column {
    type Error = Error;

    fn try_from(batch: &RecordBatch) -> Result<Self, Error> {
        Column::try_from(&StructArray::from(batch.clone()) as &dyn Array)
    }
}

/// Shares the memory of all batches of a reader. The column is a table of several arrays.
impl TryFrom<Box<dyn RecordBatchReader + Send>> for Column {
    type Error = Error;

    fn try_from(reader: Box<dyn RecordBatchReader + Send>) -> Result<Self, Error> {
        let mut stream = FFI_ArrowArrayStream::new(reader);
        // SAFETY: the stream is valid, and its arrays are those of this crate. After a failure, it is released here.
        unsafe { Column::from_arrow_stream(ptr::from_mut(&mut stream).cast()) }
    }
}

/// Converts rows to an array, without a copy.
impl TryFrom<Rows> for ArrayRef {
    type Error = Error;

    fn try_from(rows: Rows) -> Result<Self, Error> {
        let (schema, array) = rows.into_raw();
        // SAFETY: both crates define the structs of the Arrow C data interface, and the structs are moved.
        let data = unsafe {
            let schema = transmute::<sys::ArrowSchema, FFI_ArrowSchema>(schema);
            from_ffi(transmute::<sys::ArrowArray, FFI_ArrowArray>(array), &schema)
        };
        Ok(make_array(data.map_err(malformed)?))
    }
}

/// Converts rows of structs without nulls to a record batch, without a copy.
impl TryFrom<Rows> for RecordBatch {
    type Error = Error;

    fn try_from(rows: Rows) -> Result<Self, Error> {
        let array = ArrayRef::try_from(rows)?;
        match array.as_any().downcast_ref::<StructArray>() {
            Some(structs) if structs.null_count() == 0 => Ok(structs.into()),
            _ => Err(arrow_error(
                sys::GTH_E_DTYPE,
                "a record batch is made of structs without nulls",
            )),
        }
    }
}

fn malformed(error: impl fmt::Display) -> Error {
    arrow_error(sys::GTH_E_ARROW, error)
}

fn arrow_error(status: i32, message: impl fmt::Display) -> Error {
    Cause::new(status, Operand::Tensor, message).into()
}
