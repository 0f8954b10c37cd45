//! The tests compare random gathers with simple loops.

use gather::{
    Error, Layout, Options, Plan, Tensor, TensorMut, gather, gather_elements, gather_elements_into, gather_into,
    gather_nd, gather_nd_into,
};
use proptest::prelude::*;

use super::check;
use super::problem::{elements, gathers, gathers_elements, gathers_nd};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gather_matches_four_loops(problem in gathers()) {
        let (shape, expected) = problem.expect_gather();
        let data = problem.params();
        let params = Tensor::new(&data, &problem.shape);
        let indices = Tensor::new(&problem.indices, &problem.index_shape);
        let options = problem.options().axis(problem.axis as i64);

        let made = gather(&params, &indices, &options);
        if let Ok(made) = &made {
            prop_assert_eq!(made.shape(), &shape[..]);
        }
        check(made.and_then(|made| made.to_vec()), &expected)?;

        let mut out = vec![1; elements(&shape)];
        let written = gather_into(&params, &indices, &options, &mut TensorMut::new(&mut out, &shape));
        check(written.map(|()| out.clone()), &expected)?;

        let plan = Plan::gather(&params.layout(), &indices.layout(), &options).unwrap();
        let ran = plan.run(&data, &problem.indices, &mut out);
        check(ran.map(|()| out), &expected)?;
    }

    #[test]
    fn gather_nd_matches_one_loop(problem in gathers_nd()) {
        let (shape, expected) = problem.expect_gather_nd();
        let data = problem.params();
        let params = Tensor::new(&data, &problem.shape);
        let indices = Tensor::new(&problem.indices, &problem.index_shape);
        let options = problem.options();

        let made = gather_nd(&params, &indices, &options);
        if let Ok(made) = &made {
            prop_assert_eq!(made.shape(), &shape[..]);
        }
        check(made.and_then(|made| made.to_vec()), &expected)?;

        let mut out = vec![1; elements(&shape)];
        let written = gather_nd_into(&params, &indices, &options, &mut TensorMut::new(&mut out, &shape));
        check(written.map(|()| out.clone()), &expected)?;
    }

    #[test]
    fn gather_elements_matches_one_loop(problem in gathers_elements()) {
        let (shape, expected) = problem.expect_gather_elements();
        let data = problem.params();
        let params = Tensor::new(&data, &problem.shape);
        let indices = Tensor::new(&problem.indices, &problem.index_shape);
        let options = problem.options().axis(problem.axis as i64).extents(problem.extents);

        let made = gather_elements(&params, &indices, &options);
        if let Ok(made) = &made {
            prop_assert_eq!(made.shape(), &shape[..]);
        }
        check(made.and_then(|made| made.to_vec()), &expected)?;

        let mut out = vec![1; elements(&shape)];
        let written = gather_elements_into(&params, &indices, &options, &mut TensorMut::new(&mut out, &shape));
        check(written.map(|()| out.clone()), &expected)?;

        let plan = Plan::gather_elements(&params.layout(), &indices.layout(), &options).unwrap();
        let ran = plan.run(&data, &problem.indices, &mut out);
        check(ran.map(|()| out), &expected)?;
    }

    /// A plan accepts memory of exactly the required size, and rejects memory with one element less.
    #[test]
    fn open_plans_need_exactly_the_bytes_of_their_elements(rows in 1usize..5, width in 1usize..4, n in 0usize..6, reversed: bool) {
        let stride = if reversed { [-8isize, 4] } else { [8, 4] };
        let offset = if reversed { 8 * n.saturating_sub(1) } else { 0 };
        let params = [rows, width];
        let open = [gather::OPEN, 2];
        let plan = Plan::gather_nd(
            &Layout::new::<f64>(&params),
            &Layout::new::<i32>(&open).with_strides(&stride).unwrap().with_offset(offset),
            &Options::new(),
        ).unwrap();
        let table: Vec<f64> = (0..rows * width).map(|i| i as f64).collect();
        let indices = vec![0i32; 2 * n];
        let mut out = vec![-1.0; n];
        prop_assert_eq!(plan.run_open(n, &table, &indices, &mut out), Ok(()));
        prop_assert_eq!(&out, &vec![0.0; n]);
        if n > 0 {
            let short = plan.run_open(n, &table, &indices[1..], &mut out);
            prop_assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
            let short = plan.run_open(n, &table, &indices, &mut out[1..]);
            prop_assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
            let short = plan.run_open(n, &table[1..], &indices, &mut out);
            prop_assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
        }
        let beyond = plan.run_open(n + 1, &table, &indices, &mut out);
        prop_assert!(beyond.is_err());
    }
}
