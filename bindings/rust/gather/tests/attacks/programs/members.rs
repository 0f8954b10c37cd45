//! Functions that would create a second owner, or write to borrowed memory, do not exist or are unsafe.
#![forbid(unsafe_code)]

use std::ptr::{self, NonNull};

use gather::{
    Buffer, BufferMut, Column, Context, DType, Device, DlPack, Options, Plan, Rows, Strings, Tensor, TensorMut, Work,
    sys,
};

pub fn no_second_owners(tensor: Tensor<'static>, target: TensorMut<'_>, plan: Plan, context: Context) {
    let _ = <Tensor<'static> as Clone>::clone(&tensor); //~ E0277 attack
    let _ = <TensorMut<'_> as Clone>::clone(&target); //~ E0277 attack
    let _ = <Plan as Clone>::clone(&plan); //~ E0277 attack
    let _ = <Context as Clone>::clone(&context); //~ E0277 attack
    println!("{tensor:?} {target:?} {plan:?} {context:?}");
}

pub fn no_second_buffer(buffer: BufferMut<'_>) {
    let _ = <BufferMut<'_> as Clone>::clone(&buffer); //~ E0277 attack
    println!("{buffer:?}");
}

pub fn no_second_owner_of_arrow_structs(column: Column, rows: Rows) {
    let _ = <Column as Clone>::clone(&column); //~ E0277 attack
    let _ = <Rows as Clone>::clone(&rows); //~ E0277 attack
    let _ = rows.array; //~ E0616 attack
    println!("{column:?} {rows:?}");
}

pub fn no_writer_of_a_view(tensor: &Tensor<'_>, target: &TensorMut<'_>, strings: Strings<'_>) {
    let _ = tensor.as_mut_slice::<i32>(); //~ E0599 attack
    let _ = target.view(); //~ E0599 attack
    let _ = TensorMut::new(tensor, &[1]); //~ E0277 attack
    let _ = BufferMut::from(tensor); //~ E0277 attack
    let _ = tensor.desc; //~ E0616 attack
    let _ = target.desc; //~ E0616 attack
    println!("{tensor:?} {target:?} {strings:?}");
}

pub fn no_task_of_work(work: &Work<'_>) {
    let _ = work.task; //~ E0616 attack
    let _ = work.arg; //~ E0616 attack
    println!("{}", work.len());
}

pub fn raw_memory_is_unsafe(context: &Context) {
    let _ = Buffer::from_raw(DType::Int32, Device::Cpu, ptr::null(), 8); //~ E0133 attack
    let _ = BufferMut::from_raw(DType::Int32, Device::Cpu, ptr::null_mut(), 8); //~ E0133 attack
    let _ = DlPack::<sys::DLManagedTensorVersioned>::from_raw(NonNull::dangling()); //~ E0133 attack
    let _ = DlPack::<sys::DLManagedTensor>::from_raw(NonNull::dangling()); //~ E0133 attack
    let _ = context.from_arrow(ptr::null(), ptr::null_mut(), None); //~ E0133 attack
    let _ = Column::from_arrow(ptr::null(), &[]); //~ E0133 attack
    let _ = Column::from_arrow_stream(ptr::null_mut()); //~ E0133 attack
    let _ = context.wait(ptr::null_mut()); //~ E0133 attack
    let _ = context.signal(ptr::null_mut()); //~ E0133 attack
    let _ = context.enqueue_take_error(ptr::null_mut()); //~ E0133 attack
    let _ = Context::builder().stream(ptr::null_mut()); //~ E0133 attack
    let _ = Context::builder().record(ptr::null_mut()); //~ E0133 attack
    let _ = Options::new().fill_image_unchecked(DType::Bool, [7; 16]); //~ E0133 attack
    gather::shutdown(); //~ E0133 attack
    println!("{context:?}");
}
