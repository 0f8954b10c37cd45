//! The results and the errors of bags, beside a naive loop.

use gather::{
    Bags, DType, Empty, Error, Operand, Options, Pool, Tensor, TensorMut, gather_bags, gather_bags_gradient,
    gather_bags_gradient_into, gather_bags_into, gather_bags_positions, gather_bags_positions_into,
    gather_bags_sparse_gradient_into, gather_bags_weight_gradient,
};

const ROWS: usize = 6;
const DIM: usize = 5;
const IDS: [i64; 7] = [3, 0, 5, 5, 1, 2, 4];
const OFFSETS: [i64; 5] = [0, 2, 2, 6, 7];
const LENGTHS: [u8; 4] = [2, 0, 4, 1];
const SEGMENTS: [i32; 7] = [0, 0, 2, 2, 2, 2, 3];
const WEIGHTS: [f32; 7] = [0.5, 2.0, -1.0, 4.0, 0.25, 1.0, 8.0];

fn table() -> Vec<f32> {
    (0..ROWS * DIM).map(|i| (i * i % 17) as f32 - 4.0).collect()
}

/// Pools the bags of OFFSETS with loops. All values are exact in float32.
fn pooled(pool: Pool, weights: Option<&[f32; 7]>, padding: Option<i64>) -> Vec<f32> {
    let table = table();
    let mut out = Vec::new();
    for bag in OFFSETS.windows(2) {
        let ids: Vec<usize> = (bag[0] as usize..bag[1] as usize)
            .filter(|&k| Some(IDS[k]) != padding)
            .collect();
        let weight = |k: usize| weights.map_or(1.0, |weights| weights[k]);
        for column in 0..DIM {
            let values = ids.iter().map(|&k| weight(k) * table[IDS[k] as usize * DIM + column]);
            let divisor: f32 = ids.iter().map(|&k| weight(k)).sum();
            out.push(match pool {
                _ if ids.is_empty() => 0.0,
                Pool::Sum => values.sum(),
                Pool::Mean => values.sum::<f32>() / divisor,
                Pool::Max => values.fold(f32::NEG_INFINITY, f32::max),
                Pool::Min => values.fold(f32::INFINITY, f32::min),
                _ => unreachable!(),
            });
        }
    }
    out
}

fn run(bags: &Bags<'_>, options: &Options) -> Result<Vec<f32>, Error> {
    let values = table();
    let params = Tensor::new(&values, &[ROWS, DIM]);
    let ids = Tensor::new(&IDS, &[7]);
    let made = gather_bags(&params, &ids, bags, options)?;
    assert_eq!(made.shape(), [4, DIM]);
    let mut out = [f32::NAN; 4 * DIM];
    gather_bags_into(&params, &ids, bags, options, &mut TensorMut::new(&mut out, &[4, DIM]))?;
    assert_eq!(made.as_slice::<f32>()?, out);
    Ok(out.to_vec())
}

#[test]
fn every_format_pools_the_same_rows() {
    let (offsets, starts) = (Tensor::new(&OFFSETS, &[5]), Tensor::new(&OFFSETS[..4], &[4]));
    let (lengths, segments) = (Tensor::new(&LENGTHS, &[4]), Tensor::new(&SEGMENTS, &[7]));
    let formats = [
        Bags::offsets(&offsets),
        Bags::starts(&starts),
        Bags::lengths(&lengths),
        Bags::segments(&segments, 4),
    ];
    for bags in formats {
        for pool in [Pool::Sum, Pool::Mean, Pool::Max, Pool::Min] {
            let options = Options::new().pool(pool);
            assert_eq!(run(&bags, &options).unwrap(), pooled(pool, None, None), "{pool:?}");
            let padded = options.padding_index(5);
            assert_eq!(run(&bags, &padded).unwrap(), pooled(pool, None, Some(5)), "{padded:?}");
        }
    }
}

#[test]
fn weights_multiply_rows() {
    let (offsets, weights) = (Tensor::new(&OFFSETS, &[5]), Tensor::new(&WEIGHTS, &[7]));
    let bags = Bags::offsets(&offsets).weights(&weights);
    let sums = run(&bags, &Options::new()).unwrap();
    assert_eq!(sums, pooled(Pool::Sum, Some(&WEIGHTS), None));
    let means = run(&bags, &Options::new().pool(Pool::Mean)).unwrap();
    assert_eq!(means, pooled(Pool::Mean, Some(&WEIGHTS), None));
}

#[test]
fn dense_bags_are_rows_of_indices() {
    let values = table();
    let sums = gather_bags(
        &Tensor::new(&values, &[ROWS, DIM]),
        &Tensor::new(&[1u32, 2, 3, 3], &[2, 2]),
        &Bags::dense(),
        &Options::new(),
    )
    .unwrap();
    let row = |i: usize, j: usize| (0..DIM).map(move |c| (i, j, c));
    let expected: Vec<f32> = row(1, 2)
        .chain(row(3, 3))
        .map(|(i, j, c)| values[i * DIM + c] + values[j * DIM + c])
        .collect();
    assert_eq!(sums.shape(), [2, DIM]);
    assert_eq!(sums.as_slice::<f32>().unwrap(), expected);
}

