//! A Rust program that calls the C ABI. It passes slices as borrowed views, returns an invalid index as an enum, and
//! shares a plan between threads.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::mem::{offset_of, size_of};
use std::ptr;

/// The parts of gather.h that this program needs.
mod ffi {
    use super::*;

    pub const OK: i32 = 0;
    pub const E_NULL: i32 = -1;
    pub const E_HANDLE: i32 = -2;
    pub const E_INDEX: i32 = -16;
    pub const OPERAND_INDICES: i32 = 2;
    pub const OP_GATHER: i32 = 1;
    pub const OPEN: i64 = -1;
    pub const NEGATIVE_WRAP: i32 = 2;
    pub const TENSOR_READONLY: u32 = 1;
    pub const ERROR_WRAP: u32 = 4;

    #[repr(C)]
    pub struct Plan {
        _opaque: [u8; 0],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Error {
        pub size: u32,
        pub status: i32,
        pub operand: i32,
        pub component: i32,
        pub native: i32,
        pub flags: u32,
        pub position: i64,
        pub value: i64,
        pub limit: i64,
        pub sequence: i64,
        pub count: u64,
        pub item: i64,
        pub message: [c_char; 256],
    }

    #[repr(C)]
    pub struct TensorDesc {
        pub size: u32,
        pub dtype: i32,
        pub device: i32,
        pub device_id: i32,
        pub ndim: i32,
        pub flags: u32,
        pub tensor: *const c_void,
        pub data: *const c_void,
        pub shape: *const i64,
        pub strides: *const i64,
        pub codec: *const c_void,
        pub offset: i64,
        pub extent: i64,
    }

    #[repr(C)]
    pub struct Options {
        pub size: u32,
        pub has_axis: i32,
        pub axis: i64,
        pub batch_dims: i64,
        pub profile: i32,
        pub opset: i32,
        pub negative: i32,
        pub bounds: i32,
        pub fill: i32,
        pub threads: i32,
        pub extents: i32,
        pub reduction: i32,
        pub fill_value: [u64; 2],
        pub accumulate: i32,
        pub out_dtype: i32,
        pub bag_format: i32,
        pub pool: i32,
        pub empty: i32,
        pub has_padding_index: i32,
        pub padding_index: i64,
        pub bag_count: i64,
        pub initial: i32,
        pub fill_dtype: i32,
        pub order: i32,
        pub reserved: i32,
    }

    #[repr(C)]
    pub struct Request {
        pub size: u32,
        pub op: i32,
        pub table: *const TensorDesc,
        pub indices: *const TensorDesc,
        pub rows: *const TensorDesc,
        pub options: *const Options,
        pub bags: *const TensorDesc,
        pub weights: *const TensorDesc,
    }

    const _: () = {
        assert!(size_of::<Error>() == 328 && offset_of!(Error, message) == 72);
        assert!(size_of::<TensorDesc>() == 80 && offset_of!(TensorDesc, offset) == 64);
        assert!(size_of::<Request>() == 56 && offset_of!(Request, options) == 32);
        assert!(size_of::<Options>() == 128 && offset_of!(Options, fill_value) == 56);
    };

