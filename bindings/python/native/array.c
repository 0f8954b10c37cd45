#include "array.h"

#include "exchange.h"

static int is_numpys(const state *known, PyObject *array) { return (PyObject *)Py_TYPE(array) == known->ndarray; }

int array_is_made_for(const state *known, PyObject *params) {
  return is_numpys(known, params) || exchange_known(known, Py_TYPE(params));
}

static PyObject *numpy_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape) {
  PyObject *extents = tuple_of(ndim, shape);
  PyObject *dtype = PyObject_GetAttr(like, known->dtype_name);
  PyObject *array = extents && dtype ? PyObject_CallFunctionObjArgs(known->empty, extents, dtype, NULL) : NULL;
  Py_XDECREF(extents);
  Py_XDECREF(dtype);
  if (!array) {
    PyErr_Clear();
  }
  return array;
}

PyObject *array_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape) {
  return is_numpys(known, like) ? numpy_new(known, like, ndim, shape)
                                : exchange_new(exchange_known(known, Py_TYPE(like)), dtype, ndim, shape);
}

/* How NumPy's arrays begin: a part of its ABI since there is one, and held against a buffer by array_is_legible(). To ask
 * a new array for its buffer takes a quarter of a small call. */
typedef struct numpy_array {
  PyObject_HEAD void *data;
} numpy_array;

int array_is_legible(PyObject *array) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_RECORDS_RO)) {
    PyErr_Clear();
    return 0;
  }
  const int same = ((numpy_array *)array)->data == buffer.buf;
  PyBuffer_Release(&buffer);
  return same;
}

int array_open(const state *known, PyObject *array, int32_t dtype, int32_t ndim, const int64_t *shape,
               operand *opened) {
  if (!is_numpys(known, array)) {
    return exchange_open_new(exchange_known(known, Py_TYPE(array)), array, opened);
  }
  if (!known->is_legible) {
    return operand_open(known, array, opened);
  }
  opened->buffer.obj = NULL; /* there is none to be released */
  opened->many = NULL;
  opened->desc = (gth_tensor_desc){.size = sizeof(gth_tensor_desc),
                                   .dtype = dtype,
                                   .ndim = ndim,
                                   .data = ((numpy_array *)array)->data,
                                   .shape = shape};
  return 1;
}

PyObject *array_or_scalar(const state *known, PyObject *array, int32_t ndim) {
  if (!array || ndim > 0 || !is_numpys(known, array)) {
    return array;
  }
  PyObject *nowhere = PyTuple_New(0);
  PyObject *scalar = nowhere ? PyObject_GetItem(array, nowhere) : NULL;
  Py_XDECREF(nowhere);
  Py_DECREF(array);
  return scalar;
}

int array_written(const state *known, PyObject *array) {
  PyObject *entry = is_numpys(known, array) ? NULL : exchange_known(known, Py_TYPE(array));
  return !entry || exchange_written(entry, array);
}
