#include "numbers.h"

int number_of(PyObject *value, int64_t *number) {
  PyObject *integer = PyNumber_Index(value);
  *number = integer ? PyLong_AsLongLong(integer) : -1;
  Py_XDECREF(integer);
  const int failed = PyErr_Occurred() != NULL;
  PyErr_Clear();
  return !failed;
}

void *address_of(PyObject *number) { return PyLong_AsVoidPtr(number); }

int extents_of(PyObject *tuple, int64_t *extents) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  if (count > GTH_MAX_NDIM) {
    PyErr_SetString(PyExc_ValueError, "more than 64 dims");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    extents[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (extents[i] == -1 && PyErr_Occurred()) {
      return -1;
    }
  }
  return (int)count;
}
