//! Plans with an open extent accept memory of exactly the required size, and reject memory with one element less.

use gather::{Error, Layout, Options, Plan};

#[test]
fn open_plans_need_exactly_the_bytes_of_their_elements() {
    for rows in 1..5 {
        for width in 1..4 {
            for n in 0..6 {
                expect_exact(rows, width, n, false);
                expect_exact(rows, width, n, true);
            }
        }
    }
}

/// Gathers `n` elements of a matrix by pairs, which are stored in reversed order if `reversed` is true.
fn expect_exact(rows: usize, width: usize, n: usize, reversed: bool) {
    let stride = if reversed { [-8isize, 4] } else { [8, 4] };
    let offset = if reversed { 8 * n.saturating_sub(1) } else { 0 };
    let plan = Plan::gather_nd(
        &Layout::new::<f64>(&[rows, width]),
        &Layout::new::<i32>(&[gather::OPEN, 2])
            .with_strides(&stride)
            .unwrap()
            .with_offset(offset),
        &Options::new(),
    )
    .unwrap();
    let table: Vec<f64> = (0..rows * width).map(|i| i as f64).collect();
    let indices = vec![0i32; 2 * n];
    let mut out = vec![-1.0; n];
    let context = format!("{rows} x {width}, {n} pairs, reversed: {reversed}");
    assert_eq!(plan.run_open(n, &table, &indices, &mut out), Ok(()), "{context}");
    assert_eq!(out, vec![0.0; n], "{context}");
    assert!(plan.run_open(n + 1, &table, &indices, &mut out).is_err(), "{context}");
    if n == 0 {
        return;
    }
    let short = [
        plan.run_open(n, &table, &indices[1..], &mut out),
        plan.run_open(n, &table, &indices, &mut out[1..]),
        plan.run_open(n, &table[1..], &indices, &mut out),
    ];
    for result in short {
        assert!(matches!(result, Err(Error::Size(_))), "{context}: {result:?}");
    }
}
