//! Every form of a call on the emulated CUDA device of libgather_emulated, which test.sh preloads. Without that library
//! the tests print that they are skipped.
#![cfg(target_os = "linux")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Once;

use gather::{
    Buffer, BufferMut, Context, DType, Device, Error, Layout, OPEN, Operand, Options, Plan, Tensor, TensorMut,
};

const CUDA: Device = Device::Cuda(0);
const TABLE: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
const ROWS: &[usize] = &[4, 2];

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The additional functions of the emulated library.
#[derive(Clone, Copy)]
struct Machine {
    make_stream: unsafe extern "C" fn(i32) -> *mut c_void,
    hold: unsafe extern "C" fn(*mut c_void),
    allocate: unsafe extern "C" fn(i64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a NULL handle searches all loaded libraries.
    unsafe { dlsym(ptr::null_mut(), name.as_ptr()) }
}

static SKIPPED: Once = Once::new();

/// Returns `None` if there is no emulated device. The first call then prints a message.
fn machine() -> Option<Machine> {
    let make_stream = symbol(c"gth_emulation_make_stream");
    if make_stream.is_null() {
        SKIPPED.call_once(|| {
            println!("skipped: rust tests/devices.rs (no emulated CUDA device: GATHER_EMULATED is not set)")
        });
        return None;
    }
    // SAFETY: the types are those of the functions in tests/cuda/emulation/emulation.hpp.
    unsafe {
        Some(Machine {
            make_stream: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i32) -> *mut c_void>(make_stream),
            hold: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(symbol(c"gth_emulation_hold")),
            allocate: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i64) -> *mut c_void>(symbol(
                c"gth_emulation_allocate",
            )),
            free: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(symbol(c"gth_emulation_free")),
        })
    }
}

impl Machine {
    fn stream(self) -> *mut c_void {
        // SAFETY: the function has no precondition.
        unsafe { (self.make_stream)(0) }
    }

    /// Delays the work of a stream until a caller waits for the stream.
    fn hold(self, stream: *mut c_void) {
        // SAFETY: the stream is live.
        unsafe { (self.hold)(stream) }
    }

    fn memory<T: Copy>(self, values: &[T]) -> Memory {
        // SAFETY: emulated device memory is memory of the process.
        unsafe {
            let address = (self.allocate)(size_of_val(values) as i64);
            address
                .cast::<T>()
                .copy_from_nonoverlapping(values.as_ptr(), values.len());
            Memory {
                address,
                bytes: size_of_val(values),
                machine: self,
            }
        }
    }
}

/// Memory of the emulated device.
struct Memory {
    address: *mut c_void,
    bytes: usize,
    machine: Machine,
}

impl Memory {
    fn buffer(&self, dtype: DType) -> Buffer<'_> {
        self.buffer_on(dtype, CUDA)
    }

    fn buffer_on(&self, dtype: DType, device: Device) -> Buffer<'_> {
        // SAFETY: the memory lives as long as self, and every test waits for the stream before it ends.
        unsafe { Buffer::from_raw(dtype, device, self.address, self.bytes) }
    }

    fn buffer_mut(&mut self, dtype: DType) -> BufferMut<'_> {
        // SAFETY: as above.
        unsafe { BufferMut::from_raw(dtype, CUDA, self.address, self.bytes) }
    }

    /// Returns the present content. It does not wait for a stream.
    fn values<T: Copy>(&self) -> Vec<T> {
        // SAFETY: as above, and all bytes were written at the creation.
        unsafe { std::slice::from_raw_parts(self.address.cast::<T>(), self.bytes / size_of::<T>()) }.to_vec()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory comes from `allocate` of the same machine.
        unsafe { (self.machine.free)(self.address) }
    }
}

fn context_on(stream: *mut c_void) -> Context {
    // SAFETY: streams of these tests are never destroyed.
    unsafe { Context::builder().device(CUDA).stream(stream) }
        .build()
        .unwrap()
}

fn index_error(result: Result<(), Error>) -> (Option<u64>, i128, i64, u64) {
    match result {
        Err(Error::Index(cause)) => (cause.position, cause.value, cause.limit, cause.count),
        other => panic!("{other:?}"),
    }
}

