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
mod description;
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
mod packed;
mod partition;
mod plan;
#[cfg(feature = "safetensors")]
mod safetensors;
mod strings;
mod table;
mod tensor;
mod tensor_mut;

pub use abi::{Version, abi_version, version};
pub use bags::*;
pub use buffer::{Buffer, BufferMut};
pub use capabilities::{Capabilities, CudaDevice, Tier, capabilities, shutdown};
pub use columns::{Column, Rows, Take, resolve};
pub use context::{Context, ContextBuilder};
pub use device::Device;
pub use dtype::DType;
pub use element::*;
pub use error::{Cause, Error, Operand};
pub use exchange::{DlPack, Export, Managed};
pub use executor::Work;
pub use layout::{Layout, OPEN};
pub use operations::*;
pub use options::*;
pub use packed::{BoundPlan, Packed, codec_row_bytes};
pub use partition::{Parts, PartsOnce, Shards, partition, partition_once};
pub use plan::{Plan, ScatterPlan};
pub use strings::Strings;
pub use table::{Mode, Segment, Table, TableStats};
pub use tensor::Tensor;
pub use tensor_mut::TensorMut;

/// The raw bindings.
pub use gather_sys as sys;
