//! Packed rows: quantised numbers that calls decode as they read them.

use std::ffi::CString;

use crate::abi::call;
use crate::buffer::{Buffer, BufferMut, Kind, pointer};
use crate::context::{self, Context};
use crate::description::Description;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Cause, Error, Operand};
use crate::handle::Handle;
use crate::layout::{Layout, OPEN};
use crate::numbers::{bytes_to_c, extent_from_c, extent_to_c, struct_size};
use crate::options::Options;
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorHandle};
use gather_sys as sys;

/// The description of a table of packed rows. [`Packed::build`] makes a [`Tensor`] of it.
///
/// The tensor can be the params of [`gather()`](crate::gather()), [`gather_nd()`](crate::gather_nd()) and
/// [`gather_bags()`](crate::gather_bags()), and of their forms. They decode the rows that they read. As any other
/// operand, it is an [`Error::Unsupported`]. It has no plain elements and no export. To gather rows without decoding
/// them, view the same bytes as `u8`.
///
/// The tensor borrows the bytes, and keeps scales and zero points. Any number of threads may use it.
///
/// # Examples
///
/// Two rows of 32 numbers in the format q8_0 of GGUF, which are a float16 scale and 32 codes each:
///
/// ```
/// use gather::{Options, Packed, Tensor, gather};
///
/// let mut data = [[0u8; 34]; 2];
/// data[1][..4].copy_from_slice(&[0x00, 0x38, 3, 0xff]); // the scale 0.5, and the codes 3 and -1
/// let table = Packed::new("q8_0", data.as_flattened(), &[2, 32]).build()?;
/// let rows = gather(&table, &Tensor::new(&[1i64], &[1]), &Options::new())?;
/// assert_eq!(rows.as_slice::<f32>()?[..3], [1.5, -0.5, 0.0]);
/// # Ok::<(), gather::Error>(())
/// ```
///
/// Codes of 4 bits, whose scales are an operand with one number for each block of 2:
///
/// ```
/// use gather::{Options, Packed, Tensor, gather};
///
/// let (codes, scales) = ([0x21u8, 0xf3], [0.5f32, 2.0]);
/// let scales = Tensor::new(&scales, &[1, 2]);
/// let table = Packed::new("int4", &codes, &[1, 4]).block(2).scales(scales).build()?;
/// let rows = gather(&table, &Tensor::new(&[0u8], &[1]), &Options::new())?;
/// assert_eq!(rows.as_slice::<f32>()?, [0.5, 1.0, 6.0, -2.0]);
/// # Ok::<(), gather::Error>(())
/// ```
///
/// The tensor cannot outlive its data:
///
/// ```compile_fail,E0505
/// # use gather::Packed;
/// let data = vec![0u8; 34];
/// let table = Packed::new("q8_0", &data, &[1, 32]).build()?;
/// drop(data);
/// println!("{:?}", table.shape());
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Packed<'a> {
    codec: String,
    data: &'a [u8],
    offset: usize,
    pub(crate) shape: Vec<usize>,
    strides: Option<Vec<isize>>,
    pub(crate) dtype: DType,
    block: Option<usize>,
    factor: f32,
    zero: Option<f32>,
    zero_dtype: i32,
    pub(crate) scales: Option<Tensor<'a>>,
    pub(crate) zeros: Option<Tensor<'a>>,
}

impl<'a> Packed<'a> {
    /// Describes rows of a format in bytes. The shape counts numbers, and its last dim is a row. The rows follow each
    /// other, and [`codec_row_bytes`] is their size. The memory may be longer than the shape needs.
    ///
    /// The formats are q8_0, q4_0, q4_1, q5_0, q5_1, iq4_nl, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_xs, mxfp4 and nvfp4 of
    /// GGUF, and rowwise8, rowwise4 and rowwise2 of torch and FBGEMM. int8, uint8, int4, uint4, int2, uint2,
    /// fp8_e4m3fn, fp8_e5m2, e2m1, nf4 and fp4 need [`Packed::scales`]. affine8, affine4 and affine2 need scales,
    /// and biases as [`Packed::zeros`].
    pub fn new(codec: &str, data: &'a [u8], shape: &[usize]) -> Self {
        Packed {
            codec: codec.to_owned(),
            data,
            offset: 0,
            shape: shape.to_vec(),
            strides: None,
            dtype: DType::Float32,
            block: None,
            factor: 0.0,
            zero: None,
            zero_dtype: 0,
            scales: None,
            zeros: None,
        }
    }

    /// Sets the dtype of the decoded numbers: float32 (the default), or float16 and bfloat16, which are the float32
    /// numbers rounded once.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }

    /// Sets the number of codes that share a scale, for formats with [`Packed::scales`]. 0 means all of the row.
    pub fn block(mut self, values: usize) -> Self {
        self.block = Some(values);
        self
    }

