//! Calls of the library, its ABI number and its release.

use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Cause, Error, Operand};
use crate::numbers::struct_size;
use gather_sys as sys;

static CHECKED: AtomicBool = AtomicBool::new(false);

/// Returns an error if the library has another ABI.
#[inline]
fn ensure() -> Result<(), Error> {
    // Relaxed is sufficient: the flag guards no other memory, and a second check has the same result.
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

/// Calls the library with memory for an error, and converts the status to a result. Every call that can fail uses this
/// function, which first compares the ABI numbers.
#[inline]
pub(crate) fn call(f: impl FnOnce(*mut sys::gth_error) -> i32) -> Result<(), Error> {
    ensure()?;
    // On success the library writes one field of the 328 bytes. To clear all of them takes longer than a small call.
    let mut storage = MaybeUninit::<sys::gth_error>::uninit();
    let raw = storage.as_mut_ptr();
    // SAFETY: raw points to the storage.
    unsafe {
        (&raw mut (*raw).size).write(struct_size::<sys::gth_error>());
        (&raw mut (*raw).status).write(sys::GTH_OK);
    }
    match f(raw) {
        sys::GTH_OK => Ok(()),
        // SAFETY: raw was passed to the library.
        status => Err(unsafe { failure(status, raw) }),
    }
}

/// Returns the error of a call that has returned a status other than OK.
///
/// # Safety
///
/// `raw`, with its size and status set, was passed to a call of the library that has returned `status`.
#[cold]
unsafe fn failure(status: i32, raw: *const sys::gth_error) -> Error {
    // SAFETY: the status field was set before the call. If it has changed, the library has written all fields.
    unsafe {
        if (*raw).status == status {
            Cause::read(raw).into()
        } else {
            Cause::new(status, Operand::None, "the library gave no details").into()
        }
    }
}

/// Returns the ABI number of the loaded library.
pub fn abi_version() -> u32 {
    // SAFETY: the function has no arguments and cannot fail.
    unsafe { sys::gth_abi_version() }
}

/// A release number of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major number. It changes with incompatible releases.
    pub major: u32,
    /// The minor number. It changes with additions.
    pub minor: u32,
    /// The patch number. It changes with fixes.
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

/// Returns the release of the loaded library.
///
/// # Examples
///
/// ```
/// println!("libgather {}", gather::version());
/// ```
pub fn version() -> Version {
    // SAFETY: the function has no arguments and cannot fail.
    Version::from_number(unsafe { sys::gth_version() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_another_abi_has_both_numbers() {
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
    fn version_has_three_numbers() {
        assert_eq!(Version::from_number(12_003_045).to_string(), "12.3.45");
    }
}
