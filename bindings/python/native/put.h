/* put_along_axis into NumPy arrays. */
#ifndef LIBGATHER_PUT_H
#define LIBGATHER_PUT_H

#include "request.h"

/* Writes values to the places of a NumPy array that indices select, with the conversions of NumPy's assignments. Returns
 * None, or NotImplemented for calls that the Python side must run. */
PyObject *put_along(const state *known, arguments args, enum rules rules);

#endif
