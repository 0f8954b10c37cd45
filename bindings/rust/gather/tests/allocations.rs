//! Calls into existing memory and runs of plans allocate nothing. Tensors free what they own, once.

use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::cell::Cell;

use gather::{
    Layout, OPEN, Options, Plan, Reduction, ScatterPlan, Tensor, TensorMut, gather, gather_elements_into,
    gather_gradient_into, gather_into, gather_nd_into, scatter_elements_into, scatter_into, scatter_nd_into,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// The blocks that are allocated and not freed.
    static BLOCKS: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator handles every call.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BLOCKS.set(BLOCKS.get() + 1);
        // SAFETY: the caller guarantees it.
        unsafe { System.alloc(block) }
    }

    unsafe fn dealloc(&self, data: *mut u8, block: Block) {
        BLOCKS.set(BLOCKS.get() - 1);
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(data, block) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut f: impl FnMut()) -> usize {
    f(); // The first call is not counted, because it checks the ABI.
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        f();
    }
    ALLOCATIONS.get() - before
}

const TABLE: [f32; 12] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.];

#[test]
fn gather_into_allocates_nothing() {
    let ids = [3i64, 1];
    let mut rows = [0.0f32; 6];
    let count = allocations(|| {
        gather_into(
            &Tensor::new(&TABLE, &[4, 3]),
            &Tensor::new(&ids, &[2]),
            &Options::new().axis(0),
            &mut TensorMut::new(&mut rows, &[2, 3]),
        )
        .unwrap();
        gather_nd_into(
            &Tensor::new(&TABLE, &[4, 3]),
            &Tensor::new(&ids, &[2, 1]),
            &Options::new(),
            &mut TensorMut::new(&mut rows, &[2, 3]),
        )
        .unwrap();
    });
    assert_eq!(rows, [9., 10., 11., 3., 4., 5.]);
    assert_eq!(count, 0);
}

#[test]
fn strided_gather_into_allocates_nothing() {
    let mut column = [0.0f32; 2];
    let count = allocations(|| {
        let params = Tensor::new(&TABLE, &[4]).with_strides(&[12]).unwrap();
        gather_into(
            &params,
            &Tensor::new(&[3u8, 0], &[2]),
            &Options::new(),
            &mut TensorMut::new(&mut column, &[2]),
        )
        .unwrap();
    });
    assert_eq!(column, [9., 0.]);
    assert_eq!(count, 0);
}

#[test]
fn gather_elements_into_allocates_nothing() {
    let mut best = [0.0f32; 4];
    let count = allocations(|| {
        gather_elements_into(
            &Tensor::new(&TABLE, &[4, 3]),
            &Tensor::new(&[2u8, 0, 1, 2], &[4, 1]),
            &Options::new().axis(1),
            &mut TensorMut::new(&mut best, &[4, 1]),
        )
        .unwrap();
    });
    assert_eq!(best, [2., 3., 7., 11.]);
    assert_eq!(count, 0);
}

#[test]
fn runs_of_plans_allocate_nothing() {
    let params = Layout::new::<f32>(&[4, 3]);
    let closed = Plan::gather(&params, &Layout::new::<i64>(&[1]), &Options::new()).unwrap();
    let open = Plan::gather(&params, &Layout::new::<i64>(&[OPEN]), &Options::new()).unwrap();
    let mut row = [0.0f32; 3];
    let count = allocations(|| {
        closed.run(&TABLE, &[2i64], &mut row).unwrap();
        open.run_open(1, &TABLE, &[2i64], &mut row).unwrap();
        closed.check(&[2i64]).unwrap();
        open.check_open(1, &[2i64]).unwrap();
    });
    assert_eq!(row, [6., 7., 8.]);
    assert_eq!(count, 0);
}

#[test]
fn scatters_in_place_allocate_nothing() {
    let (mut table, ids, rows) = (TABLE, [3i64, 1], [1.0f32; 6]);
    let (shape, options) = ([4, 3], Options::new().reduction(Reduction::Max));
    let plan = ScatterPlan::scatter(&Layout::new::<f32>(&shape), &Layout::new::<i64>(&[OPEN]), &options).unwrap();
    let count = allocations(|| {
        let updates = Tensor::new(&rows, &[2, 3]);
        let mut target = TensorMut::new(&mut table, &shape);
        scatter_into(&mut target, &Tensor::new(&ids, &[2]), &updates, &options).unwrap();
        scatter_nd_into(&mut target, &Tensor::new(&ids, &[2, 1]), &updates, &options).unwrap();
        let (elements, row) = (Tensor::new(&[0u8, 1, 2], &[1, 3]), Tensor::new(&rows, &[1, 3]));
        scatter_elements_into(&mut target, &elements, &row, &options).unwrap();
        plan.run_open(2, &mut table, &ids, &rows).unwrap();
    });
    assert_eq!(table, [1., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.]);
    assert_eq!(count, 0);
    let count = allocations(|| {
        let mut out = TensorMut::new(&mut table, &shape);
        gather_gradient_into(
            &Tensor::new(&rows, &[2, 3]),
            &Tensor::new(&ids, &[2]),
            &Options::new(),
            &mut out,
        )
        .unwrap();
    });
    assert_eq!(table[..6], [0., 0., 0., 1., 1., 1.]);
    assert_eq!(count, 0);
}

#[test]
fn tensors_free_what_they_own() {
    let words = ["one", "two"];
    let calls: [(&str, &dyn Fn() -> bool); 5] = [
        ("strings", &|| Tensor::from_strings(&words, &[2]).is_ok()),
        ("wrong number of strings", &|| {
            Tensor::from_strings(&words, &[3]).is_err()
        }),
        // The extent is negative for the library.
        ("strings of a wrong shape", &|| {
            Tensor::from_strings::<&str>(&[], &[0, usize::MAX]).is_err()
        }),
        ("vector", &|| Tensor::from_vec(vec![1u8; 9], &[3, 3]).is_ok()),
        ("short vector", &|| Tensor::from_vec(vec![1u8; 8], &[3, 3]).is_err()),
    ];
    for (name, call) in calls {
        assert!(call(), "{name}");
        let before = BLOCKS.get();
        for _ in 0..10 {
            call();
        }
        assert_eq!(BLOCKS.get() - before, 0, "{name}");
    }
}

#[test]
fn strides_and_offsets_keep_the_memory_of_a_tensor() {
    let before = BLOCKS.get();
    let tensor = Tensor::from_vec(vec![1i16, 2, 3], &[2]).unwrap();
    let blocks = BLOCKS.get();
    let tensor = tensor.with_strides(&[2]).unwrap().with_offset(2);
    assert_eq!(BLOCKS.get(), blocks);
    assert_eq!(tensor.as_slice::<i16>(), Ok(&[2, 3][..]));
    drop(tensor);
    assert_eq!(BLOCKS.get(), before);
}

#[test]
fn counter_sees_allocations() {
    assert!(allocations(|| drop(vec![1u8])) >= 100);
    let ids = [0i64];
    let result = gather(&Tensor::new(&TABLE, &[4, 3]), &Tensor::new(&ids, &[1]), &Options::new());
    assert_eq!(result.unwrap().as_slice::<f32>().unwrap(), &TABLE[..3]);
}
