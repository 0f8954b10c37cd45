/* Arrays of libraries with DLPack's exchange table. Their memory is read without an intermediate object. */
#ifndef LIBGATHER_EXCHANGE_H
#define LIBGATHER_EXCHANGE_H

#include "dlpack.h"
#include "operand.h"

/* Returns the exchange table of version 1 from a capsule. Returns NULL with an exception set if there is none. */
const dl_exchange *exchange_of(PyObject *capsule);

/* Returns the entry of the type of an object from configure_exchange(), or NULL. */
const exchange *exchange_known(const state *known, PyObject *object);

/* Opens an array of such a type. Returns false, without an exception, if it has a gradient or is not on the host. */
int exchange_open(const state *known, const exchange *entry, PyObject *object, operand *opened);

/* Creates a dense, uninitialised array of the library of an entry, and opens it for a write. Returns NULL without an
 * exception if the library cannot create it. */
PyObject *exchange_new(const exchange *entry, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened);

/* Notifies the library of an array that it has been written. Returns false with an exception set on an error. */
int exchange_written(const exchange *entry, PyObject *object);

PyObject *configure_exchange(PyObject *module, arguments args, Py_ssize_t count);

#endif
