/* The operations over buffers: arguments, output and call in one crossing. */
#include "array.h"
#include "handle.h"
#include "operand.h"
#include "operation.h"
#include "switches.h"

/* A call over buffers. */
typedef struct request {
  const state *known;
  const operation *operation;
  gth_context *context;
  operand params, indices;
  gth_options *options;
  PyObject *fill_value; /* borrowed: a number to be filled with; NULL: options say all */
  gth_error error;
} request;

/* Runs into an output, which is closed then. */
static int32_t run_into(request *call, operand *out) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = call->operation->run(call->context, &call->params.desc, &call->indices.desc, call->options, &out->desc,
                                &call->error);
  Py_END_ALLOW_THREADS
  operand_close(out);
  return status;
}

/* Into a given array; NotImplemented if it is none that we know. */
static PyObject *gather_into(request *call, PyObject *array) {
  operand out;
  if (!operand_open(call->known, array, &out)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int32_t status = run_into(call, &out);
  return array_after(call->known, array, status, &call->error);
}

static PyObject *gather_new(request *call, PyObject *like) {
  if (!array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = 0;
  int32_t status = call->operation->shape(&call->params.desc, &call->indices.desc, call->options, GTH_MAX_NDIM, &ndim,
                                          shape, &call->error);
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  operand out;
  PyObject *array = array_new(call->known, like, call->params.desc.dtype, ndim, shape, &out);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (call->options->bounds == GTH_BOUNDS_SKIP) {
    array_zero(&out);
  }
  status = run_into(call, &out);
  if (status != GTH_OK) {
    Py_DECREF(array);
    return raise_error(call->known, &call->error);
  }
  return array_or_scalar(call->known, array, ndim);
}

static PyObject *gather_buffers(request *call, PyObject *params, PyObject *indices, PyObject *out) {
  if (!operand_open(call->known, params, &call->params)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!indices_open(call->known, indices, &call->indices)) {
    operand_close(&call->params);
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (call->fill_value && !fill_image(call->fill_value, call->params.desc.dtype, call->options->fill_value)) {
    operand_close(&call->indices);
    operand_close(&call->params);
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = out == Py_None ? gather_new(call, params) : gather_into(call, out);
  operand_close(&call->indices);
  operand_close(&call->params);
  return result;
}

static int operation_of(PyObject *number, const operation **found) {
  const long row = PyLong_AsLong(number);
  *found = PyErr_Occurred() ? NULL : operation_numbered(row);
  if (!*found && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "there is no such operation");
  }
  return *found != NULL;
}

/* The operands, which are large, are left as they are. */
static int begin(request *call, PyObject *module, PyObject *operation, gth_options *options) {
  call->known = state_of(module);
  call->context = NULL;
  call->options = options;
  call->fill_value = NULL;
  call->error.size = sizeof call->error; /* the library writes the rest, if it fails */
  return operation_of(operation, &call->operation);
}

/* On the context of a Handle, or on the default one for None. */
static PyObject *gather_on(request *call, PyObject *handle, PyObject *params, PyObject *indices, PyObject *out) {
  if (handle == Py_None) {
    return gather_buffers(call, params, indices, out);
  }
  call->context = handle_enter(handle);
  if (!call->context) {
    return raise_closed(call->known, GTH_OPERAND_CONTEXT);
  }
  PyObject *result = gather_buffers(call, params, indices, out);
  handle_leave(handle);
  return result;
}

enum { OPERATION, PARAMS, INDICES, OUT, AXIS, BATCH_DIMS, CONTEXT, STREAM, SWITCHES, ARGUMENTS = SWITCHES + 7 };

/* Almost every call: arrays that are buffers or nearly so; NotImplemented for every other one. */
PyObject *gather(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError,
                    "gather(operation, params, indices, out, axis, batch_dims, context, stream, *switches)");
    return NULL;
  }
  gth_options options = GTH_OPTIONS_INIT;
  request call;
  if (!begin(&call, module, args[OPERATION], &options)) {
    return NULL;
  }
  if (args[STREAM] != Py_None || !attributes_of(args[AXIS], args[BATCH_DIMS], &options) ||
      !switches_of(call.known, args + SWITCHES, &options, &call.fill_value)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *handle = handle_of_context(call.known, args[CONTEXT]);
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = gather_on(&call, handle, args[PARAMS], args[INDICES], args[OUT]);
  Py_DECREF(handle);
  return result;
}
