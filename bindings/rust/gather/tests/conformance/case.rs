//! Reads the conformance cases. tests/conformance/README.md describes their format.

use std::ffi::CStr;
use std::path::Path;

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

#[derive(Debug, PartialEq)]
pub struct Failure {
    pub status: i32,
    pub operand: String,
    pub component: i64,
    pub position: i64,
    pub value: i128,
    pub limit: i64,
    pub wraps: bool,
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
    /// The format of bags. Empty for other operations.
    pub bag_format: String,
    pub bag_count: usize,
    pub bags: Option<TensorText>,
    pub weights: Option<TensorText>,
    /// The format of packed params, and the fields that differ from it. Empty for other params.
    pub codec: String,
    pub scales: Option<TensorText>,
    pub zeros: Option<TensorText>,
    pub expect: Result<TensorText, Failure>,
}

pub fn read_file(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| {
        panic!(
            "{}: {e}. These commands in the tree compute it: \
             cmake --preset test && cmake --build --preset test --target conformance_cases",
            path.display()
        )
    });
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines
        .split(|line| line.is_empty())
        .filter(|lines| !lines.is_empty())
        .map(read_case)
        .collect()
}

fn read_case(lines: &[&str]) -> Case {
    let get = |key: &str| {
        lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    };
    let params = read_tensor(get("params").or(get("target")).unwrap(), true);
    Case {
        name: get("case").unwrap().to_owned(),
        operation: get("op").unwrap().to_owned(),
        options: read_options(get, params.dtype),
        skips: get("bounds") == Some("skip"),
        reduces: get("reduction").is_some_and(|reduction| reduction != "none")
            || get("bag_format").or(get("codec")).is_some(),
        params,
        indices: read_tensor(get("indices").unwrap(), true),
        updates: get("updates").map(|updates| read_tensor(updates, true)),
        bag_format: get("bag_format").unwrap_or_default().to_owned(),
        bag_count: get("bag_count").map_or(0, |count| count.parse().unwrap()),
        bags: get("bags").map(|bags| read_tensor(bags, true)),
        weights: get("weights").map(|weights| read_tensor(weights, true)),
        codec: get("codec").unwrap_or_default().to_owned(),
        scales: get("scales").map(|scales| read_tensor(scales, true)),
        zeros: get("zeros").map(|zeros| read_tensor(zeros, true)),
        expect: read_expect(get("expect").unwrap()),
    }
}

fn read_options<'t>(get: impl Fn(&str) -> Option<&'t str>, dtype: DType) -> Options {
    let mut options = Options::new();
    if let Some(axis) = get("axis") {
        options = options.axis(axis.parse().unwrap());
    }
    if let Some(batch_dims) = get("batch_dims") {
        options = options.batch_dims(batch_dims.parse().unwrap());
    }
    if let Some(opset) = get("opset") {
        options = options.opset(opset.parse().unwrap());
    }
    if let Some(name) = get("profile") {
        options = options.profile(read_profile(name));
    }
    match get("extents") {
        None => {}
        Some("equal") => options = options.extents(Extents::Equal),
        Some("prefix") => options = options.extents(Extents::Prefix),
        Some("broadcast") => options = options.extents(Extents::Broadcast),
        Some(other) => panic!("extents {other}"),
    }
    match get("reduction") {
        None => {}
        Some("none") => options = options.reduction(Reduction::None),
        Some("add") => options = options.reduction(Reduction::Add),
        Some("mul") => options = options.reduction(Reduction::Mul),
        Some("max") => options = options.reduction(Reduction::Max),
        Some("min") => options = options.reduction(Reduction::Min),
        Some("mean") => options = options.reduction(Reduction::Mean),
        Some(other) => panic!("reduction {other}"),
    }
    match get("initial") {
        None => {}
        Some("update") => options = options.initial(Initial::Update),
        Some(other) => panic!("initial {other}"),
    }
    match get("accumulate") {
        None => {}
        Some("dtype") => options = options.accumulate(Accumulate::DType),
        Some("float32") => options = options.accumulate(Accumulate::Float32),
        Some("float64") => options = options.accumulate(Accumulate::Float64),
        Some(other) => panic!("accumulate {other}"),
    }
    match get("pool") {
        None => {}
        Some("sum") => options = options.pool(Pool::Sum),
        Some("mean") => options = options.pool(Pool::Mean),
        Some("sqrtn") => options = options.pool(Pool::SqrtN),
        Some("max") => options = options.pool(Pool::Max),
        Some("min") => options = options.pool(Pool::Min),
        Some(other) => panic!("pool {other}"),
    }
    match get("empty") {
        None => {}
        Some("zero") => options = options.empty(Empty::Zero),
        Some("fill") => options = options.empty(Empty::Fill),
        Some("error") => options = options.empty(Empty::Error),
        Some(other) => panic!("empty {other}"),
    }
    if let Some(padding) = get("padding_index") {
        options = options.padding_index(padding.parse().unwrap());
    }
    match get("negative") {
        None => {}
        Some("reject") => options = options.negative(Negative::Reject),
        Some("wrap") => options = options.negative(Negative::Wrap),
        Some(other) => panic!("negative {other}"),
    }
    match get("bounds") {
        None => {}
        Some("error") => options = options.bounds(Bounds::Error),
        Some("fill") => options = options.bounds(Bounds::Fill),
        Some("clamp") => options = options.bounds(Bounds::Clamp),
        Some("modulo") => options = options.bounds(Bounds::Modulo),
        Some("skip") => options = options.bounds(Bounds::Skip),
        Some(other) => panic!("bounds {other}"),
    }
    match get("fill") {
        None => {}
        Some("zero") => options = options.fill(Fill::Zero),
        Some("by_dtype") => options = options.fill(Fill::ByDType),
        Some("value") if dtype == DType::String => options = options.fill_value(0u8),
        Some("value") => {
            let bytes = get("fill_value").map_or(Vec::new(), read_hex);
            let mut image = [0; 16];
            image[..bytes.len()].copy_from_slice(&bytes);
            // SAFETY: outputs are read as bytes. Some cases fill bools with other bytes than 0 and 1.
            options = unsafe { options.fill_image_unchecked(dtype, image) };
        }
        Some(other) => panic!("fill {other}"),
    }
    options
}

