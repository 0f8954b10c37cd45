//! Columns that are built by hand. The expected rows are written in each test.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather::sys::{ArrowArray, ArrowArrayStream, ArrowSchema};
use gather::{Bounds, Column, Context, Error, Negative, Operand, Options, Rows, Take, Tensor, resolve};

/// Owns the buffers of an array, and counts its release.
struct Memory {
    buffers: [*const c_void; 4],
    _owned: Vec<Box<[u8]>>,
    releases: Arc<AtomicUsize>,
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the private data is a box that `array` has made, and this function runs once for a struct.
    unsafe {
        let memory = Box::from_raw((*array).private_data.cast::<Memory>());
        memory.releases.fetch_add(1, Ordering::Relaxed);
        (*array).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the struct is valid.
    unsafe { (*schema).release = None }
}

/// Creates an array from its validity and the other buffers. Each buffer has its exact size, so a sanitizer finds reads
/// outside.
fn array(length: i64, buffers: &[Vec<u8>], releases: &Arc<AtomicUsize>) -> ArrowArray {
    let owned: Vec<Box<[u8]>> = buffers.iter().map(|bytes| bytes.clone().into()).collect();
    let mut pointers = [ptr::null(); 4];
    for (pointer, bytes) in pointers.iter_mut().zip(&owned) {
        *pointer = bytes.as_ptr().cast();
    }
    let memory = Box::into_raw(Box::new(Memory {
        buffers: pointers,
        _owned: owned,
        releases: releases.clone(),
    }));
    ArrowArray {
        length,
        null_count: -1,
        offset: 0,
        n_buffers: buffers.len().try_into().unwrap(),
        n_children: 0,
        // SAFETY: the memory has just been allocated.
        buffers: unsafe { (&raw mut (*memory).buffers).cast() },
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: memory.cast(),
    }
}

fn schema(format: &'static CStr) -> ArrowSchema {
    ArrowSchema {
        format: format.as_ptr(),
        name: ptr::null(),
        metadata: ptr::null(),
        flags: 2, // The values may be null.
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: ptr::null_mut(),
    }
}

fn column(format: &'static CStr, mut chunks: Vec<ArrowArray>) -> Result<Column, Error> {
    let pointers: Vec<*mut ArrowArray> = chunks.iter_mut().map(ptr::from_mut).collect();
    // SAFETY: the arrays own their memory, and their release has no thread.
    let made = unsafe { Column::from_arrow(&schema(format), &pointers) };
    for chunk in &mut chunks {
        assert_eq!(chunk.release.is_some(), made.is_err());
        if let Some(release) = chunk.release {
            // SAFETY: the failed call has left the array to this function.
            unsafe { release(chunk) };
        }
    }
    made
}

fn bytes(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Returns the column [10, null, 30, 40].
fn numbers(releases: &Arc<AtomicUsize>) -> Column {
    let buffers = [vec![0b1101], bytes(&[10, -1, 30, 40])];
    column(c"l", vec![array(4, &buffers, releases)]).unwrap()
}

/// Returns the buffers of the strings ["zero", null, "", "drei"], of which the last one has another end.
fn words(end: i32) -> [Vec<u8>; 3] {
    let offsets = [0i32, 4, 4, 4, end];
    let offsets = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
    [vec![0b1101], offsets, b"zerodrei".to_vec()]
}

/// Returns a buffer of a result.
fn buffer<T: Copy>(rows: &Rows, number: usize, count: usize) -> Vec<T> {
    // SAFETY: the tests read what the format describes.
    unsafe { std::slice::from_raw_parts((*rows.array().buffers.add(number)).cast(), count) }.to_vec()
}

fn is_valid(rows: &Rows, row: usize) -> bool {
    // SAFETY: an array has a validity, which may be NULL.
    let all = unsafe { *rows.array().buffers }.is_null();
    all || buffer::<u8>(rows, 0, row / 8 + 1)[row / 8] >> (row % 8) & 1 == 1
}

fn read_numbers(rows: &Rows) -> Vec<Option<i64>> {
    let numbers = buffer::<i64>(rows, 1, rows.len());
    let row = |row: usize| is_valid(rows, row).then(|| numbers[row]);
    (0..rows.len()).map(row).collect()
}

fn read_words(rows: &Rows) -> Vec<Option<String>> {
    let offsets = buffer::<i32>(rows, 1, rows.len() + 1);
    let offset = |row: usize| usize::try_from(offsets[row]).unwrap();
    let text = buffer::<u8>(rows, 2, offset(rows.len()));
    let word = |row: usize| String::from_utf8(text[offset(row)..offset(row + 1)].to_vec()).unwrap();
    let row = |row: usize| is_valid(rows, row).then(|| word(row));
    (0..rows.len()).map(row).collect()
}

#[test]
fn numbers_with_nulls_repeated_rows_and_null_bounds() {
    let indices = [3u8, 0, 3, 9, 1, 2];
    let indices = Tensor::new(&indices, &[6]);
    let take = Take::new(&indices).null_bounds();
    let rows = numbers(&Arc::default()).take(&take).unwrap();
    assert_eq!(
        read_numbers(&rows),
        [Some(40), Some(10), Some(40), None, None, Some(30)]
    );
    // SAFETY: the schema is that of the library.
    assert_eq!(unsafe { CStr::from_ptr(rows.schema().format) }, c"l");
    assert_eq!((rows.array().offset, rows.array().null_count), (0, 2));
}

#[test]
fn columns_of_a_table_take_the_same_rows() {
    let text = column(c"u", vec![array(4, &words(8), &Arc::default())]).unwrap();
    let table = [numbers(&Arc::default()), text];
    let ids = Tensor::new(&[3i64, 9, 0], &[3]);
    let take = Take::new(&ids).null_bounds();
    let rows: Result<Vec<Rows>, Error> = table.iter().map(|column| column.take(&take)).collect();
    let rows = rows.unwrap();
    assert_eq!(read_numbers(&rows[0]), [Some(40), None, Some(10)]);
    assert_eq!(read_words(&rows[1]), [Some("drei".into()), None, Some("zero".into())]);
}

#[test]
fn strings_of_null_indices_are_null() {
    let column = column(c"u", vec![array(4, &words(8), &Arc::default())]).unwrap();
    let indices = [3i64, 77, 2, -1, 1, 0];
    let indices = Tensor::new(&indices, &[6]);
    let options = Options::new().negative(Negative::Wrap);
    // The validity begins at bit 2. The index 77 is null.
    let take = Take::new(&indices).options(&options).validity(&[0b1111_0100], 2);
    let rows = column.take(&take).unwrap();
    let words = read_words(&rows);
    let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
    assert_eq!(words, [Some("drei"), None, Some(""), Some("drei"), None, Some("zero")]);
}

#[test]
fn rows_of_chunks() {
    let releases = Arc::default();
    let chunk = |numbers: &[i64]| array(2, &[vec![0b11], bytes(numbers)], &releases);
    let column = column(c"l", vec![chunk(&[1, 2]), chunk(&[3, 4])]).unwrap();
    let indices = [2u8, 1];
    let indices = Tensor::new(&indices, &[2]);
    let context = Context::builder().threads(1).build().unwrap();
    let rows = context.take(&column, &Take::new(&indices)).unwrap();
    assert_eq!(read_numbers(&rows), [Some(3), Some(2)]);
    drop(column);
    assert_eq!(releases.load(Ordering::Relaxed), 2);
}

#[test]
fn invalid_index_has_position_value_and_limit() {
    let column = numbers(&Arc::default());
    let indices = [0i32, 3, 4, 5];
    let indices = Tensor::new(&indices, &[4]);
    let Err(Error::Index(cause)) = column.take(&Take::new(&indices)) else {
        panic!("no error")
    };
    assert_eq!(cause.operand, Operand::Indices);
    assert_eq!((cause.position, cause.value, cause.limit), (Some(2), 4, 4));
    let options = Options::new().bounds(Bounds::Fill);
    let filled = column.take(&Take::new(&indices).options(&options));
    assert!(matches!(filled, Err(Error::Unsupported(_))), "{filled:?}");
}

#[test]
fn malformed_row_is_found_when_it_is_taken() {
    let column = column(c"u", vec![array(4, &words(3), &Arc::default())]).unwrap();
    let take = |indices: [u8; 2]| column.take(&Take::new(&Tensor::new(&indices, &[2])));
    assert_eq!(read_words(&take([1, 1]).unwrap()), [None, None]);
    let Err(Error::Arrow(cause)) = take([1, 3]) else {
        panic!("no error")
    };
    assert_eq!((cause.operand, cause.position), (Operand::Params, Some(1)));
}

#[test]
fn malformed_array_stays_with_its_owner() {
    let releases = Arc::default();
    let buffers = [vec![0b1111]];
    let made = column(c"l", vec![array(4, &buffers, &releases)]);
    assert!(matches!(made, Err(Error::Arrow(_))), "{made:?}");
    let made = column(c"+us:0", vec![array(4, &buffers, &releases)]);
    assert!(matches!(made, Err(Error::DType(_))), "{made:?}");
    assert_eq!(releases.load(Ordering::Relaxed), 2);
}

#[test]
fn array_is_released_once() {
    let releases = Arc::default();
    let column = numbers(&releases);
    let indices = Tensor::new(&[0u8], &[1]);
    let rows = column.take(&Take::new(&indices)).unwrap();
    assert_eq!(releases.load(Ordering::Relaxed), 0);
    drop(column);
    assert_eq!(releases.load(Ordering::Relaxed), 1);
    assert_eq!(read_numbers(&rows), [Some(10)]);
}

/// The long strings of the rows have 70,000 bytes, more than a quarter of the data. So the result shares their buffer.
#[test]
fn shared_memory_is_released_after_the_last_rows() {
    let releases = Arc::default();
    let text = b"fourteen bytes".to_vec();
    let mut view = vec![14u8, 0, 0, 0];
    view.extend(b"four");
    view.extend([0; 8]);
    let sizes = bytes(&[text.len().try_into().unwrap()]);
    let memory = array(1, &[vec![1], view, text, sizes], &releases);
    let column = column(c"vu", vec![memory]).unwrap();
    let indices = vec![0u8; 5000];
    let rows = column.take(&Take::new(&Tensor::new(&indices, &[5000]))).unwrap();
    drop(column);
    assert_eq!(releases.load(Ordering::Relaxed), 0);
    let (mut schema, mut result) = rows.into_raw();
    // SAFETY: the structs are valid, and this function owns them.
    unsafe {
        schema.release.unwrap()(&mut schema);
        result.release.unwrap()(&mut result);
    }
    assert_eq!(releases.load(Ordering::Relaxed), 1);
    assert!(schema.release.is_none() && result.release.is_none());
}

unsafe extern "C" fn get_schema(_: *mut ArrowArrayStream, out: *mut ArrowSchema) -> i32 {
    // SAFETY: the caller passes memory for a struct.
    unsafe { out.write(schema(c"l")) };
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> i32 {
    // SAFETY: the stream is valid, and the caller passes memory for a struct.
    unsafe {
        match (*(*stream).private_data.cast::<Vec<ArrowArray>>()).pop() {
            Some(next) => out.write(next),
            None => (*out).release = None,
        }
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the stream is valid.
    unsafe { (*stream).release = None };
}

#[test]
fn column_has_all_arrays_of_a_stream() {
    let releases = Arc::default();
    let chunk = |numbers: &[i64]| array(2, &[vec![0b11], bytes(numbers)], &releases);
    let mut remaining = vec![chunk(&[3, 4]), chunk(&[1, 2])];
    let mut stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: ptr::from_mut(&mut remaining).cast(),
    };
    // SAFETY: the stream is valid, and its arrays own their memory.
    let column = unsafe { Column::from_arrow_stream(&mut stream) }.unwrap();
    assert!(stream.release.is_none());
    let rows = column.take(&Take::new(&Tensor::new(&[3u8, 0], &[2]))).unwrap();
    assert_eq!(read_numbers(&rows), [Some(4), Some(1)]);
    drop(column);
    assert_eq!(releases.load(Ordering::Relaxed), 2);
}

#[test]
fn threads_share_a_column() {
    let column = numbers(&Arc::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    let rows = column.take(&Take::new(&Tensor::new(&[2u8, 1], &[2]))).unwrap();
                    assert_eq!(read_numbers(&rows), [Some(30), None]);
                }
            });
        }
    });
}

