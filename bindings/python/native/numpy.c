#include "numpy.h"

#include "buffer.h"

#include <string.h>

/* The first fields of descriptors and arrays in all NumPy releases with ABI 1 or 2. */
typedef struct numpy_descr {
  PyObject_HEAD PyObject *type;
  char kind, letter, byte_order, unused;
  int number;
} numpy_descr;

typedef struct numpy_array {
  PyObject_HEAD char *data;
  int ndim;
  Py_ssize_t *shape, *strides;
  PyObject *base;
  numpy_descr *descr;
  int flags;
} numpy_array;

/* The fields behind the common ones. They differ between the versions of NumPy's ABI. */
typedef struct descr_1 {
  numpy_descr head;
  int size;
} descr_1;

typedef struct descr_2 {
  numpy_descr head;
  uint64_t flags;
  Py_ssize_t size;
} descr_2;

/* Positions in NumPy's function table, and the values of the first function. */
enum { GET_ABI = 0, ARRAY_TYPE = 2, NEW_FROM_DESCR = 94, ABI_1 = 1, ABI_2 = 2 };

/* Flags of arrays. NumPy's buffers are read-only if a write would give a warning. */
enum { C_CONTIGUOUS = 1, WRITEABLE = 0x400, HALF = 23 };
static const unsigned warn_on_write = 1u << 31;

enum { HAS_REFERENCES = 1 }; /* a flag of descriptors */

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "64-bit systems");

/* A long has 32 bits on Windows. */
enum {
  LONG = sizeof(long) == sizeof(int64_t) ? GTH_DTYPE_INT64 : GTH_DTYPE_INT32,
  UNSIGNED_LONG = sizeof(long) == sizeof(int64_t) ? GTH_DTYPE_UINT64 : GTH_DTYPE_UINT32,
};

int is_numpys(const state *known, PyObject *array) {
  PyObject *type = (PyObject *)Py_TYPE(array);
  return type == known->ndarray || type == known->memmap;
}

/* Returns the dtype of a descriptor of one native number, or 0. */
static int32_t dtype_of(const numpy_descr *descr) {
  static const int32_t dtypes[] = {GTH_DTYPE_BOOL,    GTH_DTYPE_INT8,     GTH_DTYPE_UINT8,     GTH_DTYPE_INT16,
                                   GTH_DTYPE_UINT16,  GTH_DTYPE_INT32,    GTH_DTYPE_UINT32,    LONG,
                                   UNSIGNED_LONG,     GTH_DTYPE_INT64,    GTH_DTYPE_UINT64,    GTH_DTYPE_FLOAT32,
                                   GTH_DTYPE_FLOAT64, 0 /* longdouble */, GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128};
  if (descr->byte_order == '>') {
    return 0;
  }
  if (descr->number == HALF) {
    return GTH_DTYPE_FLOAT16;
  }
  return descr->number >= 0 && (size_t)descr->number < sizeof dtypes / sizeof *dtypes ? dtypes[descr->number] : 0;
}

static int is_readonly(const numpy_array *array) {
  return !(array->flags & WRITEABLE) || ((unsigned)array->flags & warn_on_write);
}

/* Copies extents or strides. `from` may be NULL for an array without dims, which memcpy() does not accept. */
static void copy_dims(int64_t *to, const Py_ssize_t *from, int ndim) {
  for (int i = 0; i < ndim; ++i) {
    to[i] = from[i];
  }
}

/* Opens an array. Extents and strides are copied, because another thread may change them while the GIL is released. */
static int open_as(const numpy_array *array, int32_t dtype, operand *opened) {
  if (!dtype || array->ndim > GTH_MAX_NDIM) {
    return 0;
  }
  copy_dims(opened->shape, array->shape, array->ndim);
  const int is_dense = array->flags & C_CONTIGUOUS;
  int64_t below = 0;
  if (!is_dense) {
    copy_dims(opened->strides, array->strides, array->ndim);
    below = operand_lowest(array->ndim, opened->shape, opened->strides);
  }
  operand_without_buffer(opened);
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc),
      .dtype = dtype,
      .ndim = array->ndim,
      .flags = is_readonly(array) ? GTH_TENSOR_READONLY : 0,
      .data = array->data - below,
      .shape = opened->shape,
      .strides = is_dense ? NULL : opened->strides,
      .offset = below,
  };
  return 1;
}

