//! Packed rows: each format equals its formula in every function that takes params, and each misuse is an error.

use gather::{
    BFloat16, Bags, BoundPlan, Buffer, Context, DType, Error, Float16, Layout, OPEN, Operand, Options, Packed, Tensor,
    TensorMut, codec_row_bytes, gather, gather_bags, gather_bags_gradient, gather_bags_into, gather_elements,
    gather_into, gather_nd, gather_nd_into, output_shape, scatter,
};

const ROWS: usize = 7;

/// Returns pseudorandom bytes.
fn bytes(count: usize) -> Vec<u8> {
    let mut state = 12345u64;
    let next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Decodes a float16 that is finite.
fn half(low: u8, high: u8) -> f32 {
    let (exponent, fraction) = (
        i32::from(high >> 2 & 0x1f),
        f32::from(u16::from(high & 3) << 8 | u16::from(low)),
    );
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    };
    if high >> 7 == 1 { -magnitude } else { magnitude }
}

/// Makes a float16 at this byte finite.
fn make_finite(data: &mut [u8], at: usize) {
    data[at + 1] &= 0xbf;
}

fn int4(byte: u8, j: usize) -> f32 {
    let nibble = (byte >> (4 * (j % 2)) & 15) as i8;
    f32::from(if nibble > 7 { nibble - 16 } else { nibble })
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Returns the operand of an error of a kind.
macro_rules! operand {
    ($kind:ident, $result:expr) => {
        match $result {
            Err(Error::$kind(cause)) => cause.operand,
            other => panic!("{other:?}"),
        }
    };
}

/// Compares each function that takes params with rows that have been decoded by a formula.
fn expect_rows(table: &Tensor<'_>, width: usize, decoded: &[f32]) {
    let options = Options::new();
    assert_eq!((table.shape(), table.dtype()), (&[ROWS, width][..], DType::Float32));
    let picked = [6i64, 0, 3, 6];
    let wanted: Vec<f32> = picked
        .iter()
        .flat_map(|id| decoded[*id as usize * width..][..width].to_vec())
        .collect();
    let (flat, tuples) = (Tensor::new(&picked, &[4]), Tensor::new(&picked, &[4, 1]));
    let expect = |rows: &[f32]| assert_eq!(bits(rows), bits(&wanted));
    expect(gather(table, &flat, &options).unwrap().as_slice().unwrap());
    expect(gather(&table.view(), &flat, &options).unwrap().as_slice().unwrap());
    expect(gather_nd(table, &tuples, &options).unwrap().as_slice().unwrap());
    let context = Context::builder().threads(2).build().unwrap();
    expect(context.gather(table, &flat, &options).unwrap().as_slice().unwrap());
    let sums: Vec<f32> = wanted.iter().map(|number| 0.0 + number).collect(); // They begin with 0, so no sum is -0.
    let into = |wanted: &[f32], f: &dyn Fn(&mut TensorMut<'_>) -> Result<(), Error>| {
        let mut rows = vec![7.0f32; 4 * width];
        f(&mut TensorMut::new(&mut rows, &[4, width])).unwrap();
        assert_eq!(bits(&rows), bits(wanted));
    };
    into(&wanted, &|out| gather_into(table, &flat, &options, out));
    into(&wanted, &|out| gather_nd_into(table, &tuples, &options, out));
    into(&sums, &|out| {
        gather_bags_into(table, &tuples, &Bags::dense(), &options, out)
    });
    let pooled = gather_bags(table, &tuples, &Bags::dense(), &options).unwrap();
    assert_eq!(bits(pooled.as_slice().unwrap()), bits(&sums));
    assert_eq!(
        output_shape(&table.layout(), &flat.layout(), &options).unwrap(),
        [4, width]
    );
    expect_plans(table, width, &picked, &wanted);
}

fn expect_plans(table: &Tensor<'_>, width: usize, picked: &[i64; 4], wanted: &[f32]) {
    let options = Options::new();
    let mut rows = vec![7.0f32; 4 * width];
    let open = BoundPlan::gather(table, &Layout::new::<i64>(&[OPEN]), &options).unwrap();
    assert_eq!(open.shape(2).unwrap(), [2, width]);
    open.run_open(4, picked, &mut rows).unwrap();
    assert_eq!(bits(&rows), bits(wanted));
    open.check(4, picked).unwrap();
    assert!(matches!(open.check(1, &[7i64]), Err(Error::Index(_))));
    assert!(matches!(open.run_open(4, picked, &mut rows[1..]), Err(Error::Size(_))));
    let tuples = BoundPlan::gather_nd(table, &Layout::new::<i64>(&[4, 1]), &options).unwrap();
    rows.fill(7.0);
    tuples.run(picked, &mut rows).unwrap();
    assert_eq!(bits(&rows), bits(wanted));
    rows.fill(7.0);
    Context::builder()
        .build()
        .unwrap()
        .run_bound(&tuples, OPEN, picked, &mut rows)
        .unwrap();
    assert_eq!(bits(&rows), bits(wanted));
}

#[test]
fn q8_0_is_scale_times_code() {
    let mut data = bytes(ROWS * 68);
    (0..ROWS * 2).for_each(|block| make_finite(&mut data, block * 34));
    let decode = |block: &[u8]| {
        let scale = half(block[0], block[1]);
        block[2..]
            .iter()
            .map(|code| scale * f32::from(*code as i8))
            .collect::<Vec<_>>()
    };
    let decoded: Vec<f32> = data.chunks(34).flat_map(decode).collect();
    assert_eq!(codec_row_bytes("q8_0", 64), Ok(68));
    expect_rows(&Packed::new("q8_0", &data, &[ROWS, 64]).build().unwrap(), 64, &decoded);
}

#[test]
fn rowwise4_is_scale_times_code_plus_bias() {
    let mut data = bytes(ROWS * 9);
    (0..ROWS).for_each(|row| (5..9).step_by(2).for_each(|at| make_finite(&mut data, row * 9 + at)));
    let decode = |row: &[u8]| {
        let (scale, bias, row) = (half(row[5], row[6]), half(row[7], row[8]), row.to_vec());
        (0..10).map(move |j| scale.mul_add(f32::from(row[j / 2] >> (4 * (j % 2)) & 15), bias))
    };
    let decoded: Vec<f32> = data.chunks(9).flat_map(decode).collect();
    expect_rows(
        &Packed::new("rowwise4", &data, &[ROWS, 10]).build().unwrap(),
        10,
        &decoded,
    );
}

#[test]
fn int4_has_scales_and_zero_points_as_operands() {
    let (data, zeros, nibbles) = (bytes(ROWS * 6), bytes(ROWS * 3), bytes(ROWS * 2));
    let scales: Vec<f32> = (0..ROWS * 3).map(|i| 0.1 * i as f32 - 0.7).collect();
    let decoded = |zero: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        let number = |i: usize| {
            let (row, block) = (i / 12, i % 12 / 4);
            (int4(data[i / 2], i) - zero(row, block)) * scales[row * 3 + block]
        };
        (0..ROWS * 12).map(number).collect()
    };
    let table = || {
        Packed::new("int4", &data, &[ROWS, 12])
            .block(4)
            .scales(Tensor::new(&scales, &[ROWS, 3]))
    };
    expect_rows(&table().build().unwrap(), 12, &decoded(&|_, _| 0.0));
    expect_rows(&table().zero(-1.5).build().unwrap(), 12, &decoded(&|_, _| -1.5));
    let with_bytes = table().zeros(Tensor::new(&zeros, &[ROWS, 3])).build().unwrap();
    expect_rows(&with_bytes, 12, &decoded(&|row, block| zeros[row * 3 + block].into()));
    let with_nibbles = table().zeros_int4(Tensor::new(&nibbles, &[ROWS, 2])).build().unwrap();
    expect_rows(
        &with_nibbles,
        12,
        &decoded(&|row, block| int4(nibbles[row * 2 + block / 2], block)),
    );
    let unsigned = table().zeros_uint4(Tensor::new(&nibbles, &[ROWS, 2])).build().unwrap();
    let nibble = |row: usize, block: usize| f32::from(nibbles[row * 2 + block / 2] >> (4 * (block % 2)) & 15);
    expect_rows(&unsigned, 12, &decoded(&nibble));
}

