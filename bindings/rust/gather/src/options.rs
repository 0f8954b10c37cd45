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

choices! {
    /// Sets all switches at once. The results are those of the named system in every edge case.
    Profile {
        /// The CPU kernels of TensorFlow: negative indices are out of bounds.
        TensorFlow = GTH_PROFILE_TENSORFLOW,
        /// The GPU kernels of TensorFlow: rows of indices out of bounds are zeros.
        TensorFlowGpu = GTH_PROFILE_TENSORFLOW_GPU,
        /// The ONNX specification: negative indices wrap.
        Onnx = GTH_PROFILE_ONNX,
        /// ONNX Runtime on the CPU.
        Ort = GTH_PROFILE_ORT,
        /// NumPy's `take(mode="raise")` and `x[i, j]`.
        NumpyRaise = GTH_PROFILE_NUMPY_RAISE,
        /// NumPy's `take(mode="wrap")`: modulo.
        NumpyWrap = GTH_PROFILE_NUMPY_WRAP,
        /// NumPy's `take(mode="clip")`: clamp, and negative indices become 0.
        NumpyClip = GTH_PROFILE_NUMPY_CLIP,
        /// torch: `index_select` for gather, `x[i, j]` for gather_nd.
        Torch = GTH_PROFILE_TORCH,
        /// JAX's mode "fill".
        JaxFill = GTH_PROFILE_JAX_FILL,
        /// JAX's mode "clip".
        JaxClip = GTH_PROFILE_JAX_CLIP,
    }

    /// The meaning of a negative index.
    Negative {
        /// A negative index is out of bounds.
        Reject = GTH_NEGATIVE_REJECT,
        /// A negative index counts from the end, once.
        Wrap = GTH_NEGATIVE_WRAP,
    }

    /// The meaning of an index out of bounds.
    Bounds {
        /// The call returns [`Error::Index`], and the output is unchanged.
        Error = GTH_BOUNDS_ERROR,
        /// The row is filled, see [`Fill`].
        Fill = GTH_BOUNDS_FILL,
        /// The nearest valid index is used.
        Clamp = GTH_BOUNDS_CLAMP,
        /// The index modulo the extent is used.
        Modulo = GTH_BOUNDS_MODULO,
        /// The row of an existing output is unchanged. In a new output it is zero.
        Skip = GTH_BOUNDS_SKIP,
        /// The call returns [`Error::Index`], and the output may contain some of the results. A large call on the CPU
        /// validates indices while it copies, so it reads them once.
        ErrorPartial = GTH_BOUNDS_ERROR_PARTIAL,
    }

    /// The value that [`Bounds::Fill`] and the padding of gathers write.
    Fill {
        /// Zero bytes, or empty strings.
        Zero = GTH_FILL_ZERO,
        /// NaN, the smallest signed number, the largest unsigned number, or true, as in JAX.
        ByDType = GTH_FILL_BY_DTYPE,
    }

    /// The rule for the extents of params and indices in [`gather_elements`](crate::gather_elements) and
    /// [`scatter_elements`](crate::scatter_elements()), in the dims that are not the axis.
    Extents {
        /// The extents must be equal.
        Equal = GTH_EXTENTS_EQUAL,
        /// Extents of indices may be smaller. The call then uses a prefix of params, as in torch and ONNX.
        Prefix = GTH_EXTENTS_PREFIX,
        /// An extent of 1 is repeated, as in NumPy and JAX.
        Broadcast = GTH_EXTENTS_BROADCAST,
    }

    /// The way in which a scatter combines an update with the row that it selects. Updates are applied in the order of
    /// their positions. The result does not depend on the number of threads.
    Reduction {
        /// The row becomes the update. If several updates select it, the last one remains. All dtypes support it.
        None = GTH_REDUCTION_NONE,
        /// The row becomes the sum. Integers wrap around, and for bools it is the logical or. Strings and float8 do not
        /// support it.
        Add = GTH_REDUCTION_ADD,
        /// The row becomes the product. For bools it is the logical and. Strings and float8 do not support it.
        Mul = GTH_REDUCTION_MUL,
        /// The row becomes the maximum, or NaN if either is NaN. Strings, float8 and complex numbers do not support it.
        Max = GTH_REDUCTION_MAX,
        /// The row becomes the minimum, or NaN if either is NaN. Strings, float8 and complex numbers do not support it.
        Min = GTH_REDUCTION_MIN,
        /// The row becomes the mean of its updates and itself. The mean of integers is rounded down. Such a call
        /// allocates memory. Bools, strings and float8 do not support it.
        Mean = GTH_REDUCTION_MEAN,
    }

    /// What the reduction of a row by a scatter begins with. Rows without updates are unchanged.
    Initial {
        /// The row of the target.
        Target = GTH_INITIAL_TARGET,
        /// The first update, as with `include_self=False` of torch.
        Update = GTH_INITIAL_UPDATE,
    }

    /// How [`gather_bags`](crate::gather_bags()) makes one row of the rows of a bag. w is the weight of an id, or 1.
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

    /// The row of a bag of which no id is read.
    Empty {
        /// Zeros.
        Zero = GTH_EMPTY_ZERO,
        /// The value that [`Fill`] selects.
        Fill = GTH_EMPTY_FILL,
        /// The call returns [`Error::Offsets`], and the output is unchanged.
        Error = GTH_EMPTY_ERROR,
    }

    /// The type in which [`Reduction::Add`], [`Reduction::Mul`] and [`Reduction::Mean`] combine floating numbers.
    Accumulate {
        /// The type is the dtype. The sum of 4,096 ones in float16 is then 2,048.
        DType = GTH_ACCUMULATE_DTYPE,
        /// The type of float16 and bfloat16 is float32, and the result is rounded once at the end. Such a call
        /// allocates memory.
        Float32 = GTH_ACCUMULATE_FLOAT32,
        /// The type of float32 is float64, and that of float16 and bfloat16 is float32. The result is rounded once at
        /// the end. Such a call allocates memory.
        Float64 = GTH_ACCUMULATE_FLOAT64,
    }
}

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
    fill_dtype: i32,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// Defines the setters and the debug format of the options that are one field each. A field is a number or a choice.
