//! Tables in files, and in pieces of memory, whose rows are read when a call selects them.

use std::ffi::CString;
#[cfg(unix)]
use std::os::fd::{AsFd as AsFile, AsRawFd, BorrowedFd as BorrowedFile};
#[cfg(windows)]
use std::os::windows::io::{AsHandle as AsFile, AsRawHandle, BorrowedHandle as BorrowedFile};
use std::path::{Path, PathBuf};
use std::ptr;

use crate::abi::call;
use crate::buffer::{Buffer, Kind};
use crate::description::Description;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Cause, Error, Operand};
use crate::handle::Handle;
use crate::numbers::{bits, bytes_to_c, extent_from_c, extent_to_c, struct_size};
use crate::packed::Packed;
use crate::tensor::Tensor;
use gather_sys as sys;

/// How a [`Table`] reads its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// With calls of the system, into the output. It needs no memory, and never raises SIGBUS.
    #[default]
    Read,
    /// Mapped. A row that was read before costs as much as a row in memory. If a file becomes shorter, a page that an
    /// earlier call has read raises SIGBUS. On Windows it is the same as [`Mode::Read`].
    Map,
}

/// Some successive rows of a [`Table`]. A row may not be divided between segments. `'f` is the borrow of a file, which
/// ends when the table is opened.
#[derive(Debug)]
#[must_use]
pub struct Segment<'a, 'f> {
    place: Place<'a, 'f>,
    rows: usize,
    offset: usize,
    row_stride: usize,
}

