/* Partitions of ids. */
#ifndef LIBGATHER_PARTITION_H
#define LIBGATHER_PARTITION_H

#include "state.h"

PyObject *partition(PyObject *module, arguments args, Py_ssize_t count);

#endif