#[test]
fn gather_into_runs_in_stream_order() {
    let Some(machine) = machine() else {
        return;
    };
    let stream = machine.stream();
    let context = context_on(stream);
    let (table, ids, mut out) = (
        machine.memory(&TABLE),
        machine.memory(&[3i64, 1]),
        machine.memory(&[9.0f32; 4]),
    );
    machine.hold(stream);
    let params = Tensor::new(table.buffer(DType::Float32), ROWS);
    let indices = Tensor::new(ids.buffer(DType::Int64), &[2]);
    let mut target = TensorMut::new(out.buffer_mut(DType::Float32), &[2, 2]);
    context
        .gather_into(&params, &indices, &Options::new(), &mut target)
        .unwrap();
    assert_eq!(out.values::<f32>(), [9.0; 4]);
    context.sync().unwrap();
    assert_eq!(out.values::<f32>(), [3.0, 3.5, 1.0, 1.5]);

    let tuples = machine.memory(&[2i32, 1]);
    let tuples = Tensor::new(tuples.buffer(DType::Int32), &[1, 2]);
    let mut one = machine.memory(&[0.0f32]);
    let mut target = TensorMut::new(one.buffer_mut(DType::Float32), &[1]);
    context
        .gather_nd_into(&params, &tuples, &Options::new(), &mut target)
        .unwrap();
    context.sync().unwrap();
    assert_eq!(one.values::<f32>(), [2.5]);
}

#[test]
fn zeros_copies_and_results_on_a_device() {
    let Some(machine) = machine() else {
        return;
    };
    let context = context_on(machine.stream());
    let mut table = context.zeros(DType::Float32, ROWS).unwrap();
    assert_eq!(table.device(), CUDA);
    context.copy(&Tensor::new(&TABLE, ROWS), &mut table.as_mut()).unwrap();
    let mut ids = context.zeros(DType::UInt8, &[3]).unwrap();
    context
        .copy(&Tensor::new(&[0u8, 3, 3], &[3]), &mut ids.as_mut())
        .unwrap();
    let rows = context.gather(&table, &ids, &Options::new()).unwrap();
    assert_eq!((rows.device(), rows.shape()), (CUDA, &[3, 2][..]));
    assert!(matches!(rows.as_slice::<f32>(), Err(Error::Device(_))));
    let mut host = [0.0f32; 6];
    context.copy(&rows, &mut TensorMut::new(&mut host, &[3, 2])).unwrap();
    assert_eq!(host, [0.0, 0.5, 3.0, 3.5, 3.0, 3.5]);
    drop(context);
    assert_eq!(rows.shape(), [3, 2]); // The tensor outlives its context.
}

#[test]
fn plans() {
    let Some(machine) = machine() else { return };
    let context = context_on(machine.stream());
    let params = Layout::new::<f32>(ROWS).on(CUDA);
    let indices = Layout::new::<i64>(&[OPEN]).on(CUDA);
    let plan = Plan::gather(&params, &indices, &Options::new()).unwrap();
    let (table, ids, mut out) = (
        machine.memory(&TABLE),
        machine.memory(&[2i64, 0]),
        machine.memory(&[0.0f32; 4]),
    );
    let (f32s, i64s) = (table.buffer(DType::Float32), ids.buffer(DType::Int64));
    context
        .run_open(&plan, 2, f32s, i64s, out.buffer_mut(DType::Float32))
        .unwrap();
    context.sync().unwrap();
    assert_eq!(out.values::<f32>(), [2.0, 2.5, 0.0, 0.5]);
    let Err(Error::Size(cause)) = context.run_open(&plan, 3, f32s, i64s, out.buffer_mut(DType::Float32)) else {
        panic!("too few ids were accepted")
    };
    assert_eq!((cause.operand, cause.value, cause.limit), (Operand::Indices, 16, 24));

    context.check_open(&plan, 2, i64s).unwrap();
    context.sync().unwrap();
    let bad = machine.memory(&[2i64, 9]);
    context.check_open(&plan, 2, bad.buffer(DType::Int64)).unwrap(); // The error is found when the stream executes the check.
    assert_eq!(index_error(context.take_error()), (Some(1), 9, 4, 1));
    assert!(matches!(
        context.check_open(&plan, 2, &[2i64, 0]),
        Err(Error::Device(_))
    ));

    let mut host = [0.0f32; 4];
    assert!(matches!(
        context.run_open(&plan, 2, f32s, i64s, &mut host),
        Err(Error::Device(_))
    ));
    assert!(matches!(
        plan.run_open(2, f32s, i64s, out.buffer_mut(DType::Float32)),
        Err(Error::Device(_))
    ));
}

#[test]
fn sync_returns_errors_of_earlier_calls() {
    let Some(machine) = machine() else {
        return;
    };
    let context = context_on(machine.stream());
    let (table, ids, mut out) = (
        machine.memory(&TABLE),
        machine.memory(&[0i64, 4]),
        machine.memory(&[9.0f32; 4]),
    );
    let params = Tensor::new(table.buffer(DType::Float32), ROWS);
    let indices = Tensor::new(ids.buffer(DType::Int64), &[2]);
    for wait in [Context::sync, Context::take_error] {
        for _ in 0..2 {
            let mut target = TensorMut::new(out.buffer_mut(DType::Float32), &[2, 2]);
            context
                .gather_into(&params, &indices, &Options::new(), &mut target)
                .unwrap();
        }
        assert_eq!(index_error(wait(&context)), (Some(1), 4, 4, 2));
        assert_eq!(out.values::<f32>(), [9.0; 4]);
        wait(&context).unwrap(); // The error is returned once.
    }
    let rows = context.gather(&params, &indices, &Options::new()).unwrap();
    let mut host = [7.0f32; 4];
    let copied = context.copy(&rows, &mut TensorMut::new(&mut host, &[2, 2]));
    assert_eq!(index_error(copied), (Some(1), 4, 4, 1));
    assert_eq!(host, [0.0; 4]);
}