    #[link(name = "gather")]
    unsafe extern "C" {
        pub fn gth_abi_version() -> u32;
        pub fn gth_status_name(status: i32) -> *const c_char;
        pub fn gth_run(
            context: *mut c_void,
            op: i32,
            table: *const TensorDesc,
            indices: *const TensorDesc,
            rows: *const TensorDesc,
            options: *const Options,
            err: *mut Error,
        ) -> i32;
        pub fn gth_plan_create(request: *const Request, out: *mut *mut Plan, err: *mut Error) -> i32;
        pub fn gth_plan_run(
            context: *mut c_void,
            plan: *const Plan,
            n: i64,
            table: *const c_void,
            indices: *const c_void,
            rows: *mut c_void,
            err: *mut Error,
        ) -> i32;
        pub fn gth_plan_release(plan: *mut Plan) -> i32;
    }
}

#[derive(Debug, PartialEq)]
#[non_exhaustive]
enum Error {
    Index {
        component: i32,
        position: i64,
        value: i64,
        limit: i64,
        wrap: bool,
    },
    Other {
        status: i32,
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Index {
                position, value, limit, ..
            } => write!(f, "index {value} at {position}, size {limit}"),
            Error::Other { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// Calls a function with a new error struct, and converts the struct to a Result.
fn call(f: impl FnOnce(*mut ffi::Error) -> i32) -> Result<(), Error> {
    let mut err = ffi::Error {
        size: size_of::<ffi::Error>() as u32,
        status: 0,
        operand: 0,
        component: 0,
        native: 0,
        flags: 0,
        position: 0,
        value: 0,
        limit: 0,
        sequence: 0,
        count: 0,
        item: 0,
        message: [0; 256],
    };
    let status = f(&mut err);
    assert_eq!(status, err.status);
    match status {
        ffi::OK => Ok(()),
        ffi::E_INDEX => {
            assert_eq!(err.operand, ffi::OPERAND_INDICES);
            Err(Error::Index {
                component: err.component,
                position: err.position,
                value: err.value,
                limit: err.limit,
                wrap: err.flags & ffi::ERROR_WRAP != 0,
            })
        }
        // SAFETY: the message in the array ends with a zero.
        _ => Err(Error::Other {
            status,
            message: unsafe { CStr::from_ptr(err.message.as_ptr()) }
                .to_string_lossy()
                .into_owned(),
        }),
    }
}

trait Element: Copy {
    const DTYPE: i32;
}
impl Element for f32 {
    const DTYPE: i32 = 544;
}
impl Element for i32 {
    const DTYPE: i32 = 32;
}
impl Element for u8 {
    const DTYPE: i32 = 264;
}

/// A description that borrows its slices.
struct View<'a> {
    raw: ffi::TensorDesc,
    borrow: PhantomData<&'a ()>,
}

impl<'a> View<'a> {
    /// Creates a view. Memory of 0 bytes has a NULL pointer. With another pointer, an extent of 0 would mean that the
    /// shape decides the size.
    fn of<T: Element>(data: *const T, bytes: usize, flags: u32, shape: &'a [i64]) -> Self {
        let data = if bytes == 0 { ptr::null() } else { data };
        let raw = ffi::TensorDesc {
            size: size_of::<ffi::TensorDesc>() as u32,
            dtype: T::DTYPE,
            device: 0,
            device_id: 0,
            ndim: shape.len() as i32,
            flags,
            tensor: ptr::null(),
            data: data.cast(),
            shape: shape.as_ptr(),
            strides: ptr::null(),
            codec: ptr::null(),
            offset: 0,
            extent: bytes as i64,
        };
        View {
            raw,
            borrow: PhantomData,
        }
    }

    fn new<T: Element>(data: &'a [T], shape: &'a [i64]) -> Self {
        Self::of(data.as_ptr(), size_of_val(data), ffi::TENSOR_READONLY, shape)
    }

    fn new_mut<T: Element>(data: &'a mut [T], shape: &'a [i64]) -> Self {
        let bytes = size_of_val(data);
        Self::of(data.as_mut_ptr(), bytes, 0, shape)
    }

    /// Sets the strides and the offset of element 0 in bytes. The library checks that all elements are inside the
    /// slice.
    fn strided(mut self, strides: &'a [i64], offset: i64) -> Self {
        assert_eq!(strides.len(), self.raw.ndim as usize);
        self.raw.strides = strides.as_ptr();
        self.raw.offset = offset;
        self
    }

    fn layout<T: Element>(shape: &'a [i64]) -> Self {
        Self::of::<T>(ptr::null(), 0, 0, shape)
    }
}

fn options() -> ffi::Options {
    ffi::Options {
        size: size_of::<ffi::Options>() as u32,
        has_axis: 0,
        axis: 0,
        batch_dims: 0,
        profile: 0,
        opset: 0,
        negative: 0,
        bounds: 0,
        fill: 0,
        threads: 0,
        extents: 0,
        reduction: 0,
        fill_value: [0; 2],
        accumulate: 0,
        out_dtype: 0,
        bag_format: 0,
        pool: 0,
        empty: 0,
        has_padding_index: 0,
        padding_index: 0,
        bag_count: 0,
        initial: 0,
        fill_dtype: 0,
        order: 0,
        reserved: 0,
    }
}

fn gather(params: &View, indices: &View, options: &ffi::Options, out: &mut View) -> Result<(), Error> {
    // SAFETY: the views borrow the memory that they describe, and have its size.
    call(|err| unsafe {
        ffi::gth_run(
            ptr::null_mut(),
            ffi::OP_GATHER,
            &params.raw,
            &indices.raw,
            &out.raw,
            options,
            err,
        )
    })
}

/// A plan of a row lookup with an open number of ids, for tables of a fixed shape.
struct Plan {
    raw: *mut ffi::Plan,
    rows: usize,
    width: usize,
}

// SAFETY: plans are immutable and may be used by any number of threads.
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

impl Plan {
    fn new(rows: usize, width: usize) -> Result<Self, Error> {
        let (shape, ids) = ([rows as i64, width as i64], [ffi::OPEN]);
        let (params, indices) = (View::layout::<f32>(&shape), View::layout::<i32>(&ids));
        let request = ffi::Request {
            size: size_of::<ffi::Request>() as u32,
            op: ffi::OP_GATHER,
            table: &params.raw,
            indices: &indices.raw,
            rows: ptr::null(),
            options: ptr::null(),
            bags: ptr::null(),
            weights: ptr::null(),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the call reads only the descriptions.
        call(|err| unsafe { ffi::gth_plan_create(&request, &mut raw, err) })?;
        Ok(Plan { raw, rows, width })
    }

    fn run(&self, table: &[f32], ids: &[i32], out: &mut [f32]) -> Result<(), Error> {
        assert!(table.len() == self.rows * self.width && out.len() == ids.len() * self.width);
        let (table, ids, n, out) = (table.as_ptr(), ids.as_ptr(), ids.len() as i64, out.as_mut_ptr());
        // SAFETY: the lengths are those of the plan.
        call(|err| unsafe {
            ffi::gth_plan_run(ptr::null_mut(), self.raw, n, table.cast(), ids.cast(), out.cast(), err)
        })
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the plan is released once, here.
        assert_eq!(unsafe { ffi::gth_plan_release(self.raw) }, ffi::OK);
    }
}

fn borrowed_views() -> Result<(), Error> {
    let table: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let mut out = vec![-1.0f32; 6];
    gather(
        &View::new(&table, &[4, 3]),
        &View::new(&[3u8, 1], &[2]),
        &options(),
        &mut View::new_mut(&mut out, &[2, 3]),
    )?;
    assert_eq!(out, [9.0, 10.0, 11.0, 3.0, 4.0, 5.0]);

    // The view is the last column of the same slice in reversed order. Negative indices count from the end.
    let wrap = ffi::Options {
        negative: ffi::NEGATIVE_WRAP,
        ..options()
    };
    let column = View::new(&table, &[4]).strided(&[-12], 44);
    gather(
        &column,
        &View::new(&[-1i32, 0], &[2]),
        &wrap,
        &mut View::new_mut(&mut out[..2], &[2]),
    )?;
    assert_eq!(out[..2], [2.0, 11.0]);

    let before = out.clone();
    let bad = gather(
        &column,
        &View::new(&[0i32, -5, 4], &[3]),
        &wrap,
        &mut View::new_mut(&mut out[..3], &[3]),
    );
    assert_eq!(
        bad,
        Err(Error::Index {
            component: 0,
            position: 1,
            value: -5,
            limit: 4,
            wrap: true
        })
    );
    assert_eq!(out, before);

    // The library rejects a view that is larger than its slice.
    let beyond = gather(
        &View::new(&table, &[5, 3]),
        &View::new(&[0u8], &[1]),
        &options(),
        &mut View::new_mut(&mut out[..3], &[1, 3]),
    );
    assert!(
        matches!(&beyond, Err(Error::Other { message, .. }) if !message.is_empty()),
        "{beyond:?}"
    );

    let nothing = gather(
        &View::new::<f32>(&[], &[4, 3]),
        &View::new(&[0u8], &[1]),
        &options(),
        &mut View::new_mut(&mut out[..3], &[1, 3]),
    );
    assert!(
        matches!(
            nothing,
            Err(Error::Other {
                status: ffi::E_NULL,
                ..
            })
        ),
        "{nothing:?}"
    );

    // SAFETY: the names are static.
    let name = match beyond {
        Err(Error::Other { status, .. }) => unsafe { CStr::from_ptr(ffi::gth_status_name(status)) },
        _ => unreachable!(),
    };
    assert_eq!(name.to_str(), Ok("GTH_E_STRIDE"));
    Ok(())
}

fn shared_plan() -> Result<(), Error> {
    let table: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let plan = Plan::new(16, 4)?;
    plan.run(&table, &[], &mut [])?;
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (plan, table) = (&plan, &table);
            scope.spawn(move || {
                let mut row = [0.0; 4];
                for i in 0..1000 {
                    let id = (worker * 5 + i) % 16;
                    plan.run(table, &[id], &mut row).unwrap();
                    assert_eq!(row, table[id as usize * 4..][..4]);
                }
            });
        }
    });
    let bad = plan.run(&table, &[0, 16], &mut [0.0; 8]).unwrap_err();
    assert_eq!(
        bad,
        Error::Index {
            component: 0,
            position: 1,
            value: 16,
            limit: 16,
            wrap: false
        }
    );
    assert_eq!(bad.to_string(), "index 16 at 1, size 16");

    let mut row = [0.0f32; 4];
    let raw = plan.raw;
    drop(plan);
    // SAFETY: the library rejects a released handle and reads no memory through it.
    let status = unsafe {
        ffi::gth_plan_run(
            ptr::null_mut(),
            raw,
            1,
            table.as_ptr().cast(),
            [0i32].as_ptr().cast(),
            row.as_mut_ptr().cast(),
            ptr::null_mut(),
        )
    };
    assert_eq!(status, ffi::E_HANDLE);
    Ok(())
}

fn main() -> Result<(), Error> {
    // SAFETY: the function has no arguments.
    assert_eq!(unsafe { ffi::gth_abi_version() }, 1, "the library has another ABI");
    borrowed_views()?;
    shared_plan()?;
    println!("rust: views are checked against their slices, threads share a plan, an invalid index is an error");
    Ok(())
}
