//! A library of another ABI: every call fails before it calls another function of the library. The test runs its program
//! again with such a library.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gather::{
    Context, DType, Error, Layout, Options, Plan, Shards, Tensor, TensorMut, abi_version, capabilities, gather,
    gather_into, output_shape, scatter_into,
};

const CHILD: &str = "GATHER_OTHER_ABI";
const OTHER: &str = "unsigned gth_abi_version(void) { return 77; }\n";

fn assert_other<T>(name: &str, result: Result<T, Error>) {
    match result {
        Err(error @ Error::Abi { loaded: 77, .. }) => {
            assert_eq!(error.cause(), None);
            let message = error.to_string();
            assert!(message.starts_with("the loaded libgather has ABI 77, "), "{message}");
        }
        other => panic!("{name}: {:?}", other.err()),
    }
}

fn every_call_fails() {
    assert_eq!(abi_version(), 77);
    let (values, ids) = ([1.0f32, 2.0], [0i64]);
    let mut out = [0.0f32];
    let (table, indices) = (Tensor::new(&values, &[2]), Tensor::new(&ids, &[1]));
    let (rows, picks) = (Layout::of(DType::Float32, &[2]), Layout::of(DType::Int64, &[1]));
    let (options, context) = (Options::new(), Context::default());
    assert_other("gather", gather(&table, &indices, &options));
    assert_other("output_shape", output_shape(&rows, &picks, &options));
    assert_other("plan", Plan::gather(&rows, &picks, &options));
    assert_other("context", Context::builder().build());
    assert_other("zeros", context.zeros(DType::Float32, &[1]));
    assert_other("sync", context.sync());
    assert_other("take_error", context.take_error());
    assert_other("strings", Tensor::from_strings(&["a"], &[1]));
    assert_other("adopt", Tensor::from_vec(vec![1.0f32], &[1]));
    assert_other(
        "partition",
        context.partition(&indices, &Shards::blocks(2, 1), &options),
    );
    assert_other("capabilities", capabilities());
    let mut target = TensorMut::new(&mut out, &[1]);
    assert_other("copy", context.copy(&table, &mut target));
    assert_other("gather_into", gather_into(&table, &indices, &options, &mut target));
    assert_other("scatter_into", scatter_into(&mut target, &indices, &table, &options));
}

#[test]
fn calls_fail_with_another_abi() {
    if env::var_os(CHILD).is_some() {
        every_call_fails();
        return;
    }
    // A program that contains the library cannot have another one. Sanitizers must be loaded before
    // any library.
    if env::var_os("GATHER_DYNAMIC").is_none() || env::var_os("GATHER_SANITIZED").is_some() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, library) = (folder.join("other_abi.c"), folder.join("other_abi.so"));
    fs::write(&source, OTHER).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(compiled.unwrap().success());
    let child = Command::new(env::current_exe().unwrap())
        .env(CHILD, "1")
        .env("LD_PRELOAD", &library)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && printed.contains("1 passed"), "{printed}");
}