#[test]
fn fp8_has_one_scale_for_each_row() {
    let data: Vec<u8> = bytes(ROWS * 5).iter().map(|code| code & 0xf7).collect(); // without NaN
    let exponents: [u8; ROWS] = [120, 127, 1, 130, 126, 128, 0];
    let e4m3 = |code: u8| {
        let (exponent, fraction) = (i32::from(code >> 3 & 15), f32::from(code & 7));
        let magnitude = match exponent {
            0 => fraction * 2f32.powi(-9),
            _ => (1.0 + fraction / 8.0) * 2f32.powi(exponent - 7),
        };
        if code > 127 { -magnitude } else { magnitude }
    };
    let decoded: Vec<f32> = (0..ROWS * 5)
        .map(|i| e4m3(data[i]) * 2f32.powi(i32::from(exponents[i / 5]) - 127))
        .collect();
    let scales = Buffer::from_bytes(DType::Float8E8M0Fnu, &exponents).unwrap();
    let table = Packed::new("fp8_e4m3fn", &data, &[ROWS, 5]).scales(Tensor::new(scales, &[ROWS, 1]));
    expect_rows(&table.build().unwrap(), 5, &decoded);
}

#[test]
fn factor_dtype_and_strided_rows_are_applied() {
    let data = [9u8, 1, 9, 9, 2, 9, 9, 3]; // One code of every third byte is a row.
    let table = |offset, stride| {
        let scales = Tensor::new(&[0.5f32], &[1, 1]);
        Packed::new("int8", &data, &[3, 1])
            .scales(scales)
            .factor(4.0)
            .offset(offset)
            .strides(&[stride])
    };
    let ids = Tensor::new(&[0u8, 1, 2], &[3]);
    let forward = gather(&table(1, 3).build().unwrap(), &ids, &Options::new()).unwrap();
    assert_eq!(forward.as_slice::<f32>().unwrap(), [2.0, 4.0, 6.0]);
    let backward = table(7, -3).dtype(DType::BFloat16).build().unwrap();
    let backward = gather(&backward, &ids, &Options::new()).unwrap();
    assert_eq!(
        backward.as_slice::<BFloat16>().unwrap(),
        [BFloat16(0x40c0), BFloat16(0x4080), BFloat16(0x4000)]
    );
    let halves = table(1, 3).dtype(DType::Float16).build().unwrap();
    let halves = gather(&halves, &ids, &Options::new()).unwrap();
    assert_eq!(
        halves.as_slice::<Float16>().unwrap(),
        [Float16(0x4000), Float16(0x4400), Float16(0x4600)]
    );
}

