/* Arrow arrays of numbers through the C data interface. The Arrow type of the array replaces the schema. */
#ifndef LIBGATHER_ARROW_H
#define LIBGATHER_ARROW_H

#include "operand.h"

/* Returns the entry of the type of an object from configure_arrow(), or NULL. */
const arrow_type *arrow_known(const state *known, PyObject *object);

/* Opens an array of such a type. Returns false, without an exception, if it has nulls or is not on the host. */
int arrow_open(const state *known, const arrow_type *type, PyObject *array, operand *opened);

/* Creates an uninitialised array of the type of another one, and opens it for a write. Returns NULL without an
 * exception if the rank is not 1 or the allocation fails. */
PyObject *arrow_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened);

PyObject *configure_arrow(PyObject *module, arguments args, Py_ssize_t count);

#endif
