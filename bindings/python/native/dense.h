/* A dense copy of a table whose slices are scattered in memory. A gather that reads each slice more than once is faster
 * with this copy. */
#ifndef LIBGATHER_DENSE_H
#define LIBGATHER_DENSE_H

#include "request.h"

/* Replaces the table of a gather to new rows by a dense copy if that is faster and there is memory for it. Returns the
 * array of the copy, which is open, or NULL without an exception. */
PyObject *dense_table(request *call, operand *copy);

#endif
