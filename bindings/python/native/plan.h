/* Plans, their runs over buffers, and their runs over operands that Python code has described. */
#ifndef LIBGATHER_PLAN_H
#define LIBGATHER_PLAN_H

#include "state.h"

PyObject *plan(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_close(PyObject *module, PyObject *planned);
PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_infer(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_shape(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_check(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound_run(PyObject *module, PyObject *capsule);

#endif