#[test]
fn zero_replaces_the_constant_and_the_block_of_a_format() {
    let data = [3u8; 64];
    let one = || Tensor::new(&[1.0f32; 2], &[1, 1]);
    let table = Packed::new("uint8", &data, &[1, 1]).scales(one()).zero(0.0).build();
    let rows = gather(&table.unwrap(), &Tensor::new(&[0u8], &[1]), &Options::new()).unwrap();
    assert_eq!(rows.as_slice::<f32>().unwrap(), [3.0]);
    let blocks = || Packed::new("nf4", &data, &[1, 128]).scales(Tensor::new(&[1.0f32; 2], &[1, 2]));
    assert!(blocks().build().is_ok());
    assert_eq!(operand!(Shape, blocks().block(0).build()), Operand::Scales);
}

#[test]
fn tensor_keeps_owned_scales_and_is_shared_by_threads() {
    let scales = Tensor::from_vec(vec![3.0f32; 64], &[64, 1]).unwrap();
    let zeros = Tensor::from_vec(vec![1.0f32; 64], &[64, 1]).unwrap();
    let codes = [3u8; 64];
    let table = Packed::new("int8", &codes, &[64, 1]).scales(scales).zeros(zeros);
    let table = table.build().unwrap();
    let noise: Vec<_> = (0..100).map(|_| vec![-1.0f32; 64]).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let ids = [63u8, 0];
                let rows = gather(&table, &Tensor::new(&ids, &[2]), &Options::new()).unwrap();
                assert_eq!(rows.as_slice::<f32>().unwrap(), [6.0, 6.0]);
            });
        }
    });
    drop(noise);
}

