//! Measures the time that Rust adds to a call of the C library. Each call gathers one row of 4 bytes, and all data is
//! in the L1 cache. The program prints a line for each kind of call: the nanoseconds in C, the nanoseconds in Rust, and
//! the median of their difference in the same round.

use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use gather::{Layout, OPEN, Options, Plan, Tensor, TensorMut, gather, gather_into, sys};

const ROUNDS: usize = 401;
const REPEATS: u32 = 2000;

static TABLE: [f32; 64] = [1.5; 64];
static INDEX: [i64; 1] = [7];
static SHAPE: [usize; 1] = [64];
static ONE: [usize; 1] = [1];

/// Returns the nanoseconds of one repeat for each body and round. The bodies run in turn, so that a disturbance affects
/// all of them.
fn side_by_side(bodies: &mut [&mut dyn FnMut(u32)]) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::new(); bodies.len()];
    for round in 0..=ROUNDS {
        for (body, times) in bodies.iter_mut().zip(&mut times) {
            let start = Instant::now();
            body(REPEATS);
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(REPEATS));
            }
        }
    }
    times
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print(what: &str, c: &[f64], rust: &[f64]) {
    let more = median(rust.iter().zip(c).map(|(rust, c)| rust - c).collect());
    let (c, rust) = (median(c.to_vec()), median(rust.to_vec()));
    println!("{what}\t{c:.1}\t{rust:.1}\t{more:.1}");
}

/// A body that repeats an expression.
macro_rules! repeat {
    ($body:expr) => {
        &mut |repeats: u32| {
            for _ in 0..repeats {
                black_box($body);
            }
        }
    };
}

/// A body that repeats a call of the C library.
macro_rules! repeat_c {
    ($body:expr) => {
        // SAFETY: the pointers are those of statics and of the output of the C calls. The descriptions have the sizes
        // of this memory.
        repeat!(unsafe { $body })
    };
}

/// The objects that a C program prepares once.
struct Prepared {
    params: sys::gth_tensor_desc,
    indices: sys::gth_tensor_desc,
    out: sys::gth_tensor_desc,
    params_handle: *mut sys::gth_tensor,
    indices_handle: *mut sys::gth_tensor,
    plan: *mut sys::gth_plan,
    open_plan: *mut sys::gth_plan,
}

fn describe<T>(dtype: i32, shape: *const i64, data: *const T) -> sys::gth_tensor_desc {
    sys::gth_tensor_desc {
        size: size_of::<sys::gth_tensor_desc>() as u32,
        dtype,
        ndim: 1,
        shape,
        data: data.cast(),
        ..Default::default()
    }
}

fn request(params: &sys::gth_tensor_desc, indices: &sys::gth_tensor_desc) -> sys::gth_request {
    sys::gth_request {
        size: size_of::<sys::gth_request>() as u32,
        op: sys::GTH_OP_GATHER,
        table: params,
        indices,
        rows: ptr::null(),
        ..Default::default()
    }
}

fn handle(tensor: *const sys::gth_tensor) -> sys::gth_tensor_desc {
    sys::gth_tensor_desc {
        size: size_of::<sys::gth_tensor_desc>() as u32,
        tensor,
        ..Default::default()
    }
}

fn prepare(out: *mut f32) -> Prepared {
    static OPEN_SHAPE: i64 = sys::GTH_OPEN as i64;
    let mut prepared = Prepared {
        params: describe(sys::GTH_DTYPE_FLOAT32, SHAPE.as_ptr().cast(), TABLE.as_ptr()),
        indices: describe(sys::GTH_DTYPE_INT64, ONE.as_ptr().cast(), INDEX.as_ptr()),
        out: describe(sys::GTH_DTYPE_FLOAT32, ONE.as_ptr().cast(), out),
        params_handle: ptr::null_mut(),
        indices_handle: ptr::null_mut(),
        plan: ptr::null_mut(),
        open_plan: ptr::null_mut(),
    };
    let open = describe(sys::GTH_DTYPE_INT64, &OPEN_SHAPE, ptr::null::<i64>());
    let (params, indices) = (&prepared.params, &prepared.indices);
    let no_error = ptr::null_mut();
    // SAFETY: the descriptions name only statics.
    let failed = unsafe {
        sys::gth_tensor_borrow(params, &mut prepared.params_handle, no_error)
            | sys::gth_tensor_borrow(indices, &mut prepared.indices_handle, no_error)
            | sys::gth_plan_create(&request(params, indices), &mut prepared.plan, no_error)
            | sys::gth_plan_create(&request(params, &open), &mut prepared.open_plan, no_error)
    };
    assert_eq!(failed, sys::GTH_OK);
    prepared
}

