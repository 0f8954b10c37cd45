/* Functions of the package that run their calls here, without a frame of Python code. */
#ifndef LIBGATHER_FUNCTION_H
#define LIBGATHER_FUNCTION_H

#include "state.h"

PyObject *function(PyObject *module, arguments args, Py_ssize_t count);

/* Creates the type of the functions. Returns NULL with an exception set on an error. */
PyObject *function_type_new(void);

#endif
