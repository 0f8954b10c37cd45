//! Takes rows of a tensor of candle, without a copy of the table: `cargo run`

use candle_core::{CpuStorage, Device, Error, Result, Storage, Tensor};
use gather::{Options, gather};

/// Returns the rows of a contiguous table of float32 on the CPU.
fn rows(table: &Tensor, ids: &[i64]) -> Result<Tensor> {
    let (storage, layout) = table.storage_and_layout();
    let Storage::Cpu(CpuStorage::F32(numbers)) = &*storage else {
        candle_core::bail!("the table is not float32 on the CPU");
    };
    let Some((first, last)) = layout.contiguous_offsets() else {
        candle_core::bail!("the table is not contiguous");
    };
    let params = gather::Tensor::new(&numbers[first..last], layout.dims());
    let rows = gather(&params, &gather::Tensor::vector(ids), &Options::new()).map_err(Error::wrap)?;
    Tensor::from_slice(rows.as_slice::<f32>().map_err(Error::wrap)?, rows.shape(), &Device::Cpu)
}

fn main() -> Result<()> {
    let table = Tensor::arange(0f32, 6., &Device::Cpu)?.reshape((3, 2))?;
    let taken = rows(&table, &[2, 0])?;
    assert_eq!(taken.to_vec2::<f32>()?, [[4., 5.], [0., 1.]]);
    assert_eq!(
        taken.to_vec2::<f32>()?,
        table
            .index_select(&Tensor::new(&[2u32, 0], &Device::Cpu)?, 0)?
            .to_vec2::<f32>()?
    );
    assert!(rows(&table, &[3]).is_err());
    println!("{taken}");
    Ok(())
}
