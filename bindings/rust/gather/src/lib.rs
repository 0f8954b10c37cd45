#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Conversions of numbers may change their values: see numbers.rs.
#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod abi;
mod allocator;
#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "arrow")]
mod arrow;
mod bags;
mod buffer;
mod capabilities;
mod columns;
mod context;
mod device;
mod dtype;
mod element;
mod error;
mod exchange;
mod executor;
mod forms;
mod handle;
mod layout;
mod numbers;
mod operations;
mod options;
mod partition;
mod plan;
mod strings;
mod tensor;
mod tensor_mut;

pub use abi::{Version, abi_version, version};
pub use bags::{
    Bags, gather_bags, gather_bags_gradient, gather_bags_gradient_into, gather_bags_into,
    gather_bags_sparse_gradient_into, gather_bags_weight_gradient, gather_bags_weight_gradient_into,
};
pub use buffer::{Buffer, BufferMut};
pub use capabilities::{Capabilities, CudaDevice, Tier, capabilities, shutdown};
pub use columns::{Column, Rows, Take, resolve};
pub use context::{Context, ContextBuilder};
pub use device::Device;
pub use dtype::DType;
pub use element::{
    BFloat16, Complex64, Complex128, Element, Float8E3M4, Float8E4M3, Float8E4M3B11Fnuz, Float8E4M3Fn, Float8E4M3Fnuz,
    Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu, Float16,
};
pub use error::{Cause, Error, Operand};
pub use exchange::{DlPack, Export, Managed};
pub use executor::Work;
pub use layout::{Layout, OPEN};
pub use operations::{
    gather, gather_elements, gather_elements_gradient, gather_elements_gradient_into, gather_elements_into,
    gather_gradient, gather_gradient_into, gather_into, gather_nd, gather_nd_gradient, gather_nd_gradient_into,
    gather_nd_into, output_shape, output_shape_elements, output_shape_nd, scatter, scatter_elements,
    scatter_elements_into, scatter_into, scatter_nd, scatter_nd_into, updates_shape, updates_shape_elements,
    updates_shape_nd,
};
pub use options::*;
pub use partition::{Parts, PartsOnce, Shards, partition, partition_once};
pub use plan::{Plan, ScatterPlan};
pub use strings::Strings;
pub use tensor::Tensor;
pub use tensor_mut::TensorMut;

/// The raw bindings.
pub use gather_sys as sys;