#[test]
fn empty_bags_are_filled_or_refused() {
    let offsets = Tensor::new(&OFFSETS, &[5]);
    let fill = Options::new().empty(Empty::Fill).fill_value(-1.5f32);
    assert_eq!(run(&Bags::offsets(&offsets), &fill).unwrap()[DIM..2 * DIM], [-1.5; DIM]);
    let Err(Error::Offsets(cause)) = run(&Bags::offsets(&offsets), &Options::new().empty(Empty::Error)) else {
        panic!("an empty bag is accepted");
    };
    assert_eq!((cause.operand, cause.position), (Operand::Bags, Some(1)));
}

#[test]
fn wrong_bags_are_refused_and_the_output_is_unchanged() {
    let values = table();
    let (params, ids) = (Tensor::new(&values, &[ROWS, DIM]), Tensor::new(&IDS, &[7]));
    let decreasing = [0i64, 3, 2, 6, 7];
    let offsets = Tensor::new(&decreasing, &[5]);
    let mut out = [7.0f32; 4 * DIM];
    let result = gather_bags_into(
        &params,
        &ids,
        &Bags::offsets(&offsets),
        &Options::new(),
        &mut TensorMut::new(&mut out, &[4, DIM]),
    );
    let Err(Error::Offsets(cause)) = result else {
        panic!("offsets that decrease are accepted");
    };
    assert_eq!(
        (cause.operand, cause.position, cause.value),
        (Operand::Bags, Some(2), 2)
    );
    assert_eq!(out, [7.0; 4 * DIM]);
}

#[test]
fn options_are_formatted() {
    let options = Options::new()
        .pool(Pool::Max)
        .padding_index(-1)
        .out_dtype(DType::Float32);
    assert_eq!(
        format!("{options:?}"),
        "Options { pool: Max, padding_index: -1, out_dtype: Float32 }"
    );
}

/// The gradients of the output of OFFSETS, small integers.
fn gradient() -> Vec<f32> {
    (0..4 * DIM).map(|i| (i * 3 % 7) as f32 - 2.0).collect()
}

/// Adds the gradient of each bag to the rows of its ids with loops.
fn summed(weights: Option<&[f32; 7]>, is_mean: bool, padding: Option<i64>) -> Vec<f32> {
    let (given, mut out) = (gradient(), vec![0.0; ROWS * DIM]);
    for (bag, ends) in OFFSETS.windows(2).enumerate() {
        let ids: Vec<usize> = (ends[0] as usize..ends[1] as usize)
            .filter(|&k| Some(IDS[k]) != padding)
            .collect();
        let weight = |k: usize| weights.map_or(1.0, |weights| weights[k]);
        let divisor: f32 = if is_mean {
            ids.iter().map(|&k| weight(k)).sum()
        } else {
            1.0
        };
        for &k in &ids {
            for column in 0..DIM {
                out[IDS[k] as usize * DIM + column] += weight(k) / divisor * given[bag * DIM + column];
            }
        }
    }
    out
}

#[test]
fn gradients_equal_loops() {
    let (values, given) = (table(), gradient());
    let (params, ids) = (Tensor::new(&values, &[ROWS, DIM]), Tensor::new(&IDS, &[7]));
    let (offsets, weights) = (Tensor::new(&OFFSETS, &[5]), Tensor::new(&WEIGHTS, &[7]));
    let given = Tensor::new(&given, &[4, DIM]);
    let bags = Bags::offsets(&offsets);
    let weighted = bags.weights(&weights);
    for (bags, weights) in [(bags, None), (weighted, Some(&WEIGHTS))] {
        for pool in [Pool::Sum, Pool::Mean] {
            let options = Options::new().pool(pool).padding_index(5);
            let made = gather_bags_gradient(&params, &ids, &bags, &given, &options).unwrap();
            let expected = summed(weights, pool == Pool::Mean, Some(5));
            for (found, wanted) in made.as_slice::<f32>().unwrap().iter().zip(&expected) {
                assert!(
                    (found - wanted).abs() <= 1e-5 * wanted.abs(),
                    "{pool:?}: {found} and {wanted}"
                );
            }
            let (mut rows, mut sums) = ([-1i64; 6], [f32::NAN; 6 * DIM]);
            let mut unique = TensorMut::new(&mut rows, &[6]);
            let mut out = TensorMut::new(&mut sums, &[6, DIM]);
            let count = gather_bags_sparse_gradient_into(&params, &ids, &bags, &given, &options, &mut unique, &mut out);
            assert_eq!((count.unwrap(), rows), (5, [0, 1, 2, 3, 4, -1]));
            assert_eq!(sums[..5 * DIM], made.as_slice::<f32>().unwrap()[..5 * DIM]);
        }
    }
    let made = gather_bags_weight_gradient(&params, &ids, &weighted, &given, &Options::new()).unwrap();
    let (values, given, bag_of) = (table(), gradient(), [0, 0, 2, 2, 2, 2, 3]);
    for (k, found) in made.as_slice::<f32>().unwrap().iter().enumerate() {
        let row = &values[IDS[k] as usize * DIM..][..DIM];
        let products = row.iter().zip(&given[bag_of[k] * DIM..][..DIM]).map(|(a, b)| a * b);
        assert_eq!(*found, products.sum::<f32>());
    }
}

