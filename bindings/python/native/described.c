#include "described.h"

#include "error.h"
#include "handle.h"
#include "numbers.h"

#include <string.h>

/* The items of a description. The last one is the handle of a tensor, or 0. */
enum { DTYPE, DEVICE, DEVICE_ID, FLAGS, SHAPE, STRIDES, DATA, OFFSET, TENSOR };

static int32_t number_at(PyObject *description, Py_ssize_t item) {
  return (int32_t)PyLong_AsLong(PyTuple_GetItem(description, item));
}

static int memory_open(PyObject *description, operand *opened) {
  PyObject *strides = PyTuple_GetItem(description, STRIDES);
  operand_without_buffer(opened);
  opened->desc = (gth_tensor_desc)GTH_TENSOR_DESC_INIT;
  gth_tensor_desc *desc = &opened->desc;
  desc->dtype = number_at(description, DTYPE);
  desc->device = number_at(description, DEVICE);
  desc->device_id = number_at(description, DEVICE_ID);
  desc->flags = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(description, FLAGS));
  desc->ndim = extents_of(PyTuple_GetItem(description, SHAPE), opened->shape);
  desc->shape = opened->shape;
  desc->data = address_of(PyTuple_GetItem(description, DATA));
  desc->offset = PyLong_AsLongLong(PyTuple_GetItem(description, OFFSET));
  if (!PyErr_Occurred() && strides != Py_None && extents_of(strides, opened->strides) == desc->ndim) {
    desc->strides = opened->strides; /* strings have none */
  }
  return !PyErr_Occurred();
}

int described_open(PyObject *description, operand *opened) {
  gth_tensor *tensor = address_of(PyTuple_GetItem(description, TENSOR));
  if (!tensor) {
    return !PyErr_Occurred() && memory_open(description, opened);
  }
  operand_without_buffer(opened);
  opened->desc = (gth_tensor_desc)GTH_TENSOR_DESC_HANDLE(tensor);
  return 1;
}

/* Opens an operand. Sets its place in a request to its description, or to NULL for None. */
static int optional_open(PyObject *description, operand *opened, const gth_tensor_desc **desc) {
  *desc = description == Py_None ? NULL : &opened->desc;
  return !*desc || described_open(description, opened);
}

int described_read(arguments args, described *call) {
  const char *options = PyBytes_AsString(args[DESCRIBED_OPTIONS]);
  gth_request *request = &call->request;
  *request = (gth_request)GTH_REQUEST_INIT;
  request->op = (int32_t)PyLong_AsLong(args[DESCRIBED_OPERATION]);
  request->options = &call->options;
  if (!options || PyErr_Occurred()) {
    return 0;
  }
  memcpy(&call->options, options, sizeof call->options);
  return optional_open(args[DESCRIBED_TABLE], &call->table, &request->table) &&
         optional_open(args[DESCRIBED_INDICES], &call->indices, &request->indices) &&
         optional_open(args[DESCRIBED_ROWS], &call->rows, &request->rows) &&
         optional_open(args[DESCRIBED_BAGS], &call->bags, &request->bags) &&
         optional_open(args[DESCRIBED_WEIGHTS], &call->weights, &request->weights);
}

PyObject *tuple_of(int32_t ndim, const int64_t *shape) {
  PyObject *made = PyTuple_New(ndim);
  for (int32_t i = 0; made && i < ndim; i++) {
    if (PyTuple_SetItem(made, i, PyLong_FromLongLong(shape[i]))) {
      Py_CLEAR(made);
    }
  }
  return made;
}

/* Returns the shape of the rows. */
PyObject *infer(PyObject *module, arguments args, Py_ssize_t count) {
  described call; /* the operands are large and stay uninitialised */
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  gth_error error = GTH_ERROR_INIT;
  int64_t shape[GTH_MAX_NDIM];
  if (count != DESCRIBED || !described_read(args, &call)) {
    return wrong_arguments("infer(operation, *operands, options)");
  }
  if (gth_infer(&call.request, &rows, GTH_MAX_NDIM, shape, &error) != GTH_OK) {
    return raise_error(state_of(module), &error);
  }
  return tuple_of(rows.ndim, shape);
}

/* Runs a request. Creates the result and returns its token if `makes` is true. Otherwise writes existing memory. */
PyObject *run_described(PyObject *module, arguments args, Py_ssize_t count) {
  enum { MAKES, CONTEXT, CALL, ARGUMENTS = CALL + DESCRIBED };
  const state *known = state_of(module);
  described call;
  gth_error error = GTH_ERROR_INIT;
  gth_context *context;
  gth_tensor *made = NULL;
  if (count != ARGUMENTS || !described_read(args + CALL, &call)) {
    return wrong_arguments("run_described(makes, context, operation, *operands, options)");
  }
  if (!context_enter(known, args[CONTEXT], &context)) {
    return NULL;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = args[MAKES] == Py_True ? gth_make(context, &call.request, &made, &error)
                                  : gth_run_request(context, &call.request, &error);
  Py_END_ALLOW_THREADS
  context_leave(args[CONTEXT]);
  return status == GTH_OK ? PyLong_FromVoidPtr(made) : raise_error(known, &error);
}

/* Copies the elements of an operand to another one. */
PyObject *copy(PyObject *module, arguments args, Py_ssize_t count) {
  enum { CONTEXT, SOURCE, DESTINATION, ARGUMENTS };
  operand source, destination;
  gth_error error = GTH_ERROR_INIT;
  gth_context *context;
  if (count != ARGUMENTS || !described_open(args[SOURCE], &source) ||
      !described_open(args[DESTINATION], &destination)) {
    return wrong_arguments("copy(context, source, destination)");
  }
  if (!context_enter(state_of(module), args[CONTEXT], &context)) {
    return NULL;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_copy(context, &source.desc, &destination.desc, &error);
  Py_END_ALLOW_THREADS
  context_leave(args[CONTEXT]);
  if (status != GTH_OK) {
    return raise_error(state_of(module), &error);
  }
  Py_RETURN_NONE;
}
