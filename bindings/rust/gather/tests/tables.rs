//! Tables in files: rows equal those of the files in every function that takes params, and each misuse is an error.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use gather::{
    Bags, BoundPlan, Buffer, Cause, Context, DType, Device, Error, Extents, Layout, Mode, OPEN, Operand, Options,
    Packed, Segment, Table, Tensor, TensorMut, gather, gather_bags, gather_elements, gather_into, gather_nd,
    output_shape, scatter_into,
};

const WIDTH: usize = 3;
const MODES: [Mode; 2] = [Mode::Read, Mode::Map];
const MAPS: bool = cfg!(not(windows));

/// A folder that is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gather_tables_{}_{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn number(row: usize, column: usize) -> f32 {
    (100 * row + column) as f32
}

/// Returns the bytes of rows behind `offset` other bytes, and `gap` other bytes between them.
fn rows(first: usize, count: usize, offset: usize, gap: usize) -> Vec<u8> {
    let mut bytes = vec![0x5a; offset];
    for row in first..first + count {
        (0..WIDTH).for_each(|column| bytes.extend(number(row, column).to_ne_bytes()));
        bytes.extend(vec![0x5a; gap]);
    }
    bytes.truncate(bytes.len() - gap);
    bytes
}

fn wanted(ids: &[i64]) -> Vec<f32> {
    let rows = ids
        .iter()
        .map(|id| [0, 1, 2].map(|column| number(*id as usize, column)));
    rows.flatten().collect()
}

/// Returns the details of an error of a file.
fn io<T: std::fmt::Debug>(result: Result<T, Error>) -> Cause {
    match result {
        Err(Error::Io(cause)) => *cause,
        other => panic!("{other:?}"),
    }
}

/// Opens 10 rows: four with gaps, and one, in files, and five in memory.
fn ten<'a>(folder: &Folder, memory: &'a [u8], mode: Mode) -> Tensor<'a> {
    let (first, second) = (
        folder.write("first", &rows(0, 4, 7, 8)),
        File::open(folder.write("second", &rows(4, 1, 0, 0))).unwrap(),
    );
    Table::new(DType::Float32, &[WIDTH])
        .segment(Segment::path(first, 4).offset(7).row_stride(20))
        .segment(Segment::file(&second, 1))
        .segment(Segment::memory(memory, 5).offset(3))
        .mode(mode)
        .open()
        .unwrap() // The file is closed here.
}

