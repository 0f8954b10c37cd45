//! The test makes each allocation of the library fail in turn. It needs libgather_emulated, which test.sh preloads.
//! Without that library the test prints that it is skipped.
#![cfg(target_os = "linux")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use gather::{
    Accumulate, BoundPlan, Context, DType, Error, Layout, Options, Packed, Plan, Reduction, ScatterPlan, Tensor,
    TensorMut, gather, gather_gradient, gather_nd, scatter, scatter_into, scatter_nd,
};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The additional functions of the emulated library.
#[derive(Clone, Copy)]
struct Failures {
    fail: unsafe extern "C" fn(i64, i32),
    attempted: unsafe extern "C" fn() -> i64,
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a NULL handle searches all loaded libraries.
    unsafe { dlsym(ptr::null_mut(), name.as_ptr()) }
}

fn failures() -> Option<Failures> {
    let fail = symbol(c"gth_testing_fail_allocation");
    if fail.is_null() {
        println!("skipped: rust tests/failing.rs (no library with failing allocations: GATHER_EMULATED is not set)");
        return None;
    }
    // SAFETY: the types are those of the functions in src/core/os/testing.hpp.
    unsafe {
        Some(Failures {
            fail: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i64, i32)>(fail),
            attempted: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> i64>(symbol(
                c"gth_testing_allocations",
            )),
        })
    }
}

impl Failures {
    /// Makes the n-th allocation fail for each n. With `sticky` all later ones fail too. The call must return
    /// `OutOfMemory`, or succeed after another attempt. The loop ends when the call needs fewer than n allocations.
    fn survives(self, name: &str, sticky: i32, call: impl Fn() -> Result<(), Error>) {
        call().unwrap(); // The first call makes allocations that later calls do not repeat.
        for n in 1..100 {
            // SAFETY: the function only stores numbers.
            unsafe { (self.fail)(n, sticky) };
            let result = call();
            // SAFETY: the functions only read and store numbers.
            let attempted = unsafe {
                let attempted = (self.attempted)();
                (self.fail)(0, 0);
                attempted
            };
            match result {
                Ok(()) if n > 1 && attempted < n => return,
                // A gather of a few rows tries to allocate its result again.
                Ok(()) => assert!(
                    sticky == 0 && attempted > n,
                    "{name}: allocation {n} of {attempted} failed, but the call succeeded"
                ),
                Err(Error::OutOfMemory(_)) => {}
                Err(other) => panic!("{name}, allocation {n}: {other:?}"),
            }
        }
        panic!("{name} never succeeds");
    }
}

#[test]
fn g4_every_allocation_fails() {
    let Some(failures) = failures() else { return };
    let table = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
    let params = Tensor::new(&table, &[4, 2]);
    let (ids, tuples) = (Tensor::new(&[2i64, 0], &[2]), Tensor::new(&[2i64, 0], &[2, 1]));
    let options = Options::new();
    let words = Tensor::from_strings(&["one", "two", "three"], &[3]).unwrap();
    let rows = Tensor::new(&table[..4], &[2, 2]);
    let two_words = Tensor::from_strings(&["four", "five"], &[2]).unwrap();
    let halves = [gather::Float16(0x3c00); 2];
    let two_halves = Tensor::new(&halves, &[2]);
    let exactly = options.reduction(Reduction::Add).accumulate(Accumulate::Float32);
    for sticky in [0, 1] {
        let taken = |rows: Tensor<'_>| assert_eq!(rows.as_slice(), Ok(&[2.0f32, 2.5, 0.0, 0.5][..]));
        failures.survives("gather", sticky, || gather(&params, &ids, &options).map(taken));
        failures.survives("gather_nd", sticky, || gather_nd(&params, &tuples, &options).map(taken));
        failures.survives("strings", sticky, || gather(&words, &ids, &options).map(drop));
        failures.survives("a tensor of strings", sticky, || {
            Tensor::from_strings(&["one"], &[1]).map(drop)
        });
        failures.survives("a context", sticky, || Context::builder().build().map(drop));
        failures.survives("zeros", sticky, || {
            Context::builder().build()?.zeros(DType::Float32, &[4]).map(drop)
        });
        failures.survives("a plan", sticky, || {
            Plan::gather(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[3]), &options).map(drop)
        });
        let packed = || Packed::new("q8_0", &[0; 34], &[1, 32]).build();
        failures.survives("packed rows", sticky, || packed().map(drop));
        let table = packed().unwrap();
        failures.survives("a plan of packed rows", sticky, || {
            BoundPlan::gather(&table, &Layout::new::<i64>(&[3]), &options).map(drop)
        });
        failures.survives("scatter", sticky, || scatter(&params, &ids, &rows, &options).map(drop));
        failures.survives("scatter_nd", sticky, || {
            scatter_nd(&params, &tuples, &rows, &options).map(drop)
        });
        failures.survives("scatter of strings", sticky, || {
            scatter(&words, &ids, &two_words, &options).map(drop)
        });
        failures.survives("a gradient", sticky, || {
            gather_gradient(&rows, &ids, &[4, 2], &options).map(drop)
        });
        failures.survives("a plan of a scatter", sticky, || {
            ScatterPlan::scatter(&Layout::new::<f32>(&[4, 2]), &Layout::new::<i64>(&[3]), &options).map(drop)
        });
        failures.survives("scatter in float32", sticky, || {
            let before = [gather::Float16(0x3c00); 4];
            let mut halves = before;
            let result = scatter_into(&mut TensorMut::new(&mut halves, &[4]), &ids, &two_halves, &exactly);
            assert!(result.is_ok() || halves == before, "an error wrote to the target");
            result
        });
    }
}
