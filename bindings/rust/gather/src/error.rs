//! What can go wrong, with the numbers that programs act on.

use std::ffi::CStr;
use std::fmt;
use std::mem::MaybeUninit;

use crate::numbers::{struct_size, unsigned};
use gather_sys as sys;

/// What an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// Nothing in particular.
    None,
    /// The source tensor.
    Params,
    /// The indices.
    Indices,
    /// The output.
    Out,
    /// The options; the component is then the byte offset of the field in the C struct.
    Options,
    /// The context.
    Context,
    /// The plan.
    Plan,
    /// The tensor of a call that has only one.
    Tensor,
    /// The tensor that a scatter changes, or the gradient that is made.
    Target,
    /// The updates of a scatter, or the gradient that is given.
    Updates,
}

impl Operand {
    /// As the library's messages begin.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operand::None => "none",
            Operand::Params => "params",
            Operand::Indices => "indices",
            Operand::Out => "out",
            Operand::Options => "options",
            Operand::Context => "context",
            Operand::Plan => "plan",
            Operand::Tensor => "tensor",
            Operand::Target => "target",
            Operand::Updates => "updates",
        }
    }

    fn from_raw(operand: i32) -> Self {
        match operand {
            sys::GTH_OPERAND_PARAMS => Operand::Params,
            sys::GTH_OPERAND_INDICES => Operand::Indices,
            sys::GTH_OPERAND_OUT => Operand::Out,
            sys::GTH_OPERAND_OPTIONS => Operand::Options,
            sys::GTH_OPERAND_CONTEXT => Operand::Context,
            sys::GTH_OPERAND_PLAN => Operand::Plan,
            sys::GTH_OPERAND_TENSOR => Operand::Tensor,
            sys::GTH_OPERAND_TARGET => Operand::Target,
            sys::GTH_OPERAND_UPDATES => Operand::Updates,
            _ => Operand::None,
        }
    }
}

/// The details of an [`Error`].
///
/// For an index out of bounds: the smallest bad tuple is at `position` in the row-major order of the tuples, its
/// component number `component` is `value`, and the dim it points into has `limit` elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The number of the status in the C ABI; it never changes.
    pub status: i32,
    /// What it is about.
    pub operand: Operand,
    /// The component of the tuple, the dim, or the field of the options.
    pub component: Option<u32>,
    /// The linear number of the tuple.
    pub position: Option<u64>,
    /// What came; wide enough for every signed and unsigned index.
    pub value: i128,
    /// What would have done: a bound, a size, a dtype's number.
    pub limit: i64,
    /// Negative indices count from the end: the valid range is `[-limit, limit)`.
    pub wraps: bool,
    /// CUDA's number for a failed CUDA call.
    pub native: i32,
    /// The number of the device call in its context, from 1.
    pub sequence: i64,
    /// Device calls that failed since the last take.
    pub count: u64,
    /// The same in English; it may change between releases.
    pub message: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Cause {
    /// An error of this crate's own, for what it must check before the library may be asked. The message begins with
    /// the operand, as the library's do.
    pub(crate) fn new(status: i32, operand: Operand, message: impl fmt::Display) -> Self {
        Cause {
            status,
            operand,
            component: None,
            position: None,
            value: 0,
            limit: 0,
            wraps: false,
            native: 0,
            sequence: 0,
            count: 0,
            message: match operand {
                Operand::None => message.to_string(),
                _ => format!("{}: {message}", operand.name()),
            },
        }
    }

    pub(crate) fn numbers(mut self, value: i128, limit: i64) -> Self {
        self.value = value;
        self.limit = limit;
        self
    }

    /// # Safety
    /// The library has written `raw`.
    unsafe fn read(raw: *const sys::gth_error) -> Self {
        // SAFETY: every field but size is written with a status that is not OK, and the message ends with a zero.
        // Behind that zero it may be uninitialised, so no reference to the struct is made.
        unsafe {
            let flags = (*raw).flags;
            let value = (*raw).value;
            let message = CStr::from_ptr((&raw const (*raw).message).cast());
            Cause {
                status: (*raw).status,
                operand: Operand::from_raw((*raw).operand),
                component: u32::try_from((*raw).component).ok(),
                position: u64::try_from((*raw).position).ok(),
                value: if flags & sys::GTH_ERROR_UNSIGNED as u32 != 0 {
                    i128::from(unsigned(value))
                } else {
                    i128::from(value)
                },
                limit: (*raw).limit,
                wraps: flags & sys::GTH_ERROR_WRAP as u32 != 0,
                native: (*raw).native,
                sequence: (*raw).sequence,
                count: (*raw).count,
                message: message.to_string_lossy().into_owned(),
            }
        }
    }
}

