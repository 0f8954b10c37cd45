/* The switches of a call, as callers write them. */
#ifndef LIBGATHER_SWITCHES_H
#define LIBGATHER_SWITCHES_H

#include "objects.h"

/* False, without an exception, for what is no integer, or beyond int64. */
int number_of(PyObject *value, int64_t *number);

/* From axis, which may be None, and batch_dims; false as above. */
int attributes_of(arguments args, gth_options *options);

/* From negative, bounds, fill_value, profile, opset, threads. A fill value that is no name is handed on. False,
 * without an exception, for what the Python side has to look at, as it says why something is refused. */
int switches_of(const state *known, arguments args, gth_options *options, PyObject **fill_value);

/* From extents, reduction and accumulate, which only some operations have; false as above. */
int own_switches_of(const state *known, arguments args, gth_options *options);

/* How a number of shards has its rows; None leaves it as it is. False as above. */
int shard_kind_of(const state *known, PyObject *kind, int32_t *number);

/* The memory of an element, from a float or an integer of Python's that the dtype has; false, without an exception, for
 * others. */
int fill_image(PyObject *value, int32_t dtype, void *image);

#endif