    /// Sets the scales. They have the dims of the shape but the last one, and then one dim for the blocks of a row. An
    /// extent of 1 is repeated.
    pub fn scales(mut self, scales: Tensor<'a>) -> Self {
        self.scales = Some(scales);
        self
    }

    /// Sets the zero points or biases, with the dims of [`Packed::scales`], also for a format that has a constant one.
    pub fn zeros(mut self, zeros: Tensor<'a>) -> Self {
        self.zero = None;
        self.zeros = Some(zeros);
        self
    }

    /// Sets zero points from -8 to 7. They are `u8`, whose last dim has a byte for two blocks, low bits first.
    pub fn zeros_int4(mut self, zeros: Tensor<'a>) -> Self {
        self.zero_dtype = sys::GTH_ZERO_INT4;
        self.zeros(zeros)
    }

    /// Sets zero points from 0 to 15, as [`Packed::zeros_int4`].
    pub fn zeros_uint4(mut self, zeros: Tensor<'a>) -> Self {
        self.zero_dtype = sys::GTH_ZERO_UINT4;
        self.zeros(zeros)
    }

    /// Sets one zero point or bias for the table. It replaces those in the rows, and earlier [`Packed::zeros`].
    pub fn zero(mut self, zero: f32) -> Self {
        self.zeros = None;
        self.zero = Some(zero);
        self
    }

    /// Sets a number by which each scale is multiplied.
    pub fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the strides in bytes of all dims but the last one. The rows must be equally far apart.
    pub fn strides(mut self, strides: &[isize]) -> Self {
        self.strides = Some(strides.to_vec());
        self
    }

    /// Sets the number of bytes from the beginning of the memory to the first row.
    pub fn offset(mut self, bytes: usize) -> Self {
        self.offset = bytes;
        self
    }

    /// Makes the tensor. Its dtype and shape are those of the decoded numbers.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Version`] if the format is unknown, or if it has no scales or zero points as operands.
    /// [`Error::Null`] if they are missing. [`Error::Stride`] if the rows leave the bytes. [`Error::Shape`] if the
    /// blocks do not divide a row, or if scales or zero points have another shape. [`Error::DType`], [`Error::Rank`],
    /// [`Error::Size`], [`Error::Device`] and [`Error::OutOfMemory`]. The operand is
    /// [`Operand::Codec`](crate::Operand::Codec), [`Operand::Scales`](crate::Operand::Scales),
    /// [`Operand::Zeros`](crate::Operand::Zeros) or [`Operand::Tensor`](crate::Operand::Tensor).
    pub fn build(self) -> Result<Tensor<'a>, Error> {
        let codec = self.codec()?;
        let mut desc = Description::new(Kind::new(self.dtype, Device::Cpu), &self.shape);
        if let Some(strides) = &self.strides {
            desc.set_strides(&[strides, &[0][..]].concat())?;
        }
        desc.head.data = pointer(self.data.as_ptr().cast(), self.data.len());
        desc.head.extent = bytes_to_c(self.data.len());
        desc.head.offset = bytes_to_c(self.offset);
        desc.head.codec = &codec;
        desc.head.flags = sys::GTH_TENSOR_READONLY as u32;
        let handle = Handle::make(|out, err| {
            // SAFETY: the bytes are borrowed for 'a. The new tensor owns the handle, and keeps scales and zero points.
            unsafe { sys::gth_tensor_borrow(desc.raw(), out, err) }
        })?;
        Tensor::from_packed(handle, [self.scales, self.zeros])
    }

    pub(crate) fn row_bytes(codec: &sys::gth_codec, values: usize) -> Result<usize, Error> {
        let mut bytes = 0;
        // SAFETY: the codec has been written by the library, and has the operands of this crate.
        call(|err| unsafe { sys::gth_codec_row_bytes(codec, extent_to_c(values), &mut bytes, err) })?;
        Ok(extent_from_c(bytes))
    }

    pub(crate) fn codec(&self) -> Result<sys::gth_codec, Error> {
        let mut codec = named(&self.codec)?;
        if let Some(values) = self.block {
            codec.block_values = extent_to_c(values);
        }
        if let Some(zero) = self.zero {
            codec.zero = zero;
            codec.zero_place = sys::GTH_PLACE_NONE;
        }
        codec.factor = self.factor;
        if let Some(scales) = &self.scales {
            codec.scales = scales.desc.raw();
        }
        if let Some(zeros) = &self.zeros {
            codec.zeros = zeros.desc.raw();
            if codec.zero_place == sys::GTH_PLACE_NONE {
                codec.zero_place = sys::GTH_PLACE_OPERAND;
            }
            codec.zero_dtype = self.zero_dtype;
        }
        Ok(codec)
    }
}

