//! Tensors to read: views of memory of the caller, and memory of the library.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;
use std::{fmt, ptr, slice};

use crate::buffer::{Buffer, Kind, pointer};
use crate::description::Description;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Cause, Error, Operand};
use crate::handle::Handle;
use crate::layout::{Layout, fmt_desc};
use crate::numbers::bytes_to_c;
use crate::tensor_mut::TensorMut;
use gather_sys as sys;

/// A tensor that a call reads. `Tensor<'a>` is a view of memory that is borrowed for `'a`. A `Tensor<'static>` may own
/// its memory, as every result does.
///
/// A view is only a description. The calls that use it check it.
///
/// # Examples
///
/// ```
/// use gather::Tensor;
///
/// let table = vec![0.0f32; 12];
/// let dense = Tensor::new(&table, &[table.len() / 3, 3]); // The tensor copies its shape.
/// let column = Tensor::new(&table, &[4]).with_strides(&[12])?.with_offset(8);
/// assert_eq!((dense.shape(), column.shape()), (&[4, 3][..], &[4][..]));
/// # Ok::<(), gather::Error>(())
/// ```
///
/// It cannot outlive its data:
///
/// ```compile_fail,E0505
/// # use gather::Tensor;
/// let table = vec![0.0f32; 12];
/// let tensor = Tensor::new(&table, &[4, 3]);
/// drop(table);
/// println!("{:?}", tensor.shape());
/// ```
///
/// Its data cannot change while it is borrowed:
///
/// ```compile_fail,E0506
/// # use gather::Tensor;
/// let mut table = [0.0f32; 12];
/// let tensor = Tensor::new(&table, &[4, 3]);
/// table[0] = 1.0;
/// println!("{:?}", tensor.shape());
/// ```
pub struct Tensor<'a> {
    pub(crate) desc: Description,
    storage: Storage<'a>,
    borrow: PhantomData<&'a [u8]>,
}

/// The memory of the description that the tensor keeps alive.
enum Storage<'a> {
    Nothing,
    /// The description is that of a handle. Another tensor owns the handle.
    Borrowed(&'a Handle),
    /// The description is that of the handle.
    Handle(Handle),
    /// The memory is that of the handle, but the description has other strides or another offset.
    Memory {
        _handle: Handle,
    },
    /// The description is that of the handle of a table in files, which has no memory.
    Table(Arc<OpenedTable<'a>>),
    /// The memory is that of packed rows.
    Packed {
        _rows: Box<PackedRows<'a>>,
    },
}

/// The handle of a table in files, and the operands of its codec. The handle is released first.
struct OpenedTable<'a> {
    handle: Handle,
    /// The dtype and the shape.
    layout: Layout,
    _operands: [Option<Tensor<'a>>; 2],
}

/// The handle of packed rows, and the operands of their codec. The handle is released first.
struct PackedRows<'a> {
    _handle: Handle,
    _operands: [Option<Tensor<'a>>; 2],
}

impl Storage<'_> {
    /// Converts the value before the description changes.
    fn into_memory(self) -> Self {
        match self {
            Storage::Handle(handle) => Storage::Memory { _handle: handle },
            Storage::Borrowed(_) => Storage::Nothing,
            other => other,
        }
    }
}

// SAFETY: a tensor is a shared slice `&'a [T]` of elements that are Send and Sync, or a handle. Threads may send and
// share both.
unsafe impl Send for Tensor<'_> {}
// SAFETY: as above.
unsafe impl Sync for Tensor<'_> {}

impl<'a> Tensor<'a> {
    /// Creates a dense row-major view of a slice, or of any other [`Buffer`]. The memory may be longer than the shape
    /// needs. The shape is copied, as the strides of [`Tensor::with_strides`]. Up to 8 extents and strides need no memory
    /// of the heap.
    #[inline]
    pub fn new(data: impl Into<Buffer<'a>>, shape: &[usize]) -> Self {
        let data = data.into();
        let mut tensor = Tensor {
            desc: Description::new(data.kind, shape),
            storage: Storage::Nothing,
            borrow: PhantomData,
        };
        tensor.desc.head.flags = sys::GTH_TENSOR_READONLY as u32;
        tensor.desc.head.data = pointer(data.data, data.bytes);
        tensor.desc.head.extent = bytes_to_c(data.bytes);
        tensor
    }