macro_rules! options {
    ($($(#[$doc:meta])* $kind:ident $field:ident: $type:ty;)*) => {
        impl Options {
            $(
                $(#[$doc])*
                pub const fn $field(mut self, $field: $type) -> Self {
                    self.raw.$field = options!(@$kind to_raw $field);
                    self
                }
            )*

            fn fmt_fields(&self, out: &mut fmt::DebugStruct<'_, '_>) {
                $(if self.raw.$field != 0 {
                    match options!(@$kind from_raw self.raw.$field, $type) {
                        Some(value) => out.field(stringify!($field), &value),
                        None => out,
                    };
                })*
            }
        }
    };
    (@number to_raw $value:ident) => { $value };
    (@choice to_raw $value:ident) => { $value as i32 };
    (@number from_raw $raw:expr, $type:ty) => { Some($raw) };
    (@choice from_raw $raw:expr, $type:ty) => { <$type>::from_raw($raw) };
}

options! {
    /// Sets the number of leading dims that params and indices share. In gather a negative number counts from the rank
    /// of indices. In gather_elements it must be 0.
    number batch_dims: i64;
    /// Sets the system whose results a call must have. Other switches override it, regardless of their order.
    choice profile: Profile;
    /// Sets the opset, with [`Profile::Onnx`] and [`Profile::Ort`]. The newest definition not above it is used. 0 means
    /// the newest.
    number opset: i32;
    /// Sets the meaning of a negative index.
    choice negative: Negative;
    /// Sets the meaning of an index out of bounds.
    choice bounds: Bounds;
    /// Sets the value that [`Bounds::Fill`] writes.
    choice fill: Fill;
    /// Sets the rule for the extents of params and indices, in gather_elements and scatter_elements. The default is
    /// that of the profile, else equal.
    choice extents: Extents;
    /// Sets the way in which a scatter combines updates. Other calls return [`Error::Version`]. The default is
    /// [`Reduction::None`].
    choice reduction: Reduction;
    /// Sets the type in which sums and products are computed, in scatters, gradients and bags. Other calls return
    /// [`Error::Version`]. The default is that of the profile, else the dtype, and float32 for bags.
    choice accumulate: Accumulate;
    /// Sets what the reduction of a row by a scatter begins with. Other calls return [`Error::Version`]. The default is
    /// [`Initial::Target`].
    choice initial: Initial;
    /// Sets how the rows of a bag become one. Other operations than bags return [`Error::Version`]. The default is the
    /// sum.
    choice pool: Pool;
    /// Sets the row of a bag of which no id is read. The default is that of the profile, else zeros.
    choice empty: Empty;
}

impl Options {
    /// Returns the default options.
    pub const fn new() -> Self {
        // SAFETY: the struct has only numbers, for which zero is valid.
        let mut raw: sys::gth_options = unsafe { mem::zeroed() };
        raw.size = struct_size::<sys::gth_options>();
        Options { raw, fill_dtype: 0 }
    }

    /// Sets the axis of params that is indexed. A negative number counts from the end. The default is batch_dims.
    /// gather_nd has no axis, because its tuples select it.
    pub const fn axis(mut self, axis: i64) -> Self {
        self.raw.has_axis = 1;
        self.raw.axis = axis;
        self
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

    /// Sets an index that selects nothing and is no error, whether it is in bounds or not. A gather fills its row with
    /// the fill value, which is zero by default, also without [`Bounds::Fill`]. A scatter drops its update. Bags do not
    /// count it.
    pub const fn padding_index(mut self, id: i64) -> Self {
        self.raw.has_padding_index = 1;
        self.raw.padding_index = id;
        self
    }

    /// Sets the dtype of pooled rows: that of params (the default), or float32 for float16 and bfloat16.
    pub const fn out_dtype(mut self, dtype: DType) -> Self {
        self.raw.out_dtype = dtype as i32;
        self
    }

    /// Sets the highest number of CPU threads. 0 means that of the context.
    pub fn threads(mut self, threads: usize) -> Self {
        self.raw.threads = i32::try_from(threads).unwrap_or(i32::MAX);
        self
    }

    fn set_fill(&mut self, dtype: DType, image: [u64; 2]) {
        self.raw.fill = sys::GTH_FILL_VALUE;
        self.raw.fill_value = image;
        self.fill_dtype = dtype as i32;
    }

    #[inline]
    pub(crate) fn has_fill_value(&self) -> bool {
        self.raw.fill == sys::GTH_FILL_VALUE
    }

    /// Checks that the fill value has the dtype of the params. The library cannot check it, because it gets only the
    /// bytes.
    #[inline]
    pub(crate) fn check_fill(&self, params: i32) -> Result<(), Error> {
        if self.raw.fill != sys::GTH_FILL_VALUE || self.fill_dtype == params {
            return Ok(());
        }
        self.check_fill_dtype(params)
    }

    #[cold]
    fn check_fill_dtype(&self, params: i32) -> Result<(), Error> {
        // The library checks strings, and shapes without a dtype.
        if params == sys::GTH_DTYPE_STRING || params == 0 {
            return Ok(());
        }
        let name = |number| DType::try_from(number).map_or("unknown", DType::name);
        let message = format!(
            "the fill value is {}, params are {}",
            name(self.fill_dtype),
            name(params)
        );
        let mut cause =
            Cause::new(sys::GTH_E_DTYPE, Operand::Options, message).numbers(self.fill_dtype.into(), params.into());
        cause.component = u32::try_from(mem::offset_of!(sys::gth_options, fill_value)).ok();
        Err(cause.into())
    }
}

/// Formats the options that have been set.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (raw, mut out) = (&self.raw, f.debug_struct("Options"));
        if raw.has_axis != 0 {
            out.field("axis", &raw.axis);
        }
        self.fmt_fields(&mut out);
        if let (sys::GTH_FILL_VALUE, Ok(dtype)) = (raw.fill, DType::try_from(self.fill_dtype)) {
            out.field("fill_value", &format_args!("{:x?} as {dtype:?}", raw.fill_value));
        }
        if raw.has_padding_index != 0 {
            out.field("padding_index", &raw.padding_index);
        }
        if let (true, Ok(dtype)) = (raw.out_dtype != 0, DType::try_from(raw.out_dtype)) {
            out.field("out_dtype", &dtype);
        }
        if raw.threads != 0 {
            out.field("threads", &raw.threads);
        }
        out.finish()
    }
}