#[derive(Debug)]
enum Place<'a, 'f> {
    Path(PathBuf),
    File(BorrowedFile<'f>),
    Memory(Buffer<'a>),
}

impl<'a, 'f> Segment<'a, 'f> {
    /// Describes rows of the file with this path.
    pub fn path(path: impl AsRef<Path>, rows: usize) -> Self {
        Self::new(Place::Path(path.as_ref().to_owned()), rows)
    }

    /// Describes rows of an open file. The library makes a duplicate of the descriptor or the handle. So the file may be
    /// closed when the table has been opened.
    pub fn file(file: &'f impl AsFile, rows: usize) -> Self {
        #[cfg(unix)]
        return Self::new(Place::File(file.as_fd()), rows);
        #[cfg(windows)]
        return Self::new(Place::File(file.as_handle()), rows);
    }

    /// Describes rows of borrowed memory, which may have any alignment.
    pub fn memory(data: impl Into<Buffer<'a>>, rows: usize) -> Self {
        Self::new(Place::Memory(data.into()), rows)
    }

    fn new(place: Place<'a, 'f>, rows: usize) -> Self {
        Segment {
            place,
            rows,
            offset: 0,
            row_stride: 0,
        }
    }

    /// Sets the byte of the first row. It needs no alignment.
    pub fn offset(mut self, bytes: usize) -> Self {
        self.offset = bytes;
        self
    }

    /// Sets the bytes from row to row. 0, the default, means the bytes of a row.
    pub fn row_stride(mut self, bytes: usize) -> Self {
        self.row_stride = bytes;
        self
    }

    /// Returns the path for the library, and `None` for a segment without a path.
    fn c_path(&self, number: usize) -> Result<Option<CString>, Error> {
        let Place::Path(path) = &self.place else {
            return Ok(None);
        };
        match CString::new(path.as_os_str().as_encoded_bytes()) {
            Ok(path) => Ok(Some(path)),
            Err(_) => Err(io_error(number, 0, &format!("{path:?} has a zero byte"))),
        }
    }

    /// Checks that memory is not that of a device.
    fn check_device(&self, number: usize) -> Result<(), Error> {
        let Place::Memory(data) = &self.place else {
            return Ok(());
        };
        if data.kind.device() == Device::Cpu.numbers().0 {
            return Ok(());
        }
        let message = format!("segment {number}: the memory is not that of the process");
        let mut cause = Cause::new(sys::GTH_E_DEVICE, Operand::File, message);
        cause.component = u32::try_from(number).ok();
        Err(cause.into())
    }

    fn raw(&self, path: Option<&CString>) -> sys::gth_segment {
        let mut raw = sys::gth_segment {
            size: struct_size::<sys::gth_segment>(),
            path: path.map_or(ptr::null(), |path| path.as_ptr()),
            offset: bytes_to_c(self.offset),
            rows: extent_to_c(self.rows),
            row_stride: bytes_to_c(self.row_stride),
            ..Default::default()
        };
        match &self.place {
            Place::Path(_) => {}
            Place::File(file) => {
                #[cfg(unix)]
                let number = file.as_raw_fd().into();
                #[cfg(windows)]
                let number = crate::numbers::stride_to_c(file.as_raw_handle() as isize);
                raw.file = number;
                raw.flags = bits(sys::GTH_SEGMENT_FILE);
            }
            Place::Memory(data) => {
                raw.data = data.data;
                raw.extent = bytes_to_c(data.bytes);
                raw.flags = bits(sys::GTH_SEGMENT_EXTENT);
            }
        }
        raw
    }
}

/// The description of a table in files that may be larger than memory, or in pieces of memory. [`Table::open`] makes a
/// [`Tensor`] of it.
///
/// The tensor can be the params of [`gather()`](crate::gather()), [`gather_nd()`](crate::gather_nd()),
/// [`gather_elements()`](crate::gather_elements()) and [`gather_bags()`](crate::gather_bags()), of their forms and of a
/// [`BoundPlan`](crate::BoundPlan), and the scales and zeros of [`Packed`]. They read only the rows that indices select.
/// As any other operand, it is an [`Error::Unsupported`]. It has no elements in memory and no export.
///
/// The tensor owns its files, borrows memory, and keeps the operands of a format. Any number of threads may use it. A
/// file must not change while a tensor uses it.
///
/// # Errors of reads
///
/// A row that cannot be read is an [`Error::Io`], whose [`Cause`] has the segment, the position of the index, and the
/// bytes in the file. With [`Mode::Map`] without a budget, the output is unchanged then. Otherwise each of its rows holds
/// its result, or is unchanged, or, if it could not be read, has undefined numbers.
///
/// # Examples
///
/// Five rows of two numbers, of which two are in a file behind a header of 16 bytes:
///
/// ```
/// use gather::{DType, Options, Segment, Table, Tensor, gather};
///
/// let path = std::env::temp_dir().join(format!("gather_table_{}.bin", std::process::id()));
/// let numbers = [0.0f32, 0.5, 1.0, 1.5].map(f32::to_le_bytes);
/// std::fs::write(&path, [&[0; 16], numbers.as_flattened()].concat())?;
/// let more = [2.0f32, 2.5, 3.0, 3.5, 4.0, 4.5];
///
/// let table = Table::new(DType::Float32, &[2])
///     .segment(Segment::path(&path, 2).offset(16))
///     .segment(Segment::memory(&more, 3))
///     .open()?;
/// assert_eq!(table.shape(), [5, 2]);
/// let ids = Tensor::new(&[4i64, 1], &[2]);
/// table.prefetch(&ids)?; // optional: the disk begins to read
/// let rows = gather(&table, &ids, &Options::new())?;
/// assert_eq!(rows.as_slice::<f32>()?, [4.0, 4.5, 1.0, 1.5]);
/// assert_eq!(table.stats()?.rows, 2);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The tensor cannot outlive borrowed memory:
///
/// ```compile_fail,E0505
/// # use gather::{DType, Segment, Table};
/// let rows = vec![0.0f32; 8];
/// let table = Table::new(DType::Float32, &[2]).segment(Segment::memory(&rows, 4)).open()?;
/// drop(rows);
/// println!("{:?}", table.shape());
/// # Ok::<(), gather::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Table<'a, 'f> {
    dtype: DType,
    row: Vec<usize>,
    format: Option<Packed<'a>>,
    segments: Vec<Segment<'a, 'f>>,
    mode: Mode,
    resident: usize,
}

impl<'a, 'f> Table<'a, 'f> {
    /// Describes a table whose rows have this dtype and shape. The number of rows is that of its segments.
    pub fn new(dtype: DType, row: &[usize]) -> Self {
        Table {
            dtype,
            row: row.to_vec(),
            format: None,
            segments: Vec::new(),
            mode: Mode::default(),
            resident: 0,
        }
    }

    /// Describes a table of packed rows. The format, its operands, the dtype, and the shape of a row are those of `row`:
    /// `Packed::new("q8_0", &[], &[64])`. Its bytes, strides and offset are not used.
    pub fn packed(row: Packed<'a>) -> Self {
        let mut table = Self::new(row.dtype, &row.shape);
        table.format = Some(row);
        table
    }

    /// Adds rows. They follow those of earlier segments.
    pub fn segment(mut self, segment: Segment<'a, 'f>) -> Self {
        self.segments.push(segment);
        self
    }

    /// Sets how files are read.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the budget of mapped memory in bytes for [`Mode::Map`], at least 8 MiB. Before the pages of the table exceed
    /// it, they leave the memory of the process. 0, the default, means no budget.
    pub fn resident(mut self, bytes: usize) -> Self {
        self.resident = bytes;
        self
    }

