/* Reads the switches of a call. */
#ifndef LIBGATHER_SWITCHES_H
#define LIBGATHER_SWITCHES_H

#include "state.h"

/* Reads axis, which may be None, and batch_dims. Returns false as number_of does. */
int attributes_of(arguments args, gth_options *options);

/* Reads negative, bounds, fill_value, profile, opset and threads. Stores a fill value that is not a name in
 * `fill_value`. Returns false, without an exception, for other values. The general path then reports the error. */
int switches_of(const state *known, arguments args, gth_options *options, PyObject **fill_value);

/* Reads extents, reduction and accumulate, which only some operations have. Returns false as switches_of does. */
int own_switches_of(const state *known, arguments args, gth_options *options);

/* Reads the kind of a number of shards. None leaves it unchanged. Returns false as switches_of does. */
int shard_kind_of(const state *known, PyObject *kind, int32_t *number);

/* Stores a Python float or integer as an element of a dtype. Returns false, without an exception, for other values. */
int fill_image(PyObject *value, int32_t dtype, void *image);

#endif
