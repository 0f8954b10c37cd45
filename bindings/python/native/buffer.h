/* Arrays with Python's buffer protocol. */
#ifndef LIBGATHER_BUFFER_H
#define LIBGATHER_BUFFER_H

#include "operand.h"

/* Returns true if the buffer protocol describes the objects of a type completely. */
int is_buffer(const state *known, PyTypeObject *type);

/* Opens an object with a buffer. Returns false, without an exception, if its elements have no dtype of the library. */
int buffer_open(PyObject *object, operand *opened);

#endif