/// Finds the positions of OFFSETS with loops.
fn positions(pool: Pool, padding: i64) -> Vec<i64> {
    let table = table();
    let value = |k: usize, column: usize| table[IDS[k] as usize * DIM + column];
    let mut out = Vec::new();
    for bag in OFFSETS.windows(2) {
        for column in 0..DIM {
            let mut best: Option<usize> = None;
            for k in (bag[0] as usize..bag[1] as usize).filter(|&k| IDS[k] != padding) {
                let is_better = best.is_none_or(|best| match pool {
                    Pool::Max => value(k, column) > value(best, column),
                    _ => value(k, column) < value(best, column),
                });
                best = if is_better { Some(k) } else { best };
            }
            out.push(best.map_or(-1, |best| best as i64));
        }
    }
    out
}

#[test]
fn positions_equal_a_loop() {
    let values = table();
    let (params, ids) = (Tensor::new(&values, &[ROWS, DIM]), Tensor::new(&IDS, &[7]));
    let (offsets, lengths) = (Tensor::new(&OFFSETS, &[5]), Tensor::new(&LENGTHS, &[4]));
    for bags in [Bags::offsets(&offsets), Bags::lengths(&lengths)] {
        for pool in [Pool::Max, Pool::Min] {
            let options = Options::new().pool(pool).padding_index(3);
            let made = gather_bags_positions(&params, &ids, &bags, &options).unwrap();
            assert_eq!((made.dtype(), made.shape()), (DType::Int64, &[4, DIM][..]));
            assert_eq!(made.as_slice::<i64>().unwrap(), positions(pool, 3));
            let mut out = [7i64; 4 * DIM];
            let mut written = TensorMut::new(&mut out, &[4, DIM]);
            gather_bags_positions_into(&params, &ids, &bags, &options, &mut written).unwrap();
            assert_eq!(out[..], positions(pool, 3));
        }
    }
}

#[test]
fn positions_name_their_operands() {
    let (values, mut out) = (table(), [7i64; 4 * DIM]);
    let (params, offsets) = (Tensor::new(&values, &[ROWS, DIM]), Tensor::new(&OFFSETS, &[5]));
    let (bags, ids) = (Bags::offsets(&offsets), Tensor::new(&IDS, &[7]));
    let max = Options::new().pool(Pool::Max);
    let pool = gather_bags_positions(&params, &ids, &bags, &Options::new()).unwrap_err();
    assert!(
        matches!(&pool, Error::Version(cause) if cause.operand == Operand::Options),
        "{pool}"
    );
    let mut written = TensorMut::new(&mut out, &[DIM, 4]);
    let shape = gather_bags_positions_into(&params, &ids, &bags, &max, &mut written).unwrap_err();
    assert!(
        matches!(&shape, Error::Shape(cause) if cause.operand == Operand::Out),
        "{shape}"
    );
    let outside = [3i64, 0, 5, 6, 1, 2, 4];
    let index = gather_bags_positions(&params, &Tensor::new(&outside, &[7]), &bags, &max).unwrap_err();
    assert!(
        matches!(&index, Error::Index(cause) if cause.position == Some(3)),
        "{index}"
    );
    assert_eq!(out, [7i64; 4 * DIM]);
}

#[test]
fn gradients_name_their_operands() {
    let (values, given, mut sums) = (table(), gradient(), [7.0f32; ROWS * DIM]);
    let (params, offsets) = (Tensor::new(&values, &[ROWS, DIM]), Tensor::new(&OFFSETS, &[5]));
    let (bags, outside) = (Bags::offsets(&offsets), [3i64, 0, 5, 6, 1, 2, 4]);
    let run = |ids: &[i64; 7], gradient: &Tensor<'_>, sums: &mut [f32], shape: &[usize]| {
        let mut out = TensorMut::new(sums, shape);
        let ids = Tensor::new(ids, &[7]);
        gather_bags_gradient_into(&params, &ids, &bags, gradient, &Options::new(), &mut out).unwrap_err()
    };
    let good = Tensor::new(&given, &[4, DIM]);
    let error = run(&outside, &good, &mut sums, &[ROWS, DIM]);
    assert!(
        matches!(&error, Error::Index(cause) if cause.position == Some(3) && cause.value == 6),
        "{error:?}"
    );
    let error = run(&IDS, &Tensor::new(&given, &[2, 2 * DIM]), &mut sums, &[ROWS, DIM]);
    assert!(
        matches!(&error, Error::Shape(cause) if cause.operand == Operand::Updates),
        "{error:?}"
    );
    let error = run(&IDS, &good, &mut sums, &[DIM, ROWS]);
    assert!(
        matches!(&error, Error::Shape(cause) if cause.operand == Operand::Target),
        "{error:?}"
    );
    assert_eq!(sums, [7.0; ROWS * DIM]);
}
