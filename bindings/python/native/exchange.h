/* Arrays whose library hands out their memory through DLPack's table of functions: no object is made to read them. */
#ifndef LIBGATHER_EXCHANGE_H
#define LIBGATHER_EXCHANGE_H

#include "dlpack.h"
#include "operand.h"

/* The table of a capsule, of the version that we know; NULL with an exception set if it has none. */
const dl_exchange *exchange_of(PyObject *capsule);

/* What configure_exchange() has told of a type, borrowed; NULL without an exception if it has told nothing. */
PyObject *exchange_known(const state *known, PyTypeObject *type);

/* Opens an array of such a type. False, without an exception, if it is more than its memory, or not the host's. */
int exchange_open(PyObject *entry, PyObject *object, operand *opened);

/* A dense array of the library of an entry, not initialised; NULL without an exception if it makes none. */
PyObject *exchange_new(PyObject *entry, int32_t dtype, int32_t ndim, const int64_t *shape);

/* The same for such an array, which has nothing more to it. */
int exchange_open_new(PyObject *entry, PyObject *object, operand *opened);

/* Tells the library of an array of the caller's that it has been written to. False with an exception set. */
int exchange_written(PyObject *entry, PyObject *object);

PyObject *configure_exchange(PyObject *module, arguments args, Py_ssize_t count);

#endif
