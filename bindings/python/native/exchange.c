#include "exchange.h"

enum { CPU = 1, SIGNED = 0, UNSIGNED = 1, COMPLEX = 5, BOOLEAN = 6 };

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

const exchange *exchange_known(const state *known, PyObject *object) {
  const PyObject *type = (PyObject *)Py_TYPE(object);
  for (int i = 0; i < EXCHANGES && known->exchanges[i].type; i++) {
    if (known->exchanges[i].type == type) {
      return &known->exchanges[i];
    }
  }
  return NULL;
}

/* Returns true if an array may have a gradient, which only inexact numbers have. */
static int may_be_more(const dl_tensor *tensor) {
  return tensor->code != SIGNED && tensor->code != UNSIGNED && tensor->code != BOOLEAN;
}

/* Returns true if the elements may have fewer bits. torch describes its dtypes of one to seven bits as bytes. */
static int may_be_less(const dl_tensor *tensor) {
  return (tensor->code == SIGNED || tensor->code == UNSIGNED) && tensor->bits == 8;
}

static int is_true(PyObject *answer) {
  Py_XDECREF(answer);
  return answer == Py_True;
}

/* Returns true if forward-mode differentiation may be active. torch sets its level to -1 otherwise. */
static int forward_mode_is_on(const state *known, const exchange *entry) {
  PyObject *level = PyObject_GetAttr(entry->forward_mode, known->level_name);
  const int is_on = !level || PyLong_AsLong(level) != -1;
  Py_XDECREF(level);
  return is_on;
}

/* Returns true if a tensor is plain memory. The frequent cases are tested here, because a call of a Python function
 * takes a tenth of a small call. */
static int is_plain(const state *known, const exchange *entry, PyObject *object) {
  PyObject *requires_grad = PyObject_GetAttr(object, known->requires_grad_name);
  Py_XDECREF(requires_grad);
  if (requires_grad != Py_False || forward_mode_is_on(known, entry)) {
    return is_true(PyObject_CallFunctionObjArgs(entry->is_plain, object, NULL));
  }
  return !is_true(PyObject_CallFunctionObjArgs(entry->is_negated, object, NULL));
}

/* Describes a tensor on the host. Extents and strides are copied, because the library may change them while the GIL is
 * released. Returns false for a dtype or a device that is not supported here. */
static int describe(const dl_tensor *tensor, operand *opened) {
  const int32_t dtype = tensor->code * 256 + tensor->bits;
  const int64_t size = gth_dtype_size(dtype);
  if (tensor->device_type != CPU || tensor->lanes != 1 || size == 0 || tensor->ndim > GTH_MAX_NDIM) {
    return 0;
  }
  for (int32_t i = 0; i < tensor->ndim; i++) {
    opened->shape[i] = tensor->shape[i];
    opened->strides[i] = tensor->strides ? tensor->strides[i] * size : 0;
  }
  const int64_t below = tensor->strides ? operand_lowest(tensor->ndim, opened->shape, opened->strides) : 0;
  operand_without_buffer(opened);
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

int exchange_open(const state *known, const exchange *entry, PyObject *object, operand *opened) {
  dl_tensor tensor;
  if (entry->table->describe(object, &tensor)) {
    PyErr_Clear();
    return 0;
  }
  if (may_be_more(&tensor) && (tensor.code == COMPLEX || !is_plain(known, entry, object))) {
    PyErr_Clear();
    return 0;
  }
  if (may_be_less(&tensor) && !is_true(PyObject_CallFunctionObjArgs(entry->is_plain, object, NULL))) {
    PyErr_Clear();
    return 0;
  }
  return describe(&tensor, opened);
}

/* Ignores an error. The general path runs the call again and reports it. */
static void ignore_error(void *context, const char *kind, const char *message) {
  (void)context;
  (void)kind;
  (void)message;
}

PyObject *exchange_new(const exchange *entry, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened) {
  dl_tensor like = {.device_type = CPU,
                    .ndim = ndim,
                    .code = (uint8_t)(dtype / 256),
                    .bits = (uint8_t)(dtype % 256),
                    .lanes = 1,
                    .shape = (int64_t *)shape};
  dl_managed_versioned *managed = NULL;
  void *object = NULL;
  if (entry->table->allocate(&like, &managed, NULL, ignore_error)) {
    PyErr_Clear();
    return NULL;
  }
  if (!describe(&managed->tensor, opened)) {
    managed->deleter(managed);
  } else if (entry->table->to_object(managed, &object)) {
    PyErr_Clear();
  }
  return object;
}

int exchange_written(const exchange *entry, PyObject *object) {
  PyObject *done = PyObject_CallFunctionObjArgs(entry->written, object, NULL);
  Py_XDECREF(done);
  return done != NULL;
}

/* Returns the entry of a type, or an unused one, or NULL. */
static exchange *slot_of(state *known, const PyObject *type) {
  for (int i = 0; i < EXCHANGES; i++) {
    if (!known->exchanges[i].type || known->exchanges[i].type == type) {
      return &known->exchanges[i];
    }
  }
  return NULL;
}

PyObject *configure_exchange(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 6) {
    PyErr_SetString(PyExc_TypeError, "configure_exchange(type, table, is_plain, is_negated, forward_mode, written)");
    return NULL;
  }
  const dl_exchange *table = exchange_of(args[1]);
  if (!table) {
    return NULL;
  }
  if (!table->describe || !table->allocate) {
    Py_RETURN_NONE; /* the general path needs neither function */
  }
  exchange *entry = slot_of(PyModule_GetState(module), args[0]);
  if (entry) { /* other types use the general path */
    entry->table = table;
    keep(&entry->capsule, args[1]);
    keep(&entry->is_plain, args[2]);
    keep(&entry->is_negated, args[3]);
    keep(&entry->forward_mode, args[4]);
    keep(&entry->written, args[5]);
    keep(&entry->type, args[0]);
  }
  Py_RETURN_NONE;
}
