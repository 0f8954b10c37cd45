/* The switches of a call, as callers write them. */
#ifndef LIBGATHER_SWITCHES_H
#define LIBGATHER_SWITCHES_H

#include "objects.h"

/* From negative, bounds, fill_value, profile, opset, threads, extents. A fill value that is no name is handed on. False,
 * without an exception, for what the Python side has to look at, as it says why something is refused. */
int switches_of(const state *known, arguments args, gth_options *options, PyObject **fill_value);

/* The memory of an element, from a float or an integer of Python's that the dtype has; false, without an exception, for
 * others. */
int fill_image(PyObject *value, int32_t dtype, void *image);

#endif
