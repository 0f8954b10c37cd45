//! Plans a gather. The plan validates shapes and options once, and each run sets the number of ids.

use gather::{Layout, OPEN, Options, Plan};

fn main() -> Result<(), gather::Error> {
    let table = [0.0f32, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0];
    let plan = Plan::gather(
        &Layout::new::<f32>(&[4, 2]),
        &Layout::new::<i64>(&[OPEN]),
        &Options::new(),
    )?;
    for ids in [&[2i64][..], &[0, 1, 3]] {
        let mut rows = vec![0.0f32; 2 * ids.len()];
        plan.run_open(ids.len(), &table, ids, &mut rows[..])?;
        for row in rows.chunks_exact(2) {
            println!("{} {}", row[0], row[1]);
        }
    }
    Ok(())
}
