/* Partitions ids by shard, with one call from Python. */
#include "partition.h"

#include "described.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "numpy.h"
#include "open.h"
#include "switches.h"

#include <stdlib.h>

/* A call. `make` is a Python function that creates an array of integers of a shape. On the host, C creates the arrays if
 * it knows NumPy's layout. */
typedef struct request {
  const state *known;
  PyObject *make;
  int on_device;
  gth_context *context;
  operand ids, borders;
  gth_shards shards;
  gth_options *options;
  gth_parts parts;
  gth_error error;
} request;

/* New arrays. `order` is None if duplicate ids request their row once. */
typedef struct results {
  PyObject *counts, *local, *order, *place;
} results;

/* Returns the memory of an array on the host, or NULL with an exception set. */
static int64_t *memory_of(PyObject *array) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_CONTIG)) {
    return NULL;
  }
  PyBuffer_Release(&buffer);
  return buffer.buf;
}

/* Returns the memory of an array on a device. An exception may be set. */
static int64_t *device_memory_of(PyObject *array) {
  PyObject *address = PyObject_GetAttrString(array, "address");
  int64_t *numbers = address ? address_of(address) : NULL;
  Py_XDECREF(address);
  return numbers;
}

/* Creates an array of integers with the Python function. */
static PyObject *integers_made(const request *call, int ndim, const int64_t *shape, int64_t **numbers) {
  PyObject *extents = tuple_of(ndim, shape);
  PyObject *array = extents ? PyObject_CallFunctionObjArgs(call->make, extents, NULL) : NULL;
  Py_XDECREF(extents);
  if (array) {
    *numbers = call->on_device ? device_memory_of(array) : memory_of(array);
  }
  if (PyErr_Occurred()) {
    Py_CLEAR(array);
  }
  return array;
}

/* Creates an array of integers. Returns NULL if `wanted` is false, and with an exception set if an allocation fails. */
static PyObject *integers_new(const request *call, int ndim, const int64_t *shape, int wanted, int64_t **numbers) {
  if (!wanted || call->on_device || !call->known->ndarray) {
    return wanted ? integers_made(call, ndim, shape, numbers) : NULL;
  }
  PyObject *array = numpy_integers(call->known, ndim, shape);
  *numbers = array ? numpy_data(array) : NULL;
  return array ? array : PyErr_NoMemory();
}

static void results_drop(results *made) {
  Py_XDECREF(made->counts);
  Py_XDECREF(made->local);
  Py_XDECREF(made->order);
  Py_XDECREF(made->place);
}

/* Creates all results. Returns false with an exception set if an allocation fails. */
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

/* Shortens the arrays to the counts. A device may not have computed them yet, and its arrays keep their sizes. */
static int fit(const request *call, int64_t ids, results *made) {
  int64_t asked = 0;
  if (call->on_device) {
    return 1;
  }
  for (int64_t i = 0; i < call->shards.count; i++) {
    asked += call->parts.counts[i];
  }
  return asked == ids || (shorten(&made->local, asked) && (made->order == Py_None || shorten(&made->order, asked)));
}

/* Runs the partition. Returns false with an exception set on an error. */
static int run(request *call) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_partition(call->context, &call->ids.desc, &call->shards, call->options, &call->parts, &call->error);
  Py_END_ALLOW_THREADS
  if (status != GTH_OK) {
    raise_error(call->known, &call->error);
  }
  return status == GTH_OK;
}

static PyObject *partition_into(request *call, int64_t ids) {
  results made;
  if (!results_make(call, ids, &made)) {
    return NULL;
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
  gth_tensor_desc on_host = call->ids.desc;
  on_host.device = GTH_DEVICE_CPU; /* scratch memory is for the host, and this call validates the shards of all calls */
  on_host.device_id = 0;
  const int32_t status =
      gth_partition_scratch(&on_host, &call->shards, parts->flags, &parts->scratch_bytes, &call->error);
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  parts->capacity = operand_count(&call->ids);
  if (call->on_device) {
    return partition_into(call, parts->capacity);
  }
  parts->scratch = malloc((size_t)parts->scratch_bytes + 1); /* malloc(0) may return NULL */
  if (!parts->scratch) {
    return PyErr_NoMemory();
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
static int begin(request *call, PyObject *module, PyObject *make, PyObject *once, gth_options *options) {
  const int is_once = PyObject_IsTrue(once);
  call->known = state_of(module);
  call->make = make;
  call->shards = (gth_shards)GTH_SHARDS_INIT;
  call->options = options;
  call->parts = (gth_parts)GTH_PARTS_INIT;
  call->parts.flags = is_once > 0 ? GTH_PARTS_ONCE : 0;
  call->error.size = sizeof call->error; /* the library writes the other fields on an error */
  return is_once >= 0;
}

static int ids_open(request *call, PyObject *ids, PyObject *is_described) {
  return is_described == Py_True ? described_open(ids, &call->ids) : indices_open(call->known, ids, &call->ids);
}

/* The items of a layout of shards. */
enum { TABLE_ROWS, SHARDS, BORDERS, KIND };

/* Reads the request except for its context, and the layout except for the shards. Returns false, without an exception,
 * for other values. */
static int options_open(request *call, PyObject *layout, PyObject *fields) {
  PyObject *read[FIELDS], *fill_value;
  for (Py_ssize_t i = 0; i < FIELDS; i++) {
    read[i] = PyTuple_GetItem(fields, i);
  }
  const int is_read = number_of(PyTuple_GetItem(layout, TABLE_ROWS), &call->shards.rows) &&
                      shard_kind_of(call->known, PyTuple_GetItem(layout, KIND), &call->shards.kind) &&
                      options_of(call->known, read, call->options, &fill_value);
  call->options->fill = 0; /* no id is filled */
  return is_read && read[FIELD_STREAM] == Py_None && PyBool_Check(read[FIELD_SYNC]);
}

/* Runs on the context of a Handle, or on the default one for None. */
static PyObject *partition_on(request *call, PyObject *handle, PyObject *layout) {
  if (!context_enter(call->known, handle, &call->context)) {
    return NULL;
  }
  PyObject *all = partition_by(call, PyTuple_GetItem(layout, SHARDS), PyTuple_GetItem(layout, BORDERS));
  context_leave(handle);
  return all;
}

/* Partitions ids that are a buffer, a similar array or described. Those on a device are described, and `make` returns
 * objects with an `address`. Returns NotImplemented for other arguments. */
PyObject *partition(PyObject *module, arguments args, Py_ssize_t count) {
  enum { MAKE, ON_DEVICE, IS_DESCRIBED, IDS, LAYOUT, ONCE, REQUEST, ARGUMENTS };
  gth_options options = GTH_OPTIONS_INIT;
  request call;
  if (count != ARGUMENTS || !begin(&call, module, args[MAKE], args[ONCE], &options)) {
    return wrong_arguments("partition(make, on_device, is_described, ids, layout, once, request)");
  }
  call.on_device = args[ON_DEVICE] == Py_True;
  PyObject *handle = handle_of_context(call.known, PyTuple_GetItem(args[REQUEST], FIELD_CONTEXT));
  if (!handle || !options_open(&call, args[LAYOUT], args[REQUEST]) || !ids_open(&call, args[IDS], args[IS_DESCRIBED])) {
    Py_XDECREF(handle);
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *all = partition_on(&call, handle, args[LAYOUT]);
  operand_close(&call.ids);
  Py_DECREF(handle);
  return all;
}
