//! Runs the operation, the profile and the option that __main__.py adds.

use gather::{Context, Error, Layout, OPEN, Options, Plan, Profile, Tensor, TensorMut};

fn main() -> Result<(), Error> {
    let (params, places) = ([3f32, 5.0, 8.0], [-1i64, 1, 7]);
    let (table, indices) = (Tensor::new(&params, &[3]), Tensor::new(&places, &[3]));
    let options = Options::new().profile(Profile::Fresh).fresh(4);
    let found = gather::gather_again(&table, &indices, &options)?;
    assert_eq!(found.as_slice::<f32>()?, [8.0, 5.0, 8.0]);
    let mut out = [0f32; 3];
    gather::gather_again_into(&table, &indices, &options, &mut TensorMut::new(&mut out, &[3]))?;
    assert_eq!(out, [8.0, 5.0, 8.0]);
    let shape = gather::output_shape_again(&Layout::new::<f32>(&[3, 2]), &Layout::new::<i64>(&[OPEN]), &options)?;
    assert_eq!(shape, [OPEN, 2]);
    let found = Context::builder().build()?.gather_again(&table, &indices, &options)?;
    assert_eq!(found.as_slice::<f32>()?, [8.0, 5.0, 8.0]);
    let plan = Plan::gather(&Layout::new::<f32>(&[3]), &Layout::new::<i64>(&[3]), &options)?;
    plan.run(&params, &places, &mut out)?;
    assert_eq!(out, [8.0, 5.0, 8.0]);
    Ok(())
}
