/* Reads the switches of a call. */
#ifndef LIBGATHER_SWITCHES_H
#define LIBGATHER_SWITCHES_H

#include "numbers.h"
#include "options_reader.h"
#include "state.h"

/* The fields of a Request after the options (_base/request_fields.py). */
enum { FIELD_CONTEXT = OPTIONS, FIELD_STREAM, FIELD_SYNC, FIELD_BAGS, FIELD_WEIGHTS, FIELD_INPLACE, FIELDS };

/* Reads the options of a request from its fields. Stores a fill value that is not a name in `fill_value`. Returns false,
 * without an exception, for an invalid value. The Python code then reports the error. */
int options_of(const state *known, arguments fields, gth_options *options, PyObject **fill_value);

/* Returns the bytes of a gth_options from the way to fill, the bytes of one element, and the fields of a request. Returns
 * NotImplemented for an invalid field. */
PyObject *options(PyObject *module, arguments args, Py_ssize_t count);

/* Reads the kind of a number of shards. None leaves it unchanged. Returns false as options_of does. */
int shard_kind_of(const state *known, PyObject *kind, int32_t *number);

/* Stores a Python float or integer as an element of a dtype. Returns false, without an exception, for other values. */
int fill_image(PyObject *value, int32_t dtype, void *image);

#endif