macro_rules! errors {
    ($($(#[$doc:meta])* $variant:ident = $status:ident,)*) => {
        /// Everything that a call can answer but success. No output has been written then, with the one exception of
        /// [`Error::Race`].
        ///
        /// ```
        /// use gather::{Error, Options, Tensor, gather};
        ///
        /// let table = [0.5f32, 1.5, 2.5];
        /// let ids = [0u8, 7];
        /// let answer = gather(&Tensor::new(&table, &[3]), &Tensor::new(&ids, &[2]), &Options::new());
        /// match answer {
        ///     Err(Error::Index(cause)) => {
        ///         assert_eq!(cause.position, Some(1));
        ///         assert_eq!((cause.value, cause.limit), (7, 3));
        ///     }
        ///     _ => unreachable!(),
        /// }
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* #[error("{0}")] $variant(Box<Cause>),)*
            /// A status of a newer library that this crate has no name for.
            #[error("{0}")]
            Other(Box<Cause>),
            /// The loaded library has another ABI than the one this crate was built for.
            #[error("the loaded libgather has ABI {loaded}, this crate was built for ABI {built}")]
            Abi {
                /// The ABI of this crate.
                built: u32,
                /// The ABI of the library.
                loaded: u32,
            },
        }

        impl From<Cause> for Error {
            fn from(cause: Cause) -> Self {
                let cause = Box::new(cause); // so that results stay two words
                match cause.status {
                    $(sys::$status => Error::$variant(cause),)*
                    _ => Error::Other(cause),
                }
            }
        }

        impl Error {
            /// The details; none for [`Error::Abi`].
            pub fn cause(&self) -> Option<&Cause> {
                match self {
                    $(Error::$variant(cause) => Some(cause),)*
                    Error::Other(cause) => Some(cause),
                    Error::Abi { .. } => None,
                }
            }

            fn cause_mut(&mut self) -> Option<&mut Cause> {
                match self {
                    $(Error::$variant(cause) => Some(cause),)*
                    Error::Other(cause) => Some(cause),
                    Error::Abi { .. } => None,
                }
            }
        }
    };
}

errors! {
    /// A pointer is missing: no data where there is something to read or write.
    Null = GTH_E_NULL,
    /// Not a live handle.
    Handle = GTH_E_HANDLE,
    /// An opset or switch that this library does not know.
    Version = GTH_E_VERSION,
    /// A dtype that is not allowed here, or differs from the one needed.
    DType = GTH_E_DTYPE,
    /// A rank that is too small, too large, or differs from the one needed.
    Rank = GTH_E_RANK,
    /// An axis out of range or below batch_dims, or one that the operation does not have.
    Axis = GTH_E_AXIS,
    /// batch_dims out of range, or batch extents of params and indices that do not agree.
    Batch = GTH_E_BATCH,
    /// An extent that differs from the one needed, or a tuple that is too long.
    Shape = GTH_E_SHAPE,
    /// A product of extents beyond 64 bits, or memory that is too small.
    Size = GTH_E_SIZE,
    /// Strides that leave the memory described, or an output that overlaps itself.
    Stride = GTH_E_STRIDE,
    /// An absent device, tensors of different devices, or a build without CUDA.
    Device = GTH_E_DEVICE,
    /// A malformed DLPack struct.
    DlPack = GTH_E_DLPACK,
    /// A malformed Arrow struct, or string offsets that decrease or leave the bytes.
    Arrow = GTH_E_ARROW,
    /// An output, or an export, of read-only memory.
    ReadOnly = GTH_E_READONLY,
    /// From its first byte to its last, what is written overlaps what is read.
    Alias = GTH_E_ALIAS,
    /// An index out of bounds.
    Index = GTH_E_INDEX,
    /// Another thread changed the indices during the call; rows already written are gathered rows or zeros.
    Race = GTH_E_RACE,
    /// Memory could not be had.
    OutOfMemory = GTH_E_NOMEM,
    /// CUDA in a child process after fork.
    Fork = GTH_E_FORK,
    /// A CUDA call failed.
    Cuda = GTH_E_CUDA,
    /// The operation cannot be captured into a CUDA graph.
    Capture = GTH_E_CAPTURE,
    /// Valid, but not offered for this kind of tensor.
    Unsupported = GTH_E_UNSUPPORTED,
    /// A defect of the library.
    Internal = GTH_E_INTERNAL,
}

impl Error {
    /// The same error about another operand: a tensor of its own is an operand of the call around it.
    pub(crate) fn about(mut self, operand: Operand) -> Self {
        if let Some(cause) = self.cause_mut() {
            cause.operand = operand;
            if let Some(what) = cause.message.strip_prefix("tensor:") {
                cause.message = format!("{}:{what}", operand.name());
            }
        }
        self
    }
}

/// Calls the library with room for an error, and turns its answer into a result.
#[inline]
pub(crate) fn call(f: impl FnOnce(*mut sys::gth_error) -> i32) -> Result<(), Error> {
    // On success the library writes one field of the 320 bytes: to clear them first would cost more than a small call.
    let mut storage = MaybeUninit::<sys::gth_error>::uninit();
    let raw = storage.as_mut_ptr();
    // SAFETY: raw points to the storage.
    unsafe {
        (&raw mut (*raw).size).write(struct_size::<sys::gth_error>());
        (&raw mut (*raw).status).write(sys::GTH_OK);
    }
    match f(raw) {
        sys::GTH_OK => Ok(()),
        // SAFETY: raw has been handed to the library.
        status => Err(unsafe { failure(status, raw) }),
    }
}

/// # Safety
/// The library was given `raw`, with its size and status set, and answered `status`.
#[cold]
unsafe fn failure(status: i32, raw: *const sys::gth_error) -> Error {
    // SAFETY: the status field was set before the call; where it has changed, the library has written all fields.
    unsafe {
        if (*raw).status == status {
            Cause::read(raw).into()
        } else {
            Cause::new(status, Operand::None, "the library gave no details").into()
        }
    }
}
