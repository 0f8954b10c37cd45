//! Columns in the format of the Arrow C data interface.

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use crate::abi::call;
use crate::context::{self, Context};
use crate::error::{Cause, Error, Operand, room};
use crate::numbers::{bits, bytes_to_c, extent_from_c, extent_to_c, struct_size};
use crate::options::Options;
use crate::tensor::Tensor;
use gather_sys as sys;

/// A column: arrays of one type in the format of the [Arrow C data
/// interface](https://arrow.apache.org/docs/format/CDataInterface.html). It may have nulls, and the arrays are never
/// joined. A column of structs is a table.
///
/// A column is immutable. Any number of threads may take rows of it at the same time.
///
/// # Examples
///
/// A column of two numbers. Libraries of Arrow export such structs.
///
/// ```
/// use std::ffi::c_void;
/// use std::ptr;
///
/// use gather::{Column, Take, Tensor, sys};
///
/// // Nothing is freed, because the memory is that of local variables.
/// unsafe extern "C" fn release_array(array: *mut sys::ArrowArray) {
///     unsafe { (*array).release = None }
/// }
/// unsafe extern "C" fn release_schema(schema: *mut sys::ArrowSchema) {
///     unsafe { (*schema).release = None }
/// }
///
/// let numbers = [10i64, 20];
/// let mut buffers = [ptr::null(), numbers.as_ptr().cast::<c_void>()];
/// let mut array = sys::ArrowArray {
///     length: 2,
///     null_count: 0,
///     offset: 0,
///     n_buffers: 2,
///     n_children: 0,
///     buffers: buffers.as_mut_ptr(),
///     children: ptr::null_mut(),
///     dictionary: ptr::null_mut(),
///     release: Some(release_array),
///     private_data: ptr::null_mut(),
/// };
/// let schema = sys::ArrowSchema {
///     format: c"l".as_ptr(),
///     name: ptr::null(),
///     metadata: ptr::null(),
///     flags: 0,
///     n_children: 0,
///     children: ptr::null_mut(),
///     dictionary: ptr::null_mut(),
///     release: Some(release_schema),
///     private_data: ptr::null_mut(),
/// };
/// // SAFETY: both structs are valid. Their memory exists longer than the column and its rows.
/// let column = unsafe { Column::from_arrow(&schema, &[&mut array]) }?;
/// let rows = column.take(&Take::new(&Tensor::new(&[1u8, 1, 0], &[3])))?;
/// assert_eq!(rows.len(), 3);
/// # Ok::<(), gather::Error>(())
/// ```
pub struct Column(NonNull<sys::gth_column>);

// SAFETY: columns of the library are immutable, and any number of threads may use them. The caller of the constructor
// guarantees that release functions may run on any thread.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

impl Column {
    /// Creates a column from arrays of the type `schema`, the chunks. If the call succeeds, the column owns the arrays,
    /// and the `release` of each struct is `None`. If it fails, the caller still owns them. The schema is only read.
    ///
    /// The arrays are released when the column and all [`Rows`] that share memory with it have been dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] for an unsupported type, [`Error::Arrow`] for a released or malformed struct,
    /// [`Error::Null`], [`Error::Size`] and [`Error::OutOfMemory`].
    ///
    /// # Safety
    ///
    /// The pointers must be those of different valid structs of the Arrow C data interface. The memory of the arrays
    /// must be valid and must not change before they are released. Their `release` must be callable on any thread.
    pub unsafe fn from_arrow(schema: *const sys::ArrowSchema, chunks: &[*mut sys::ArrowArray]) -> Result<Self, Error> {
        // SAFETY: the caller guarantees it, and the slice has that number of pointers.
        Self::make(|out, err| unsafe {
            sys::gth_column_from_arrow(
                ptr::null_mut(),
                schema,
                bytes_to_c(chunks.len()),
                chunks.as_ptr(),
                out,
                err,
            )
        })
    }

    /// Creates a column from all arrays of a stream. A stream of record batches is a column of structs. If the call
    /// succeeds, the stream has been released. If it fails, the caller releases the stream, whose arrays are lost.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Column::from_arrow`]. [`Error::Arrow`] with the error number of the stream in
    /// [`Cause::native`].
    ///
    /// # Safety
    ///
    /// The stream must be a valid struct of the Arrow C stream interface. The requirements for its arrays are those of
    /// [`Column::from_arrow`].
    pub unsafe fn from_arrow_stream(stream: *mut sys::ArrowArrayStream) -> Result<Self, Error> {
        // SAFETY: the caller guarantees it.
        Self::make(|out, err| unsafe { sys::gth_column_from_arrow_stream(ptr::null_mut(), stream, out, err) })
    }

