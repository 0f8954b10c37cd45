//! Errors and their details.

use std::ffi::CStr;
use std::{fmt, io};

use crate::numbers::{bytes_to_c, unsigned};
use gather_sys as sys;

macro_rules! operands {
    ($($(#[$doc:meta])* $variant:ident = $number:ident $name:literal,)*) => {
        /// The operand to which an error belongs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Operand {
            $($(#[$doc])* $variant,)*
        }

        impl Operand {
            /// Returns the name with which messages of the library begin.
            fn name(self) -> &'static str {
                match self {
                    $(Operand::$variant => $name,)*
                }
            }

            fn from_raw(operand: i32) -> Self {
                match operand {
                    $(sys::$number => Operand::$variant,)*
                    _ => Operand::None,
                }
            }
        }
    };
}

operands! {
    /// The error belongs to no operand.
    None = GTH_OPERAND_NONE "none",
    /// The source tensor.
    Params = GTH_OPERAND_PARAMS "params",
    /// The indices.
    Indices = GTH_OPERAND_INDICES "indices",
    /// The output.
    Out = GTH_OPERAND_OUT "out",
    /// The options. The component is the byte offset of the field in the C struct.
    Options = GTH_OPERAND_OPTIONS "options",
    /// The context.
    Context = GTH_OPERAND_CONTEXT "context",
    /// The plan.
    Plan = GTH_OPERAND_PLAN "plan",
    /// The tensor of a call that has only one.
    Tensor = GTH_OPERAND_TENSOR "tensor",
    /// The tensor that a scatter or a gradient writes.
    Target = GTH_OPERAND_TARGET "target",
    /// The updates of a scatter, or the gradient of an output.
    Updates = GTH_OPERAND_UPDATES "updates",
    /// The request as a whole.
    Request = GTH_OPERAND_REQUEST "request",
    /// The bags of [`gather_bags`](crate::gather_bags()).
    Bags = GTH_OPERAND_BAGS "bags",
    /// The weights of bags.
    Weights = GTH_OPERAND_WEIGHTS "weights",
    /// The format of packed rows. The component is the byte offset of the field in the C struct.
    Codec = GTH_OPERAND_CODEC "codec",
    /// A segment of a table in files. The component is its number.
    File = GTH_OPERAND_FILE "file",
    /// The scales of packed rows.
    Scales = GTH_OPERAND_SCALES "scales",
    /// The zero points or biases of packed rows.
    Zeros = GTH_OPERAND_ZEROS "zeros",
}

/// The details of an [`Error`].
///
/// If an index is out of bounds, `position` is the row-major number of the first invalid tuple, and `component` is the
/// number of its component. `value` is the index, and `limit` is the extent of the dim that it selects from.
///
/// If a row of a file cannot be read, `component` is the segment of the [`Table`](crate::Table), and `position` is the
/// number of the first tuple that selects the row. `value` is the byte in the file, and `limit` is the number of bytes
/// from there on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The number of the status in the C ABI. It never changes.
    pub status: i32,
    /// The operand to which the error belongs.
    pub operand: Operand,
    /// The component of the tuple, the dim, or the field of the options.
    pub component: Option<u32>,
    /// The row-major number of the tuple.
    pub position: Option<u64>,
    /// The given value. It can hold every signed and unsigned index.
    pub value: i128,
    /// The required value: a bound, a size, or the number of a dtype.
    pub limit: i64,
    /// True if negative indices count from the end. The valid range is then `[-limit, limit)`.
    pub wraps: bool,
    /// The number of a CUDA error, or errno (on Windows that of GetLastError). 0 if there is none.
    pub native: i32,
    /// The number of the device call in its context, from 1.
    pub sequence: i64,
    /// The number of device calls that have failed since the last take.
    pub count: u64,
    /// The number of the request in a call that runs several requests.
    pub item: Option<u64>,
    /// The error in English. It may change between releases.
    pub message: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Cause {
    /// Returns the error of the system of an [`Error::Io`]. It is [`InvalidData`](io::ErrorKind::InvalidData) if the
    /// system has none, because the file is too short or has another content. It is `None` for every other error.
    pub fn io_error(&self) -> Option<io::Error> {
        (self.status == sys::GTH_E_IO).then(|| match self.native {
            0 => io::Error::new(io::ErrorKind::InvalidData, self.message.clone()),
            native => io::Error::from_raw_os_error(native),
        })
    }

    /// Creates an error that this crate finds before it calls the library. The message begins with the operand, as
    /// messages of the library do.
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
            item: None,
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

    /// Reads an error of the library.
    ///
    /// # Safety
    ///
    /// The library has written `raw`.
    pub(crate) unsafe fn read(raw: *const sys::gth_error) -> Self {
        // SAFETY: with a status that is not OK the library writes every field except size, and the message ends with a
        // zero. The bytes after that zero may be uninitialised. Therefore no reference to the struct is created.
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
                item: u64::try_from((*raw).item).ok(),
                message: message.to_string_lossy().into_owned(),
            }
        }
    }
}

