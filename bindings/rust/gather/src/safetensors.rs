//! Tables in files of the format safetensors.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::dtype::DType;
use crate::error::Error;
use crate::table::{Segment, Table, io_error};

/// The crate `safetensors` rejects larger headers.
const MOST_HEADER_BYTES: u64 = 100_000_000;

impl Table<'_, '_> {
    /// Describes the rows of the tensor `name` in one file, or in several ones, each of which has some of the rows. Only
    /// the headers are read. A file whose part has no rows adds no segment.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] if a file cannot be read, has an invalid header or another size than its header tells, or
    /// does not have the tensor. The same error is returned if the dtype or the shape of a row differs from that in the
    /// first file, for a tensor without dims, and for a dtype of which elements have no bytes of their own, or bool.
    /// `component` is the number of the file.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use gather::{Options, Table, Tensor, gather};
    ///
    /// let shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    /// let table = Table::safetensors(&shards, "ngram.weight")?.open()?;
    /// let rows = gather(&table, &Tensor::new(&[7i64, 3], &[2]), &Options::new())?;
    /// # Ok::<(), gather::Error>(())
    /// ```
    pub fn safetensors<P: AsRef<Path>>(paths: &[P], name: &str) -> Result<Self, Error> {
        let mut found: Option<Self> = None;
        for (number, path) in paths.iter().enumerate() {
            let path = path.as_ref();
            let refuse = |error: &io::Error| {
                let native = error.raw_os_error().unwrap_or(0);
                io_error(number, native, &format!("{path:?}: {error}"))
            };
            let (info, begin) = find(path, name).map_err(|error| refuse(&error))?;
            let part = (|| Some((dtype_of(info.dtype)?, info.shape.split_first()?)))();
            let Some((dtype, (rows, row))) = part else {
                let what = format!("{name:?} is {:?} with the shape {:?}", info.dtype, info.shape);
                return Err(refuse(&invalid(&what)));
            };
            let table = found.take().unwrap_or_else(|| Table::new(dtype, row));
            if !table.has_rows(dtype, row) {
                return Err(refuse(&invalid(&format!(
                    "the rows of {name:?} are not those of the first file"
                ))));
            }
            found = Some(match *rows {
                0 => table,
                rows => table.segment(Segment::path(path, rows).offset(begin)),
            });
        }
        found.ok_or_else(|| io_error(0, 0, "there is no file"))
    }
}

/// Finds a tensor, and the byte of the file at which it begins.
fn find(path: &Path, name: &str) -> io::Result<(TensorInfo, usize)> {
    if !path.metadata()?.is_file() {
        return Err(invalid("is no regular file")); // To open a pipe would wait for a writer.
    }
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let room = size.saturating_sub(8);
    let mut prefix = [0; 8];
    file.read_exact(&mut prefix)?;
    let bytes = u64::from_le_bytes(prefix);
    if bytes > MOST_HEADER_BYTES || bytes > room {
        return Err(invalid(&format!("a header of {bytes} bytes in a file of {size}")));
    }
    let mut header = Vec::new();
    file.take(bytes).read_to_end(&mut header)?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| invalid(&error.to_string()))?;
    let data = metadata.data_len() as u64; // A usize has 64 bits.
    if data != room - bytes || header.len() as u64 != bytes {
        return Err(invalid(&format!("{data} bytes of tensors in a file of {size}")));
    }
    let info = metadata
        .info(name)
        .ok_or_else(|| invalid(&format!("has no tensor {name:?}")))?;
    let begin = 8 + header.len() + info.data_offsets.0;
    Ok((info.clone(), begin))
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::I8 => DType::Int8,
        Dtype::I16 => DType::Int16,
        Dtype::I32 => DType::Int32,
        Dtype::I64 => DType::Int64,
        Dtype::U8 => DType::UInt8,
        Dtype::U16 => DType::UInt16,
        Dtype::U32 => DType::UInt32,
        Dtype::U64 => DType::UInt64,
        Dtype::F16 => DType::Float16,
        Dtype::BF16 => DType::BFloat16,
        Dtype::F32 => DType::Float32,
        Dtype::F64 => DType::Float64,
        Dtype::C64 => DType::Complex64,
        Dtype::F8_E4M3 => DType::Float8E4M3Fn,
        Dtype::F8_E4M3FNUZ => DType::Float8E4M3Fnuz,
        Dtype::F8_E5M2 => DType::Float8E5M2,
        Dtype::F8_E5M2FNUZ => DType::Float8E5M2Fnuz,
        Dtype::F8_E8M0 => DType::Float8E8M0Fnu,
        _ => return None,
    })
}
