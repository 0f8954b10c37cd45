/* The operations over buffers: arguments, output and call in one crossing. */
#include "array.h"
#include "handle.h"
#include "operand.h"

/* What an operation is here, by the number that the Python side gives it (_operations.py). */
typedef struct operation {
  int32_t (*shape)(const gth_tensor_desc *params, const gth_tensor_desc *indices, const gth_options *options,
                   int32_t capacity, int32_t *ndim, int64_t *shape, gth_error *err);
  int32_t (*run)(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                 const gth_options *options, const gth_tensor_desc *out, gth_error *err);
} operation;

static const operation operations[] = {
    {gth_gather_shape, gth_gather_desc},
    {gth_gather_nd_shape, gth_gather_nd_desc},
    {gth_gather_elements_shape, gth_gather_elements_desc},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

/* A call over buffers. */
typedef struct request {
  const state *known;
  const operation *operation;
  gth_context *context;
  operand params, indices;
  const gth_options *options;
  gth_error error;
} request;

/* Into a given array; NotImplemented if it is no buffer that we know. */
static PyObject *gather_into(request *call, PyObject *array) {
  operand out;
  if (!operand_open(call->known, array, &out)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = call->operation->run(call->context, &call->params.desc, &call->indices.desc, call->options, &out.desc,
                                &call->error);
  Py_END_ALLOW_THREADS
  operand_close(&out);
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  Py_INCREF(array);
  return array;
}

static PyObject *gather_new(request *call, PyObject *like) {
  /* Rows that are skipped are zeros in a new result, which the library makes; NumPy's would not be initialised. */
  if (!array_is_made_for(call->known, like) || call->options->bounds == GTH_BOUNDS_SKIP) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = 0;
  const int32_t status = call->operation->shape(&call->params.desc, &call->indices.desc, call->options, GTH_MAX_NDIM,
                                                &ndim, shape, &call->error);
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  PyObject *array = array_new(call->known, like, ndim, shape);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = gather_into(call, array);
  Py_DECREF(array);
  return result == Py_NotImplemented ? result : array_or_scalar(result, ndim);
}

/* False, without an exception, if one of the numbers is none or is beyond int64. */
static int attributes(PyObject *axis, PyObject *batch_dims, gth_options *options) {
  if (axis != Py_None) {
    options->has_axis = 1;
    options->axis = PyLong_Check(axis) ? PyLong_AsLongLong(axis) : -1;
    if (!PyLong_Check(axis) || (options->axis == -1 && PyErr_Occurred())) {
      PyErr_Clear();
      return 0;
    }
  }
  options->batch_dims = PyLong_Check(batch_dims) ? PyLong_AsLongLong(batch_dims) : -1;
  if (!PyLong_Check(batch_dims) || (options->batch_dims == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return 0;
  }
  return 1;
}

static PyObject *gather_buffers(request *call, PyObject *params, PyObject *indices, PyObject *out) {
  if (!operand_open(call->known, params, &call->params)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!indices_open(call->known, indices, &call->indices)) {
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
  if (row < 0 || row >= OPERATIONS) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "there is no such operation");
    }
    return 0;
  }
  *found = &operations[row];
  return 1;
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

/* The Handle of a Context, or None for None; NULL without an exception for anything else. */
static PyObject *handle_of(const state *known, PyObject *context) {
  if (context == Py_None) {
    Py_INCREF(context);
    return context;
  }
  PyObject *handle = PyObject_GetAttrString(context, "_handle");
  if (!handle) {
    PyErr_Clear();
  } else if ((PyObject *)Py_TYPE(handle) != known->handle_type) {
    Py_CLEAR(handle);
  }
  return handle;
}

/* Almost every call: no switches, and arrays that are buffers; NotImplemented for every other one. */
PyObject *gather(PyObject *module, arguments args, Py_ssize_t count) {
  if (count < 7) {
    PyErr_SetString(PyExc_TypeError, "gather(operation, params, indices, out, axis, batch_dims, context, *switches)");
    return NULL;
  }
  for (Py_ssize_t i = 7; i < count; i++) {
    if (args[i] != Py_None) {
      Py_RETURN_NOTIMPLEMENTED;
    }
  }
  gth_options options = GTH_OPTIONS_INIT;
  request call = {.known = state_of(module), .options = &options, .error = GTH_ERROR_INIT};
  if (!operation_of(args[0], &call.operation)) {
    return NULL;
  }
  if (!attributes(args[4], args[5], &options)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *handle = handle_of(call.known, args[6]);
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = gather_on(&call, handle, args[1], args[2], args[3]);
  Py_DECREF(handle);
  return result;
}

/* The same with options that have been read, at an address. */
PyObject *gather_with(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 6) {
    PyErr_SetString(PyExc_TypeError, "gather_with(operation, params, indices, out, options, context)");
    return NULL;
  }
  request call = {.known = state_of(module), .options = address_of(args[4]), .error = GTH_ERROR_INIT};
  if (PyErr_Occurred() || !operation_of(args[0], &call.operation)) {
    return NULL;
  }
  return gather_on(&call, args[5], args[1], args[2], args[3]);
}
