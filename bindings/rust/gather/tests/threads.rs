//! Threads share contexts, plans and tensors.

use gather::{
    Buffer, BufferMut, Capabilities, Context, Error, Layout, OPEN, Options, Plan, Strings, Tensor, TensorMut,
};

const fn shared<T: Send + Sync>() {}
const fn thrown<E: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    shared::<Context>();
    shared::<Tensor<'_>>();
    shared::<TensorMut<'_>>();
    shared::<Layout>();
    shared::<Plan>();
    shared::<Options>();
    shared::<Buffer<'_>>();
    shared::<BufferMut<'_>>();
    shared::<Strings<'_>>();
    shared::<Capabilities>();
    thrown::<Error>();
};

#[test]
fn many_threads_share_a_plan_and_a_context() {
    let table: Vec<i64> = (0..64 * 8).collect();
    let plan = Plan::gather(
        &Layout::new::<i64>(&[64, 8]),
        &Layout::new::<u16>(&[OPEN]),
        &Options::new(),
    )
    .unwrap();
    let context = Context::builder().threads(1).build().unwrap();
    let params = Tensor::new(&table, &[64, 8]);
    std::thread::scope(|scope| {
        for worker in 0..4u16 {
            let (plan, context, params, table) = (&plan, &context, &params, &table);
            scope.spawn(move || {
                let mut row = [0i64; 8];
                for i in 0..500 {
                    let id = (worker * 17 + i) % 64;
                    let expected = &table[usize::from(id) * 8..][..8];
                    context.run_open(plan, 1, table, &[id], &mut row).unwrap();
                    assert_eq!(row, expected);
                    let made = context
                        .gather(params, &Tensor::new(&[id], &[1]), &Options::new())
                        .unwrap();
                    assert_eq!(made.as_slice(), Ok(expected));
                }
            });
        }
    });
}

#[test]
fn results_may_be_dropped_on_another_thread() {
    let out = Tensor::from_vec(vec![1u8, 2], &[2]).unwrap();
    let sum: u8 = std::thread::spawn(move || out.as_slice::<u8>().unwrap().iter().sum())
        .join()
        .unwrap();
    assert_eq!(sum, 3);
}
