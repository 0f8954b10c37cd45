//! Compiles the reader of the conformance cases.

fn main() {
    let reader = "../../../tests/conformance/reader";
    println!("cargo::rerun-if-changed={reader}");
    cc::Build::new()
        .file(format!("{reader}/cases.c"))
        .include("../../../include")
        .compile("cases");
}
