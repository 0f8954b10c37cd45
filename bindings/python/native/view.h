/* Exports memory of the library as a buffer, and reads any buffer, also a strided one. */
#ifndef LIBGATHER_VIEW_H
#define LIBGATHER_VIEW_H

#include "state.h"

PyObject *view(PyObject *module, arguments args, Py_ssize_t count);
/* Returns the dtype of the elements of a buffer, which may be 0, and the address of the first one. */
PyObject *buffer_of(PyObject *module, PyObject *exporter);

/* Creates the type of the exported memory. Returns NULL with an exception set on an error. */
PyObject *memory_type_new(void);

#endif