#[test]
fn bound_plans_have_the_operation_and_the_options_of_their_calls() {
    let data = [1u8, 2, 3, 4, 5, 6];
    let table = Packed::new("int8", &data, &[2, 3, 1]).scales(Tensor::new(&[1.0f32], &[1, 1, 1]));
    let table = table.build().unwrap();
    let pairs = BoundPlan::gather_nd(&table, &Layout::new::<u8>(&[2, 2]), &Options::new()).unwrap();
    assert_eq!(pairs.shape(OPEN).unwrap(), [2, 1]);
    let mut rows = [0.0f32; 2];
    pairs.run(&[1u8, 2, 0, 1], &mut rows).unwrap();
    assert_eq!(rows, [6.0, 2.0]);
    let batches = BoundPlan::gather(&table, &Layout::new::<u8>(&[2, 1]), &Options::new().batch_dims(1)).unwrap();
    assert_eq!(batches.shape(OPEN).unwrap(), [2, 1, 1]);
    batches.run(&[2u8, 0], &mut rows).unwrap();
    assert_eq!(rows, [3.0, 4.0]);
}

#[test]
fn unknown_formats_are_rejected() {
    for name in [
        "q9_0",
        "",
        "Q8_0",
        "q8_0 ",
        "q8_0\0",
        "\0",
        "q8_0\u{e9}",
        &"q".repeat(100_000),
    ] {
        assert_eq!(
            operand!(Version, Packed::new(name, &[0; 34], &[1, 32]).build()),
            Operand::Codec
        );
        assert_eq!(operand!(Version, codec_row_bytes(name, 32)), Operand::Codec);
    }
    assert_eq!(operand!(Shape, codec_row_bytes("q8_0", 33)), Operand::Codec);
    assert_eq!(operand!(Shape, codec_row_bytes("q8_0", OPEN)), Operand::Codec);
    assert_eq!(
        operand!(Size, codec_row_bytes("rowwise8", usize::MAX / 2)),
        Operand::Codec
    );
}

#[test]
fn wrong_memory_and_shapes_are_rejected() {
    let data = [0u8; 67];
    let new = |shape: &[usize]| Packed::new("q8_0", &data, shape);
    assert_eq!(operand!(Stride, new(&[2, 32]).build()), Operand::Tensor);
    assert_eq!(operand!(Stride, new(&[1, 32]).offset(34).build()), Operand::Tensor);
    assert_eq!(operand!(Stride, new(&[2, 32]).strides(&[-34]).build()), Operand::Tensor);
    assert_eq!(
        operand!(Null, Packed::new("q8_0", &[], &[1, 32]).build()),
        Operand::Tensor
    );
    assert_eq!(operand!(Rank, new(&[]).build()), Operand::Tensor);
    assert_eq!(operand!(Rank, new(&[1; 65]).build()), Operand::Tensor);
    assert_eq!(operand!(Rank, new(&[1, 32]).strides(&[34, 0]).build()), Operand::Tensor);
    assert_eq!(operand!(Shape, new(&[1, 33]).build()), Operand::Codec);
    assert_eq!(operand!(Shape, new(&[OPEN, 32]).build()), Operand::Tensor);
    assert_eq!(
        operand!(DType, new(&[1, 32]).dtype(DType::Int32).build()),
        Operand::Tensor
    );
    assert!(new(&[usize::MAX / 2, 32]).build().is_err());
    assert_eq!(new(&[0, 32]).build().unwrap().shape(), [0, 32]);
}

#[test]
fn wrong_scales_and_zero_points_are_rejected() {
    let data = [0u8; 8];
    let table = || Packed::new("int4", &data, &[2, 8]).block(4);
    let scales = |shape: &[usize]| table().scales(Tensor::new(&[1.0f32; 8], shape));
    assert_eq!(operand!(Null, table().build()), Operand::Scales);
    assert_eq!(operand!(Shape, scales(&[2, 3]).build()), Operand::Scales);
    assert_eq!(operand!(Rank, scales(&[2]).build()), Operand::Scales);
    assert_eq!(
        operand!(
            Stride,
            scales(&[2, 2]).scales(Tensor::new(&[1.0f32; 3], &[2, 2])).build()
        ),
        Operand::Scales
    );
    assert_eq!(
        operand!(DType, table().scales(Tensor::new(&[1i32; 4], &[2, 2])).build()),
        Operand::Scales
    );
    let zeros = |zeros| scales(&[2, 2]).zeros(zeros).build();
    assert_eq!(operand!(Shape, zeros(Tensor::new(&[0u8; 8], &[2, 4]))), Operand::Zeros);
    assert_eq!(operand!(DType, zeros(Tensor::new(&[0u64; 8], &[2, 2]))), Operand::Zeros);
    let strings = Tensor::from_strings(&["1", "2"], &[2, 1]).unwrap();
    assert!(zeros(strings).is_err());
    let gguf = Packed::new("q8_0", &[0; 34], &[1, 32]).scales(Tensor::new(&[1.0f32], &[1, 1]));
    assert_eq!(operand!(Version, gguf.build()), Operand::Scales);
    let rowwise = || Packed::new("rowwise8", &data, &[1, 0]).zeros(Tensor::new(&[1.0f32], &[1, 1]));
    assert_eq!(operand!(Version, rowwise().build()), Operand::Zeros);
    let packed = scales(&[2, 2]).build().unwrap();
    assert!(table().scales(packed).build().is_err());
}