#[test]
fn rows_are_those_of_the_segments() {
    let (folder, memory, options) = (Folder::new(), rows(5, 5, 3, 0), Options::new());
    let picked = [9i64, 0, 4, 3, 9, 6];
    let (ids, wanted) = (Tensor::from(&picked), wanted(&picked));
    for mode in MODES {
        let table = ten(&folder, &memory, mode);
        assert_eq!((table.shape(), table.dtype()), (&[10, WIDTH][..], DType::Float32));
        assert_eq!(format!("{table:?}"), "Tensor { dtype: Float32, shape: [10, 3] }");
        table.prefetch(&ids).unwrap();
        assert_eq!(
            gather(&table, &ids, &options).unwrap().as_slice::<f32>().unwrap(),
            wanted
        );
        let (view, tuples) = (table.view(), Tensor::new(&picked, &[6, 1]));
        assert_eq!(
            gather_nd(&view, &tuples, &options).unwrap().as_slice::<f32>().unwrap(),
            wanted
        );
        let mut out = [0.0f32; 6 * WIDTH];
        gather_into(&table, &ids, &options, &mut TensorMut::new(&mut out, &[6, WIDTH])).unwrap();
        assert_eq!(out[..], wanted);
        let columns = Tensor::new(&[2u8, 0], &[2, 1]);
        let elements = gather_elements(&table, &columns, &options.axis(1).extents(Extents::Prefix)).unwrap();
        assert_eq!(elements.as_slice::<f32>().unwrap(), [number(0, 2), number(1, 0)]);
        let sums = gather_bags(&table, &Tensor::new(&picked, &[3, 2]), &Bags::dense(), &options).unwrap();
        let pairs = wanted
            .chunks(2 * WIDTH)
            .flat_map(|pair| [0, 1, 2].map(|i| pair[i] + pair[WIDTH + i]));
        assert_eq!(sums.as_slice::<f32>().unwrap(), pairs.collect::<Vec<_>>());
        assert_eq!(
            output_shape(&table.layout(), &ids.layout(), &options).unwrap(),
            [6, WIDTH]
        );
        let plan = BoundPlan::gather(&table, &Layout::new::<i64>(&[OPEN]), &options).unwrap();
        out.fill(0.0);
        plan.run_open(6, &picked, &mut out).unwrap();
        assert_eq!(out[..], wanted);
        assert!(matches!(
            plan.run_open(6, &picked, &mut [0i32; 18]),
            Err(Error::DType(_))
        ));
        let (stats, used) = (table.stats().unwrap(), if MAPS { mode } else { Mode::Read });
        assert_eq!((stats.mode, stats.releases), (used, 0));
        assert!(stats.rows >= if used == Mode::Read { 6 } else { 1 }, "{stats:?}");
        match gather(&table, &Tensor::from(&[1i64, 10]), &options) {
            Err(Error::Index(cause)) => assert_eq!((cause.position, cause.limit), (Some(1), 10)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn packed_rows_are_decoded() {
    // Blocks of q8_0: a float16 scale, here 0.5, and 32 codes.
    let block = |first: u8| [&[0, 0x38][..], &(first..first + 32).collect::<Vec<_>>()].concat();
    let (folder, ids) = (Folder::new(), Tensor::from(&[2u8, 0]));
    let path = folder.write("q8_0", &[&[9; 5][..], &block(0), &block(40)].concat());
    let decoded = |first: u8| (first..first + 32).map(|code| 0.5 * f32::from(code));
    let memory = block(80);
    for (mode, resident) in [(Mode::Read, 0), (Mode::Map, 0), (Mode::Map, 8 << 20)] {
        let table = Table::packed(Packed::new("q8_0", &[], &[32]))
            .segment(Segment::path(&path, 2).offset(5))
            .segment(Segment::memory(&memory, 1))
            .mode(mode)
            .resident(resident)
            .open()
            .unwrap();
        assert_eq!(table.shape(), [3, 32]);
        let rows = gather(&table, &ids, &Options::new()).unwrap();
        assert_eq!(
            rows.as_slice::<f32>().unwrap(),
            decoded(80).chain(decoded(0)).collect::<Vec<_>>()
        );
    }
}

/// Scales in a file belong to codes in memory.
#[test]
fn scales_may_be_in_files() {
    let folder = Folder::new();
    let path = folder.write("scales", &[0.5f32, 2.0].map(f32::to_ne_bytes).concat());
    let scales = Table::new(DType::Float32, &[1])
        .segment(Segment::path(path, 2))
        .open()
        .unwrap();
    let codes = Packed::new("int8", &[2, 0xff, 3, 4], &[2, 2]).scales(scales).build();
    let rows = gather(&codes.unwrap(), &Tensor::from(&[1i64, 0]), &Options::new()).unwrap();
    assert_eq!(rows.as_slice::<f32>().unwrap(), [6.0, 8.0, 1.0, -0.5]);
}

#[test]
fn other_uses_are_unsupported() {
    let (folder, memory, options) = (Folder::new(), rows(5, 5, 3, 0), Options::new());
    let mut table = ten(&folder, &memory, Mode::Read);
    let (ids, numbers) = (Tensor::from(&[0i64]), [0.0f32; WIDTH]);
    let row = Tensor::new(&numbers, &[1, WIDTH]);
    fn unsupported<T: std::fmt::Debug>(result: Result<T, Error>) {
        assert!(matches!(result, Err(Error::Unsupported(_))), "{result:?}");
    }
    unsupported(table.as_slice::<f32>());
    unsupported(table.as_bytes());
    unsupported(table.view().with_strides(&[12, 4]));
    unsupported(row.stats());
    unsupported(row.prefetch(&ids));
    unsupported(gather(&row, &table, &options));
    unsupported(
        Context::builder()
            .build()
            .unwrap()
            .copy(&table, &mut TensorMut::new(&mut [0.0f32; 30], &[10, 3])),
    );
    assert!(matches!(table.as_slice::<i32>(), Err(Error::DType(_))));
    let offset = table.view().with_offset(4);
    assert!(matches!(gather(&offset, &ids, &options), Err(Error::Version(_))));
    let mut target = table.as_mut();
    assert_eq!(target.shape(), [10, WIDTH]);
    assert!(matches!(
        scatter_into(&mut target, &ids, &row, &options),
        Err(Error::ReadOnly(_))
    ));
}

#[test]
fn segments_are_checked_when_a_table_is_opened() {
    let folder = Folder::new();
    let path = folder.write("rows", &rows(0, 4, 0, 0));
    let floats = |segment| {
        Table::new(DType::Float32, &[WIDTH])
            .segment(Segment::path(&path, 1))
            .segment(segment)
    };
    let missing = io(floats(Segment::path(folder.0.join("missing"), 1)).open());
    assert_eq!(
        (missing.operand, missing.component, missing.position),
        (Operand::File, Some(1), None)
    );
    assert_eq!(missing.io_error().unwrap().kind(), ErrorKind::NotFound);
    let directory = io(floats(Segment::path(&folder.0, 1)).open());
    assert!(
        directory.component == Some(1) && directory.io_error().is_some(),
        "{directory:?}"
    );
    let zero = io(floats(Segment::path(Path::new("a\0b"), 1)).open());
    assert_eq!(
        (zero.component, zero.io_error().unwrap().kind()),
        (Some(1), ErrorKind::InvalidData)
    );
    let short = io(floats(Segment::path(&path, 4).offset(1)).open());
    assert_eq!(
        (short.component, short.native, short.value, short.limit),
        (Some(1), 0, 1, 48)
    );

    let memory = rows(0, 4, 0, 0);
    for (segment, end) in [
        (Segment::memory(&memory, 4).offset(1), 49),
        (Segment::memory(&memory, 3).row_stride(20), 52),
        (Segment::memory(&[0u8; 0], 1), 12),
    ] {
        match floats(segment).open() {
            Err(Error::Stride(cause)) => assert_eq!((cause.component, cause.value), (Some(1), end)),
            other => panic!("{other:?}"),
        }
    }
    for segment in [
        Segment::memory(&memory, 2).row_stride(usize::MAX),
        Segment::memory(&memory, 1).offset(usize::MAX),
    ] {
        match floats(segment).open() {
            Err(Error::Size(cause)) => assert_eq!((cause.component, cause.limit), (Some(1), i64::MAX)),
            other => panic!("{other:?}"),
        }
    }
    let most = Segment::memory(&memory, usize::MAX).row_stride(usize::MAX);
    assert!(matches!(floats(most).open(), Err(Error::Shape(_))));
    let empty = Table::new(DType::Float32, &[0]).segment(Segment::memory(&[0u8; 0], 2));
    assert_eq!(empty.open().unwrap().shape(), [2, 0]);
    // SAFETY: the crate rejects the memory of a device.
    let device = unsafe { Buffer::from_raw(DType::Float32, Device::Cuda(0), memory.as_ptr().cast(), 48) };
    assert!(matches!(
        floats(Segment::memory(device, 1)).open(),
        Err(Error::Device(_))
    ));
    assert!(matches!(floats(Segment::path(&path, 0)).open(), Err(Error::Shape(_))));
    assert!(matches!(
        floats(Segment::path(&path, usize::MAX)).open(),
        Err(Error::Shape(_))
    ));
    assert!(matches!(
        floats(Segment::path(&path, 1).row_stride(11)).open(),
        Err(Error::Stride(_))
    ));
    assert!(matches!(
        floats(Segment::path(&path, 1)).resident(1).open(),
        Err(Error::Version(_))
    ));
    assert!(matches!(Table::new(DType::Float32, &[3]).open(), Err(Error::Shape(_))));
    let opened = |table: Table<'_, '_>| table.segment(Segment::path(&path, 1)).open().map(drop);
    assert!(matches!(opened(Table::new(DType::Bool, &[3])), Err(Error::DType(_))));
    assert!(matches!(
        opened(Table::new(DType::String, &[3])),
        Err(Error::Unsupported(_))
    ));
    assert!(matches!(
        opened(Table::new(DType::Int8, &[usize::MAX, 2])),
        Err(Error::Shape(_) | Error::Size(_))
    ));
    assert!(matches!(opened(Table::new(DType::Int8, &[1; 64])), Err(Error::Rank(_))));
    assert!(matches!(
        opened(Table::packed(Packed::new("q9_0", &[], &[32]))),
        Err(Error::Version(_))
    ));
    assert!(matches!(
        opened(Table::packed(Packed::new("q8_0", &[], &[33]))),
        Err(Error::Shape(_))
    ));
    assert!(matches!(
        opened(Table::packed(Packed::new("q8_0", &[], &[]))),
        Err(Error::Rank(_))
    ));
}

#[test]
fn file_that_becomes_shorter_is_an_error_with_its_bytes() {
    let folder = Folder::new();
    for mode in MODES {
        let path = folder.write("cut", &rows(0, 4000, 0, 0));
        let table = Table::new(DType::Float32, &[WIDTH])
            .segment(Segment::memory(&[0.0f32; WIDTH], 1))
            .segment(Segment::path(&path, 4000))
            .mode(mode)
            .open()
            .unwrap();
        OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(4096)
            .unwrap();
        let cause = io(gather(&table, &Tensor::from(&[1i64, 0, 3001]), &Options::new()));
        assert_eq!(
            (cause.operand, cause.component, cause.position),
            (Operand::File, Some(1), Some(2))
        );
        assert!(
            cause.value <= 36_000 && cause.value + i128::from(cause.limit) > 36_000,
            "{cause:?}"
        );
        assert_eq!(cause.native, 0);
        assert_eq!(cause.io_error().unwrap().kind(), ErrorKind::InvalidData);
    }
}

#[test]
fn threads_share_a_table() {
    fn sent<T: Send + Sync>(value: T) -> T {
        value
    }
    let (folder, memory) = (Folder::new(), rows(5, 5, 3, 0));
    for mode in MODES {
        let table = sent(ten(&folder, &memory, mode));
        std::thread::scope(|scope| {
            for first in 0..4 {
                let table = &table;
                scope.spawn(move || {
                    for id in (first..first + 100).map(|id| id % 10) {
                        let row = gather(table, &Tensor::from(&[id]), &Options::new()).unwrap();
                        assert_eq!(row.as_slice::<f32>().unwrap(), wanted(&[id]));
                    }
                });
            }
        });
    }
}

#[cfg(feature = "safetensors")]
mod safetensors {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    /// Returns a file whose second tensor has rows of three float32.
    fn shard(first: usize, count: usize) -> Vec<u8> {
        let end = 2 + 12 * count;
        let header = format!(
            r#"{{"t":{{"dtype":"F32","shape":[{count},3],"data_offsets":[2,{end}]}},"a":{{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}}}"#
        );
        let data = if count > 0 {
            rows(first, count, 2, 0)
        } else {
            vec![0; 2]
        };
        file(&header, &data)
    }

    #[test]
    fn rows_of_shards_follow_each_other() {
        let folder = Folder::new();
        let paths = [
            folder.write("1", &shard(0, 2)),
            folder.write("2", &shard(2, 0)),
            folder.write("3", &shard(2, 3)),
        ];
        for mode in MODES {
            let table = Table::safetensors(&paths, "t").unwrap().mode(mode).open().unwrap();
            assert_eq!((table.shape(), table.dtype()), (&[5, 3][..], DType::Float32));
            let found = gather(&table, &Tensor::from(&[4i64, 1]), &Options::new()).unwrap();
            assert_eq!(found.as_slice::<f32>().unwrap(), wanted(&[4, 1]));
        }
    }

    #[test]
    fn invalid_file_is_refused() {
        let (folder, good) = (Folder::new(), shard(0, 2));
        let first = folder.write("good", &good);
        let refused = |path: &Path, name: &str| {
            let cause = io(Table::safetensors(&[&first, path], name));
            assert_eq!((cause.operand, cause.component), (Operand::File, Some(1)), "{cause:?}");
            cause.io_error().unwrap().kind()
        };
        assert_eq!(refused(&folder.0.join("missing"), "t"), ErrorKind::NotFound);
        assert_eq!(refused(&folder.0, "t"), ErrorKind::InvalidData);
        for size in 0..good.len() {
            refused(&folder.write("cut", &good[..size]), "t");
        }
        refused(&folder.write("longer", &[&good[..], &[0]].concat()), "t");
        let tensor = |fields: &str| folder.write("bad", &file(&format!(r#"{{"t":{{{fields}}}}}"#), &[0; 24]));
        refused(&tensor(r#""dtype":"F32","shape":[3,2],"data_offsets":[0,24]"#), "t"); // another row
        refused(&tensor(r#""dtype":"I32","shape":[2,3],"data_offsets":[0,24]"#), "t"); // another dtype
        refused(&tensor(r#""dtype":"F32","shape":[2,4],"data_offsets":[0,24]"#), "t"); // other bytes
        refused(&tensor(r#""dtype":"F32","shape":[2,3],"data_offsets":[4,28]"#), "t"); // outside
        refused(&tensor(r#""dtype":"F32","shape":[2,-3],"data_offsets":[0,24]"#), "t");
        refused(
            &tensor(r#""dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,24]"#),
            "t",
        );
        refused(&folder.write("long header", &u64::MAX.to_le_bytes()), "t");
        let alone = |path: &PathBuf, name: &str| io(Table::safetensors(&[path], name)).message;
        assert!(alone(&first, "other").contains("no tensor"));
        assert!(alone(&first, "a").contains("BOOL"));
        let scalar = tensor(
            r#""dtype":"C64","shape":[],"data_offsets":[0,8]},"u":{"dtype":"U64","shape":[2],"data_offsets":[8,24]"#,
        );
        assert!(alone(&scalar, "t").contains("C64"));
        assert_eq!(
            Table::safetensors(&[&scalar], "u").unwrap().open().unwrap().shape(),
            [2]
        );
        io(Table::safetensors::<&Path>(&[], "t"));
    }
}