#[test]
fn validity_that_is_too_short_is_rejected() {
    let indices = [0u8; 7];
    let indices = Tensor::new(&indices, &[7]);
    let valid = resolve(1, &Take::new(&indices).validity(&[0b1111_1110], 1));
    assert_eq!(valid, Ok(vec![0; 7]));
    for (offset, needed) in [(2, 9), (usize::MAX, i64::MAX)] {
        let short = resolve(1, &Take::new(&indices).validity(&[0xff], offset));
        let Err(Error::Size(cause)) = short else {
            panic!("{short:?}")
        };
        assert_eq!((cause.operand, cause.value, cause.limit), (Operand::Indices, 8, needed));
    }
}

#[test]
fn row_numbers_of_indices() {
    let indices = [3i64, -1, 9, 0];
    let indices = Tensor::new(&indices, &[2, 2]);
    let options = Options::new().negative(Negative::Wrap);
    let take = Take::new(&indices).options(&options);
    assert_eq!(resolve(5, &take.null_bounds()), Ok(vec![3, 4, -1, 0]));
    let Err(Error::Index(cause)) = resolve(5, &take) else {
        panic!("no error")
    };
    assert_eq!((cause.position, cause.value, cause.limit), (Some(2), 9, 5));
    let record = resolve(5, &take.null_bounds().record());
    assert!(matches!(record, Err(Error::Version(_))), "{record:?}");
}
