#include "error.h"

#include <string.h>

PyObject *exception_of(const state *known, const gth_error *error) {
  return PyObject_CallFunction(known->make_error, "((iiiILLLLNi))", (int)error->status, (int)error->operand,
                               (int)error->component, (unsigned)error->flags, (long long)error->position,
                               (long long)error->value, (long long)error->limit, (long long)error->item,
                               PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace"),
                               (int)error->native);
}

PyObject *raise_exception(PyObject *exception) {
  if (exception) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

PyObject *raise_error(const state *known, const gth_error *error) {
  return raise_exception(exception_of(known, error));
}

PyObject *wrong_arguments(const char *signature) {
  if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, signature);
  }
  return NULL;
}

int32_t closed_error(int32_t operand, gth_error *error) {
  error->operand = operand;
  error->status = GTH_E_HANDLE;
  return error->status;
}

PyObject *raise_closed(const state *known, int32_t operand) {
  gth_error error = GTH_ERROR_INIT;
  closed_error(operand, &error);
  return raise_error(known, &error);
}
