/* Errors of the library as Python exceptions. */
#ifndef LIBGATHER_ERROR_H
#define LIBGATHER_ERROR_H

#include "state.h"

/* Returns the exception for an error. Returns NULL with another exception set if it cannot be created. */
PyObject *exception_of(const state *known, const gth_error *error);

/* Raises an exception and steals the reference. NULL means that one is already raised. Returns NULL. */
PyObject *raise_exception(PyObject *exception);
PyObject *raise_error(const state *known, const gth_error *error);

/* Raises a TypeError with the signature of a function, unless an exception is already raised. Returns NULL. */
PyObject *wrong_arguments(const char *signature);

/* Sets the error of a closed handle. Returns its status. */
int32_t closed_error(int32_t operand, gth_error *error);
PyObject *raise_closed(const state *known, int32_t operand);

#endif