    fn make(f: impl FnOnce(*mut *mut sys::gth_column, *mut sys::gth_error) -> i32) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        call(|err| f(&mut raw, err))?;
        Ok(Column(NonNull::new(raw).expect("the handle of a column is not NULL")))
    }

    /// Takes rows into a new array. Nulls of the column and null indices are null in the result.
    ///
    /// The result has the type of the column. The exception is an array of strings, binary or lists that is too large
    /// for 32-bit offsets. It becomes a large one.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Index`] with the position, the value and the limit of the first invalid index, before any row
    /// is read. [`Error::Arrow`] with the position of the index whose row is malformed. [`Error::DType`],
    /// [`Error::Rank`], [`Error::Shape`], [`Error::Size`], [`Error::Stride`], [`Error::Device`], [`Error::Race`],
    /// [`Error::OutOfMemory`], and [`Error::Unsupported`] for [`Bounds::Fill`](crate::Bounds::Fill) and
    /// [`Bounds::Skip`](crate::Bounds::Skip).
    pub fn take(&self, take: &Take<'_>) -> Result<Rows, Error> {
        context::DEFAULT.take(self, take)
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        // SAFETY: the handle is released once, here.
        let status = unsafe { sys::gth_column_release(self.0.as_ptr()) };
        debug_assert_eq!(status, sys::GTH_OK);
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.0).finish()
    }
}

/// The indices of a take, and the meaning of those that select no row.
///
/// # Examples
///
/// The columns of a table take the same rows.
///
/// ```
/// use gather::{Column, Error, Rows, Take, Tensor};
///
/// fn rows_of_table(columns: &[Column], ids: &[i64]) -> Result<Vec<Rows>, Error> {
///     let shape = [ids.len()];
///     let ids = Tensor::new(ids, &shape);
///     let take = Take::new(&ids).null_bounds();
///     columns.iter().map(|column| column.take(&take)).collect()
/// }
/// # assert!(rows_of_table(&[], &[2, 0])?.is_empty());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Take<'a> {
    indices: &'a Tensor<'a>,
    options: Option<&'a Options>,
    validity: Option<(&'a [u8], usize)>,
    flags: i32,
}

impl<'a> Take<'a> {
    /// Takes the rows of integers of any shape, in row-major order.
    pub const fn new(indices: &'a Tensor<'a>) -> Self {
        Take {
            indices,
            options: None,
            validity: None,
            flags: 0,
        }
    }

    /// Sets the options. A take uses their profile, their meaning of negative indices and of indices out of bounds,
    /// and their number of threads.
    pub const fn options(mut self, options: &'a Options) -> Self {
        self.options = Some(options);
        self
    }

    /// Sets which indices are null. A null index selects null, whatever its value is. The bits have the order of Arrow,
    /// least significant first, and a bit that is 0 means null. `offset` is the number of the bit of the first index.
    /// The indices must have rank 1.
    pub const fn validity(mut self, bits: &'a [u8], offset: usize) -> Self {
        self.validity = Some((bits, offset));
        self
    }

    /// An index out of bounds selects null. The options must then not set another meaning.
    pub const fn null_bounds(mut self) -> Self {
        self.flags |= sys::GTH_TAKE_NULL;
        self
    }

    /// The column is a table, whose columns are the children of a struct. A null index then gives null in each child,
    /// and the structs themselves have no nulls, as record batches require.
    pub const fn record(mut self) -> Self {
        self.flags |= sys::GTH_TAKE_RECORD;
        self
    }

    /// Returns the number of indices, or the largest number if the product of the extents is larger.
    fn count(&self) -> usize {
        self.indices
            .shape()
            .iter()
            .fold(1, |n: usize, &extent| n.saturating_mul(extent))
    }

    fn raw(&self) -> Result<sys::gth_take, Error> {
        let (validity, offset) = self.validity.unwrap_or_default();
        if self.validity.is_some() {
            self.check_validity(validity.len().saturating_mul(8), offset)?;
        }
        Ok(sys::gth_take {
            size: struct_size::<sys::gth_take>(),
            flags: bits(self.flags),
            indices: self.indices.desc.raw(),
            validity: self.validity.map_or(ptr::null(), |_| validity.as_ptr().cast()),
            validity_offset: bytes_to_c(offset),
            options: self.options.map_or(ptr::null(), |options| &options.raw),
        })
    }

    /// The library does not have the size of the bits.
    fn check_validity(&self, available: usize, offset: usize) -> Result<(), Error> {
        let needed = offset.saturating_add(self.count());
        if needed <= available {
            return Ok(());
        }
        let message = format!("the validity has {available} bits, {needed} are read");
        Err(Cause::new(sys::GTH_E_SIZE, Operand::Indices, message)
            .numbers(bytes_to_c(available).into(), bytes_to_c(needed))
            .into())
    }
}

