//! Safe programs that try to misuse the crate. The programs in `programs` must not compile. The tests in these modules
//! compile, and must not change memory behind a shared reference.
#![forbid(unsafe_code)]

#[cfg(not(windows))] // These programs are compiled by the Rust of this machine.
mod compile_errors;
#[cfg(not(windows))]
mod compiler;
mod elements;
mod exports;
mod hooks;
mod results;
mod views;