fn read_profile(name: &str) -> Profile {
    match name {
        "tensorflow" => Profile::TensorFlow,
        "tensorflow_gpu" => Profile::TensorFlowGpu,
        "onnx" => Profile::Onnx,
        "ort" => Profile::Ort,
        "numpy_raise" => Profile::NumpyRaise,
        "numpy_wrap" => Profile::NumpyWrap,
        "numpy_clip" => Profile::NumpyClip,
        "torch" => Profile::Torch,
        "jax_fill" => Profile::JaxFill,
        "jax_clip" => Profile::JaxClip,
        other => panic!("profile {other}"),
    }
}

fn read_numbers(text: &str) -> Vec<i64> {
    if text == "." {
        return Vec::new();
    }
    text.split(',').map(|number| number.parse().unwrap()).collect()
}

fn read_hex(text: &str) -> Vec<u8> {
    if text == "." || text == "-" {
        return Vec::new();
    }
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}

fn read_tensor(text: &str, has_layout: bool) -> TensorText {
    let mut words = text.split(' ');
    let mut word = || words.next().unwrap();
    let name = word();
    let mut tensor = TensorText {
        dtype: *DType::ALL
            .iter()
            .find(|dtype| dtype.name() == name)
            .unwrap_or_else(|| panic!("dtype {name}")),
        shape: read_numbers(word()).iter().map(|extent| *extent as usize).collect(),
        strides: None,
        offset: 0,
        bytes: Vec::new(),
        string_offsets: vec![0],
    };
    if has_layout {
        read_layout(word(), &mut tensor);
    }
    let data = word();
    if tensor.dtype != DType::String {
        tensor.bytes = read_hex(data);
    } else if data != "." {
        for string in data.split(',') {
            tensor.bytes.extend(read_hex(string));
            tensor.string_offsets.push(tensor.bytes.len() as i64);
        }
    }
    tensor
}

fn read_layout(text: &str, tensor: &mut TensorText) {
    if text == "." {
        return;
    }
    let (offset, strides) = text.split_once(';').unwrap();
    tensor.offset = offset.strip_prefix("offset=").unwrap().parse().unwrap();
    let strides = read_numbers(strides.strip_prefix("strides=").unwrap());
    tensor.strides = Some(strides.iter().map(|stride| *stride as isize).collect());
}

fn read_expect(text: &str) -> Result<TensorText, Failure> {
    if let Some(tensor) = text.strip_prefix("ok ") {
        return Ok(read_tensor(tensor, false));
    }
    let words: Vec<&str> = text.split(' ').collect();
    let ["error", status, operand, component, position, value, limit, flags] = words[..] else {
        panic!("expect {text}");
    };
    let value: i64 = value.parse().unwrap();
    Err(Failure {
        status: status_number(status),
        operand: operand.to_owned(),
        component: component.parse().unwrap(),
        position: position.parse().unwrap(),
        value: if flags.contains("unsigned") {
            (value as u64).into()
        } else {
            value.into()
        },
        limit: limit.parse().unwrap(),
        wraps: flags.contains("wrap"),
    })
}

fn status_number(name: &str) -> i32 {
    (sys::GTH_E_IO..0)
        .find(|status| {
            // SAFETY: the function accepts any number, and names are static.
            let text = unsafe { CStr::from_ptr(sys::gth_status_name(*status)) };
            text.to_str().unwrap().strip_prefix("GTH_E_") == Some(name)
        })
        .unwrap_or_else(|| panic!("status {name}"))
}
