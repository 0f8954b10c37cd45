/* Operations over buffers. */
#ifndef LIBGATHER_RUN_H
#define LIBGATHER_RUN_H

#include "request.h"

/* Runs a call whose arrays are buffers or similar arrays. Returns NotImplemented for other calls. `last` is the last
 * call of the same function, or NULL. */
PyObject *run_request(const state *known, arguments args, enum rules rules, repeat *last);

/* Runs any call. Python code runs the calls that run_request does not support. */
PyObject *run_or_general(const state *known, arguments args, repeat *last);

/* The same as functions of the module. */
PyObject *run_buffers(PyObject *module, arguments args, Py_ssize_t count);
PyObject *run_arrays(PyObject *module, arguments args, Py_ssize_t count);

#endif
