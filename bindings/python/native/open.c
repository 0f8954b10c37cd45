#include "open.h"

#include "arrow.h"
#include "buffer.h"
#include "exchange.h"
#include "numbers.h"
#include "numpy.h"

#include <stdlib.h>

int operand_open(const state *known, PyObject *object, operand *opened) {
  if (is_numpys(known, object)) {
    return numpy_open(object, opened);
  }
  const exchange *entry = exchange_known(known, object);
  if (entry) {
    return exchange_open(known, entry, object, opened);
  }
  const int32_t dtype = arrow_dtype(known, object);
  if (dtype) {
    return arrow_open(known, dtype, object, opened);
  }
  return is_buffer(known, Py_TYPE(object)) && buffer_open(object, opened);
}

static int is_tensor(const state *known, PyObject *object) { return (PyObject *)Py_TYPE(object) == known->tensor_type; }

static int tensor_open(PyObject *object, operand *opened) {
  PyObject *handle = PyObject_GetAttrString(object, "_host_handle");
  if (!handle || handle == Py_None) {
    PyErr_Clear();
    Py_XDECREF(handle);
    return 0;
  }
  operand_without_buffer(opened);
  opened->kept = handle;
  opened->desc = (gth_tensor_desc)GTH_TENSOR_DESC_HANDLE(address_of(PyTuple_GetItem(handle, 0)));
  return 1;
}

int packed_open(const state *known, PyObject *object, operand *opened) {
  return PyObject_TypeCheck(object, (PyTypeObject *)known->packed_type) && tensor_open(object, opened);
}

PyObject *result_like(const operand *table, PyObject *object) {
  enum { LIKE = 2 };
  const int is_packed = table->desc.tensor && table->kept && PyTuple_Size(table->kept) > LIKE;
  return is_packed ? PyTuple_GetItem(table->kept, LIKE) : object;
}

int source_open(const state *known, PyObject *object, operand *opened) {
  if (is_tensor(known, object)) {
    return tensor_open(object, opened);
  }
  return operand_open(known, object, opened) || packed_open(known, object, opened);
}

/* Reads an integer. Returns false, without an exception, for other types, such as bool, and for values beyond int64. */
static int integer_of(PyObject *object, int64_t *number) {
  if (!PyLong_CheckExact(object)) {
    return 0;
  }
  *number = PyLong_AsLongLong(object);
  if (*number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  return 1;
}

static void describe_integers(operand *opened, int32_t ndim, const int64_t *values) {
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc),
      .dtype = GTH_DTYPE_INT64,
      .ndim = ndim,
      .flags = GTH_TENSOR_READONLY,
      .data = values,
      .shape = &opened->count,
  };
}

/* Returns an item as an owned reference. Without a GIL, another thread may change the list meanwhile. */
static PyObject *item_of(PyObject *sequence, Py_ssize_t i) {
#ifdef Py_GIL_DISABLED
  if (PyList_CheckExact(sequence)) {
    return PyList_GetItemRef(sequence, i);
  }
#endif
  PyObject *item = PyList_CheckExact(sequence) ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
  Py_XINCREF(item);
  return item;
}

static int sequence_open(PyObject *sequence, operand *opened) {
  const Py_ssize_t count = PyList_CheckExact(sequence) ? PyList_Size(sequence) : PyTuple_Size(sequence);
  int64_t *values = opened->few;
  opened->count = count;
  operand_without_buffer(opened);
  if (count > FEW) {
    values = opened->many = malloc((size_t)count * sizeof *values);
  }
  int all = values != NULL;
  for (Py_ssize_t i = 0; all && i < count; i++) {
    PyObject *item = item_of(sequence, i);
    all = item && integer_of(item, &values[i]);
    Py_XDECREF(item);
  }
  if (!all) {
    PyErr_Clear();
    free(opened->many);
    return 0;
  }
  describe_integers(opened, 1, values);
  return 1;
}

int indices_open(const state *known, PyObject *object, operand *opened) {
  if (operand_open(known, object, opened)) {
    return 1;
  }
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    return sequence_open(object, opened);
  }
  operand_without_buffer(opened);
  if (integer_of(object, opened->few)) {
    describe_integers(opened, 0, opened->few);
    return 1;
  }
  return arrow_open_integers(known, object, opened);
}

int source_indices_open(const state *known, PyObject *object, operand *opened) {
  return is_tensor(known, object) ? tensor_open(object, opened) : indices_open(known, object, opened);
}
