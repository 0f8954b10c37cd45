//! A model of ONNX Runtime whose operator takes rows: `ORT_DYLIB_PATH=libonnxruntime.so cargo run`

use gather::{Options, TensorMut, gather_into};
use ort::operator::{
    BoxedKernel, ComputeContext, KernelContext, Operator, OperatorDomain, OperatorInput, OperatorOutput,
};
use ort::session::Session;
use ort::value::{Tensor, TensorElementType};
use ort::{Error, Result};

/// The operator `Rows` has a table of float32 and ids as inputs. An invalid id is an error with its position.
struct Rows;

impl Operator for Rows {
    type Kernel<'attr> = BoxedKernel<'attr>;

    fn name(&self) -> &str {
        "Rows"
    }

    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        [TensorElementType::Float32, TensorElementType::Int64].map(OperatorInput::required)
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Float32)]
    }

    fn create_kernel<'attr>(&self, _: &KernelContext<'attr>) -> Result<Self::Kernel<'attr>> {
        Ok(Box::new(rows))
    }
}

/// Writes the rows to the output of the node, without a copy of an operand.
fn rows(node: &ComputeContext) -> Result<()> {
    let missing = || Error::new("an operand is missing");
    let (table, ids) = (node.input(0)?.ok_or_else(missing)?, node.input(1)?.ok_or_else(missing)?);
    let (table_shape, table) = table.try_extract_tensor::<f32>()?;
    let (ids_shape, ids) = ids.try_extract_tensor::<i64>()?;
    let out_shape = [&ids_shape[..], &table_shape[1..]].concat();
    let mut out = node.output(0, out_shape.clone())?.ok_or_else(missing)?;
    let [table_shape, ids_shape, out_shape] = [table_shape, ids_shape, &out_shape[..]].map(sizes);
    gather_into(
        &gather::Tensor::new(table, &table_shape),
        &gather::Tensor::new(ids, &ids_shape),
        &Options::new(),
        &mut TensorMut::new(out.try_extract_tensor_mut::<f32>()?.1, &out_shape),
    )
    .map_err(Error::wrap)
}

fn sizes(shape: &[i64]) -> Vec<usize> {
    shape.iter().map(|&extent| extent as usize).collect()
}

/// Returns a session of the model that model.py writes. It has one node, whose operator is in the domain libgather.
fn session() -> Result<Session> {
    let operators = OperatorDomain::new("libgather")?.add(Rows)?;
    Session::builder(&ort::init().build()?)?
        .with_operators(operators)?
        .commit_from_memory(include_bytes!("../rows.onnx"))
}

fn main() -> Result<()> {
    let mut session = session()?;
    let table = Tensor::from_array(([3usize, 2], vec![0f32, 1., 2., 3., 4., 5.]))?;
    let taken = session.run(ort::inputs![&table, Tensor::from_array(([2usize], vec![2i64, 0]))?])?;
    assert_eq!(taken["rows"].try_extract_tensor::<f32>()?.1, [4., 5., 0., 1.]);
    drop(taken);
    let refused = session.run(ort::inputs![&table, Tensor::from_array(([1usize], vec![3i64]))?]);
    let message = refused.expect_err("3 is not a row").to_string();
    assert!(message.contains("tuple 0 is 3"), "{message}");
    println!("{message}");
    Ok(())
}
