/* Operations over buffers. */
#ifndef LIBGATHER_RUN_H
#define LIBGATHER_RUN_H

#include "state.h"

/* The arguments of run_arrays(): the operation, its operands by role, and the fields of a Request (_request.py). */
enum {
  ARG_OPERATION,
  ARG_TABLE,
  ARG_INDICES,
  ARG_ROWS,
  ARG_ATTRIBUTES,
  ARG_SWITCHES = ARG_ATTRIBUTES + 2,
  ARG_CONTEXT = ARG_SWITCHES + 6,
  ARG_STREAM,
  ARG_SYNC,
  ARG_OWN_SWITCHES,
  ARG_INPLACE = ARG_OWN_SWITCHES + 3,
  ARGUMENTS
};

PyObject *run_arrays(PyObject *module, arguments args, Py_ssize_t count);
PyObject *run_buffers(PyObject *module, arguments args, Py_ssize_t count);

#endif
