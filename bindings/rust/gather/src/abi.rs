//! The library's numbers, and the check that it is one this crate was built for.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use gather_sys as sys;

static CHECKED: AtomicBool = AtomicBool::new(false);

/// Refuses a library of another ABI before anything but its ABI number is asked of it.
#[inline]
pub(crate) fn ensure() -> Result<(), Error> {
    // Relaxed: the flag guards no other memory, and a check that runs twice answers the same.
    if CHECKED.load(Ordering::Relaxed) {
        Ok(())
    } else {
        check_loaded()
    }
}

#[cold]
fn check_loaded() -> Result<(), Error> {
    check(abi_version())?;
    CHECKED.store(true, Ordering::Relaxed);
    Ok(())
}

fn check(loaded: u32) -> Result<(), Error> {
    let built = sys::GTH_ABI_VERSION as u32;
    if loaded == built {
        Ok(())
    } else {
        Err(Error::Abi { built, loaded })
    }
}

/// The ABI number of the loaded library.
pub fn abi_version() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { sys::gth_abi_version() }
}

/// A release number of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Rises when something breaks.
    pub major: u32,
    /// Rises with what is added.
    pub minor: u32,
    /// Rises with what is mended.
    pub patch: u32,
}

impl Version {
    pub(crate) fn from_number(number: u32) -> Self {
        Version {
            major: number / 1_000_000,
            minor: number / 1_000 % 1_000,
            patch: number % 1_000,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The release of the loaded library.
///
/// ```
/// println!("libgather {}", gather::version());
/// ```
pub fn version() -> Version {
    // SAFETY: takes nothing and cannot fail.
    Version::from_number(unsafe { sys::gth_version() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_abi_is_refused_with_both_numbers() {
        let built = sys::GTH_ABI_VERSION as u32;
        assert_eq!(check(built), Ok(()));
        let error = check(built + 6).unwrap_err();
        assert_eq!(
            error,
            Error::Abi {
                built,
                loaded: built + 6
            }
        );
        let message = error.to_string();
        assert!(message.contains(&built.to_string()), "{message}");
        assert!(message.contains(&(built + 6).to_string()), "{message}");
    }

    #[test]
    fn version_is_cut_into_its_parts() {
        assert_eq!(Version::from_number(12_003_045).to_string(), "12.3.45");
    }
}
