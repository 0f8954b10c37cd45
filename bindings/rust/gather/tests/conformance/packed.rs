//! Replays every recorded call of packed rows: into a new tensor, into existing memory, and as a plan.

use gather::{BoundPlan, BufferMut, Packed, Tensor, TensorMut, gather, gather_into};

use super::case::{Case, TensorText};
use super::scatter::{expect_bytes, expect_tensor};
use super::{UNTOUCHED, bags, buffer, layout, tensor};

pub fn run(test: &Case) {
    let params = packed(test);
    if test.bag_format != 0 {
        return bags::run_for(test, &params);
    }
    let expected = test.expect.as_ref().expect("no recorded call of packed rows fails");
    for threads in [1, 3] {
        let options = test.options.threads(threads);
        expect_tensor(
            test,
            &gather(&params, &tensor(&test.indices), &options).unwrap(),
            expected,
        );
        expect_written(test, expected, |out| {
            let mut out = TensorMut::new(out, &expected.shape);
            gather_into(&params, &tensor(&test.indices), &options, &mut out).unwrap();
        });
    }
    let plan = BoundPlan::gather(&params, &layout(&test.indices), &test.options).unwrap();
    expect_written(test, expected, |out| plan.run(buffer(&test.indices), out).unwrap());
}

fn expect_written(test: &Case, expected: &TensorText, write: impl FnOnce(BufferMut<'_>)) {
    let mut memory = vec![UNTOUCHED; expected.bytes.len()];
    write(BufferMut::from_bytes(test.params.dtype, &mut memory).unwrap());
    expect_bytes(test, &memory, expected);
}

/// Returns packed params. A field is NAME=VALUE. A codec without a name has the fields of a named one.
fn packed(test: &Case) -> Tensor<'_> {
    let codec = test.codec.replace(". code=1 rule=1 scale_place=3", "affine8");
    let (name, fields) = codec.split_once(' ').unwrap_or((&codec, ""));
    let mut packed = Packed::new(name, &test.params.bytes, &test.params.shape)
        .dtype(test.params.dtype)
        .offset(test.params.offset);
    if let Some([strides @ .., 0]) = test.params.strides.as_deref() {
        packed = packed.strides(strides);
    }
    if let Some(scales) = &test.scales {
        packed = packed.scales(tensor(scales));
    }
    if let Some(zeros) = &test.zeros {
        packed = packed.zeros(tensor(zeros));
    }
    for field in fields.split_terminator(' ') {
        packed = match field.split_once('=').unwrap() {
            ("block_values", values) => packed.block(values.parse().unwrap()),
            ("factor", factor) => packed.factor(factor.parse().unwrap()),
            ("zero", zero) => packed.zero(zero.parse().unwrap()),
            ("zero_dtype", "4") => packed.zeros_int4(tensor(test.zeros.as_ref().unwrap())),
            ("zero_dtype", "260") => packed.zeros_uint4(tensor(test.zeros.as_ref().unwrap())),
            ("zero_dtype", "0") | ("zero_place", "3") => packed, // The dtype and the place that zeros have.
            _ => panic!("{}: the codec has a field {field}", test.name),
        };
    }
    packed.build().unwrap()
}