    /// Creates a tensor of rank 1 of a whole slice, vector, array or other [`Buffer`]. `Tensor::from` does the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::Tensor;
    ///
    /// let ids = vec![2i64, 0, 1];
    /// assert_eq!(Tensor::vector(&ids).shape(), [3]);
    /// assert_eq!(Tensor::from(&ids[1..]).as_slice::<i64>()?, [0, 1]);
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn vector(data: impl Into<Buffer<'a>>) -> Self {
        let data = data.into();
        Tensor::new(data, &[data.len()])
    }

    /// Sets the strides in bytes, one for each dim. They may be negative or zero. A tensor that owns its memory becomes
    /// a view of that memory. An export of a view is a copy. Strings and tables in files have no strides and no offset.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Rank`] if there are more or fewer strides than dims, and [`Error::Unsupported`] for a table in
    /// files.
    pub fn with_strides(mut self, strides: &[isize]) -> Result<Self, Error> {
        if self.table().is_some() {
            return Err(tensor_error(sys::GTH_E_UNSUPPORTED, "a table in files has no strides"));
        }
        self.desc.set_strides(strides)?;
        self.storage = self.storage.into_memory();
        Ok(self)
    }

    /// Sets the number of bytes from the beginning of the memory to element 0. The rules are those of
    /// [`Tensor::with_strides`].
    pub fn with_offset(mut self, bytes: usize) -> Self {
        self.desc.head.offset = bytes_to_c(bytes);
        self.storage = self.storage.into_memory();
        self
    }

    pub(crate) fn from_handle(handle: Handle) -> Result<Self, Error> {
        let desc = handle.describe()?;
        DType::try_from(desc.dtype)?; // A newer library may have more dtypes than this crate.
        Ok(Tensor {
            desc: Description::from_raw(desc), // The tensor keeps the handle.
            storage: Storage::Handle(handle),
            borrow: PhantomData,
        })
    }

