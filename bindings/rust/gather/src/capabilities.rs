//! The capabilities of the library on this machine.

use crate::abi::{Version, call};
use crate::error::Error;
use crate::numbers;
use gather_sys as sys;

/// An instruction set that CPU kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Any processor.
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512.
    Avx512,
    /// NEON.
    Neon,
}

impl Tier {
    const ALL: [(Tier, i32); 4] = [
        (Tier::Portable, sys::GTH_TIER_PORTABLE),
        (Tier::Avx2, sys::GTH_TIER_AVX2),
        (Tier::Avx512, sys::GTH_TIER_AVX512),
        (Tier::Neon, sys::GTH_TIER_NEON),
    ];

    fn from_bits(bits: u32) -> Vec<Tier> {
        Self::ALL
            .into_iter()
            .filter(|(_, bit)| bits & numbers::bits(*bit) != 0)
            .map(|(tier, _)| tier)
            .collect()
    }
}

/// A usable CUDA device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CudaDevice {
    /// The compute capability: 10 * major + minor.
    pub compute: u32,
    /// The size of the memory in bytes.
    pub memory: u64,
}

/// The capabilities of the library on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The ABI number of the library.
    pub abi: u32,
    /// The release of the library.
    pub version: Version,
    /// The number of CPU threads that a call uses by default.
    pub cpu_threads: usize,
    /// The instruction sets in the library.
    pub cpu_tiers_built: Vec<Tier>,
    /// The instruction sets among them that this processor supports.
    pub cpu_tiers_usable: Vec<Tier>,
    /// The instruction set in use.
    pub cpu_tier: Option<Tier>,
    /// The version of the CUDA runtime, 1000 * major + 10 * minor. `None` in a build without CUDA.
    pub cuda_runtime: Option<u32>,
    /// The newest CUDA version of the driver, in the same form. `None` without a driver.
    pub cuda_driver: Option<u32>,
    /// The usable CUDA devices, by device number.
    pub devices: Vec<CudaDevice>,
}

/// Returns the capabilities of the library on this machine.
///
/// # Errors
///
/// Returns [`Error::Abi`] if the library has another ABI.
///
/// # Examples
///
/// ```
/// let capabilities = gather::capabilities()?;
/// assert!(capabilities.cpu_threads >= 1);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn capabilities() -> Result<Capabilities, Error> {
    let mut info = sys::gth_capability_info {
        size: numbers::struct_size::<sys::gth_capability_info>(),
        ..Default::default()
    };
    // SAFETY: the size of the struct is set.
    call(|err| unsafe { sys::gth_capabilities(&mut info, err) })?;
    Ok(Capabilities::read(&info))
}

impl Capabilities {
    fn read(info: &sys::gth_capability_info) -> Self {
        let known = |number: i32| u32::try_from(number).ok().filter(|number| *number != 0);
        Capabilities {
            abi: info.abi,
            version: Version::from_number(info.version),
            cpu_threads: numbers::count(info.cpu_threads),
            cpu_tiers_built: Tier::from_bits(info.cpu_tiers_built),
            cpu_tiers_usable: Tier::from_bits(info.cpu_tiers_usable),
            cpu_tier: Tier::from_bits(info.cpu_tier).pop(),
            cuda_runtime: known(info.cuda_runtime),
            cuda_driver: known(info.cuda_driver),
            devices: info
                .device_compute
                .iter()
                .zip(info.device_memory)
                .take(numbers::count(info.device_count))
                .map(|(compute, memory)| CudaDevice {
                    compute: numbers::bits(*compute),
                    memory: numbers::unsigned(memory),
                })
                .collect(),
        }
    }
}

/// Ends the threads of the library. The next large call starts them again.
///
/// # Safety
///
/// No other thread may be inside a call of this crate.
pub unsafe fn shutdown() {
    // SAFETY: the caller guarantees it. The call cannot fail.
    unsafe { sys::gth_shutdown() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_library_is_read() {
        let mut info = sys::gth_capability_info {
            abi: 1,
            version: 2_003_004,
            cpu_threads: 5,
            cpu_tiers_built: numbers::bits(sys::GTH_TIER_PORTABLE | sys::GTH_TIER_AVX2),
            cpu_tiers_usable: numbers::bits(sys::GTH_TIER_PORTABLE),
            cpu_tier: numbers::bits(sys::GTH_TIER_NEON),
            cuda_runtime: 13_000,
            cuda_driver: 12_080,
            device_count: 1,
            ..Default::default()
        };
        (info.device_compute[0], info.device_memory[0]) = (90, 1 << 36);
        let mut expected = Capabilities {
            abi: 1,
            version: Version::from_number(2_003_004),
            cpu_threads: 5,
            cpu_tiers_built: vec![Tier::Portable, Tier::Avx2],
            cpu_tiers_usable: vec![Tier::Portable],
            cpu_tier: Some(Tier::Neon),
            cuda_runtime: Some(13_000),
            cuda_driver: Some(12_080),
            devices: vec![CudaDevice {
                compute: 90,
                memory: 1 << 36,
            }],
        };
        assert_eq!(Capabilities::read(&info), expected);

        (info.cuda_runtime, info.cuda_driver, info.device_count) = (0, 0, 0);
        (expected.cuda_runtime, expected.cuda_driver) = (None, None);
        expected.devices.clear();
        assert_eq!(Capabilities::read(&info), expected);
    }
}