    /// Opens the files, and reads no row.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] if a file cannot be opened, is no regular file, or is too short. [`Error::Stride`] if memory
    /// is too small, or a stride is less than a row. [`Error::Size`] if the end of the rows does not fit 64 bits.
    /// [`Error::Shape`] if there are no segments, or one has no rows. [`Error::Version`] for a budget below 8 MiB.
    /// [`Error::DType`] for bools, because a byte of a file may be neither 0 nor 1: use `u8`. [`Error::Unsupported`] for
    /// strings. [`Error::Rank`], [`Error::Device`], [`Error::OutOfMemory`], and those of [`Packed::build`]. The operand of
    /// a segment is [`Operand::File`](crate::Operand::File), and the component is its number.
    pub fn open(self) -> Result<Tensor<'a>, Error> {
        if self.dtype == DType::Bool {
            let message = "a file may have bytes that are no bools: use uint8";
            return Err(Cause::new(sys::GTH_E_DTYPE, Operand::Tensor, message)
                .numbers(DType::Bool as i128, DType::UInt8 as i64)
                .into());
        }
        let codec = self.format.as_ref().map(Packed::codec).transpose()?;
        let mut paths = Vec::with_capacity(self.segments.len());
        for (number, segment) in self.segments.iter().enumerate() {
            segment.check_device(number)?;
            paths.push(segment.c_path(number)?);
        }
        let pairs = self.segments.iter().zip(&paths);
        let raw: Vec<_> = pairs.map(|(segment, path)| segment.raw(path.as_ref())).collect();
        let pointers: Vec<_> = raw.iter().map(ptr::from_ref).collect();
        let rows = self
            .segments
            .iter()
            .fold(0, |sum: usize, each| sum.saturating_add(each.rows));
        let mut desc = Description::new(Kind::new(self.dtype, Device::Cpu), &[&[rows], &self.row[..]].concat());
        desc.head.codec = codec.as_ref().map_or(ptr::null(), ptr::from_ref);
        let options = sys::gth_files_options {
            size: struct_size::<sys::gth_files_options>(),
            mode: match self.mode {
                Mode::Read => sys::GTH_FILES_READ,
                Mode::Map => sys::GTH_FILES_MAP,
            },
            resident: bytes_to_c(self.resident),
        };
        let count = extent_to_c(pointers.len());
        let handle = Handle::make(|out, err| {
            // SAFETY: paths, files and structs are borrowed for the call. The library checks the size of the memory,
            // which is borrowed for 'a. The new tensor owns the handle, and keeps the operands of the codec.
            unsafe {
                sys::gth_tensor_open(
                    ptr::null_mut(),
                    desc.raw(),
                    count,
                    pointers.as_ptr(),
                    &options,
                    out,
                    err,
                )
            }
        })?;
        let (scales, zeros) = self.format.map_or((None, None), |format| (format.scales, format.zeros));
        Ok(Tensor::from_table(handle, desc, [scales, zeros]))
    }

    #[cfg(feature = "safetensors")]
    pub(crate) fn has_rows(&self, dtype: DType, row: &[usize]) -> bool {
        self.dtype == dtype && self.row == row
    }
}

/// Returns the error of a file. `native` is the error of the system, or 0.
pub(crate) fn io_error(number: usize, native: i32, reason: &str) -> Error {
    let mut cause = Cause::new(sys::GTH_E_IO, Operand::File, format!("segment {number}: {reason}"));
    cause.component = u32::try_from(number).ok();
    cause.native = native;
    cause.into()
}

/// Counters of a [`Table`] since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TableStats {
    /// The mode in use.
    pub mode: Mode,
    /// Rows that were read from files. Parts of a row count too.
    pub rows: usize,
    /// Rows, or mapped pages, that were not in memory and were requested.
    pub requested: usize,
    /// The number of times that pages left the memory of the process because of the budget.
    pub releases: usize,
    /// The mapped memory after the last call in bytes. 0 without a budget.
    pub resident: usize,
}

impl Tensor<'_> {
    /// Requests the rows of a [`Table`] that indices select along dim 0, and does not wait for them. A later gather of
    /// these rows then waits less. Indices out of bounds are ignored, and so are rows that cannot be read.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for another tensor, and the errors of [`gather()`](crate::gather()) that do not
    /// depend on data.
    pub fn prefetch(&self, indices: &Tensor<'_>) -> Result<(), Error> {
        let handle = self.handle()?;
        // SAFETY: the tensors own their handles or borrow their memory for the call.
        call(|err| unsafe {
            sys::gth_tensor_prefetch(ptr::null_mut(), handle.as_ptr(), indices.desc.raw(), ptr::null(), err)
        })
    }

    /// Returns the counters of a [`Table`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unsupported`] for another tensor.
    pub fn stats(&self) -> Result<TableStats, Error> {
        let handle = self.handle()?;
        let mut stats = sys::gth_files_stats {
            size: struct_size::<sys::gth_files_stats>(),
            ..Default::default()
        };
        // SAFETY: the handle has not been released, and the size of the struct is set.
        call(|err| unsafe { sys::gth_tensor_stats(handle.as_ptr(), &mut stats, err) })?;
        Ok(TableStats {
            mode: match stats.mode {
                sys::GTH_FILES_MAP => Mode::Map,
                _ => Mode::Read,
            },
            rows: extent_from_c(stats.rows),
            requested: extent_from_c(stats.requested),
            releases: extent_from_c(stats.releases),
            resident: extent_from_c(stats.resident),
        })
    }
}
