/* Scatters over buffers: arguments, target and call in one crossing. */
#include "array.h"
#include "handle.h"
#include "operand.h"
#include "operation.h"
#include "switches.h"

/* A call over buffers. */
typedef struct request {
  const state *known;
  scatter_function run;
  gth_context *context;
  operand indices, updates;
  gth_options *options;
  gth_error error;
} request;

static int32_t run_on(request *call, const gth_tensor_desc *target) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = call->run(call->context, target, &call->indices.desc, &call->updates.desc, call->options, &call->error);
  Py_END_ALLOW_THREADS
  return status;
}

/* In place; NotImplemented if the target is none that we know. */
static PyObject *scatter_in_place(request *call, PyObject *array) {
  operand target;
  if (!operand_open(call->known, array, &target)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int32_t status = run_on(call, &target.desc);
  operand_close(&target);
  return array_after(call->known, array, status, &call->error);
}

static int32_t copy_of(gth_context *context, const gth_tensor_desc *from, const gth_tensor_desc *to) {
  gth_tensor *source = NULL, *destination = NULL;
  int32_t status = gth_tensor_borrow(from, &source, NULL);
  if (status == GTH_OK) {
    status = gth_tensor_borrow(to, &destination, NULL);
  }
  if (status == GTH_OK) {
    status = gth_tensor_copy(context, source, destination, NULL);
  }
  gth_tensor_release(source);
  gth_tensor_release(destination);
  return status;
}

/* Into a new array, which then holds what the target does; NotImplemented if it cannot be had here. */
static PyObject *scatter_into(request *call, PyObject *like, const gth_tensor_desc *target) {
  operand made;
  PyObject *array = array_new(call->known, like, target->dtype, target->ndim, target->shape, &made);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = copy_of(call->context, target, &made.desc);
  Py_END_ALLOW_THREADS
  const int is_copied = status == GTH_OK;
  if (is_copied) {
    status = run_on(call, &made.desc);
  }
  operand_close(&made);
  if (status == GTH_OK) {
    return array_or_scalar(call->known, array, target->ndim);
  }
  Py_DECREF(array);
  if (is_copied) {
    return raise_error(call->known, &call->error);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

static PyObject *scatter_new(request *call, PyObject *like) {
  operand target;
  if (!array_is_made_for(call->known, like) || !operand_open(call->known, like, &target)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = scatter_into(call, like, &target.desc);
  operand_close(&target);
  return result;
}

static PyObject *scatter_buffers(request *call, PyObject *target, PyObject *indices, PyObject *updates, int in_place) {
  if (!indices_open(call->known, indices, &call->indices)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!operand_open(call->known, updates, &call->updates)) {
    operand_close(&call->indices);
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = in_place ? scatter_in_place(call, target) : scatter_new(call, target);
  operand_close(&call->updates);
  operand_close(&call->indices);
  return result;
}

/* On the context of a Handle, or on the default one for None. */
static PyObject *scatter_on(request *call, PyObject *handle, PyObject *target, PyObject *indices, PyObject *updates,
                            int in_place) {
  if (handle == Py_None) {
    return scatter_buffers(call, target, indices, updates, in_place);
  }
  call->context = handle_enter(handle);
  if (!call->context) {
    return raise_closed(call->known, GTH_OPERAND_CONTEXT);
  }
  PyObject *result = scatter_buffers(call, target, indices, updates, in_place);
  handle_leave(handle);
  return result;
}

/* The operands, which are large, are left as they are. */
static int begin(request *call, PyObject *module, PyObject *operation, gth_options *options) {
  const long number = PyLong_AsLong(operation);
  call->known = state_of(module);
  call->run = PyErr_Occurred() ? NULL : scatter_numbered(number);
  call->context = NULL;
  call->options = options;
  call->error.size = sizeof call->error; /* the library writes the rest, if it fails */
  if (!call->run && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "there is no such operation");
  }
  return call->run != NULL;
}

enum {
  OPERATION,
  TARGET,
  INDICES,
  UPDATES,
  IN_PLACE,
  AXIS,
  BATCH_DIMS,
  CONTEXT,
  REDUCTION,
  ACCUMULATE,
  SWITCHES,
  ARGUMENTS = SWITCHES + 7
};

/* Almost every call: arrays that are buffers or nearly so; NotImplemented for every other one. */
PyObject *scatter(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError,
                    "scatter(operation, target, indices, updates, in_place, axis, batch_dims, context, "
                    "reduction, accumulate, *switches)");
    return NULL;
  }
  gth_options options = GTH_OPTIONS_INIT;
  request call;
  PyObject *no_fill_value = NULL;
  if (!begin(&call, module, args[OPERATION], &options)) {
    return NULL;
  }
  const int in_place = args[IN_PLACE] == Py_True;
  if ((!in_place && args[IN_PLACE] != Py_False) || !attributes_of(args[AXIS], args[BATCH_DIMS], &options) ||
      !reduction_of(call.known, args[REDUCTION], args[ACCUMULATE], &options) ||
      !switches_of(call.known, args + SWITCHES, &options, &no_fill_value) || no_fill_value) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *handle = handle_of_context(call.known, args[CONTEXT]);
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = scatter_on(&call, handle, args[TARGET], args[INDICES], args[UPDATES], in_place);
  Py_DECREF(handle);
  return result;
}
