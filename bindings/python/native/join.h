/* Joins of the rows of shards. */
#ifndef LIBGATHER_JOIN_H
#define LIBGATHER_JOIN_H

#include "state.h"

PyObject *join(PyObject *module, arguments args, Py_ssize_t count);

#endif
