//! Tensors of strings.

use std::ptr;
use std::slice;
use std::str::{Utf8Error, from_utf8};

use crate::abi::call;
use crate::dtype::DType;
use crate::error::{Cause, Error, Operand};
use crate::handle::Handle;
use crate::numbers::{bytes_to_c, extent_from_c, rank_to_c};
use crate::tensor::{Tensor, drop_box};
use gather_sys as sys;

/// The offsets and the bytes of the strings of a tensor.
struct Packed {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Packed {
    fn new<'s>(strings: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut packed = Packed {
            offsets: vec![0],
            bytes: Vec::new(),
        };
        for string in strings {
            packed.bytes.extend_from_slice(string);
            packed.offsets.push(bytes_to_c(packed.bytes.len()));
        }
        packed
    }
}

impl Tensor<'static> {
    /// Creates a tensor of text from strings in row-major order.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Shape`] if the shape has another number of elements, [`Error::Rank`], [`Error::Size`] and
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::{Options, Tensor, gather};
    ///
    /// let words = Tensor::from_strings(&["zero", "one", "two"], &[3])?;
    /// let picked = gather(&words, &Tensor::new(&[2u8, 0], &[2]), &Options::new())?;
    /// assert_eq!(picked.strings()?.to_strings()?, ["two", "zero"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_strings<S: AsRef<str>>(strings: &[S], shape: &[usize]) -> Result<Self, Error> {
        let packed = Packed::new(strings.iter().map(|string| string.as_ref().as_bytes()));
        from_packed(packed, 0, shape)
    }

    /// Creates a tensor of byte strings, which need not be text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tensor::from_strings`].
    pub fn from_byte_strings<S: AsRef<[u8]>>(strings: &[S], shape: &[usize]) -> Result<Self, Error> {
        let packed = Packed::new(strings.iter().map(AsRef::as_ref));
        from_packed(packed, sys::GTH_STRINGS_BINARY as u32, shape)
    }
}

fn from_packed(packed: Packed, flags: u32, shape: &[usize]) -> Result<Tensor<'static>, Error> {
    let packed = Box::new(packed);
    let (offsets, bytes) = (packed.offsets.as_slice(), packed.bytes.as_slice());
    check_count(offsets, shape)?;
    let (offsets, data, extent) = (offsets.as_ptr(), bytes.as_ptr(), bytes.len());
    let owner = Box::into_raw(packed);
    let made = Handle::make(|out, err| {
        // SAFETY: the buffers are valid until the deleter runs, and there is one offset more than elements.
        unsafe {
            sys::gth_tensor_from_strings(
                ptr::null_mut(),
                flags,
                rank_to_c(shape.len()),
                shape.as_ptr().cast(),
                offsets,
                data.cast(),
                bytes_to_c(extent),
                Some(drop_box::<Packed>),
                owner.cast(),
                out,
                err,
            )
        }
    });
    if made.is_err() {
        // SAFETY: a call that fails does not take ownership.
        unsafe { drop_box::<Packed>(owner.cast()) };
    }
    Tensor::from_handle(made?)
}

impl<'a> Tensor<'a> {
    /// Creates a tensor of byte strings in buffers of the caller: string i is `bytes[offsets[i]..offsets[i + 1]]`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Shape`] unless there is one more offset than there are elements, [`Error::Arrow`] if offsets
    /// decrease or leave the bytes, [`Error::Rank`], [`Error::Size`] and [`Error::OutOfMemory`].
    pub fn from_string_views(offsets: &'a [i64], bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        check_count(offsets, shape)?;
        let handle = Handle::make(|out, err| {
            // SAFETY: the buffers are borrowed for 'a, and there is one offset more than elements.
            unsafe {
                sys::gth_tensor_from_strings(
                    ptr::null_mut(),
                    sys::GTH_STRINGS_BINARY as u32,
                    rank_to_c(shape.len()),
                    shape.as_ptr().cast(),
                    offsets.as_ptr(),
                    bytes.as_ptr().cast(),
                    bytes_to_c(bytes.len()),
                    None,
                    ptr::null_mut(),
                    out,
                    err,
                )
            }
        })?;
        Self::from_handle(handle)
    }