macro_rules! errors {
    ($($(#[$doc:meta])* $variant:ident = $status:ident,)*) => {
        /// The error of a call. If a call fails, no output has been written. The exceptions are [`Error::Race`],
        /// [`Error::Cuda`], [`Error::Io`], and [`Error::Index`] with
        /// [`Bounds::ErrorPartial`](crate::Bounds::ErrorPartial).
        ///
        /// # Examples
        ///
        /// ```
        /// use gather::{Error, Options, Tensor, gather};
        ///
        /// let table = [0.5f32, 1.5, 2.5];
        /// let ids = [0u8, 7];
        /// let result = gather(&Tensor::new(&table, &[3]), &Tensor::new(&ids, &[2]), &Options::new());
        /// match result {
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
            /// A status of a newer library for which this crate has no name.
            #[error("{0}")]
            Other(Box<Cause>),
            /// The loaded library has another ABI than this crate.
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
                let cause = Box::new(cause); // A result then has only two words.
                match cause.status {
                    $(sys::$status => Error::$variant(cause),)*
                    _ => Error::Other(cause),
                }
            }
        }

        impl Error {
            /// Returns the details. [`Error::Abi`] has none.
            pub fn cause(&self) -> Option<&Cause> {
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
    /// A required pointer is missing, or there is no data although elements are read or written.
    Null = GTH_E_NULL,
    /// The handle has been released.
    Handle = GTH_E_HANDLE,
    /// The opset or the switch is unknown.
    Version = GTH_E_VERSION,
    /// The dtype is not allowed here, or differs from the required one.
    DType = GTH_E_DTYPE,
    /// The rank is too small, too large, or differs from the required one.
    Rank = GTH_E_RANK,
    /// The axis is out of range or below batch_dims, or the operation has none.
    Axis = GTH_E_AXIS,
    /// batch_dims is out of range, or batch extents of params and indices differ.
    Batch = GTH_E_BATCH,
    /// An extent differs from the required one, or a tuple is too long.
    Shape = GTH_E_SHAPE,
    /// A product of extents exceeds 64 bits, or memory is too small.
    Size = GTH_E_SIZE,
    /// Strides leave the described memory, or elements of an output overlap.
    Stride = GTH_E_STRIDE,
    /// The device is absent, tensors are on different devices, or the build has no CUDA.
    Device = GTH_E_DEVICE,
    /// The DLPack struct is malformed.
    DlPack = GTH_E_DLPACK,
    /// The Arrow struct or a row that is taken is malformed, or offsets of strings decrease or leave the bytes.
    Arrow = GTH_E_ARROW,
    /// An output, or an export, is read-only memory.
    ReadOnly = GTH_E_READONLY,
    /// The byte range of the written operand overlaps the byte range of another one.
    Alias = GTH_E_ALIAS,
    /// An index is out of bounds.
    Index = GTH_E_INDEX,
    /// Another thread has changed the indices during the call. Rows that were written are gathered rows or zeros.
    Race = GTH_E_RACE,
    /// Memory could not be allocated.
    OutOfMemory = GTH_E_NOMEM,
    /// CUDA was used in a child process after fork.
    Fork = GTH_E_FORK,
    /// A CUDA call failed.
    Cuda = GTH_E_CUDA,
    /// The operation cannot be captured into a CUDA graph.
    Capture = GTH_E_CAPTURE,
    /// The call is valid, but this kind of tensor does not support it.
    Unsupported = GTH_E_UNSUPPORTED,
    /// The library has a defect.
    Internal = GTH_E_INTERNAL,
    /// Offsets, lengths or segments of bags are invalid.
    Offsets = GTH_E_OFFSETS,
    /// A file of a [`Table`](crate::Table) could not be opened or read, or does not have the rows.
    /// [`Cause::io_error`] is the error of the system.
    Io = GTH_E_IO,
}

/// Returns an empty vector with a capacity of `count` numbers that are made of indices.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut numbers = Vec::new();
    match numbers.try_reserve_exact(count) {
        Ok(()) => Ok(numbers),
        Err(_) => {
            let bytes = bytes_to_c(count.saturating_mul(size_of::<T>()));
            let message = format!("cannot allocate {bytes} bytes for the numbers of their rows");
            Err(Cause::new(sys::GTH_E_NOMEM, Operand::Indices, message)
                .numbers(bytes.into(), 0)
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_variants_and_operands_have_names() {
        for status in sys::GTH_E_IO..sys::GTH_OK {
            let error = Error::from(Cause::new(status, Operand::None, "m"));
            assert!(!matches!(error, Error::Other(_)), "{error:?}");
            assert_eq!(error.cause().unwrap().status, status);
        }
        let offsets = Error::from(Cause::new(sys::GTH_E_OFFSETS, Operand::Bags, "decrease"));
        assert!(matches!(offsets, Error::Offsets(_)) && offsets.to_string() == "bags: decrease");
        let unknown = Error::from(Cause::new(-99, Operand::None, "m"));
        assert!(matches!(unknown, Error::Other(_)) && unknown.cause().unwrap().status == -99);
        for operand in sys::GTH_OPERAND_NONE + 1..=sys::GTH_OPERAND_ZEROS {
            assert_ne!(Operand::from_raw(operand), Operand::None, "{operand}");
        }
        assert_eq!(Operand::from_raw(sys::GTH_OPERAND_REQUEST), Operand::Request);
        assert_eq!(Operand::from_raw(sys::GTH_OPERAND_ZEROS + 1), Operand::None);
    }

    #[test]
    fn error_of_this_crate_has_no_numbers() {
        let cause = Cause::new(sys::GTH_E_NULL, Operand::None, "m");
        let numbers = (cause.component, cause.position, cause.item, cause.value, cause.limit);
        assert_eq!(numbers, (None, None, None, 0, 0));
        assert_eq!(
            (cause.native, cause.sequence, cause.count, cause.wraps),
            (0, 0, 0, false)
        );
        assert_eq!(cause.message, "m");
        let cause = cause.numbers(5, 7);
        assert_eq!((cause.value, cause.limit), (5, 7));
    }

    #[test]
    fn fields_of_the_library_are_read() {
        let mut raw = sys::gth_error {
            status: sys::GTH_E_CUDA,
            operand: sys::GTH_OPERAND_OUT,
            component: 2,
            position: 4,
            value: -1,
            limit: 5,
            flags: (sys::GTH_ERROR_UNSIGNED | sys::GTH_ERROR_WRAP) as u32,
            native: 6,
            sequence: 7,
            count: 8,
            item: 3,
            ..Default::default()
        };
        let mut expected = Cause {
            status: sys::GTH_E_CUDA,
            operand: Operand::Out,
            component: Some(2),
            position: Some(4),
            value: u64::MAX.into(),
            limit: 5,
            wraps: true,
            native: 6,
            sequence: 7,
            count: 8,
            item: Some(3),
            message: String::new(),
        };
        // SAFETY: every field is initialised.
        assert_eq!(unsafe { Cause::read(&raw) }, expected);

        (raw.component, raw.position, raw.item, raw.flags) = (-1, -1, -1, 0);
        (expected.component, expected.position, expected.item) = (None, None, None);
        (expected.value, expected.wraps) = (-1, false);
        // SAFETY: as above.
        assert_eq!(unsafe { Cause::read(&raw) }, expected);
    }
}
