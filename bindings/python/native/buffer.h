/* Arrays with Python's buffer protocol. */
#ifndef LIBGATHER_BUFFER_H
#define LIBGATHER_BUFFER_H

#include "operand.h"

/* Returns the dtype of the elements, or 0. Their format is that of Python's module struct. */
int32_t buffer_dtype(const Py_buffer *buffer);

/* Returns true if the buffer protocol describes the objects of a type completely. */
int is_buffer(const state *known, PyTypeObject *type);

/* Opens an object with a buffer. Returns false, without an exception, if its elements have no dtype of the library. */
int buffer_open(PyObject *object, operand *opened);

#endif
