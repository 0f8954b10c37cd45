#![doc = include_str!("../README.md")]
#![no_std]

#[allow(missing_docs, non_camel_case_types, clippy::undocumented_unsafe_blocks)]
mod bindings;

mod arrow;
mod dlpack;

pub use arrow::{ArrowArray, ArrowArrayStream, ArrowSchema};
pub use bindings::*;
pub use dlpack::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("libgather is 64-bit only");
