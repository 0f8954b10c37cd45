//! Imports and exports with DLPack and Arrow.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use gather::{Context, Error, Export, Options, Tensor, gather};

/// The fields of DLPack's structs that a producer sets.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

static SHAPE: [i64; 2] = [2, 2];
static STRIDES: [i64; 2] = [1, 2];
static DATA: [i32; 5] = [-1, 1, 2, 3, 4];

/// A transposed 2 * 2 matrix that begins at the second element.
fn dl_tensor() -> DlTensor {
    DlTensor {
        data: ptr::from_ref(&DATA).cast_mut().cast(),
        device: [1, 0],
        ndim: 2,
        code: 0,
        bits: 32,
        lanes: 1,
        shape: SHAPE.as_ptr(),
        strides: STRIDES.as_ptr(),
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
impl Counted for Versioned {
    fn counter(&self) -> *mut c_void {
        self.context
    }
}
impl Counted for Legacy {
    fn counter(&self) -> *mut c_void {
        self.context
    }
}

fn versioned(counter: &AtomicUsize, major: u32) -> *mut Versioned {
    Box::into_raw(Box::new(Versioned {
        version: [major, 0],
        context: ptr::from_ref(counter).cast_mut().cast(),
        deleter: Some(count_and_free),
        flags: 0,
        tensor: dl_tensor(),
    }))
}

fn first_row(params: &Tensor<'_>) -> Vec<i32> {
    let out = gather(params, &Tensor::new(&[0u8], &[1]), &Options::new()).unwrap();
    out.to_vec().unwrap()
}

#[test]
fn dlpack_import_calls_its_deleter_once() {
    let deleted = AtomicUsize::new(0);
    let managed = NonNull::new(versioned(&deleted, 1)).unwrap().cast();
    // SAFETY: a valid struct over static memory.
    let tensor = unsafe { Context::DEFAULT.from_dlpack(managed) }.unwrap();
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
    let legacy = Box::into_raw(Box::new(Legacy {
        tensor: dl_tensor(),
        context: ptr::from_ref(&deleted).cast_mut().cast(),
        deleter: Some(count_and_free),
    }));
    // SAFETY: valid structs over static memory.
    let tensors = unsafe {
        let managed = NonNull::new(versioned(&deleted, 1)).unwrap().cast();
        let legacy = NonNull::new(legacy).unwrap().cast();
        [
            Context::DEFAULT.from_dlpack(managed).unwrap(),
            Context::DEFAULT.from_dlpack_legacy(legacy).unwrap(),
        ]
    };
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
    let managed = Box::into_raw(Box::new(Legacy {
        tensor: dl_tensor(),
        context: ptr::from_ref(&deleted).cast_mut().cast(),
        deleter: Some(count_and_free),
    }));
    // SAFETY: a valid struct over static memory.
    let tensor = unsafe { Context::DEFAULT.from_dlpack_legacy(NonNull::new(managed).unwrap().cast()) };
    assert_eq!(first_row(&tensor.unwrap()), [1, 3]);
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
}

#[test]
fn failed_dlpack_import_does_not_take_ownership() {
    let deleted = AtomicUsize::new(0);
    let managed = versioned(&deleted, 2);
    // SAFETY: the struct has another version, so the library reads no other field.
    let result = unsafe { Context::DEFAULT.from_dlpack(NonNull::new(managed).unwrap().cast()) };
    assert!(
        matches!(result, Err(Error::Version(_) | Error::DlPack(_))),
        "{result:?}"
    );
    assert_eq!(deleted.load(Ordering::Relaxed), 0);
    // SAFETY: the failed import did not take ownership.
    unsafe { count_and_free(managed) };
}

#[test]
fn owned_memory_is_copied_only_on_request() {
    for (export, shares) in [(Export::Owned, true), (Export::NoCopy, true), (Export::Copy, false)] {
        let vec = vec![1.5f32, 2.5];
        let address = vec.as_ptr();
        let tensor = Tensor::from_vec(vec, &[2]).unwrap();
        let managed = Context::DEFAULT.into_dlpack(tensor, export).unwrap();
        // SAFETY: the struct of the library is valid until its deleter is called.
        unsafe {
            let exported = managed.cast::<Versioned>().as_ref();
            assert_eq!(exported.version[0], 1);
            let data = exported.tensor.data.byte_add(exported.tensor.byte_offset as usize);
            assert_eq!(data.cast_const().cast() == address, shares, "{export:?}");
            let again = Context::DEFAULT.from_dlpack(managed).unwrap();
            assert_eq!(again.as_slice::<f32>(), Ok(&[1.5, 2.5][..]));
        }
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
        let exported = managed.cast::<Legacy>().as_ptr();
        assert_ne!((*exported).tensor.data.cast_const().cast(), data.as_ptr());
        (*exported).deleter.unwrap()(exported);
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
            let exported = managed.cast::<Versioned>().as_ptr();
            (*exported).tensor.data.cast::<[i32; 4]>().write([9; 4]);
            (*exported).deleter.unwrap()(exported);
        }
    }
    for view in views() {
        let managed = Context::DEFAULT.into_dlpack_legacy(view, Export::Owned).unwrap();
        // SAFETY: as above.
        unsafe {
            let exported = managed.cast::<Legacy>().as_ptr();
            (*exported).tensor.data.cast::<[i32; 4]>().write([9; 4]);
            (*exported).deleter.unwrap()(exported);
        }
    }
    assert_eq!(borrowed, [1, 2, 3, 4]);
}

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[test]
fn arrow_round_trip_of_strings() {
    let words = Tensor::from_strings(&["zero", "", "zwei", "drei"], &[2, 2]).unwrap();
    let (mut schema, mut array) = (MaybeUninit::<Schema>::uninit(), MaybeUninit::<Array>::uninit());
    // SAFETY: there is room for both structs, and each is released or imported once.
    unsafe {
        let (schema, array) = (schema.as_mut_ptr(), array.as_mut_ptr());
        Context::DEFAULT
            .to_arrow(&words, Export::Owned, schema.cast(), array.cast())
            .unwrap();
        drop(words);
        assert_eq!(CStr::from_ptr((*schema).format), c"U");
        assert_eq!((*array).length, 4);
        let shape = [4usize, 1];
        let again = Context::DEFAULT
            .from_arrow(schema.cast(), array.cast(), Some(&shape))
            .unwrap();
        assert!((*array).release.is_none());
        (*schema).release.unwrap()(schema);
        assert_eq!(again.shape(), [4, 1]);
        assert_eq!(
            again.strings().unwrap().to_strings().unwrap(),
            ["zero", "", "zwei", "drei"]
        );
    }
}

/// Consumers of Arrow keep the buffers. So the export copies borrowed strings.
#[test]
fn arrow_export_copies_borrowed_strings() {
    let (offsets, bytes) = (vec![0i64, 3, 6], b"onetwo".to_vec());
    let words = Tensor::from_string_views(&offsets, &bytes, &[2]).unwrap();
    let (mut schema, mut array) = (MaybeUninit::<Schema>::uninit(), MaybeUninit::<Array>::uninit());
    let (schema, array) = (schema.as_mut_ptr(), array.as_mut_ptr());
    let export = |tensor: &Tensor<'_>, export| {
        // SAFETY: there is room for both structs.
        unsafe { Context::DEFAULT.to_arrow(tensor, export, schema.cast(), array.cast()) }
    };
    for view in [&words, &words.view()] {
        let rejected = export(view, Export::NoCopy);
        assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    }
    export(&words.view(), Export::Owned).unwrap();
    let borrowed = [offsets.as_ptr().cast(), bytes.as_ptr().cast::<c_void>()];
    // SAFETY: both have been written, and each is released or imported once.
    unsafe {
        let buffers = std::slice::from_raw_parts((*array).buffers.cast_const(), 3);
        assert!(buffers[1..].iter().all(|buffer| !borrowed.contains(buffer)));
        drop(words);
        drop((offsets, bytes));
        let again = Context::DEFAULT.from_arrow(schema.cast(), array.cast(), None).unwrap();
        (*schema).release.unwrap()(schema);
        assert_eq!(again.strings().unwrap().to_vecs(), [b"one", b"two"]);
    }
}
