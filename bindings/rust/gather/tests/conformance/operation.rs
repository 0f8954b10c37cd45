//! The forms of each operation, by its name in the files.

use gather::{
    Error, Layout, Options, Plan, ScatterPlan, Tensor, TensorMut, gather, gather_elements, gather_elements_into,
    gather_into, gather_nd, gather_nd_into, output_shape, output_shape_elements, output_shape_nd, scatter,
    scatter_elements, scatter_elements_into, scatter_into, scatter_nd, scatter_nd_into, updates_shape,
    updates_shape_elements, updates_shape_nd,
};

pub struct Operation {
    name: &'static str,
    pub make: fn(&Tensor<'_>, &Tensor<'_>, &Options) -> Result<Tensor<'static>, Error>,
    pub write: fn(&Tensor<'_>, &Tensor<'_>, &Options, &mut TensorMut<'_>) -> Result<(), Error>,
    pub shape: ShapeOf,
    pub plan: fn(&Layout, &Layout, &Options) -> Result<Plan, Error>,
}

pub type ShapeOf = fn(&Layout, &Layout, &Options) -> Result<Vec<usize>, Error>;

static OPERATIONS: [Operation; 3] = [
    Operation {
        name: "gather",
        make: gather,
        write: gather_into,
        shape: output_shape,
        plan: Plan::gather,
    },
    Operation {
        name: "gather_nd",
        make: gather_nd,
        write: gather_nd_into,
        shape: output_shape_nd,
        plan: Plan::gather_nd,
    },
    Operation {
        name: "gather_elements",
        make: gather_elements,
        write: gather_elements_into,
        shape: output_shape_elements,
        plan: Plan::gather_elements,
    },
];

impl Operation {
    pub fn named(name: &str) -> &'static Self {
        OPERATIONS
            .iter()
            .find(|operation| operation.name == name)
            .unwrap_or_else(|| panic!("op {name}"))
    }
}

pub struct Scatter {
    name: &'static str,
    pub make: fn(&Tensor<'_>, &Tensor<'_>, &Tensor<'_>, &Options) -> Result<Tensor<'static>, Error>,
    pub write: fn(&mut TensorMut<'_>, &Tensor<'_>, &Tensor<'_>, &Options) -> Result<(), Error>,
    pub shape: ShapeOf,
    pub plan: fn(&Layout, &Layout, &Options, &Layout) -> Result<ScatterPlan, Error>,
}

static SCATTERS: [Scatter; 3] = [
    Scatter {
        name: "scatter",
        make: scatter,
        write: scatter_into,
        shape: updates_shape,
        plan: ScatterPlan::scatter_from,
    },
    Scatter {
        name: "scatter_nd",
        make: scatter_nd,
        write: scatter_nd_into,
        shape: updates_shape_nd,
        plan: ScatterPlan::scatter_nd_from,
    },
    Scatter {
        name: "scatter_elements",
        make: scatter_elements,
        write: scatter_elements_into,
        shape: updates_shape_elements,
        plan: ScatterPlan::scatter_elements_from,
    },
];

impl Scatter {
    pub fn named(name: &str) -> &'static Self {
        SCATTERS
            .iter()
            .find(|scatter| scatter.name == name)
            .unwrap_or_else(|| panic!("op {name}"))
    }
}
