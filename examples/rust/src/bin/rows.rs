//! Gathers rows of a file: `rows TABLE CODEC COUNT DIM IDS`
//!
//! The file TABLE has COUNT rows of DIM numbers. They are packed rows of CODEC, or float32. The file IDS has int64.
//! Both are little-endian. The rows are written to standard output as float32, and then the rows that one second gathers
//! to standard error.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use gather::{Options, Packed, Tensor, TensorMut, gather_into};

/// Returns the numbers of a file, which have `BYTES` bytes each.
fn numbers<const BYTES: usize, T>(bytes: &[u8], number: fn([u8; BYTES]) -> T) -> Vec<T> {
    let chunks = bytes.chunks_exact(BYTES);
    chunks
        .map(|chunk| number(chunk.try_into().expect("whole chunks")))
        .collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, codec, count, dim, ids] = &arguments[..] else {
        return Err("usage: rows TABLE CODEC COUNT DIM IDS".into());
    };
    let (data, shape) = (std::fs::read(table)?, [count.parse()?, dim.parse()?]);
    let dense = numbers(&data, f32::from_le_bytes);
    let table = match codec.as_str() {
        "float32" => Tensor::new(&dense, &shape),
        _ => Packed::new(codec, &data, &shape).build()?,
    };
    let ids = numbers(&std::fs::read(ids)?, i64::from_le_bytes);
    let mut rows = vec![0.0f32; ids.len() * shape[1]];
    let mut fastest = Duration::MAX; // other programs disturbed the fastest call least
    for _ in 0..50 {
        let begin = Instant::now();
        gather_into(
            &table,
            &Tensor::new(&ids, &[ids.len()]),
            &Options::new(),
            &mut TensorMut::new(&mut rows, &[ids.len(), shape[1]]),
        )?;
        fastest = fastest.min(begin.elapsed());
    }
    let bytes: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::io::stdout().write_all(&bytes)?;
    eprintln!("{:.0}", ids.len() as f64 / fastest.as_secs_f64());
    Ok(())
}
