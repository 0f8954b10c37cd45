//! The forms of each operation, by the name that the files give it.

use gather::{
    Error, Layout, Options, Plan, Tensor, TensorMut, gather, gather_elements, gather_elements_into, gather_into,
    gather_nd, gather_nd_into, output_shape, output_shape_elements, output_shape_nd,
};

pub struct Operation {
    name: &'static str,
    pub make: fn(&Tensor<'_>, &Tensor<'_>, &Options) -> Result<Tensor<'static>, Error>,
    pub write: fn(&Tensor<'_>, &Tensor<'_>, &Options, &mut TensorMut<'_>) -> Result<(), Error>,
    pub shape: fn(&Layout<'_>, &Layout<'_>, &Options) -> Result<Vec<usize>, Error>,
    pub plan: fn(&Layout<'_>, &Layout<'_>, &Options) -> Result<Plan, Error>,
}

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
