/* Partitions ids by shard, with one call from Python. */
#include "partition.h"

#include "error.h"
#include "numbers.h"
#include "numpy.h"
#include "open.h"
#include "switches.h"

#include <stdlib.h>

/* A call whose ids are a buffer or a similar array. */
typedef struct request {
  const state *known;
  operand ids, borders;
  gth_shards shards;
  gth_options *options;
  gth_parts parts;
  gth_error error;
} request;

/* New NumPy arrays. `order` is None if duplicate ids request their row once. */
typedef struct results {
  PyObject *counts, *local, *order, *place;
} results;

/* Creates an array of integers. Returns NULL if `wanted` is false. */
static PyObject *integers_new(const request *call, int ndim, const int64_t *shape, int wanted, int64_t **numbers) {
  PyObject *array = wanted ? numpy_integers(call->known, ndim, shape) : NULL;
  *numbers = array ? numpy_data(array) : NULL;
  return array;
}

static void results_drop(results *made) {
  Py_XDECREF(made->counts);
  Py_XDECREF(made->local);
  Py_XDECREF(made->order);
  Py_XDECREF(made->place);
}

/* Creates all results. Returns false, without an exception, if an allocation fails. */
static int results_make(request *call, int64_t ids, results *made) {
  gth_parts *parts = &call->parts;
  const gth_tensor_desc *desc = &call->ids.desc;
  const int with_order = !(parts->flags & GTH_PARTS_ONCE);
  made->counts = integers_new(call, 1, &call->shards.count, 1, &parts->counts);
  made->local = integers_new(call, 1, &ids, made->counts != NULL, &parts->local);
  made->place = integers_new(call, desc->ndim, desc->shape, made->local != NULL, &parts->place);
  made->order = integers_new(call, 1, &ids, with_order && made->place, &parts->order);
  if (made->place && !with_order) {
    Py_INCREF(Py_None);
    made->order = Py_None;
  }
  if (!made->order) {
    results_drop(made);
  }
  return made->order != NULL;
}

/* Shortens an array to a view of its first `count` elements. Ids without a shard leave the end of local and order
 * unused. */
static int shorten(PyObject **array, int64_t count) {
  PyObject *shorter = PySequence_GetSlice(*array, 0, count);
  Py_DECREF(*array);
  *array = shorter;
  return shorter != NULL;
}

static int fit(const request *call, int64_t ids, results *made) {
  int64_t asked = 0;
  for (int64_t i = 0; i < call->shards.count; i++) {
    asked += call->parts.counts[i];
  }
  return asked == ids || (shorten(&made->local, asked) && (made->order == Py_None || shorten(&made->order, asked)));
}

/* Runs the partition. Returns false with an exception set on an error. */
static int run(request *call) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_partition(NULL, &call->ids.desc, &call->shards, call->options, &call->parts, &call->error);
  Py_END_ALLOW_THREADS
  if (status != GTH_OK) {
    raise_error(call->known, &call->error);
  }
  return status == GTH_OK;
}

static PyObject *partition_into(request *call, int64_t ids) {
  results made;
  if (!results_make(call, ids, &made)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *all = NULL;
  if (run(call) && fit(call, ids, &made)) {
    all = PyTuple_Pack(4, made.counts, made.local, made.order, made.place);
  }
  results_drop(&made);
  return all;
}

static PyObject *partition_ids(request *call) {
  gth_parts *parts = &call->parts;
  const int32_t status =
      gth_partition_scratch(&call->ids.desc, &call->shards, parts->flags, &parts->scratch_bytes, &call->error);
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  parts->capacity = operand_count(&call->ids);
  parts->scratch = malloc((size_t)parts->scratch_bytes + 1); /* malloc(0) may return NULL */
  if (!parts->scratch) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *all = partition_into(call, parts->capacity);
  free(parts->scratch);
  return all;
}

/* Copies borders from a list or a tuple, because another thread may change other sequences during the call. Returns
 * false, without an exception, for other types and if a border is beyond int64. */
static int borders_open(request *call, PyObject *borders) {
  if (!(PyList_CheckExact(borders) || PyTuple_CheckExact(borders)) ||
      !indices_open(call->known, borders, &call->borders)) {
    return 0;
  }
  call->shards.kind = GTH_SHARDS_BORDERS;
  call->shards.borders = call->borders.desc.data;
  call->shards.count = call->borders.desc.shape[0] - 1;
  return 1;
}

static PyObject *partition_by(request *call, PyObject *count, PyObject *borders) {
  if (borders == Py_None) {
    if (!number_of(count, &call->shards.count)) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    return partition_ids(call);
  }
  if (count != Py_None || call->shards.kind != GTH_SHARDS_BLOCKS || !borders_open(call, borders)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *all = partition_ids(call);
  operand_close(&call->borders);
  return all;
}

/* Initialises a call except its operands, which are large. Returns false with an exception set on an error. */
static int begin(request *call, PyObject *module, PyObject *once, gth_options *options) {
  const int is_once = PyObject_IsTrue(once);
  call->known = state_of(module);
  call->shards = (gth_shards)GTH_SHARDS_INIT;
  call->options = options;
  call->parts = (gth_parts)GTH_PARTS_INIT;
  call->parts.flags = is_once > 0 ? GTH_PARTS_ONCE : 0;
  call->error.size = sizeof call->error; /* the library writes the other fields on an error */
  return is_once >= 0;
}

enum { IDS, TABLE_ROWS, COUNT, BORDERS, KIND, ONCE, SWITCHES, ARGUMENTS = SWITCHES + 6 };

/* Partitions ids that are buffers or similar arrays. Returns NotImplemented for other arguments, and if NumPy arrays
 * cannot be created here. */
PyObject *partition(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "partition(ids, rows, count, borders, kind, once, *switches)");
    return NULL;
  }
  gth_options options = GTH_OPTIONS_INIT;
  request call;
  PyObject *no_fill_value = NULL;
  if (!begin(&call, module, args[ONCE], &options)) {
    return NULL;
  }
  if (!call.known->ndarray || !number_of(args[TABLE_ROWS], &call.shards.rows) ||
      !shard_kind_of(call.known, args[KIND], &call.shards.kind) ||
      !switches_of(call.known, args + SWITCHES, &options, &no_fill_value) || no_fill_value ||
      !indices_open(call.known, args[IDS], &call.ids)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *all = partition_by(&call, args[COUNT], args[BORDERS]);
  operand_close(&call.ids);
  return all;
}