    /// Takes the handle of packed rows, and the operands of their codec.
    pub(crate) fn from_packed(handle: Handle, operands: [Option<Tensor<'a>>; 2]) -> Result<Self, Error> {
        let desc = handle.describe()?;
        let mut tensor = Tensor {
            desc: Description::from_raw(desc), // The tensor keeps the handle.
            storage: Storage::Packed {
                _rows: Box::new(PackedRows {
                    _handle: handle,
                    _operands: operands,
                }),
            },
            borrow: PhantomData,
        };
        tensor.set_read_only();
        Ok(tensor)
    }

    /// Takes the handle of a table in files, its dtype and shape, and the operands of its codec.
    pub(crate) fn from_table(handle: Handle, mut desc: Description, operands: [Option<Tensor<'a>>; 2]) -> Self {
        desc.head.codec = ptr::null();
        desc.head.flags = sys::GTH_TENSOR_READONLY as u32;
        Tensor {
            desc: Description::from_raw(handle.operand()), // The tensor keeps the handle.
            storage: Storage::Table(Arc::new(OpenedTable {
                handle,
                layout: Layout { desc },
                _operands: operands,
            })),
            borrow: PhantomData,
        }
    }

    fn table(&self) -> Option<&OpenedTable<'a>> {
        match &self.storage {
            Storage::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the description that has the dtype and the shape. A call gets `desc`, which may be only a handle.
    pub(crate) fn described(&self) -> &Description {
        self.table().map_or(&self.desc, |table| &table.layout.desc)
    }

    /// Returns the number of elements along each dim.
    pub fn shape(&self) -> &[usize] {
        self.described().shape()
    }

    /// Returns the strides in bytes. `None` means that the tensor is dense.
    pub fn strides(&self) -> Option<&[isize]> {
        self.described().strides()
    }

    /// Returns the type of the elements.
    pub fn dtype(&self) -> DType {
        DType::try_from(self.described().head.dtype).expect("a tensor has a dtype")
    }

    /// Returns the device of the memory.
    pub fn device(&self) -> Device {
        self.desc.device()
    }

    /// Creates a view of this tensor. A view is read-only, even if this tensor owns its memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use gather::{Options, Tensor, gather};
    ///
    /// let rows = gather(&Tensor::new(&[1i32, 2, 3, 4], &[2, 2]), &Tensor::new(&[1u8], &[1]), &Options::new())?;
    /// let column = rows.view().with_strides(&[8, 4])?.with_offset(4);
    /// assert_eq!((rows.as_slice::<i32>()?, rows.view().shape()), (&[3, 4][..], &[1, 2][..]));
    /// # drop(column);
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn view(&self) -> Tensor<'_> {
        let mut view = Tensor {
            desc: self.desc.clone(),
            storage: match &self.storage {
                Storage::Table(table) => Storage::Table(Arc::clone(table)),
                _ => self.own_handle().map_or(Storage::Nothing, Storage::Borrowed),
            },
            borrow: PhantomData,
        };
        view.set_read_only(); // `self` is a shared reference, so calls must not write through the view.
        view
    }

    /// Makes the tensor read-only for every later call.
    pub(crate) fn set_read_only(&mut self) {
        if self.table().is_none() {
            self.desc.head.flags |= sys::GTH_TENSOR_READONLY as u32;
        }
    }

    /// Returns dtype, shape and strides, for plans and shape queries. The layout of [`Packed`](crate::Packed) rows and of
    /// tables in files is the dense one of their numbers.
    pub fn layout(&self) -> Layout {
        let mut layout = Layout::with_kind(self.described().kind(), self.shape());
        if self.is_packed() || self.table().is_some() {
            return layout;
        }
        layout.desc.head.offset = self.desc.head.offset;
        if let Some(strides) = self.strides() {
            layout
                .desc
                .set_strides(strides)
                .expect("there is a stride for each dim");
        }
        layout
    }

    /// Returns the elements of a dense tensor in row-major order, without a copy.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DType`] if the elements have another type, [`Error::Device`] if the memory is that of a device,
    /// [`Error::Stride`] if the tensor is not dense or not aligned for its type, [`Error::Size`] if the view is larger
    /// than its memory, and [`Error::Unsupported`] for packed rows and tables in files.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], Error> {
        self.check_dtype(T::DTYPE)?;
        let bytes = self.dense_bytes()?;
        if bytes.is_empty() {
            return Ok(&[]);
        }
        let data = bytes.as_ptr().cast::<T>();
        if !data.is_aligned() {
            return Err(tensor_error(
                sys::GTH_E_STRIDE,
                "the elements are not aligned for their type",
            ));
        }
        // SAFETY: the elements are aligned, inside the memory, and of this type. Tensors of bools have only 0 and 1.
        Ok(unsafe { slice::from_raw_parts(data, bytes.len() / size_of::<T>()) })
    }

    /// Copies the elements of a dense tensor in row-major order.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tensor::as_slice`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        Ok(self.as_slice()?.to_vec())
    }

    /// Returns the memory of the elements of a dense tensor.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tensor::as_slice`], and [`Error::DType`] for strings.
    pub fn as_bytes(&self) -> Result<&[u8], Error> {
        self.dense_bytes()
    }

