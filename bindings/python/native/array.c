#include "array.h"

int array_is_made_for(const state *known, PyObject *params) { return (PyObject *)Py_TYPE(params) == known->ndarray; }

PyObject *array_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape) {
  PyObject *extents = tuple_of(ndim, shape);
  PyObject *dtype = PyObject_GetAttrString(like, "dtype");
  PyObject *array = extents && dtype ? PyObject_CallFunctionObjArgs(known->empty, extents, dtype, NULL) : NULL;
  Py_XDECREF(extents);
  Py_XDECREF(dtype);
  if (!array) {
    PyErr_Clear();
  }
  return array;
}

PyObject *array_or_scalar(PyObject *array, int32_t ndim) {
  if (!array || ndim > 0) {
    return array;
  }
  PyObject *nowhere = PyTuple_New(0);
  PyObject *scalar = nowhere ? PyObject_GetItem(array, nowhere) : NULL;
  Py_XDECREF(nowhere);
  Py_DECREF(array);
  return scalar;
}