fn main() {
    let (mut c_out, mut out) = ([0.0f32], [0.0f32]);
    let c = prepare(c_out.as_mut_ptr());
    let context = ptr::null_mut();
    let error = &mut sys::gth_error {
        size: size_of::<sys::gth_error>() as u32,
        ..Default::default()
    };
    let error = ptr::from_mut(error);
    let none = ptr::null();
    let (table, index, written) = (TABLE.as_ptr().cast(), INDEX.as_ptr().cast(), c_out.as_mut_ptr().cast());

    let options = Options::new();
    let params = Layout::new::<f32>(&SHAPE);
    let plan = Plan::gather(&params, &Layout::new::<i64>(&ONE), &options).expect("a plan");
    let open_plan = Plan::gather(&params, &Layout::new::<i64>(&[OPEN]), &options).expect("a plan");
    let (params, indices) = (Tensor::new(&TABLE, &SHAPE), Tensor::new(&INDEX, &ONE));
    let (mut plan_out, mut open_out) = ([0.0f32], [0.0f32]);
    let mut view = TensorMut::new(&mut out, &ONE);

    let (params_handle, indices_handle) = (handle(c.params_handle), handle(c.indices_handle));
    let new_output = request(&params_handle, &indices_handle);
    let mut new_out = [0.0f32];
    let times = side_by_side(&mut [
        repeat_c!(sys::gth_plan_run(context, c.plan, -1, table, index, written, error)),
        repeat!(plan.run(&TABLE, &INDEX, &mut plan_out).is_ok()),
        repeat_c!(sys::gth_plan_run(context, c.open_plan, 1, table, index, written, error)),
        repeat!(open_plan.run_open(1, &TABLE, &INDEX, &mut open_out).is_ok()),
        repeat_c!(sys::gth_gather(context, &c.params, &c.indices, &c.out, none, error)),
        repeat!(gather_into(&params, &indices, &options, &mut view).is_ok()),
        repeat_c!({
            let params = describe(sys::GTH_DTYPE_FLOAT32, SHAPE.as_ptr().cast(), TABLE.as_ptr());
            let indices = describe(sys::GTH_DTYPE_INT64, ONE.as_ptr().cast(), INDEX.as_ptr());
            let out = describe(sys::GTH_DTYPE_FLOAT32, ONE.as_ptr().cast(), written.cast::<f32>());
            sys::gth_gather(context, &params, &indices, &out, none, error)
        }),
        repeat!({
            let (params, indices) = (Tensor::new(&TABLE, &SHAPE), Tensor::new(&INDEX, &ONE));
            gather_into(
                &params,
                &indices,
                &Options::new(),
                &mut TensorMut::new(&mut new_out, &ONE),
            )
            .is_ok()
        }),
        repeat_c!({
            let mut made = ptr::null_mut();
            sys::gth_make(context, &new_output, &mut made, error);
            sys::gth_tensor_release(made)
        }),
        repeat!(gather(&params, &indices, &options).is_ok()),
    ]);
    let names = [
        "plan run",
        "plan run, open extent",
        "gather into an output, operands described once",
        "gather into an output, operands described in each call",
        "gather with a new output",
    ];
    for (name, pair) in names.iter().zip(times.chunks(2)) {
        print(name, &pair[0], &pair[1]);
    }
}
