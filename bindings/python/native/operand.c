#include "operand.h"

#include "arrow.h"
#include "exchange.h"
#include "numpy.h"

#include <stdlib.h>
#include <string.h>

/* Returns the dtype of a struct-module format of one native element, or 0. The size distinguishes C's integer types,
 * because it differs between native and standard formats. */
static int32_t dtype_of(const char *format, Py_ssize_t size) {
  if (!format) {
    return GTH_DTYPE_UINT8;
  }
  if (strchr("@=<^", *format) && *format) {
    format++;
  }
  if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && !format[2]) {
    return format[1] == 'f' ? GTH_DTYPE_COMPLEX64 : GTH_DTYPE_COMPLEX128;
  }
  if (!format[0] || format[1] || size > 8) {
    return 0;
  }
  const int32_t bits = (int32_t)size * 8;
  if (strchr("bhilqn", *format)) {
    return GTH_DTYPE_INT8 - 8 + bits;
  }
  if (strchr("BHILQNc", *format)) {
    return GTH_DTYPE_UINT8 - 8 + bits;
  }
  if (strchr("efd", *format)) {
    return GTH_DTYPE_FLOAT16 - 16 + bits;
  }
  return *format == '?' ? GTH_DTYPE_BOOL : 0;
}

static int is_buffer(const state *known, PyTypeObject *type) {
  const Py_ssize_t count = PyTuple_Size(known->buffer_types);
  for (Py_ssize_t i = 0; i < count; i++) {
    if (PyTuple_GetItem(known->buffer_types, i) == (PyObject *)type) {
      return 1;
    }
  }
  return 0;
}

int64_t operand_lowest(int ndim, const int64_t *shape, const int64_t *strides) {
  int64_t below = 0;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == 0) {
      return 0;
    }
    if (strides[i] < 0) {
      below -= strides[i] * (shape[i] - 1);
    }
  }
  return below;
}

void operand_without_buffer(operand *opened) {
  opened->buffer.obj = NULL; /* no buffer has to be released */
  opened->many = NULL;
  opened->arrow.release = NULL;
  opened->kept = NULL;
}

int buffer_open(PyObject *object, operand *opened) {
  Py_buffer *buffer = &opened->buffer;
  if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO)) {
    PyErr_Clear();
    return 0;
  }
  const int32_t dtype = dtype_of(buffer->format, buffer->itemsize);
  if (!dtype || buffer->ndim > GTH_MAX_NDIM) {
    PyBuffer_Release(buffer);
    return 0;
  }
  const int64_t below = operand_lowest(buffer->ndim, (const int64_t *)buffer->shape, (const int64_t *)buffer->strides);
  opened->many = NULL;
  opened->arrow.release = NULL;
  opened->kept = NULL;
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc),
      .dtype = dtype,
      .ndim = buffer->ndim,
      .flags = buffer->readonly ? GTH_TENSOR_READONLY : 0,
      .data = (const char *)buffer->buf - below,
      .shape = (const int64_t *)buffer->shape,
      .strides = (const int64_t *)buffer->strides,
      .offset = below,
  };
  return 1;
}

int operand_open(const state *known, PyObject *object, operand *opened) {
  if (is_numpys(known, object)) {
    return numpy_open(object, opened);
  }
  const exchange *entry = exchange_known(known, object);
  if (entry) {
    return exchange_open(known, entry, object, opened);
  }
  const arrow_type *type = arrow_known(known, object);
  if (type) {
    return arrow_open(known, type, object, opened);
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

int source_open(const state *known, PyObject *object, operand *opened) {
  return is_tensor(known, object) ? tensor_open(object, opened) : operand_open(known, object, opened);
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
  if (!integer_of(object, opened->few)) {
    return 0;
  }
  describe_integers(opened, 0, opened->few);
  return 1;
}

int source_indices_open(const state *known, PyObject *object, operand *opened) {
  return is_tensor(known, object) ? tensor_open(object, opened) : indices_open(known, object, opened);
}

void operand_close(operand *opened) {
  PyBuffer_Release(&opened->buffer);
  free(opened->many);
  if (opened->arrow.release) {
    opened->arrow.release(&opened->arrow);
  }
  Py_XDECREF(opened->kept);
}
