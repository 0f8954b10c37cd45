/* Handles of plans and contexts. A thread may close a handle while another thread uses it. Each call enters and leaves
 * the handle. The last user releases it, which is a call or close(). */
#ifndef LIBGATHER_HANDLE_H
#define LIBGATHER_HANDLE_H

#include "state.h"

/* Begins a use of a Handle. Returns the library's token, or NULL without an exception if the handle is closed. */
void *handle_enter(PyObject *handle);
void handle_leave(PyObject *handle);

/* Returns a new reference to the Handle of a Context, or to None for None. Returns NULL without an exception for other
 * objects. */
PyObject *handle_of_context(const state *known, PyObject *context);

PyObject *handle(PyObject *module, arguments args, Py_ssize_t count);

/* Creates the type of handles. Returns NULL with an exception set on an error. */
PyObject *handle_type_new(void);

#endif
