//! Devices of memory.

use gather_sys as sys;

/// The device of memory. CUDA devices have a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// Memory of the process.
    #[default]
    Cpu,
    /// Memory of a CUDA device.
    Cuda(i32),
    /// Host memory that CUDA has pinned.
    CudaHost(i32),
    /// Memory that CUDA moves between host and device.
    CudaManaged(i32),
}

impl Device {
    /// Returns the number of the kind of device in the C ABI, and the number of the device.
    pub(crate) const fn numbers(self) -> (i32, i32) {
        match self {
            Device::Cpu => (sys::GTH_DEVICE_CPU, 0),
            Device::Cuda(id) => (sys::GTH_DEVICE_CUDA, id),
            Device::CudaHost(id) => (sys::GTH_DEVICE_CUDA_HOST, id),
            Device::CudaManaged(id) => (sys::GTH_DEVICE_CUDA_MANAGED, id),
        }
    }

    pub(crate) fn from_numbers(device: i32, id: i32) -> Self {
        match device {
            sys::GTH_DEVICE_CUDA => Device::Cuda(id),
            sys::GTH_DEVICE_CUDA_HOST => Device::CudaHost(id),
            sys::GTH_DEVICE_CUDA_MANAGED => Device::CudaManaged(id),
            _ => Device::Cpu,
        }
    }
}