int numpy_open(PyObject *object, operand *opened) {
  const numpy_array *array = (const numpy_array *)object;
  return open_as(array, dtype_of(array->descr), opened);
}

/* Returns the size of an element, or 0 if elements hold references. */
static int64_t moved_size(const state *known, const numpy_descr *descr) {
  const int is_first = known->numpy_abi == ABI_1;
  const uint64_t flags = is_first ? (unsigned char)descr->unused : ((const descr_2 *)descr)->flags;
  if (flags & HAS_REFERENCES || descr->kind == 'O' || descr->kind == 'T') {
    return 0;
  }
  return is_first ? ((const descr_1 *)descr)->size : ((const descr_2 *)descr)->size;
}

int numpy_rank(PyObject *array) { return ((numpy_array *)array)->ndim; }

int numpy_has_text(PyObject *array) {
  const char kind = ((numpy_array *)array)->descr->kind;
  return kind == 'S' || kind == 'U';
}

int numpy_same_dtype(PyObject *array, PyObject *other) {
  PyObject *mine = (PyObject *)((numpy_array *)array)->descr, *others = (PyObject *)((numpy_array *)other)->descr;
  const int is_same = mine == others ? 1 : PyObject_RichCompareBool(mine, others, Py_EQ);
  if (is_same < 0) {
    PyErr_Clear();
  }
  return is_same > 0;
}

int numpy_open_moved(const state *known, PyObject *object, operand *opened, int32_t *words) {
  enum { LARGEST = 8, COMPLEX = 16, BITS = 8 };
  const numpy_array *array = (const numpy_array *)object;
  const int64_t size = moved_size(known, array->descr), lowest = size & -size;
  /* Profiles that have strings need not have complex numbers. */
  const int64_t word = size == COMPLEX && !numpy_has_text(object) ? COMPLEX : lowest < LARGEST ? lowest : LARGEST;
  const int32_t dtype = word == COMPLEX ? GTH_DTYPE_COMPLEX128 : GTH_DTYPE_UINT8 + (int32_t)(word - 1) * BITS;
  const int32_t ndim = array->ndim;
  if (size <= 0 || ndim >= GTH_MAX_NDIM || !open_as(array, dtype, opened)) {
    return 0;
  }
  *words = size != word;
  if (*words) {
    opened->shape[ndim] = size / word;
    opened->strides[ndim] = word;
    opened->desc.ndim++;
  }
  return 1;
}

int64_t numpy_extent_of_objects(PyObject *object, int64_t axis) {
  const numpy_array *array = (const numpy_array *)object;
  const int64_t dim = axis < 0 ? axis + array->ndim : axis;
  int has_extent = (array->descr->kind == 'O' || array->descr->kind == 'T') && dim >= 0 && dim < array->ndim;
  for (int i = 0; i < array->ndim; i++) {
    has_extent &= i == dim || array->shape[i] > 0;
  }
  return has_extent ? array->shape[dim] : -1;
}

/* Creates an array of a type. The type initialises it from another array, or from NULL. */
static PyObject *new_of(const state *known, PyObject *type, PyObject *descr, int32_t ndim, const int64_t *shape,
                        PyObject *like) {
  Py_INCREF(descr); /* the function steals the reference */
  PyObject *array = known->new_ndarray(type, descr, ndim, (const Py_ssize_t *)shape, NULL, NULL, 0, like);
  if (!array) {
    PyErr_Clear();
  }
  return array;
}

PyObject *numpy_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape) {
  PyObject *type = (PyObject *)Py_TYPE(like);
  return new_of(known, type, (PyObject *)((numpy_array *)like)->descr, ndim, shape, like);
}

PyObject *numpy_integers(const state *known, int32_t ndim, const int64_t *shape) {
  return new_of(known, known->ndarray, known->int64, ndim, shape, NULL);
}

