/* Arrays whose library hands out their memory through DLPack's table of functions: no object is made to read them. */
#ifndef LIBGATHER_EXCHANGE_H
#define LIBGATHER_EXCHANGE_H

#include "dlpack.h"
#include "operand.h"

/* The table of a capsule, of the version that we know; NULL with an exception set if it has none. */
const dl_exchange *exchange_of(PyObject *capsule);

/* What configure_exchange() has told of the type of an object; NULL if it has told nothing. */
const exchange *exchange_known(const state *known, PyObject *object);

/* Opens an array of such a type. False, without an exception, if it is more than its memory, or not the host's. */
int exchange_open(const state *known, const exchange *entry, PyObject *object, operand *opened);

/* A dense array of the library of an entry, not initialised, opened to be written; NULL without an exception if it makes
 * none. */
PyObject *exchange_new(const exchange *entry, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened);

/* Tells the library of an array of the caller's that it has been written to. False with an exception set. */
int exchange_written(const exchange *entry, PyObject *object);

PyObject *configure_exchange(PyObject *module, arguments args, Py_ssize_t count);

#endif
