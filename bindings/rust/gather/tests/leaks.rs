//! 100,000 calls of each kind do not increase the memory of the process. With the address sanitizer (GATHER_SANITIZED)
//! the test does not compare memory, because the sanitizer reports leaks at the end of the process.
#![cfg(target_os = "linux")]

use gather::{BoundPlan, Context, Export, Layout, OPEN, Options, Packed, Plan, Tensor, TensorMut, gather, gather_into};

const CALLS: usize = 100_000;

/// Returns the number of resident pages of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

fn flat(what: &str, f: impl Fn()) {
    (0..CALLS / 10).for_each(|_| f());
    let before = resident();
    (0..CALLS).for_each(|_| f());
    let grown = resident().saturating_sub(before);
    let sanitized = std::env::var_os("GATHER_SANITIZED").is_some();
    // A leak of one byte in each call is 24 pages.
    assert!(sanitized || grown < 24, "{what}: {grown} pages more");
}

#[test]
fn repeated_calls_leak_no_memory() {
    let table: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let params = Tensor::new(&table, &[8, 4]);
    let (good, bad) = (Tensor::new(&[3u8], &[1]), Tensor::new(&[8u8], &[1]));
    let words = Tensor::from_strings(&["one", "two"], &[2]).unwrap();

    flat("gather", || drop(gather(&params, &good, &Options::new()).unwrap()));
    flat("error", || drop(gather(&params, &bad, &Options::new()).unwrap_err()));
    flat("into", || {
        let mut row = [0.0f32; 4];
        gather_into(&params, &good, &Options::new(), &mut TensorMut::new(&mut row, &[1, 4])).unwrap();
    });
    flat("packed rows", || {
        let codes = |scales| Packed::new("int8", &[1; 8], &[8, 1]).scales(Tensor::new(&[1.0f32; 7], scales));
        let table = codes(&[1, 1]).build().unwrap();
        drop(codes(&[7, 1]).build().unwrap_err());
        drop(BoundPlan::gather(&table, &Layout::new::<u8>(&[OPEN]), &Options::new()).unwrap());
    });
    flat("plan", || {
        let plan = Plan::gather(&params.layout(), &Layout::new::<u8>(&[OPEN]), &Options::new()).unwrap();
        plan.run_open(1, &table, &[3u8], &mut [0.0f32; 4]).unwrap();
    });
    flat("context", || drop(Context::builder().executor(|_| {}).build().unwrap()));
    flat("strings", || {
        let words = Tensor::from_strings(&["one", "two"], &[2]).unwrap();
        drop(gather(&words, &Tensor::new(&[1u8], &[1]), &Options::new()).unwrap());
    });
    flat("result of strings", || {
        let out = gather(&words, &Tensor::new(&[1u8], &[1]), &Options::new()).unwrap();
        assert_eq!(out.strings().unwrap().to_vecs(), [b"two"]);
    });
    flat("rejected vector", || {
        drop(Tensor::from_vec(vec![1u8; 64], &[65]).unwrap_err())
    });
    flat("dropped exports", || {
        let tensor = || Tensor::from_vec(vec![1u8; 64], &[64]).unwrap();
        drop(Context::DEFAULT.into_dlpack(tensor(), Export::Owned).unwrap());
        drop(Context::DEFAULT.into_dlpack_legacy(tensor(), Export::Owned).unwrap());
        drop(Context::DEFAULT.to_arrow(&words, Export::Owned).unwrap());
    });
    flat("dlpack", || {
        let tensor = Tensor::from_vec(vec![1u8; 64], &[64]).unwrap();
        let managed = Context::DEFAULT.into_dlpack(tensor, Export::Owned).unwrap();
        drop(Context::DEFAULT.from_dlpack(managed).unwrap());
    });
}
