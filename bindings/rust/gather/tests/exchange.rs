//! Imports and exports with DLPack and Arrow.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use gather::sys::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};
use gather::{Context, DlPack, Error, Export, Options, Rows, Tensor, gather};

static SHAPE: [i64; 2] = [2, 2];
static STRIDES: [i64; 2] = [1, 2];
static DATA: [i32; 5] = [-1, 1, 2, 3, 4];

/// A transposed 2 * 2 matrix that begins at the second element.
fn dl_tensor() -> DLTensor {
    DLTensor {
        data: ptr::from_ref(&DATA).cast_mut().cast(),
        device: DLDevice {
            device_type: 1,
            device_id: 0,
        },
        ndim: 2,
        dtype: DLDataType {
            code: 0,
            bits: 32,
            lanes: 1,
        },
        shape: SHAPE.as_ptr().cast_mut(),
        strides: STRIDES.as_ptr().cast_mut(),
        byte_offset: 4,
    }
}

unsafe extern "C" fn count_and_free<T>(managed: *mut T)
where
    T: Counted,
{
    // SAFETY: the library calls the deleter once, with the struct of the import.
    let managed = unsafe { Box::from_raw(managed) };
    // SAFETY: the context is a counter that outlives the struct.
    unsafe { &*managed.counter().cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

trait Counted {
    fn counter(&self) -> *mut c_void;
}
impl Counted for DLManagedTensorVersioned {
    fn counter(&self) -> *mut c_void {
        self.manager_ctx
    }
}
impl Counted for DLManagedTensor {
    fn counter(&self) -> *mut c_void {
        self.manager_ctx
    }
}

fn versioned(counter: &AtomicUsize, major: u32) -> DlPack {
    let managed = Box::new(DLManagedTensorVersioned {
        version: DLPackVersion { major, minor: 0 },
        manager_ctx: ptr::from_ref(counter).cast_mut().cast(),
        deleter: Some(count_and_free),
        flags: 0,
        dl_tensor: dl_tensor(),
    });
    // SAFETY: a valid struct over static memory.
    unsafe { DlPack::from_raw(NonNull::from(Box::leak(managed))) }
}

fn legacy(counter: &AtomicUsize) -> DlPack<DLManagedTensor> {
    let managed = Box::new(DLManagedTensor {
        dl_tensor: dl_tensor(),
        manager_ctx: ptr::from_ref(counter).cast_mut().cast(),
        deleter: Some(count_and_free),
    });
    // SAFETY: a valid struct over static memory.
    unsafe { DlPack::from_raw(NonNull::from(Box::leak(managed))) }
}

fn first_row(params: &Tensor<'_>) -> Vec<i32> {
    let out = gather(params, &Tensor::new(&[0u8], &[1]), &Options::new()).unwrap();
    out.to_vec().unwrap()
}

#[test]
fn dlpack_import_calls_its_deleter_once() {
    let deleted = AtomicUsize::new(0);
    let tensor = Context::DEFAULT.from_dlpack(versioned(&deleted, 1)).unwrap();
    assert_eq!(tensor.shape(), [2, 2]);
    assert_eq!(tensor.strides(), Some(&[4, 8][..]));
    assert_eq!(first_row(&tensor), [1, 3]);
    assert_eq!(deleted.load(Ordering::Relaxed), 0);
    drop(tensor);
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
}

/// The producer may read the same memory. Here the memory is even constant.
#[test]
fn imported_tensors_are_read_only() {
    let deleted = AtomicUsize::new(0);
    let tensors = [
        Context::DEFAULT.from_dlpack(versioned(&deleted, 1)).unwrap(),
        Context::DEFAULT.from_dlpack_legacy(legacy(&deleted)).unwrap(),
    ];
    for mut tensor in tensors {
        let result = Context::DEFAULT.copy(&Tensor::new(&[9i32; 4], &[2, 2]), &mut tensor.as_mut());
        assert!(matches!(result, Err(Error::ReadOnly(_))), "{result:?}");
        assert_eq!(first_row(&tensor), [1, 3]);
    }
    assert_eq!(deleted.load(Ordering::Relaxed), 2);
}

#[test]
fn legacy_dlpack_import_calls_its_deleter_once() {
    let deleted = AtomicUsize::new(0);
    let tensor = Context::DEFAULT.from_dlpack_legacy(legacy(&deleted));
    assert_eq!(first_row(&tensor.unwrap()), [1, 3]);
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
}

#[test]
fn failed_dlpack_import_calls_the_deleter_once() {
    let deleted = AtomicUsize::new(0);
    // The struct has another version, so the library reads no other field.
    let result = Context::DEFAULT.from_dlpack(versioned(&deleted, 2));
    assert!(
        matches!(result, Err(Error::Version(_) | Error::DlPack(_))),
        "{result:?}"
    );
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
}

#[test]
fn dropped_structs_call_their_deleter_once() {
    let deleted = AtomicUsize::new(0);
    drop((versioned(&deleted, 1), legacy(&deleted)));
    assert_eq!(deleted.load(Ordering::Relaxed), 2);
    let raw = versioned(&deleted, 1).into_raw();
    assert_eq!(deleted.load(Ordering::Relaxed), 2);
    // SAFETY: the struct has just been taken from its owner.
    drop(unsafe { DlPack::from_raw(raw) });
    assert_eq!(deleted.load(Ordering::Relaxed), 3);
}

#[test]
fn owned_memory_is_copied_only_on_request() {
    for (export, shares) in [(Export::Owned, true), (Export::NoCopy, true), (Export::Copy, false)] {
        let vec = vec![1.5f32, 2.5];
        let address = vec.as_ptr();
        let tensor = Tensor::from_vec(vec, &[2]).unwrap();
        let managed = Context::DEFAULT.into_dlpack(tensor, export).unwrap();
        let raw = managed.into_raw();
        // SAFETY: the struct of the library is valid until its deleter is called.
        let managed = unsafe {
            let exported = raw.as_ref();
            assert_eq!(exported.version.major, 1);
            let tensor = &exported.dl_tensor;
            let data = tensor.data.byte_add(tensor.byte_offset as usize);
            assert_eq!(data.cast_const().cast() == address, shares, "{export:?}");
            DlPack::from_raw(raw)
        };
        let again = Context::DEFAULT.from_dlpack(managed).unwrap();
        assert_eq!(again.as_slice::<f32>(), Ok(&[1.5, 2.5][..]));
    }
}

#[test]
fn export_copies_borrowed_memory() {
    let data = [1u8, 2, 3];
    let borrowed = || Tensor::new(&data, &[3]);
    let rejected = Context::DEFAULT.into_dlpack(borrowed(), Export::NoCopy);
    assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    let managed = Context::DEFAULT.into_dlpack_legacy(borrowed(), Export::Owned).unwrap();
    // SAFETY: the struct of the library is valid until its deleter is called.
    unsafe {
        let exported = managed.into_raw();
        assert_ne!(exported.as_ref().dl_tensor.data.cast_const().cast(), data.as_ptr());
        drop(DlPack::from_raw(exported));
    }
}

/// The consumer of an export may write to it. So the export of a view has separate memory.
#[test]
fn export_copies_views() {
    let owned = Tensor::from_vec(vec![1i32, 2, 3, 4], &[2, 2]).unwrap();
    let borrowed = owned.as_slice::<i32>().unwrap();
    let view = owned.view();
    let views = || {
        [
            owned.view(),
            view.view(),
            owned.view().with_offset(0),
            owned.view().with_strides(&[8, 4]).unwrap(),
        ]
    };
    for view in views() {
        let managed = Context::DEFAULT.into_dlpack(view, Export::Owned).unwrap();
        // SAFETY: the struct of the library is valid until its deleter is called, and has 4 elements.
        unsafe {
            let exported = managed.into_raw();
            exported.as_ref().dl_tensor.data.cast::<[i32; 4]>().write([9; 4]);
            drop(DlPack::from_raw(exported));
        }
    }
    for view in views() {
        let managed = Context::DEFAULT.into_dlpack_legacy(view, Export::Owned).unwrap();
        // SAFETY: as above.
        unsafe {
            let exported = managed.into_raw();
            exported.as_ref().dl_tensor.data.cast::<[i32; 4]>().write([9; 4]);
            drop(DlPack::from_raw(exported));
        }
    }
    assert_eq!(borrowed, [1, 2, 3, 4]);
}

/// Imports strings, and releases their schema.
fn import(rows: Rows, shape: Option<&[usize]>) -> Tensor<'static> {
    let (mut schema, mut array) = rows.into_raw();
    // SAFETY: both structs are valid, and each is released or imported once.
    unsafe {
        let tensor = Context::DEFAULT.from_arrow(&schema, &mut array, shape).unwrap();
        assert!(array.release.is_none());
        schema.release.unwrap()(&mut schema);
        tensor
    }
}

#[test]
fn arrow_round_trip_of_strings() {
    let words = Tensor::from_strings(&["zero", "", "zwei", "drei"], &[2, 2]).unwrap();
    let rows = Context::DEFAULT.to_arrow(&words, Export::Owned).unwrap();
    drop(words);
    // SAFETY: the format is a string.
    assert_eq!(unsafe { CStr::from_ptr(rows.schema().format) }, c"U");
    assert_eq!(rows.len(), 4);
    let again = import(rows, Some(&[4, 1]));
    assert_eq!(again.shape(), [4, 1]);
    assert_eq!(
        again.strings().unwrap().to_strings().unwrap(),
        ["zero", "", "zwei", "drei"]
    );
}

/// Consumers of Arrow keep the buffers. So the export copies borrowed strings.
#[test]
fn arrow_export_copies_borrowed_strings() {
    let (offsets, bytes) = (vec![0i64, 3, 6], b"onetwo".to_vec());
    let words = Tensor::from_string_views(&offsets, &bytes, &[2]).unwrap();
    for view in [&words, &words.view()] {
        let rejected = Context::DEFAULT.to_arrow(view, Export::NoCopy);
        assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    }
    let rows = Context::DEFAULT.to_arrow(&words.view(), Export::Owned).unwrap();
    let borrowed = [offsets.as_ptr().cast(), bytes.as_ptr().cast::<c_void>()];
    // SAFETY: an array of strings has three buffers.
    let buffers = unsafe { std::slice::from_raw_parts(rows.array().buffers.cast_const(), 3) };
    assert!(buffers[1..].iter().all(|buffer| !borrowed.contains(buffer)));
    drop(words);
    drop((offsets, bytes));
    let again = import(rows, None);
    assert_eq!(again.strings().unwrap().to_vecs(), [b"one", b"two"]);
}
