//! The options of operations, plans and shape queries.

use std::fmt;
use std::mem;

use crate::buffer::check_bools;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::numbers::{bytes_to_c, struct_size};
use gather_sys as sys;

macro_rules! choices {
    ($($(#[$doc:meta])* $choice:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum $choice {
            $($(#[$variant_doc])* $variant = sys::$number,)*
        }

        impl $choice {
            fn from_raw(number: i32) -> Option<Self> {
                match number {
                    $(sys::$number => Some($choice::$variant),)*
                    _ => None,
                }
            }
        }
    )*};
}

// Begin of the choices that ./dev generate writes.
choices! {
    /// The system whose results a call has in every edge case.
    Profile {
        /// TensorFlow on the CPU: an index below 0 is an error.
        TensorFlow = GTH_PROFILE_TENSORFLOW,
        /// TensorFlow on a GPU: an index out of bounds gives zeros.
        TensorFlowGpu = GTH_PROFILE_TENSORFLOW_GPU,
        /// ONNX, the specification: negative indices wrap, no K = 0, types by opset.
        Onnx = GTH_PROFILE_ONNX,
        /// ONNX Runtime on the CPU.
        Ort = GTH_PROFILE_ORT,
        /// NumPy's take(mode="raise") and x\[i, j\]: negative indices wrap.
        NumpyRaise = GTH_PROFILE_NUMPY_RAISE,
        /// NumPy's take(mode="wrap"): an index modulo the size.
        NumpyWrap = GTH_PROFILE_NUMPY_WRAP,
        /// NumPy's take(mode="clip"): the nearest index, 0 for a negative one.
        NumpyClip = GTH_PROFILE_NUMPY_CLIP,
        /// torch's index_select for gather, and x\[i, j\] for gather_nd.
        Torch = GTH_PROFILE_TORCH,
        /// jnp.take(mode="fill"), x.at\[\].get(mode="fill").
        JaxFill = GTH_PROFILE_JAX_FILL,
        /// jnp.take(mode="clip"), x.at\[\].get(mode="clip").
        JaxClip = GTH_PROFILE_JAX_CLIP,
    }

    /// The meaning of a negative index.
    Negative {
        /// It is out of bounds.
        Reject = GTH_NEGATIVE_REJECT,
        /// It counts from the end: -1 is the last, -size the first. A smaller one is out of bounds.
        Wrap = GTH_NEGATIVE_WRAP,
    }

    /// The meaning of an index out of bounds.
    Bounds {
        /// The call returns [`Error::Index`], and the output is unchanged.
        Error = GTH_BOUNDS_ERROR,
        /// The row is filled with the value that [`Options::fill`] selects. Not valid for scatters.
        Fill = GTH_BOUNDS_FILL,
        /// The nearest valid index is used.
        Clamp = GTH_BOUNDS_CLAMP,
        /// The index modulo the extent is used, in \[0, extent).
        Modulo = GTH_BOUNDS_MODULO,
        /// The row of the output is unchanged, and zero in a new output. An update is dropped.
        Skip = GTH_BOUNDS_SKIP,
        /// Like error, but after [`Error::Index`] the written operand may contain some of the results. A large gather
        /// then validates indices while it copies, so it reads them once.
        ErrorPartial = GTH_BOUNDS_ERROR_PARTIAL,
    }

    /// The value that [`Bounds::Fill`] and padding of gathers write.
    Fill {
        /// Zero bytes, or empty strings.
        Zero = GTH_FILL_ZERO,
        /// As in JAX: NaN (+ 0i), the smallest signed, the largest unsigned, true.
        ByDType = GTH_FILL_BY_DTYPE,
    }

    /// The rule for the extents of params and indices of [`gather_elements`](crate::gather_elements()) and
    /// [`scatter_elements`](crate::scatter_elements()) in the dims that are not the axis.
    Extents {
        /// They are equal.
        Equal = GTH_EXTENTS_EQUAL,
        /// Extents of indices may be smaller. A prefix of params is used (torch, ONNX).
        Prefix = GTH_EXTENTS_PREFIX,
        /// An extent of 1 is repeated (NumPy, JAX).
        Broadcast = GTH_EXTENTS_BROADCAST,
    }

    /// The way in which a scatter combines an update with the row that it selects.
    Reduction {
        /// The row becomes the update. All dtypes.
        None = GTH_REDUCTION_NONE,
        /// The row becomes the sum. Integers wrap around. For bools it is the logical or.
        Add = GTH_REDUCTION_ADD,
        /// The row becomes the product. Integers wrap around. For bools it is the logical and.
        Mul = GTH_REDUCTION_MUL,
        /// The row becomes the maximum, or NaN if either is NaN.
        Max = GTH_REDUCTION_MAX,
        /// The row becomes the minimum, or NaN if either is NaN.
        Min = GTH_REDUCTION_MIN,
        /// The row becomes the mean of its updates and itself, rounded down for integers.
        Mean = GTH_REDUCTION_MEAN,
    }

    /// The type in which scatters, gradients and bags add and multiply floating numbers.
    Accumulate {
        /// Each result is rounded to the dtype. 4,096 ones in float16 then add up to 2,048.
        DType = GTH_ACCUMULATE_DTYPE,
        /// float32, for float16 and bfloat16. Elements are rounded once, after all updates: 4,096.
        Float32 = GTH_ACCUMULATE_FLOAT32,
        /// float64, for float32, whose elements are rounded once. float16 and bfloat16 use float32. Not for bags.
        Float64 = GTH_ACCUMULATE_FLOAT64,
    }

    /// The way in which gather_bags makes one row of the rows of a bag.
    Pool {
        /// The sum of w * row.
        Sum = GTH_POOL_SUM,
        /// The sum, divided by the sum of w. Floating and complex numbers only.
        Mean = GTH_POOL_MEAN,
        /// The sum, divided by the root of the sum of w * w. Floating numbers only.
        SqrtN = GTH_POOL_SQRTN,
        /// The largest number, or NaN if one is NaN. There are no weights and no complex numbers.
        Max = GTH_POOL_MAX,
        /// The smallest number, or NaN if one is NaN. There are no weights and no complex numbers.
        Min = GTH_POOL_MIN,
    }

    /// The row of a bag of gather_bags of which no id is read.
    Empty {
        /// Zeros.
        Zero = GTH_EMPTY_ZERO,
        /// The value that [`Options::fill`] selects.
        Fill = GTH_EMPTY_FILL,
        /// [`Error::Offsets`]. The output is unchanged.
        Error = GTH_EMPTY_ERROR,
    }

    /// The value that the reduction of a row by a scatter begins with: the row of target, or the first update.
    Initial {
        /// The row of target.
        Target = GTH_INITIAL_TARGET,
        /// The first update, as with include_self=False of torch.
        Update = GTH_INITIAL_UPDATE,
    }

    /// The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
    /// element.
    Order {
        /// The order of their positions. The bytes of the result are equal in every call, on every device and on the
        /// CPU, except for the bits of NaN.
        Updates = GTH_ORDER_UPDATES,
        /// A CUDA device may add float16, bfloat16, float32, float64 and complex numbers with atomic additions. Then
        /// the last bits of a sum or a mean may differ from call to call, and subnormal numbers of float32 may count as
        /// zero. Other reductions and dtypes are not changed.
        Any = GTH_ORDER_ANY,
    }
}
// End of the choices that ./dev generate writes.

/// The options of an operation. By default there is no profile, axis and batch_dims are 0, and extents are equal.
/// Negative indices are then out of bounds, and an index out of bounds returns [`Error::Index`].
///
/// # Examples
///
/// ```
/// use gather::{Bounds, Options, Tensor, gather};
///
/// let params = [1i32, 2, 3, 4, 5, 6];
/// let columns = gather(
///     &Tensor::new(&params, &[2, 3]),
///     &Tensor::new(&[2i64, 9], &[2]),
///     &Options::new().axis(1).bounds(Bounds::Fill).fill_value(-1i32),
/// )?;
/// assert_eq!(columns.as_slice::<i32>()?, [3, -1, 6, -1]);
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub struct Options {
    pub(crate) raw: sys::gth_options,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a number of things as an int32_t. Larger numbers become the largest one.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // It fits.
const fn count_to_c(count: usize) -> i32 {
    const LARGEST: usize = i32::MAX as usize;
    if count < LARGEST { count as i32 } else { i32::MAX }
}

/// Defines the setters and the debug format of the options. The kind of an option determines how the field is set.
macro_rules! options {
    ($($(#[$doc:meta])* $kind:ident $field:ident: $type:ty $(, $has:ident)?;)*) => {
        impl Options {
            $(
                $(#[$doc])*
                pub const fn $field(mut self, $field: $type) -> Self {
                    $(self.raw.$has = 1;)?
                    self.raw.$field = options!(@$kind to_raw $field);
                    self
                }
            )*

            fn fmt_fields(&self, out: &mut fmt::DebugStruct<'_, '_>) {
                $(if options!(@$kind is_set self.raw.$field $(, self.raw.$has)?) {
                    match options!(@$kind from_raw self.raw.$field, $type) {
                        Some(value) => out.field(stringify!($field), &value),
                        None => out,
                    };
                })*
            }
        }
    };
    (@count to_raw $value:ident) => { count_to_c($value) };
    (@choice to_raw $value:ident) => { $value as i32 };
    (@dtype to_raw $value:ident) => { $value as i32 };
    (@$number:ident to_raw $value:ident) => { $value };
    (@choice from_raw $raw:expr, $type:ty) => { <$type>::from_raw($raw) };
    (@dtype from_raw $raw:expr, $type:ty) => { <$type>::try_from($raw).ok() };
    (@$number:ident from_raw $raw:expr, $type:ty) => { Some($raw) };
    (@$kind:ident is_set $raw:expr) => { $raw != 0 };
    (@$kind:ident is_set $raw:expr, $has:expr) => { $has != 0 };
}

// Begin of the setters that ./dev generate writes.
options! {
    /// Sets the dim of params that indices select in. A negative axis counts from the end. The default is the number of
    /// batch dims.
    given axis: i64, has_axis;
    /// Sets the number of leading dims that params and indices share. For [`gather`](crate::gather()) a negative number
    /// counts from the rank of indices. The default is 0.
    number batch_dims: i64;
    /// Sets the system whose results a call has in every edge case. Other options override its switches. The default is
    /// no profile.
    choice profile: Profile;
    /// Sets the ONNX version of [`Profile::Onnx`] and [`Profile::Ort`]. The default, 0, is the newest.
    number opset: i32;
    /// Sets the meaning of a negative index. The default is that of the profile, else [`Negative::Reject`].
    choice negative: Negative;
    /// Sets the meaning of an index out of bounds. The default is that of the profile, else [`Bounds::Error`].
    choice bounds: Bounds;
    /// Sets the value that [`Bounds::Fill`] and padding of gathers write. The default is that of the profile, else
    /// [`Fill::Zero`].
    choice fill: Fill;
    /// Sets the rule for the extents of params and indices of [`gather_elements`](crate::gather_elements()) and
    /// [`scatter_elements`](crate::scatter_elements()) in the dims that are not the axis. The default is that of the
    /// profile, else [`Extents::Equal`].
    choice extents: Extents;
    /// Sets the way in which a scatter combines an update with the row that it selects. Other calls reject it. The
    /// default is [`Reduction::None`].
    choice reduction: Reduction;
    /// Sets the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject it.
    /// The default is that of the profile, else [`Accumulate::DType`]. For bags it is [`Accumulate::Float32`].
    choice accumulate: Accumulate;
    /// Sets the highest number of CPU threads of a call. The default, 0, is that of the context.
    count threads: usize;
    /// Sets the way in which gather_bags makes one row of the rows of a bag. The default is [`Pool::Sum`].
    choice pool: Pool;
    /// Sets the row of a bag of gather_bags of which no id is read. The default is that of the profile, else
    /// [`Empty::Zero`].
    choice empty: Empty;
    /// Sets an index that selects nothing and causes no error, even out of bounds. A gather fills its row as the option
    /// for fill values states, by default with zeros. A scatter drops its update. gather_bags does not count it. The
    /// default is no index.
    given padding_index: i64, has_padding_index;
    /// Sets the value that the reduction of a row by a scatter begins with: the row of target, or the first update. The
    /// default is [`Initial::Target`].
    choice initial: Initial;
    /// Sets the dtype of pooled rows: that of params, or float32 for float16 and bfloat16. The default is that of
    /// params.
    dtype out_dtype: DType;
    /// Sets the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
    /// element. On the CPU it is always that of the updates. The default is [`Order::Updates`].
    choice order: Order;
}
// End of the setters that ./dev generate writes.

impl Options {
    /// Returns the default options.
    pub const fn new() -> Self {
        // SAFETY: the struct has only numbers, for which zero is valid.
        let mut raw: sys::gth_options = unsafe { mem::zeroed() };
        raw.size = struct_size::<sys::gth_options>();
        Options { raw }
    }

    /// Sets the element that [`Bounds::Fill`] writes. If params have another dtype, calls return [`Error::DType`].
    pub fn fill_value<T: Element>(mut self, value: T) -> Self {
        let mut image = [0u64; 2];
        const { assert!(size_of::<T>() <= size_of::<[u64; 2]>()) };
        // SAFETY: elements have no padding and fit.
        unsafe { image.as_mut_ptr().cast::<T>().write_unaligned(value) };
        self.set_fill(T::DTYPE, image);
        self
    }

    /// Sets the element that [`Bounds::Fill`] writes, as bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] if the bytes are no element of this dtype.
    pub fn fill_image(self, dtype: DType, bytes: &[u8]) -> Result<Self, Error> {
        if dtype == DType::Bool {
            check_bools(bytes)?;
        }
        if dtype == DType::String || bytes.len() != dtype.size() {
            let message = format!("{} bytes are no {dtype}", bytes.len());
            return Err(Cause::new(sys::GTH_E_DTYPE, Operand::Options, message)
                .numbers(bytes.len() as i128, bytes_to_c(dtype.size()))
                .into());
        }
        let mut image = [0; 16];
        image[..bytes.len()].copy_from_slice(bytes);
        // SAFETY: bools have been checked.
        Ok(unsafe { self.fill_image_unchecked(dtype, image) })
    }

    /// Sets the element that [`Bounds::Fill`] writes, as bytes, without a check. Bytes beyond the size of an element
    /// are ignored.
    ///
    /// # Safety
    ///
    /// If an output of bools is filled with other bytes than 0 and 1, it must not be read as Rust bools.
    pub unsafe fn fill_image_unchecked(mut self, dtype: DType, image: [u8; 16]) -> Self {
        // SAFETY: plain bytes of the same size.
        self.set_fill(dtype, unsafe { mem::transmute::<[u8; 16], [u64; 2]>(image) });
        self
    }

    fn set_fill(&mut self, dtype: DType, image: [u64; 2]) {
        self.raw.fill = sys::GTH_FILL_VALUE;
        self.raw.fill_value = image;
        self.raw.fill_dtype = dtype as i32;
    }
}

/// Formats the options that have been set.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (raw, mut out) = (&self.raw, f.debug_struct("Options"));
        self.fmt_fields(&mut out);
        if let (sys::GTH_FILL_VALUE, Ok(dtype)) = (raw.fill, DType::try_from(raw.fill_dtype)) {
            out.field("fill_value", &format_args!("{:x?} as {dtype:?}", raw.fill_value));
        }
        out.finish()
    }
}