/// Rows that [`Column::take`] has copied, or strings that [`Context::to_arrow`] has exported: a schema and an array of
/// the Arrow C data interface, which has offset 0. Both are released when the value is dropped.
///
/// Dictionaries, and large parts of views, are shared with the column, also after the column has been dropped.
pub struct Rows {
    schema: sys::ArrowSchema,
    array: sys::ArrowArray,
}

// SAFETY: nothing changes the memory of a result, and its release functions may run on any thread.
unsafe impl Send for Rows {}
// SAFETY: as above.
unsafe impl Sync for Rows {}

impl Rows {
    /// Calls a function of the library that writes both structs.
    pub(crate) fn written(
        f: impl FnOnce(*mut sys::ArrowSchema, *mut sys::ArrowArray, *mut sys::gth_error) -> i32,
    ) -> Result<Self, Error> {
        let (mut schema, mut array) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        call(|err| f(schema.as_mut_ptr(), array.as_mut_ptr(), err))?;
        // SAFETY: a successful call has written both.
        let (schema, array) = unsafe { (schema.assume_init(), array.assume_init()) };
        Ok(Rows { schema, array })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        extent_from_c(self.array.length)
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the rows.
    pub fn schema(&self) -> &sys::ArrowSchema {
        &self.schema
    }

    /// Returns the rows.
    pub fn array(&self) -> &sys::ArrowArray {
        &self.array
    }

    /// Returns both structs. The caller owns them and calls their `release`, or imports them into a library of Arrow.
    /// Pointers to them may be cast to those of the crate `arrow`, `FFI_ArrowSchema` and `FFI_ArrowArray`.
    pub fn into_raw(self) -> (sys::ArrowSchema, sys::ArrowArray) {
        let rows = ManuallyDrop::new(self);
        // SAFETY: both structs are moved once, because the value is not dropped.
        unsafe { (ptr::read(&rows.schema), ptr::read(&rows.array)) }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: this value owns both structs, and the library has set their release functions.
        unsafe {
            if let Some(release) = self.array.release {
                release(&mut self.array);
            }
            if let Some(release) = self.schema.release {
                release(&mut self.schema);
            }
        }
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Context {
    /// Runs [`Column::take`] in this context. The library allocates the result itself, without the allocator of the
    /// context.
    pub fn take(&self, column: &Column, take: &Take<'_>) -> Result<Rows, Error> {
        let take = take.raw()?;
        // SAFETY: the column has not been released, and the take has only memory that is borrowed.
        Rows::written(|schema, array, err| unsafe {
            sys::gth_column_take(self.raw(), column.0.as_ptr(), &take, schema, array, err)
        })
    }

    /// Runs [`resolve`] in this context.
    pub fn resolve(&self, extent: usize, take: &Take<'_>) -> Result<Vec<i64>, Error> {
        let n = take.count();
        let take = take.raw()?;
        let mut rows = room(n)?;
        // SAFETY: the take has only memory that is borrowed, and the rows have their capacity.
        call(|err| unsafe {
            sys::gth_resolve(
                self.raw(),
                extent_to_c(extent),
                &take,
                bytes_to_c(n),
                rows.as_mut_ptr(),
                err,
            )
        })?;
        // SAFETY: a successful call has written a number for each index.
        unsafe { rows.set_len(n) };
        Ok(rows)
    }
}

/// Validates indices into `extent` rows, for a caller that moves the rows itself. The result has a row number for each
/// index, in row-major order. It is -1 for a null index, and for an index that selects no row.
///
/// # Errors
///
/// Returns [`Error::Index`] with the position, the value and the limit of the first invalid index. [`Error::DType`],
/// [`Error::Rank`], [`Error::Shape`], [`Error::Size`], [`Error::Stride`], [`Error::Device`], [`Error::Race`] and
/// [`Error::OutOfMemory`]. [`Error::Version`] for [`Take::record`].
///
/// # Examples
///
/// ```
/// use gather::{Negative, Options, Take, Tensor, resolve};
///
/// let (indices, options) = ([3i64, -1, 9], Options::new().negative(Negative::Wrap));
/// let indices = Tensor::new(&indices, &[3]);
/// assert_eq!(resolve(5, &Take::new(&indices).options(&options).null_bounds())?, [3, 4, -1]);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn resolve(extent: usize, take: &Take<'_>) -> Result<Vec<i64>, Error> {
    context::DEFAULT.resolve(extent, take)
}
