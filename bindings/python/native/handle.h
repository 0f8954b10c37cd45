/* Handles of plans and contexts. A thread may close a handle while another thread uses it. Each call enters and leaves
 * the handle. The last user releases it, which is a call or close(). */
#ifndef LIBGATHER_HANDLE_H
#define LIBGATHER_HANDLE_H

#include "state.h"

/* Begins a use of a Handle. Returns the library's token, or NULL without an exception if the handle is closed. */
void *handle_enter(PyObject *handle);
void handle_leave(PyObject *handle);

/* Begins a use of a context. None stands for the default context, which is NULL. Returns false with an exception set if
 * the context is closed. */
int context_enter(const state *known, PyObject *handle, gth_context **context);
void context_leave(PyObject *handle);

/* Returns a new Handle, which takes ownership of a plan. Returns NULL with an exception set on an error. */
PyObject *handle_of_plan(const state *known, gth_plan *plan);

/* Releases a handle after the calls that use it. Returns None. */
PyObject *handle_close(PyObject *handle);

/* Returns a new reference to the Handle of a Context, or to None for None. Returns NULL without an exception for other
 * objects. */
PyObject *handle_of_context(const state *known, PyObject *context);

/* Returns the Handle of a context, which it takes ownership of. */
PyObject *handle(PyObject *module, PyObject *token);

/* Creates the type of handles. Returns NULL with an exception set on an error. */
PyObject *handle_type_new(void);

#endif