fn named(name: &str) -> Result<sys::gth_codec, Error> {
    let mut codec = sys::gth_codec {
        size: struct_size::<sys::gth_codec>(),
        ..Default::default()
    };
    let Ok(name) = CString::new(name) else {
        let message = format!("there is no format {name:?}");
        return Err(Cause::new(sys::GTH_E_VERSION, Operand::Codec, message).into());
    };
    // SAFETY: the name ends with a zero, and the size of the struct is set.
    call(|err| unsafe { sys::gth_codec_named(name.as_ptr(), &mut codec, err) })?;
    Ok(codec)
}

/// Computes the bytes of a row of `values` numbers in a format of [`Packed::new`].
///
/// # Errors
///
/// Returns [`Error::Version`] if the format is unknown, [`Error::Shape`] if its blocks do not divide the row, and
/// [`Error::Size`].
///
/// # Examples
///
/// ```
/// assert_eq!(gather::codec_row_bytes("q4_k", 512)?, 288);
/// assert_eq!(gather::codec_row_bytes("rowwise8", 10)?, 18);
/// # Ok::<(), gather::Error>(())
/// ```
pub fn codec_row_bytes(codec: &str, values: usize) -> Result<usize, Error> {
    Packed::row_bytes(&named(codec)?, values)
}

/// A [`Plan`] of a gather whose params are bound to a tensor, which may be [`Packed`] or a [`Table`](crate::Table). The
/// runs take no params. The other rules are those of [`Plan`].
///
/// # Examples
///
/// ```
/// use gather::{BoundPlan, Layout, OPEN, Options, Packed};
///
/// let data = [3u8, 5, 7, 9, 0, 0, 0, 64, 0, 0, 128, 63]; // 4 codes, the float32 scale 2 and the bias 1
/// let table = Packed::new("rowwise8", &data, &[1, 4]).build()?;
/// let plan = BoundPlan::gather(&table, &Layout::new::<i64>(&[OPEN]), &Options::new())?;
/// let mut rows = [0.0f32; 8];
/// plan.run_open(2, &[0i64, 0], &mut rows)?;
/// assert_eq!(rows[4..], [7.0, 11.0, 15.0, 19.0]);
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
pub struct BoundPlan<'a> {
    plan: Plan,
    /// The plan has the number of this handle.
    _handle: TensorHandle<'a>,
}

impl<'a> BoundPlan<'a> {
    /// Plans [`gather_into`](crate::gather_into()) with dense outputs.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::gather`].
    pub fn gather(params: &'a Tensor<'a>, indices: &Layout, options: &Options) -> Result<Self, Error> {
        Self::create(sys::GTH_OP_GATHER, params, indices, options)
    }

    /// Plans [`gather_nd_into`](crate::gather_nd_into()) with dense outputs.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::gather_nd`].
    pub fn gather_nd(params: &'a Tensor<'a>, indices: &Layout, options: &Options) -> Result<Self, Error> {
        Self::create(sys::GTH_OP_GATHER_ND, params, indices, options)
    }

    fn create(op: i32, params: &'a Tensor<'a>, indices: &Layout, options: &Options) -> Result<Self, Error> {
        let handle = params.handle()?;
        let plan = Plan::create_for(
            op,
            (params.described().kind(), &handle.operand()),
            indices,
            None,
            options,
        )?;
        Ok(BoundPlan { plan, _handle: handle })
    }

    /// Infers the shape of the output, as [`Plan::shape`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::shape`].
    pub fn shape(&self, n: usize) -> Result<Vec<usize>, Error> {
        self.plan.shape(n)
    }

    /// Runs a plan that has no open extent.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run`].
    pub fn run<'i, 'o>(&self, indices: impl Into<Buffer<'i>>, out: impl Into<BufferMut<'o>>) -> Result<(), Error> {
        self.run_open(OPEN, indices, out)
    }

    /// Runs a plan with an open extent of `n`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run_open`].
    pub fn run_open<'i, 'o>(
        &self,
        n: usize,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        context::DEFAULT.run_bound(self, n, indices, out)
    }

    /// Validates the indices of a run with an open extent of `n`, or of [`OPEN`] if there is none, as [`Plan::check`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::check`].
    pub fn check<'i>(&self, n: usize, indices: impl Into<Buffer<'i>>) -> Result<(), Error> {
        self.plan.check_open(n, indices)
    }
}

impl Context {
    /// Runs [`BoundPlan::run_open`] in this context. `n` is [`OPEN`] if the plan has no open extent.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Plan::run_open`].
    pub fn run_bound<'i, 'o>(
        &self,
        plan: &BoundPlan<'_>,
        n: usize,
        indices: impl Into<Buffer<'i>>,
        out: impl Into<BufferMut<'o>>,
    ) -> Result<(), Error> {
        self.run_open(&plan.plan, n, plan.plan.no_table(), indices, out)
    }
}