    /// Creates a view to write to. If this tensor does not own its memory, calls that write to the view return
    /// [`Error::ReadOnly`]: views and imported tensors are read-only.
    pub fn as_mut(&mut self) -> TensorMut<'_> {
        TensorMut::from_desc(self.described().clone()) // The description keeps the read-only flag.
    }

    fn check_dtype(&self, wanted: DType) -> Result<(), Error> {
        let dtype = self.dtype();
        if dtype == wanted {
            return Ok(());
        }
        let message = format!("the elements are {dtype}, not {wanted}");
        Err(Cause::new(sys::GTH_E_DTYPE, Operand::Tensor, message)
            .numbers(dtype as i128, wanted as i64)
            .into())
    }

    fn is_packed(&self) -> bool {
        !self.desc.head.codec.is_null()
    }

    fn dense_bytes(&self) -> Result<&[u8], Error> {
        if self.is_packed() {
            return Err(tensor_error(
                sys::GTH_E_UNSUPPORTED,
                "packed rows have no plain elements: gather them",
            ));
        }
        if self.table().is_some() {
            return Err(tensor_error(
                sys::GTH_E_UNSUPPORTED,
                "a table in files has no elements in memory: gather them",
            ));
        }
        if self.dtype() == DType::String {
            return Err(tensor_error(
                sys::GTH_E_DTYPE,
                "strings have no plain elements: see Tensor::strings",
            ));
        }
        if self.device() != Device::Cpu {
            return Err(tensor_error(
                sys::GTH_E_DEVICE,
                "the elements are not in the memory of the process",
            ));
        }
        let Some(bytes) = self.byte_count() else {
            return Err(tensor_error(
                sys::GTH_E_SIZE,
                "the elements have more bytes than an int64 can count",
            ));
        };
        if bytes == 0 {
            return Ok(&[]);
        }
        if !self.is_dense() {
            return Err(tensor_error(
                sys::GTH_E_STRIDE,
                "the elements are not dense in row-major order",
            ));
        }
        let Some(offset) = self.offset_of(bytes) else {
            return Err(self.too_long(bytes));
        };
        // SAFETY: offset + bytes lies inside [data, data + extent), which is borrowed for 'a or owned.
        Ok(unsafe { slice::from_raw_parts(self.desc.head.data.cast::<u8>().add(offset), bytes) })
    }

    #[cold]
    fn too_long(&self, bytes: usize) -> Error {
        let (offset, extent) = (self.desc.head.offset, self.desc.head.extent);
        let reached = i128::from(offset) + bytes as i128;
        let message = format!("elements reach byte {reached} of the {extent} described (offset {offset})");
        Cause::new(sys::GTH_E_SIZE, Operand::Tensor, message)
            .numbers(reached, extent)
            .into()
    }

    /// Returns the offset of element 0. Returns `None` unless `bytes` bytes from this offset are inside the memory.
    fn offset_of(&self, bytes: usize) -> Option<usize> {
        let offset = usize::try_from(self.desc.head.offset).ok()?;
        let extent = usize::try_from(self.desc.head.extent).ok()?;
        let inside = !self.desc.head.data.is_null() && offset.checked_add(bytes)? <= extent;
        inside.then_some(offset)
    }

    /// Returns the size of all elements in bytes, or `None` if it exceeds an int64.
    fn byte_count(&self) -> Option<usize> {
        if self.shape().contains(&0) {
            return Some(0);
        }
        let bytes = self
            .shape()
            .iter()
            .try_fold(self.dtype().size(), |size, extent| size.checked_mul(*extent))?;
        i64::try_from(bytes).is_ok().then_some(bytes)
    }

    fn is_dense(&self) -> bool {
        let Some(strides) = self.strides() else {
            return true;
        };
        let mut dense = self.dtype().size();
        for (extent, stride) in self.shape().iter().zip(strides).rev() {
            if *extent != 1 && usize::try_from(*stride) != Ok(dense) {
                return false;
            }
            dense *= extent; // The product is at most byte_count, which fits.
        }
        true
    }

    /// Returns the operand for a call that creates its result. Strings are passed by their handle. Other tensors are
    /// passed as memory. A view of strings with strides or an offset has no handle and no memory. The library
    /// rejects it.
    pub(crate) fn operand(&self) -> Given {
        match self.own_handle() {
            _ if self.desc.head.dtype != sys::GTH_DTYPE_STRING => Given::Memory(self.desc.raw()),
            Some(handle) => Given::Handle(handle.operand()),
            None => Given::Handle(sys::gth_tensor_desc {
                flags: 0,
                data: ptr::null(),
                codec: ptr::null(),
                extent: 0,
                // SAFETY: the description is valid.
                ..unsafe { *self.desc.raw() }
            }),
        }
    }

    /// Returns a handle for an export to a consumer that only reads.
    pub(crate) fn handle(&self) -> Result<TensorHandle<'_>, Error> {
        self.own_handle()
            .map_or_else(|| self.temporary(), |handle| Ok(TensorHandle::Owned(handle)))
    }

    /// Returns a handle for an export to a consumer that may write. Only memory that this tensor owns is shared.
    pub(crate) fn export_handle(&self) -> Result<TensorHandle<'_>, Error> {
        match &self.storage {
            Storage::Handle(handle) => Ok(TensorHandle::Owned(handle)),
            _ => self.temporary(),
        }
    }

    fn temporary(&self) -> Result<TensorHandle<'_>, Error> {
        self.borrow().map(TensorHandle::Temporary)
    }

    /// Returns a new handle of the memory of the description. It must be released before this tensor is dropped.
    pub(crate) fn borrow(&self) -> Result<Handle, Error> {
        Handle::make(|out, err| {
            // SAFETY: the memory of the description outlives the handle.
            unsafe { sys::gth_tensor_borrow(self.desc.raw(), out, err) }
        })
    }

    pub(crate) fn own_handle(&self) -> Option<&Handle> {
        match &self.storage {
            Storage::Handle(handle) => Some(handle),
            Storage::Borrowed(handle) => Some(handle),
            Storage::Table(table) => Some(&table.handle),
            _ => None,
        }
    }
}

impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_desc(f, "Tensor", self.described())
    }
}

impl<'a, T: Element> From<&'a [T]> for Tensor<'a> {
    fn from(slice: &'a [T]) -> Self {
        Tensor::vector(slice)
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Tensor<'a> {
    fn from(vec: &'a Vec<T>) -> Self {
        Tensor::vector(vec)
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Tensor<'a> {
    fn from(array: &'a [T; N]) -> Self {
        Tensor::vector(array)
    }
}

impl Tensor<'static> {
    /// Creates a tensor that owns a vector.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Stride`] if the shape needs more elements than the vector has, [`Error::Rank`],
    /// [`Error::Shape`], [`Error::Size`], and [`Error::OutOfMemory`].
    pub fn from_vec<T: Element>(vec: Vec<T>, shape: &[usize]) -> Result<Self, Error> {
        let bytes = size_of_val(vec.as_slice());
        let mut owner = Box::new(vec);
        let mut desc = Description::new(Kind::new(T::DTYPE, Device::Cpu), shape);
        // The pointer allows writes, because calls write to this memory through as_mut.
        desc.head.data = pointer(owner.as_mut_ptr().cast(), bytes);
        desc.head.extent = bytes_to_c(bytes);
        let owner = Box::into_raw(owner);
        let made = Handle::make(|out, err| {
            // SAFETY: the vector is dropped by the deleter only, and its heap memory does not move.
            unsafe {
                sys::gth_tensor_adopt(
                    ptr::null_mut(),
                    desc.raw(),
                    Some(drop_box::<Vec<T>>),
                    owner.cast(),
                    out,
                    err,
                )
            }
        });
        if made.is_err() {
            // SAFETY: a call that fails does not take ownership.
            unsafe { drop_box::<Vec<T>>(owner.cast()) };
        }
        Self::from_handle(made?)
    }
}

/// Drops a box. The library calls this function as a deleter.
///
/// # Safety
///
/// `user` is a leaked `Box<T>` of a type that may be dropped on any thread.
pub(crate) unsafe extern "C" fn drop_box<T: Send>(user: *mut c_void) {
    // SAFETY: the caller guarantees it.
    drop(unsafe { Box::from_raw(user.cast::<T>()) });
}

/// An operand of a call that creates its result.
pub(crate) enum Given {
    /// The description of the tensor, which must not move during the call.
    Memory(*const sys::gth_tensor_desc),
    Handle(sys::gth_tensor_desc),
}

impl Given {
    pub fn as_ptr(&self) -> *const sys::gth_tensor_desc {
        match self {
            Given::Memory(desc) => *desc,
            Given::Handle(desc) => desc,
        }
    }
}

/// A handle that a tensor owns, or a temporary handle that borrows the memory of a description.
#[derive(Debug)]
pub(crate) enum TensorHandle<'t> {
    Owned(&'t Handle),
    Temporary(Handle),
}

impl TensorHandle<'_> {
    fn get(&self) -> &Handle {
        match self {
            TensorHandle::Owned(handle) => handle,
            TensorHandle::Temporary(handle) => handle,
        }
    }

    pub fn as_ptr(&self) -> *mut sys::gth_tensor {
        self.get().as_ptr()
    }

    /// Returns the tensor as an operand.
    pub fn operand(&self) -> sys::gth_tensor_desc {
        self.get().operand()
    }
}

fn tensor_error(status: i32, message: &str) -> Error {
    Cause::new(status, Operand::Tensor, message).into()
}
