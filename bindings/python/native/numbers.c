#include "numbers.h"

/* Reads a Python integer. Returns false, without an exception, for a value beyond int64. */
static int integer_of(PyObject *value, int64_t *number) {
  *number = PyLong_AsLongLong(value);
  if (*number != -1 || !PyErr_Occurred()) {
    return 1;
  }
  PyErr_Clear();
  return 0;
}

int number_of(PyObject *value, int64_t *number) {
  if (PyLong_CheckExact(value)) {
    return integer_of(value, number);
  }
  PyObject *integer = PyBool_Check(value) ? NULL : PyNumber_Index(value);
  const int is_read = integer && integer_of(integer, number);
  Py_XDECREF(integer);
  PyErr_Clear();
  return is_read;
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