#[test]
fn error_record_is_copied_in_stream_order() {
    let Some(machine) = machine() else {
        return;
    };
    let taken = machine.memory(&[0u8; 64]);
    let context = context_on(machine.stream());
    let (table, ids) = (machine.memory(&TABLE), machine.memory(&[-1i32]));
    let params = Tensor::new(table.buffer(DType::Float32), ROWS);
    let _rows = context
        .gather(&params, &Tensor::new(ids.buffer(DType::Int32), &[1]), &Options::new())
        .unwrap();
    // SAFETY: the record has 64 bytes of device memory, and lives until the wait below.
    unsafe { context.enqueue_take_error(taken.address.cast()) }.unwrap();
    context.sync().unwrap();
    let words = taken.values::<i64>();
    assert_eq!((words[0], words[2], words[3], words[4]), (1, 0, -1, 4)); // count, position, value, limit
}

#[test]
fn errors_are_written_to_the_record_of_the_caller() {
    let Some(machine) = machine() else {
        return;
    };
    let record = machine.memory(&[0u8; 64]);
    // SAFETY: the record has 64 bytes of device memory, and outlives the context.
    let builder = unsafe {
        Context::builder()
            .device(CUDA)
            .stream(machine.stream())
            .record(record.address.cast())
    };
    let context = builder.build().unwrap();
    let (table, ids) = (machine.memory(&TABLE), machine.memory(&[1i64, 7]));
    let params = Tensor::new(table.buffer(DType::Float32), ROWS);
    let indices = Tensor::new(ids.buffer(DType::Int64), &[2]);
    let _rows = context.gather(&params, &indices, &Options::new()).unwrap();
    let words = record.values::<i64>();
    assert_eq!((words[0], words[2], words[3], words[4]), (1, 1, 7, 4)); // count, position, value, limit
    assert_eq!(index_error(context.take_error()), (Some(1), 7, 4, 1));
}

#[test]
fn wait_and_signal_order_streams() {
    let Some(machine) = machine() else {
        return;
    };
    let (first, second) = (machine.stream(), machine.stream());
    let (one, two) = (context_on(first), context_on(second));
    let (table, mut out) = (machine.memory(&TABLE), machine.memory(&[9.0f32; 8]));
    let source = Tensor::new(table.buffer(DType::Float32), ROWS);
    machine.hold(first);
    one.copy(&source, &mut TensorMut::new(out.buffer_mut(DType::Float32), ROWS))
        .unwrap();
    assert_eq!(out.values::<f32>(), [9.0; 8]);
    // SAFETY: the streams are live. The second stream is not held. So the wait is the only work on it, and completes at
    // once.
    unsafe { two.wait(first) }.unwrap();
    assert_eq!(out.values::<f32>(), TABLE);
    let mut again = machine.memory(&[9.0f32; 8]);
    one.copy(&source, &mut TensorMut::new(again.buffer_mut(DType::Float32), ROWS))
        .unwrap();
    // SAFETY: as above.
    unsafe { one.signal(second) }.unwrap();
    assert_eq!(again.values::<f32>(), TABLE);
}

#[test]
fn tensors_on_other_devices_return_an_error() {
    let Some(machine) = machine() else {
        return;
    };
    let context = context_on(machine.stream());
    let (table, ids) = (machine.memory(&TABLE), machine.memory(&[1i64]));
    let there = Tensor::new(table.buffer(DType::Float32), ROWS);
    let elsewhere = Tensor::new(table.buffer_on(DType::Float32, Device::Cuda(1)), ROWS);
    let index = Tensor::new(ids.buffer(DType::Int64), &[1]);
    let (host, host_index) = (Tensor::new(&TABLE, ROWS), Tensor::new(&[1i64], &[1]));
    let operand = |context: &Context, params: &Tensor<'_>, indices: &Tensor<'_>| match context.gather(
        params,
        indices,
        &Options::new(),
    ) {
        Err(Error::Device(cause)) => cause.operand,
        other => panic!("{other:?}"),
    };
    assert_eq!(operand(&context, &host, &index), Operand::Params);
    assert_eq!(operand(&context, &there, &host_index), Operand::Indices);
    assert_eq!(operand(&context, &elsewhere, &index), Operand::Params);
    assert_eq!(operand(&Context::DEFAULT, &there, &index), Operand::Params);
    let none = Context::builder().device(Device::Cuda(2)).build();
    assert!(matches!(none, Err(Error::Device(_))));
}
