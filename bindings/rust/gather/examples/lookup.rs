//! Reads rows of a table by id: `lookup [--calls N] TABLE DIM IDS`
//!
//! TABLE is a file of little-endian float32 rows with DIM elements each. IDS is a file of little-endian int64. The
//! program writes the rows to standard output as bytes, and the time per call to standard error. `--calls` repeats the
//! lookup N times. An invalid id gives an error with its position, and exit status 1.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use gather::{Layout, OPEN, Options, Plan};

const USAGE: &str = "usage: lookup [--calls N] TABLE DIM IDS";

struct Arguments {
    calls: u32,
    table: String,
    dim: usize,
    ids: String,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut calls = 1;
    if words.first().is_some_and(|word| word == "--calls") {
        calls = words.get(1).ok_or(USAGE)?.parse()?;
        words.drain(..2);
    }
    match <[String; 3]>::try_from(words) {
        Ok([table, dim, ids]) if calls > 0 => Ok(Arguments {
            calls,
            table,
            dim: dim.parse()?,
            ids,
        }),
        _ => Err(USAGE.into()),
    }
}

/// Reads a file of numbers with `BYTES` bytes each.
fn read<const BYTES: usize, T>(path: &str, number: fn([u8; BYTES]) -> T) -> Result<Vec<T>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    if bytes.len() % BYTES != 0 {
        return Err(format!("{path}: {} bytes are not a multiple of {BYTES}", bytes.len()).into());
    }
    let chunks = bytes.chunks_exact(BYTES);
    Ok(chunks
        .map(|chunk| number(chunk.try_into().expect("whole chunks")))
        .collect())
}

fn lookup(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let table = read(&arguments.table, f32::from_le_bytes)?;
    let ids = read(&arguments.ids, i64::from_le_bytes)?;
    let dim = arguments.dim;
    if dim == 0 || table.len() % dim != 0 {
        return Err(format!(
            "{}: {} numbers are not a multiple of {dim}",
            arguments.table,
            table.len()
        )
        .into());
    }

    let plan = Plan::gather(
        &Layout::new::<f32>(&[table.len() / dim, dim]),
        &Layout::new::<i64>(&[OPEN]),
        &Options::new(),
    )?;
    let mut rows = vec![0.0f32; ids.len() * dim];
    let start = Instant::now();
    for _ in 0..arguments.calls {
        plan.run_open(ids.len(), &table, &ids, &mut rows)?;
    }
    let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(arguments.calls);
    eprintln!("{} rows, {each:.0} ns per call", ids.len());

    let bytes: Vec<u8> = rows.iter().flat_map(|number| number.to_ne_bytes()).collect();
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| lookup(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
