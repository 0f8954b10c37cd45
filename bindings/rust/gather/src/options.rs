//! The options of every gather, scatter, plan and shape query.

use std::fmt;
use std::mem;

use crate::buffer::check_bools;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::numbers::{bytes_to_c, struct_size};
use gather_sys as sys;

/// All switches at once, equal to the named system on its edge cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Profile {
    /// TensorFlow's CPU kernels: negative indices are refused.
    TensorFlow = sys::GTH_PROFILE_TENSORFLOW,
    /// TensorFlow's GPU kernels: rows of bad indices are zeros.
    TensorFlowGpu = sys::GTH_PROFILE_TENSORFLOW_GPU,
    /// The ONNX specification: negative indices wrap.
    Onnx = sys::GTH_PROFILE_ONNX,
    /// ONNX Runtime on the CPU.
    Ort = sys::GTH_PROFILE_ORT,
    /// NumPy's `take(mode="raise")` and `x[i, j]`.
    NumpyRaise = sys::GTH_PROFILE_NUMPY_RAISE,
    /// NumPy's `take(mode="wrap")`: modulo.
    NumpyWrap = sys::GTH_PROFILE_NUMPY_WRAP,
    /// NumPy's `take(mode="clip")`: clamp, negative indices go to 0.
    NumpyClip = sys::GTH_PROFILE_NUMPY_CLIP,
    /// torch: `index_select` for gather, `x[i, j]` for gather_nd.
    Torch = sys::GTH_PROFILE_TORCH,
    /// JAX's mode "fill".
    JaxFill = sys::GTH_PROFILE_JAX_FILL,
    /// JAX's mode "clip".
    JaxClip = sys::GTH_PROFILE_JAX_CLIP,
}

/// What a negative index means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Negative {
    /// It is out of bounds.
    Reject = sys::GTH_NEGATIVE_REJECT,
    /// It counts from the end, once.
    Wrap = sys::GTH_NEGATIVE_WRAP,
}

/// What an index out of bounds means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Bounds {
    /// [`Error::Index`], and the output is unchanged.
    Error = sys::GTH_BOUNDS_ERROR,
    /// The row is filled, see [`Fill`].
    Fill = sys::GTH_BOUNDS_FILL,
    /// The nearest valid index.
    Clamp = sys::GTH_BOUNDS_CLAMP,
    /// The index modulo the size.
    Modulo = sys::GTH_BOUNDS_MODULO,
    /// The row of the caller's output is left as it is; a new output has zeros there.
    Skip = sys::GTH_BOUNDS_SKIP,
}

/// What [`Bounds::Fill`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Fill {
    /// Zero bytes; empty strings.
    Zero = sys::GTH_FILL_ZERO,
    /// NaN, the smallest signed, the largest unsigned number, true; as JAX does.
    ByDType = sys::GTH_FILL_BY_DTYPE,
}

/// How the extents of params and indices must agree in [`gather_elements`](crate::gather_elements) and
/// [`scatter_elements`](crate::scatter_elements()), in the dims that are not the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Extents {
    /// They are the same.
    Equal = sys::GTH_EXTENTS_EQUAL,
    /// Those of indices may be smaller: a prefix of params is gathered from, as in torch and ONNX.
    Prefix = sys::GTH_EXTENTS_PREFIX,
    /// Where one of them is 1, it is repeated, as in NumPy and JAX.
    Broadcast = sys::GTH_EXTENTS_BROADCAST,
}

/// What becomes of an update and of what its row of the target holds. Of several updates of one row each is combined in
/// turn, in the order of positions: the result is the same for every number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Reduction {
    /// The row becomes the update, the last one of several. Any dtype.
    None = sys::GTH_REDUCTION_NONE,
    /// The sum; integers wrap around, bools are or-ed. Not of strings and float8.
    Add = sys::GTH_REDUCTION_ADD,
    /// The product; bools are and-ed. As [`Reduction::Add`].
    Mul = sys::GTH_REDUCTION_MUL,
    /// The larger one, NaN if either is. Not of strings, float8 and complex numbers.
    Max = sys::GTH_REDUCTION_MAX,
    /// The smaller one. As [`Reduction::Max`].
    Min = sys::GTH_REDUCTION_MIN,
}

/// What [`Reduction::Add`] and [`Reduction::Mul`] work in, of float16 and bfloat16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum Accumulate {
    /// The dtype: 4,096 ones are 2,048 in float16.
    DType = sys::GTH_ACCUMULATE_DTYPE,
    /// float32, rounded once at the end. Such a call allocates.
    Float32 = sys::GTH_ACCUMULATE_FLOAT32,
}

/// Options, all of which have defaults: no profile, axis = batch_dims = 0, negative indices refused, an index out of
/// bounds is [`Error::Index`], extents are equal.
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
#[derive(Clone, Copy)]
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

impl Options {
    /// The defaults.
    pub const fn new() -> Self {
        Options {
            raw: sys::gth_options {
                size: struct_size::<sys::gth_options>(),
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
                reserved: 0,
            },
            fill_dtype: 0,
        }
    }

    /// The axis of params that is indexed; negative counts from the end. Without it: batch_dims. Not of gather_nd, whose
    /// tuples say it.
    pub const fn axis(mut self, axis: i64) -> Self {
        self.raw.has_axis = 1;
        self.raw.axis = axis;
        self
    }

