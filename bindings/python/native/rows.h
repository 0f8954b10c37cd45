/* Rows of Arrow that Python keeps, and exports each time that a consumer asks for them. */
#ifndef LIBGATHER_ROWS_H
#define LIBGATHER_ROWS_H

#include "state.h"

/* Consumes an export: a capsule of a stream, or a tuple of capsules of a type and an array. Returns a capsule that keeps
 * the arrays, and the number of rows. */
PyObject *rows_kept(PyObject *module, arguments args, Py_ssize_t count);

/* Copies all rows of such a capsule to one array. Its arguments are the result of rows_kept(). Returns a tuple of
 * capsules. */
PyObject *rows_exported(PyObject *module, arguments args, Py_ssize_t count);

#endif