#[test]
fn packed_rows_are_no_other_operand_and_have_no_elements() {
    let (data, options) = ([1u8; 68], Options::new());
    let (dense, ids) = ([0.0f32; 64], [1i64]);
    let (dense, ids) = (Tensor::new(&dense, &[2, 32]), Tensor::new(&ids, &[1]));
    let mut table = Packed::new("q8_0", &data, &[2, 32]).build().unwrap();
    assert_eq!(
        operand!(Unsupported, gather(&dense, &table, &options)),
        Operand::Indices
    );
    assert_eq!(
        operand!(Unsupported, scatter(&dense, &ids, &table, &options)),
        Operand::Updates
    );
    assert_eq!(
        operand!(Unsupported, scatter(&table, &ids, &dense, &options)),
        Operand::Target
    );
    assert_eq!(
        operand!(
            Unsupported,
            gather_elements(&table, &Tensor::new(&[1u8; 32], &[1, 32]), &options)
        ),
        Operand::Params
    );
    let bags = Bags::offsets(&table);
    assert_eq!(
        operand!(Unsupported, gather_bags(&dense, &ids, &bags, &options)),
        Operand::Bags
    );
    let gradient = gather_bags_gradient(&table, &Tensor::new(&[1i64], &[1, 1]), &Bags::dense(), &dense, &options);
    assert!(matches!(gradient, Err(Error::Unsupported(_))), "{gradient:?}");
    assert_eq!(
        operand!(Axis, gather(&table, &ids, &Options::new().axis(1))),
        Operand::Options
    );
    assert_eq!(
        operand!(Index, gather(&table, &Tensor::new(&[2u8], &[1]), &options)),
        Operand::Indices
    );
    let mut copy = [0.0f32; 64];
    let copied = Context::builder()
        .build()
        .unwrap()
        .copy(&table, &mut TensorMut::new(&mut copy, &[2, 32]));
    assert!(matches!(copied, Err(Error::Unsupported(_))), "{copied:?}");
    assert!(matches!(table.as_slice::<f32>(), Err(Error::Unsupported(_))));
    assert!(matches!(table.view().as_bytes(), Err(Error::Unsupported(_))));
    assert!(table.strings().is_err());
    assert!(gather_into(&dense, &ids, &options, &mut table.as_mut()).is_err());
    assert_eq!(data, [1; 68]);
    let moved = table.with_offset(34); // The second row is outside of the bytes.
    assert_eq!(operand!(Stride, gather(&moved, &ids, &options)), Operand::Params);
}

#[test]
fn zero_replaces_the_biases_of_rows() {
    let row = [3u8, 5, 0, 0, 0, 64, 0, 0, 128, 63]; // 2 codes, the float32 scale 2 and the bias 1
    let packed = |codec| Packed::new(codec, &row, &[1, 2]);
    let affine = || packed("affine8").block(0).scales(Tensor::new(&[2.0f32], &[1, 1]));
    let biases = || Tensor::new(&[1.0f32], &[1, 1]);
    for (table, expected) in [
        (packed("rowwise8"), [7.0, 11.0]),
        (packed("rowwise8").zero(10.0), [16.0, 20.0]),
        (affine().zero(10.0), [16.0, 20.0]),
        (affine().zeros(biases()).zero(10.0), [16.0, 20.0]),
        (affine().zero(10.0).zeros(biases()), [7.0, 11.0]),
    ] {
        let rows = gather(&table.build().unwrap(), &Tensor::new(&[0i64], &[1]), &Options::new()).unwrap();
        assert_eq!(rows.as_slice::<f32>().unwrap(), expected);
    }
    let error = Packed::new("q4_k", &[0; 144], &[1, 256]).zero(1.0).build().unwrap_err();
    assert!(
        matches!(&error, Error::Version(cause) if cause.operand == Operand::Codec),
        "{error}"
    );
}
