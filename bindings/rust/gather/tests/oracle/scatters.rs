//! The tests compare random scatters and gradients with simple loops of gathers. Each element of params is its own
//! number. So the elements that the gather reads are the elements that the scatter must write.

use gather::{
    Bounds, Error, Layout, Options, Plan, Reduction, Tensor, TensorMut, gather_elements_gradient,
    gather_elements_gradient_into, gather_gradient, gather_gradient_into, gather_nd_gradient, gather_nd_gradient_into,
    scatter, scatter_elements, scatter_elements_into, scatter_into, scatter_nd, scatter_nd_into,
};
use proptest::prelude::*;

use super::check;
use super::problem::{Bad, FILL, Problem, elements, gathers, gathers_elements, gathers_nd};

type Make = fn(&Tensor<'_>, &Tensor<'_>, &Tensor<'_>, &Options) -> Result<Tensor<'static>, Error>;
type Write = fn(&mut TensorMut<'_>, &Tensor<'_>, &Tensor<'_>, &Options) -> Result<(), Error>;
type Planned = fn(&Layout<'_>, &Layout<'_>, &Options) -> Result<Plan, Error>;
type Gradient = fn(&Tensor<'_>, &Tensor<'_>, &[usize], &Options) -> Result<Tensor<'static>, Error>;
type GradientInto = fn(&Tensor<'_>, &Tensor<'_>, &Options, &mut TensorMut<'_>) -> Result<(), Error>;

/// The shape of a gather, and the numbers of the elements that it reads. FILL marks a filled element.
type Read = (Vec<usize>, Result<Vec<i32>, Bad>);

/// Returns the expectation of a scatter. A scatter validates indices even if its rows have no elements.
fn validated(problem: &Problem, sizes: &[usize], (shape, numbers): Read) -> Read {
    match problem.first_bad(sizes) {
        Some(bad) if elements(&shape) == 0 => (shape, Err(bad)),
        _ => (shape, numbers),
    }
}

fn reductions() -> impl Strategy<Value = Reduction> {
    prop::sample::select(vec![
        Reduction::None,
        Reduction::Add,
        Reduction::Mul,
        Reduction::Max,
        Reduction::Min,
    ])
}

fn reduce(reduction: Reduction, old: i32, update: i32) -> i32 {
    match reduction {
        Reduction::Add => old.wrapping_add(update),
        Reduction::Mul => old.wrapping_mul(update),
        Reduction::Max => old.max(update),
        Reduction::Min => old.min(update),
        _ => update,
    }
}

fn expect(numbers: &[i32], reduction: Reduction, mut target: Vec<i32>, updates: &[i32]) -> Vec<i32> {
    for (number, update) in numbers.iter().zip(updates) {
        if *number != FILL {
            let old = &mut target[*number as usize];
            *old = reduce(reduction, *old, *update);
        }
    }
    target
}

/// Returns numbers that differ from those of params and updates.
fn old_target(problem: &Problem) -> Vec<i32> {
    problem.params().iter().map(|number| 3 - 2 * number).collect()
}

fn updates(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| i * i - 7).collect()
}

fn scatters(
    problem: &Problem,
    options: &Options,
    read: Read,
    reduction: Reduction,
    forms: (Make, Write, Planned),
) -> Result<(), TestCaseError> {
    let (shape, numbers) = read;
    let (old, rows) = (old_target(problem), updates(elements(&shape)));
    let expected = numbers.map(|numbers| expect(&numbers, reduction, old.clone(), &rows));
    let bounds = match problem.bounds {
        Bounds::Fill => Bounds::Skip, // A scatter has no rows to fill.
        other => other,
    };
    let options = options.bounds(bounds).reduction(reduction);
    let (make, write, plan) = forms;
    let indices = Tensor::new(&problem.indices, &problem.index_shape);
    let (target, updates) = (Tensor::new(&old, &problem.shape), Tensor::new(&rows, &shape));

    let made = make(&target, &indices, &updates, &options);
    check(made.and_then(|made| made.to_vec()), &expected)?;

    let mut memory = old.clone();
    let written = write(
        &mut TensorMut::new(&mut memory, &problem.shape),
        &indices,
        &updates,
        &options,
    );
    prop_assert!(written.is_ok() || memory == old);
    check(written.map(|()| memory), &expected)?;

    let mut memory = old.clone();
    let plan = plan(&target.layout(), &indices.layout(), &options).unwrap();
    prop_assert_eq!(plan.shape(gather::OPEN), Ok(shape.clone()));
    let ran = plan.run(&rows, &problem.indices, &mut memory);
    prop_assert!(ran.is_ok() || memory == old);
    check(ran.map(|()| memory), &expected)
}

fn gradients(
    problem: &Problem,
    options: &Options,
    read: Read,
    forms: (Gradient, GradientInto),
) -> Result<(), TestCaseError> {
    let (shape, numbers) = read;
    let (made, into) = forms;
    let rows = updates(elements(&shape));
    let zeros = vec![0; elements(&problem.shape)];
    let expected = numbers.map(|numbers| expect(&numbers, Reduction::Add, zeros, &rows));
    let indices = Tensor::new(&problem.indices, &problem.index_shape);
    let gradient = Tensor::new(&rows, &shape);
    let made = made(&gradient, &indices, &problem.shape, options);
    check(made.and_then(|made| made.to_vec()), &expected)?;

    let mut memory = old_target(problem);
    let written = into(
        &gradient,
        &indices,
        options,
        &mut TensorMut::new(&mut memory, &problem.shape),
    );
    prop_assert!(written.is_ok() || memory == old_target(problem));
    check(written.map(|()| memory), &expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scatter_matches_loops(problem in gathers(), reduction in reductions()) {
        let options = problem.options().axis(problem.axis as i64);
        let sizes = &problem.shape[problem.axis..][..1];
        let read = problem.expect_gather();
        let checked = validated(&problem, sizes, read.clone());
        scatters(&problem, &options, checked, reduction, (scatter, scatter_into, Plan::scatter))?;
        gradients(&problem, &options, read, (gather_gradient, gather_gradient_into))?;
    }

    #[test]
    fn scatter_nd_matches_loops(problem in gathers_nd(), reduction in reductions()) {
        let options = problem.options();
        let sizes = &problem.shape[problem.batch_dims..][..*problem.index_shape.last().unwrap()];
        let read = problem.expect_gather_nd();
        let checked = validated(&problem, sizes, read.clone());
        scatters(&problem, &options, checked, reduction, (scatter_nd, scatter_nd_into, Plan::scatter_nd))?;
        gradients(&problem, &options, read, (gather_nd_gradient, gather_nd_gradient_into))?;
    }

    #[test]
    fn scatter_elements_matches_loops(problem in gathers_elements(), reduction in reductions()) {
        let options = problem.options().axis(problem.axis as i64).extents(problem.extents);
        let sizes = &problem.shape[problem.axis..][..1];
        let read = problem.expect_gather_elements();
        let checked = validated(&problem, sizes, read.clone());
        let forms: (Make, Write, Planned) = (scatter_elements, scatter_elements_into, Plan::scatter_elements);
        scatters(&problem, &options, checked, reduction, forms)?;
        gradients(&problem, &options, read, (gather_elements_gradient, gather_elements_gradient_into))?;
    }
}
