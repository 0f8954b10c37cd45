//! A result never shares memory with its source, even if all elements are equal.

use gather::{
    Context, Options, Tensor, TensorMut, gather, gather_elements, gather_nd, scatter, scatter_elements, scatter_nd,
};

const ELEMENTS: [i32; 3] = [1, 2, 3];

/// Overwrites a result that equals its source. The source must not change.
fn attack(name: &str, source: &Tensor<'_>, mut result: Tensor<'static>) {
    let borrowed = source.as_slice::<i32>().unwrap();
    assert_eq!(result.as_slice(), Ok(&ELEMENTS[..]), "{name}");
    let others = Tensor::new(&[9i32; 3], &[3]);
    Context::DEFAULT.copy(&others, &mut result.as_mut()).unwrap();
    assert_eq!(result.as_slice(), Ok(&[9; 3][..]), "{name}");
    assert_eq!(borrowed, ELEMENTS, "{name}");
}

#[test]
fn results_do_not_share_memory_with_their_source() {
    let options = &Options::new();
    let all = Tensor::new(&[0i64, 1, 2], &[3]);
    let tuples = Tensor::new(&[0i64, 1, 2], &[3, 1]);
    let none = Tensor::new(&[] as &[i64], &[0]);
    let no_tuples = Tensor::new(&[] as &[i64], &[0, 1]);
    let nothing = Tensor::new(&[] as &[i32], &[0]);
    let owned = Tensor::from_vec(ELEMENTS.to_vec(), &[3]).unwrap();
    for source in [&owned, &owned.view(), &Tensor::new(&ELEMENTS, &[3])] {
        attack("gather", source, gather(source, &all, options).unwrap());
        attack("gather_nd", source, gather_nd(source, &tuples, options).unwrap());
        attack(
            "gather_elements",
            source,
            gather_elements(source, &all, options).unwrap(),
        );
        attack("scatter", source, scatter(source, &none, &nothing, options).unwrap());
        attack(
            "scatter_nd",
            source,
            scatter_nd(source, &no_tuples, &nothing, options).unwrap(),
        );
        attack(
            "scatter_elements",
            source,
            scatter_elements(source, &none, &nothing, options).unwrap(),
        );
    }
}

#[test]
fn tensor_from_vec_owns_its_memory() {
    let source = ELEMENTS.to_vec();
    let mut tensor = Tensor::from_vec(source.clone(), &[3]).unwrap();
    let others = Tensor::new(&[9i32; 3], &[3]);
    Context::DEFAULT.copy(&others, &mut tensor.as_mut()).unwrap();
    assert_eq!(source, ELEMENTS);
    let mut copy = tensor.to_vec::<i32>().unwrap();
    copy[0] = 5;
    assert_eq!(tensor.as_slice(), Ok(&[9; 3][..]));
}

#[test]
fn forgotten_output_ends_its_borrow() {
    let mut memory = ELEMENTS;
    std::mem::forget(TensorMut::new(&mut memory, &[3]));
    memory[0] = 5;
    assert_eq!(memory, [5, 2, 3]);
}
