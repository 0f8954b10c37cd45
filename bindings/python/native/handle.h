/* Plans and contexts, which a thread may close while another one is inside a call with them: calls enter the handle and
 * leave it, and whoever is last, a call or close(), releases it. */
#ifndef LIBGATHER_HANDLE_H
#define LIBGATHER_HANDLE_H

#include "objects.h"

/* Begins a use of a Handle. The library's token, or NULL without an exception if the handle has been closed. */
void *handle_enter(PyObject *handle);
void handle_leave(PyObject *handle);

/* The Handle of a Context, or None for None, as a reference of the caller's; NULL without an exception for anything else. */
PyObject *handle_of_context(const state *known, PyObject *context);

#endif