    /// How many leading dims params and indices share; for gather, negative counts from the rank of indices. 0 for
    /// gather_elements, where they share all.
    pub const fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.raw.batch_dims = batch_dims;
        self
    }

    /// The system to be equal to. The other switches override it, in whatever order they are set.
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.raw.profile = profile as i32;
        self
    }

    /// With [`Profile::Onnx`] and [`Profile::Ort`]: the newest definition not above it; 0: the newest.
    pub const fn opset(mut self, opset: i32) -> Self {
        self.raw.opset = opset;
        self
    }

    /// What a negative index means.
    pub const fn negative(mut self, negative: Negative) -> Self {
        self.raw.negative = negative as i32;
        self
    }

    /// What an index out of bounds means.
    pub const fn bounds(mut self, bounds: Bounds) -> Self {
        self.raw.bounds = bounds as i32;
        self
    }

    /// What [`Bounds::Fill`] writes.
    pub const fn fill(mut self, fill: Fill) -> Self {
        self.raw.fill = fill as i32;
        self
    }

    /// An element for [`Bounds::Fill`] to write. Calls with params of another dtype answer [`Error::DType`].
    pub fn fill_value<T: Element>(mut self, value: T) -> Self {
        let mut image = [0u64; 2];
        const { assert!(size_of::<T>() <= size_of::<[u64; 2]>()) };
        // SAFETY: elements have no padding and fit.
        unsafe { image.as_mut_ptr().cast::<T>().write_unaligned(value) };
        self.set_fill(T::DTYPE, image);
        self
    }

    /// The memory of an element for [`Bounds::Fill`] to write.
    ///
    /// Errors: [`Error::DType`] for bytes that are no element of this dtype.
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

    /// As [`Options::fill_image`], whatever the bytes: the first of them that an element has are used.
    ///
    /// # Safety
    /// Where an output of bools is filled with anything but 0 and 1, it must not be read as Rust bools.
    pub unsafe fn fill_image_unchecked(mut self, dtype: DType, image: [u8; 16]) -> Self {
        // SAFETY: plain bytes of the same size.
        self.set_fill(dtype, unsafe { mem::transmute::<[u8; 16], [u64; 2]>(image) });
        self
    }

    /// How the extents of params and indices must agree. Of gather_elements and scatter_elements; without it: as the profile
    /// says, else equal.
    pub const fn extents(mut self, extents: Extents) -> Self {
        self.raw.extents = extents as i32;
        self
    }

    /// What becomes of updates. Of scatters: other calls answer [`Error::Version`]. Without it: [`Reduction::None`].
    pub const fn reduction(mut self, reduction: Reduction) -> Self {
        self.raw.reduction = reduction as i32;
        self
    }

    /// What sums and products are made in. Of scatters and gradients: other calls answer [`Error::Version`]. Without it: as
    /// the profile says, else the dtype.
    pub const fn accumulate(mut self, accumulate: Accumulate) -> Self {
        self.raw.accumulate = accumulate as i32;
        self
    }

    /// At most so many CPU threads; 0: the context's number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.raw.threads = i32::try_from(threads).unwrap_or(i32::MAX);
        self
    }

    fn set_fill(&mut self, dtype: DType, image: [u64; 2]) {
        self.raw.fill = sys::GTH_FILL_VALUE;
        self.raw.fill_value = image;
        self.fill_dtype = dtype as i32;
    }

    /// The library takes the bytes of a fill value for what they are; here they have a type.
    #[inline]
    pub(crate) fn check_fill(&self, params: &sys::gth_tensor_desc) -> Result<(), Error> {
        if self.raw.fill != sys::GTH_FILL_VALUE || self.fill_dtype == params.dtype {
            return Ok(());
        }
        self.check_fill_dtype(params.dtype)
    }

    #[cold]
    fn check_fill_dtype(&self, params: i32) -> Result<(), Error> {
        // Strings and shapes without a dtype: the library's to judge.
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

/// What has been set, as it was: what has not goes without saying.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (raw, mut out) = (&self.raw, f.debug_struct("Options"));
        macro_rules! number {
            ($($field:ident)*) => {$(if raw.$field != 0 { out.field(stringify!($field), &raw.$field); })*};
        }
        macro_rules! choice {
            ($field:ident, $of:ident: $($variant:ident)*) => {$(
                if raw.$field == $of::$variant as i32 { out.field(stringify!($field), &$of::$variant); }
            )*};
        }
        if raw.has_axis != 0 {
            out.field("axis", &raw.axis);
        }
        number!(batch_dims);
        choice!(profile, Profile: TensorFlow TensorFlowGpu Onnx Ort NumpyRaise NumpyWrap NumpyClip Torch JaxFill JaxClip);
        number!(opset);
        choice!(negative, Negative: Reject Wrap);
        choice!(bounds, Bounds: Error Fill Clamp Modulo Skip);
        choice!(fill, Fill: Zero ByDType);
        if let (sys::GTH_FILL_VALUE, Ok(dtype)) = (raw.fill, DType::try_from(self.fill_dtype)) {
            out.field("fill_value", &format_args!("{:x?} as {dtype:?}", raw.fill_value));
        }
        choice!(extents, Extents: Equal Prefix Broadcast);
        choice!(reduction, Reduction: None Add Mul Max Min);
        choice!(accumulate, Accumulate: DType Float32);
        number!(threads);
        out.finish()
    }
}
