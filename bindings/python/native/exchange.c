#include "exchange.h"

enum { CPU = 1, SIGNED = 0, UNSIGNED = 1, COMPLEX = 5, BOOLEAN = 6 };

/* An entry is a tuple of these. */
enum { TABLE, IS_PLAIN, WRITTEN };

const dl_exchange *exchange_of(PyObject *capsule) {
  const dl_exchange *table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  while (table && table->major > 1) {
    table = table->previous;
  }
  if ((!table || table->major != 1) && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_BufferError, "the DLPack exchange table has no version 1");
    return NULL;
  }
  return table;
}

PyObject *exchange_known(const state *known, PyTypeObject *type) {
  return PyDict_GetItem(known->exchanges, (PyObject *)type);
}

static const dl_exchange *table_of(PyObject *entry) { return exchange_of(PyTuple_GetItem(entry, TABLE)); }

/* Gradients and the like are of numbers that are no integers. */
static int may_be_more(const dl_tensor *tensor) {
  return tensor->code != SIGNED && tensor->code != UNSIGNED && tensor->code != BOOLEAN;
}

static int is_plain(PyObject *entry, PyObject *object) {
  PyObject *answer = PyObject_CallFunctionObjArgs(PyTuple_GetItem(entry, IS_PLAIN), object, NULL);
  const int plain = answer == Py_True;
  Py_XDECREF(answer);
  return plain;
}

/* Extents and strides are copied: the library may change its own while the GIL is let go. */
static int describe(const dl_tensor *tensor, operand *opened) {
  const int32_t dtype = tensor->code * 256 + tensor->bits;
  const int64_t size = gth_dtype_size(dtype);
  if (tensor->device_type != CPU || tensor->lanes != 1 || size == 0 || tensor->ndim > GTH_MAX_NDIM) {
    return 0;
  }
  int64_t below = 0;
  int is_empty = 0;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    opened->shape[i] = tensor->shape[i];
    is_empty |= tensor->shape[i] == 0;
    if (tensor->strides) {
      opened->strides[i] = tensor->strides[i] * size;
      below -= opened->strides[i] < 0 ? opened->strides[i] * (tensor->shape[i] - 1) : 0;
    }
  }
  below = is_empty ? 0 : below;
  opened->buffer.obj = NULL; /* there is none to be released */
  opened->many = NULL;
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc),
      .dtype = dtype,
      .ndim = tensor->ndim,
      .data = tensor->data ? (const char *)tensor->data + tensor->byte_offset - below : NULL,
      .shape = opened->shape,
      .strides = tensor->strides ? opened->strides : NULL,
      .offset = below,
  };
  return 1;
}

static int open_at(PyObject *entry, PyObject *object, int is_new, operand *opened) {
  dl_tensor tensor;
  if (table_of(entry)->describe(object, &tensor)) {
    PyErr_Clear();
    return 0;
  }
  if (!is_new && may_be_more(&tensor) && (tensor.code == COMPLEX || !is_plain(entry, object))) {
    PyErr_Clear();
    return 0;
  }
  return describe(&tensor, opened);
}

int exchange_open(PyObject *entry, PyObject *object, operand *opened) { return open_at(entry, object, 0, opened); }

int exchange_open_new(PyObject *entry, PyObject *object, operand *opened) { return open_at(entry, object, 1, opened); }

/* The general path has the library say what is wrong. */
static void ignore_error(void *context, const char *kind, const char *message) {
  (void)context;
  (void)kind;
  (void)message;
}

PyObject *exchange_new(PyObject *entry, int32_t dtype, int32_t ndim, const int64_t *shape) {
  dl_tensor like = {.device_type = CPU,
                    .ndim = ndim,
                    .code = (uint8_t)(dtype / 256),
                    .bits = (uint8_t)(dtype % 256),
                    .lanes = 1,
                    .shape = (int64_t *)shape};
  dl_managed_versioned *managed = NULL;
  void *object = NULL;
  if (table_of(entry)->allocate(&like, &managed, NULL, ignore_error) || table_of(entry)->to_object(managed, &object)) {
    PyErr_Clear();
    return NULL;
  }
  return object;
}

int exchange_written(PyObject *entry, PyObject *object) {
  PyObject *done = PyObject_CallFunctionObjArgs(PyTuple_GetItem(entry, WRITTEN), object, NULL);
  Py_XDECREF(done);
  return done != NULL;
}

PyObject *configure_exchange(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "configure_exchange(type, table, is_plain, written)");
    return NULL;
  }
  const dl_exchange *table = exchange_of(args[1]);
  if (!table) {
    return NULL;
  }
  if (!table->describe || !table->allocate) {
    Py_RETURN_NONE; /* the general path does without them */
  }
  PyObject *entry = PyTuple_Pack(3, args[1], args[2], args[3]);
  const int failed = !entry || PyDict_SetItem(state_of(module)->exchanges, args[0], entry);
  Py_XDECREF(entry);
  if (failed) {
    return NULL;
  }
  Py_RETURN_NONE;
}