void *numpy_data(PyObject *array) { return ((numpy_array *)array)->data; }

void numpy_open_new(PyObject *array, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened) {
  operand_without_buffer(opened);
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc), .dtype = dtype, .ndim = ndim, .data = numpy_data(array), .shape = shape};
}

PyObject *numpy_scalar(PyObject *array) {
  PyObject *nowhere = PyTuple_New(0);
  PyObject *scalar = nowhere ? PyObject_GetItem(array, nowhere) : NULL;
  Py_XDECREF(nowhere);
  Py_DECREF(array);
  return scalar;
}

static int same(const operand *read, const operand *exported) {
  const gth_tensor_desc *a = &read->desc, *b = &exported->desc;
  const size_t extents = (size_t)a->ndim * sizeof(int64_t);
  return a->dtype == b->dtype && a->ndim == b->ndim && a->flags == b->flags && a->data == b->data &&
         a->offset == b->offset && !memcmp(a->shape, b->shape, extents) &&
         (a->strides ? !memcmp(a->strides, b->strides, extents) : operand_is_dense(exported));
}

/* Returns true if the fields of an array are consistent with its buffer. */
static int agrees_with_buffer(PyObject *array) {
  operand read, exported;
  if (!buffer_open(array, &exported)) {
    return 0;
  }
  const int agrees = numpy_open(array, &read) && same(&read, &exported);
  operand_close(&exported);
  return agrees;
}

/* Returns true if the size of the elements is read correctly. It is 0 if they hold references. */
static int agrees_with_size(const state *known, PyObject *array) {
  PyObject *dtype = PyObject_GetAttrString(array, "dtype");
  PyObject *size = PyObject_GetAttrString(array, "itemsize");
  PyObject *has_objects = dtype ? PyObject_GetAttrString(dtype, "hasobject") : NULL;
  const int64_t needed = has_objects == Py_False && size ? PyLong_AsLongLong(size) : 0;
  Py_XDECREF(dtype);
  Py_XDECREF(size);
  Py_XDECREF(has_objects);
  return moved_size(known, ((numpy_array *)array)->descr) == needed;
}

/* Returns NumPy's function that creates arrays, or NULL if the ABI is unknown. */
static ndarray_maker maker_of(PyObject *capsule, PyObject *ndarray, int *known_abi) {
  void *const *table = PyCapsule_GetPointer(capsule, NULL);
  if (!table || table[ARRAY_TYPE] != ndarray) {
    PyErr_Clear();
    return NULL;
  }
  unsigned (*get_abi)(void) = (unsigned (*)(void))table[GET_ABI];
  const unsigned abi = get_abi() >> 24;
  *known_abi = (int)abi;
  return abi == ABI_1 || abi == ABI_2 ? (ndarray_maker)table[NEW_FROM_DESCR] : NULL;
}

/* Enables the direct access to NumPy arrays if it reads all `probes` correctly. They are arrays of many layouts, and
 * `sized` are arrays of many sizes of elements. Returns True if the access is enabled. */
PyObject *configure_numpy(PyObject *module, arguments args, Py_ssize_t count) {
  enum { NDARRAY, MEMMAP, INT64, FUNCTIONS, PROBES, SIZED, ARGUMENTS };
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "configure_numpy(ndarray, memmap, int64, functions, probes, sized)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  known->new_ndarray = maker_of(args[FUNCTIONS], args[NDARRAY], &known->numpy_abi);
  int agrees = known->new_ndarray != NULL;
  for (Py_ssize_t i = 0; agrees && i < PyTuple_Size(args[PROBES]); i++) {
    agrees = agrees_with_buffer(PyTuple_GetItem(args[PROBES], i));
  }
  for (Py_ssize_t i = 0; agrees && i < PyTuple_Size(args[SIZED]); i++) {
    agrees = agrees_with_size(known, PyTuple_GetItem(args[SIZED], i));
  }
  if (agrees) {
    keep(&known->int64, args[INT64]);
    keep(&known->memmap, args[MEMMAP]);
    keep(&known->ndarray, args[NDARRAY]);
  }
  return PyBool_FromLong(agrees);
}
