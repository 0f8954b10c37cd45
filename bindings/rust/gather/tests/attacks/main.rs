//! Safe programs that try to misuse the crate. Those in `programs` must not compile; those in the modules here compile, and
//! must change no memory that they have only borrowed to read.
#![forbid(unsafe_code)]

mod compiler;
mod elements;
mod exports;
mod hooks;
mod refused;
mod results;
mod views;
