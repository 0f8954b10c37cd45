//! Gathers of strings.

use gather::{DType, Extents, Operand, Options, Tensor, gather, gather_elements, gather_nd, scatter};

#[test]
fn rows_of_strings() {
    let names = ["a", "bb", "", "dddd", "e", "ff"].map(String::from).to_vec();
    let params = Tensor::from_strings(&names, &[3, 2]).unwrap();
    drop(names);
    assert_eq!((params.dtype(), params.shape()), (DType::String, &[3, 2][..]));
    let out = gather(&params, &Tensor::new(&[2i16, 1], &[2]), &Options::new()).unwrap();
    assert_eq!(out.shape(), [2, 2]);
    let strings = out.strings().unwrap();
    assert_eq!(strings.to_strings().unwrap(), ["e", "ff", "", "dddd"]);
    assert_eq!((strings.len(), strings.is_empty()), (4, false));
    assert_eq!(
        (strings.get(3), strings.get(4), strings.get(usize::MAX)),
        (Some(&b"dddd"[..]), None, None)
    );
}

#[test]
fn elements_of_strings() {
    let params = Tensor::from_strings(&["a", "bb", "", "dddd", "e", "ff"], &[2, 3]).unwrap();
    let options = Options::new().axis(1).extents(Extents::Broadcast);
    let out = gather_elements(&params, &Tensor::new(&[2u8, 1], &[1, 2]), &options).unwrap();
    assert_eq!(out.shape(), [2, 2]);
    assert_eq!(out.strings().unwrap().to_strings().unwrap(), ["", "bb", "ff", "e"]);
}

#[test]
fn byte_strings_need_not_be_text() {
    let params = Tensor::from_byte_strings(&[&b"\xff\x00"[..], b"ok"], &[2]).unwrap();
    let out = gather_nd(&params, &Tensor::new(&[0u8], &[1, 1]), &Options::new()).unwrap();
    let strings = out.strings().unwrap();
    assert_eq!(strings.to_vecs(), [b"\xff\x00"]);
    assert!(strings.to_strings().is_err());
}

#[test]
fn string_views_of_borrowed_buffers() {
    let (offsets, bytes) = (vec![1i64, 3, 3, 6], b"-onetwo".to_vec());
    let params = Tensor::from_string_views(&offsets, &bytes, &[3]).unwrap();
    let out = gather(&params, &Tensor::new(&[2usize, 1, 0], &[3]), &Options::new()).unwrap();
    assert_eq!(out.strings().unwrap().to_strings().unwrap(), ["etw", "", "on"]);
}

#[test]
fn empty_tensor_of_strings() {
    let none = Tensor::from_strings::<&str>(&[], &[0]).unwrap();
    let out = gather(&none, &Tensor::new(&[] as &[i64], &[0]), &Options::new()).unwrap();
    assert_eq!(out.shape(), [0]);
    assert!(out.strings().unwrap().is_empty());
    assert!(none.strings().unwrap().to_vecs().is_empty());
}

#[test]
fn strings_of_the_highest_rank() {
    let words = Tensor::from_strings(&["a"], &[1; 64]).unwrap();
    let out = gather(&words, &Tensor::new(&[0u8], &[1]), &Options::new()).unwrap();
    assert_eq!(out.strings().unwrap().to_strings().unwrap(), ["a"]);
}

#[test]
fn indices_without_memory_are_refused() {
    let words = Tensor::from_strings(&["a", "b"], &[2]).unwrap();
    let none: [i64; 0] = [];
    let indices = Tensor::new(&none, &[2]);
    let result = gather(&words, &indices, &Options::new());
    assert_eq!(result.unwrap_err().cause().unwrap().operand, Operand::Indices);
    let result = scatter(&words, &indices, &words, &Options::new());
    assert_eq!(result.unwrap_err().cause().unwrap().operand, Operand::Indices);
}
