/* Runs of plans over buffers. */
#ifndef LIBGATHER_PLAN_H
#define LIBGATHER_PLAN_H

#include "state.h"

PyObject *plan(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound_run(PyObject *module, PyObject *capsule);

#endif