    /// Returns the strings of a tensor of strings, in row-major order.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] for any other tensor, and [`Error::Unsupported`] for strings with strides or an offset.
    pub fn strings(&self) -> Result<Strings<'_>, Error> {
        let Some(handle) = self.own_handle() else {
            return Err(self.no_strings());
        };
        let (mut offsets, mut bytes) = (ptr::null(), ptr::null());
        // SAFETY: the handle has not been released, and the buffers are valid as long as it.
        call(|err| unsafe { sys::gth_tensor_strings(handle.as_ptr(), &mut offsets, &mut bytes, err) })?;
        let count: usize = self.shape().iter().product();
        // SAFETY: there is one offset more than elements, and the last is the number of bytes.
        unsafe {
            let offsets = slice::from_raw_parts(offsets, count + 1);
            let extent = extent_from_c(offsets[count]);
            let bytes = if extent == 0 {
                &[]
            } else {
                slice::from_raw_parts(bytes.cast(), extent)
            };
            Ok(Strings { offsets, bytes })
        }
    }
}

impl Tensor<'_> {
    #[cold]
    fn no_strings(&self) -> Error {
        if self.dtype() == DType::String {
            let message = "strings have no strides and no offset";
            return Cause::new(sys::GTH_E_UNSUPPORTED, Operand::Tensor, message).into();
        }
        Cause::new(sys::GTH_E_DTYPE, Operand::Tensor, "not strings")
            .numbers(self.desc.head.dtype.into(), sys::GTH_DTYPE_STRING.into())
            .into()
    }
}

/// Checks that there is one more offset than the shape has elements. The library reads this number of offsets.
fn check_count(offsets: &[i64], shape: &[usize]) -> Result<(), Error> {
    if offsets.is_empty() {
        return Err(Cause::new(
            sys::GTH_E_SHAPE,
            Operand::Tensor,
            "no offsets: even no strings have one",
        )
        .numbers(0, 1)
        .into());
    }
    if shape.len() > sys::GTH_MAX_NDIM as usize {
        let message = format!("{} dims, at most {} will do", shape.len(), sys::GTH_MAX_NDIM);
        return Err(Cause::new(sys::GTH_E_RANK, Operand::Tensor, message)
            .numbers(shape.len() as i128, sys::GTH_MAX_NDIM.into())
            .into());
    }
    let count = shape
        .iter()
        .try_fold(1usize, |count, extent| count.checked_mul(*extent));
    let given = offsets.len() - 1;
    if count == Some(given) {
        return Ok(());
    }
    let message = format!("{given} strings do not make a tensor of the shape {shape:?}");
    Err(Cause::new(sys::GTH_E_SHAPE, Operand::Tensor, message)
        .numbers(given as i128, count.map_or(i64::MAX, bytes_to_c))
        .into())
}

/// The strings of a tensor, as borrowed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'t> {
    offsets: &'t [i64],
    bytes: &'t [u8],
}

impl<'t> Strings<'t> {
    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns string `i` in row-major order.
    pub fn get(&self, i: usize) -> Option<&'t [u8]> {
        let (begin, end) = (*self.offsets.get(i)?, *self.offsets.get(i.checked_add(1)?)?);
        self.bytes.get(extent_from_c(begin)..extent_from_c(end))
    }

    /// Iterates over the strings in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = &'t [u8]> + use<'t> {
        let strings = *self;
        (0..self.len()).filter_map(move |i| strings.get(i))
    }

    /// Copies the strings.
    pub fn to_vecs(&self) -> Vec<Vec<u8>> {
        self.iter().map(<[u8]>::to_vec).collect()
    }

    /// Copies the strings as text.
    ///
    /// # Errors
    ///
    /// Returns an error with the position of the first byte that is not UTF-8.
    pub fn to_strings(&self) -> Result<Vec<String>, Utf8Error> {
        self.iter().map(|bytes| from_utf8(bytes).map(str::to_owned)).collect()
    }
}
