/* Arrow's arrays of numbers, through its C data interface: in and out without a schema, which their types stand for. */
#ifndef LIBGATHER_ARROW_H
#define LIBGATHER_ARROW_H

#include "operand.h"

/* What configure_arrow() has told of the type of an object; NULL if it has told nothing. */
const arrow_type *arrow_known(const state *known, PyObject *object);

/* Opens an array of such a type. False, without an exception, if it has nulls or is not the host's. */
int arrow_open(const state *known, const arrow_type *type, PyObject *array, operand *opened);

/* An array of the type of another one, not initialised, and opened to be written; NULL without an exception if Arrow
 * has none of that rank, or there is no memory. */
PyObject *arrow_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened);

PyObject *configure_arrow(PyObject *module, arguments args, Py_ssize_t count);

#endif
