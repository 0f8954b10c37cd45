/* Capsules of DLPack and Arrow, by which array libraries exchange memory. */
#ifndef LIBGATHER_CAPSULES_H
#define LIBGATHER_CAPSULES_H

#include "state.h"

PyObject *capsule_address(PyObject *module, arguments args, Py_ssize_t count);
PyObject *dlpack_used(PyObject *module, PyObject *capsule);
PyObject *dlpack_capsule(PyObject *module, arguments args, Py_ssize_t count);
PyObject *exchange_out_of(PyObject *module, arguments args, Py_ssize_t count);
PyObject *exchange_into(PyObject *module, arguments args, Py_ssize_t count);
PyObject *arrow_capsules(PyObject *module, arguments args, Py_ssize_t count);

/* Moves Arrow's structs of a type and of an array into a tuple of new capsules. Returns NULL with an exception set if
 * there is no memory. */
PyObject *capsules_of(void *schema, void *array);

#endif
