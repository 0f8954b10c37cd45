//! The conformance cases in the types of the crate.
// The pointers that the reader sets are valid until the file is freed.
#![allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]

use std::ffi::{CStr, CString, c_char};
use std::mem::{transmute, zeroed};
use std::path::Path;
use std::slice;

use conformance_cases as raw;
use gather::{
    Accumulate, Bounds, DType, Empty, Extents, Fill, Initial, Negative, Options, Pool, Profile, Reduction, sys,
};

pub struct TensorText {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub strides: Option<Vec<isize>>,
    pub offset: usize,
    pub bytes: Vec<u8>,
    /// The offsets of the strings in the bytes.
    pub string_offsets: Vec<i64>,
}

pub struct Case {
    pub name: String,
    pub operation: String,
    pub options: Options,
    pub skips: bool,
    /// True if any NaN is correct: the call decodes packed rows, or it adds, multiplies or compares.
    pub reduces: bool,
    /// The params of a gather, or the target of a scatter.
    pub params: TensorText,
    pub indices: TensorText,
    /// Only in a scatter.
    pub updates: Option<TensorText>,
    /// GTH_BAGS_*. 0 for other operations.
    pub bag_format: i32,
    pub bag_count: usize,
    pub bags: Option<TensorText>,
    pub weights: Option<TensorText>,
    /// The format of packed params, and the fields that differ from it. Empty for other params.
    pub codec: String,
    pub scales: Option<TensorText>,
    pub zeros: Option<TensorText>,
    pub expect: Result<TensorText, sys::gth_error>,
}

pub fn read_file(path: &Path) -> Vec<Case> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut file = unsafe { zeroed() };
    unsafe { raw::conformance_read(path.as_ptr(), &mut file) };
    let cases = unsafe { list(file.cases, file.count) }
        .iter()
        .map(|case| unsafe { read_case(case) })
        .collect();
    let error = unsafe { text(file.error.as_ptr()) };
    unsafe { raw::conformance_free(&mut file) };
    assert!(error.is_empty(), "{error}");
    cases
}

unsafe fn read_case(case: &raw::Case) -> Case {
    unsafe {
        let (given, params) = (&case.options, tensor(&case.params).unwrap());
        Case {
            name: text(case.name),
            operation: text(case.op_name),
            options: read_options(given, params.dtype),
            skips: given.bounds == sys::GTH_BOUNDS_SKIP,
            reduces: given.reduction > sys::GTH_REDUCTION_NONE || given.bag_format != 0 || !case.codec.is_null(),
            params,
            indices: tensor(&case.indices).unwrap(),
            updates: tensor(&case.updates),
            bag_format: given.bag_format,
            bag_count: given.bag_count as usize,
            bags: tensor(&case.bags),
            weights: tensor(&case.weights),
            codec: text(case.codec),
            scales: tensor(&case.scales),
            zeros: tensor(&case.zeros),
            expect: tensor(&case.out).ok_or(case.error),
        }
    }
}

unsafe fn tensor(tensor: &raw::Tensor) -> Option<TensorText> {
    let desc = &tensor.desc;
    let ndim = desc.ndim.into();
    unsafe {
        Some(TensorText {
            dtype: DType::try_from(desc.dtype).ok()?,
            shape: list(desc.shape, ndim).iter().map(|extent| *extent as usize).collect(),
            strides: (!desc.strides.is_null())
                .then(|| list(desc.strides, ndim).iter().map(|stride| *stride as isize).collect()),
            offset: desc.offset as usize,
            bytes: list(desc.data.cast(), desc.extent).to_vec(),
            string_offsets: list(tensor.string_offsets, tensor.string_count + 1).to_vec(),
        })
    }
}

unsafe fn text(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        false => unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned(),
    }
}

unsafe fn list<'a, T>(first: *const T, count: i64) -> &'a [T] {
    match first.is_null() {
        true => &[],
        false => unsafe { slice::from_raw_parts(first, count as usize) },
    }
}

/// Calls a setter for each choice that is given.
macro_rules! choose {
    ($given:ident, $options:ident, $($field:ident: $type:ty,)*) => {$(
        if $given.$field != 0 {
            // SAFETY: the enum has the number of every word that the reader knows.
            $options = $options.$field(unsafe { transmute::<i32, $type>($given.$field) });
        }
    )*};
}

fn read_options(given: &sys::gth_options, dtype: DType) -> Options {
    let mut options = Options::new().batch_dims(given.batch_dims).opset(given.opset);
    if given.has_axis != 0 {
        options = options.axis(given.axis);
    }
    if given.has_padding_index != 0 {
        options = options.padding_index(given.padding_index);
    }
    choose! {
        given, options,
        profile: Profile, extents: Extents, reduction: Reduction, initial: Initial, accumulate: Accumulate, pool: Pool,
        empty: Empty, negative: Negative, bounds: Bounds,
    }
    match given.fill {
        sys::GTH_FILL_VALUE if dtype == DType::String => options.fill_value(0u8),
        sys::GTH_FILL_VALUE => {
            let image = given.fill_value.map(u64::to_ne_bytes);
            // SAFETY: outputs are read as bytes. Some cases fill bools with other bytes than 0 and 1.
            unsafe { options.fill_image_unchecked(dtype, image.as_flattened().try_into().unwrap()) }
        }
        _ => {
            choose! { given, options, fill: Fill, }
            options
        }
    }
}
