/* Operations over buffers: one call from Python reads the arguments, creates the result and calls the library. */
#include "run.h"

#include "array.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "open.h"
#include "switches.h"

/* A call whose arguments are buffers. */
typedef struct request {
  const state *known;
  arguments args;
  int32_t op;
  operand *written; /* the rows or the table of operands */
  gth_context *context;
  operands operands;
  gth_options options;
  PyObject *fill_value; /* borrowed: a number that has to be converted to an element, or NULL */
  gth_error error;
} request;

/* Calls a Python function with the arguments of a call. They follow `first` if it is not NULL. */
static PyObject *call_python(PyObject *function, PyObject *first, arguments args) {
  const Py_ssize_t lead = first != NULL;
  PyObject *all = PyTuple_New(lead + ARGUMENTS);
  for (Py_ssize_t i = 0; all && i < lead + ARGUMENTS; i++) {
    PyObject *item = i < lead ? first : args[i - lead];
    Py_INCREF(item);
    if (PyTuple_SetItem(all, i, item)) {
      Py_CLEAR(all);
    }
  }
  PyObject *result = all ? PyObject_CallObject(function, all) : NULL;
  Py_XDECREF(all);
  return result;
}

/* Raises the error of a call and returns NULL. The Python side adds the place of an invalid index. */
static PyObject *fail(const request *call) {
  PyObject *exception = exception_of(call->known, &call->error);
  if (exception && call->error.status == GTH_E_INDEX) {
    PyObject *located = call_python(call->known->locate, exception, call->args);
    if (!located) {
      Py_CLEAR(exception);
    }
    Py_XDECREF(located);
  }
  return raise_exception(exception);
}

/* Runs the operation on opened operands, and closes the written one. */
static int32_t execute(request *call) {
  const operands *all = &call->operands;
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_run(call->context, call->op, &all->table.desc, &all->indices.desc, &all->rows.desc, &call->options,
                   &call->error);
  Py_END_ALLOW_THREADS
  operand_close(call->written);
  return status;
}

/* Writes to a given array. Returns NotImplemented if its type is not supported here. */
static PyObject *write_given(request *call, PyObject *array) {
  if (!operand_open(call->known, array, call->written)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int32_t status = execute(call);
  if (!array_written(call->known, array, status)) {
    return NULL;
  }
  if (status != GTH_OK) {
    return fail(call);
  }
  Py_INCREF(array);
  return array;
}

/* Initialises a new result if the operation does not write all of it. */
static int32_t fill_new(const request *call, const gth_tensor_desc *source, const operand *made) {
  if (writes_rows(call->op) && call->options.bounds == GTH_BOUNDS_SKIP) {
    array_zero(made);
  }
  if (!source) {
    return GTH_OK;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_copy(call->context, source, &made->desc, NULL);
  Py_END_ALLOW_THREADS
  return status;
}

/* Writes to a new array of the type of `like`, with the dtype and shape of `form`. If `source` is not NULL, it is
 * copied to the array first. Returns NotImplemented if the array cannot be created here. */
static PyObject *write_new(request *call, PyObject *like, const gth_tensor_desc *form, const gth_tensor_desc *source) {
  operand *made = call->written;
  PyObject *array = array_new(call->known, like, form->dtype, form->ndim, form->shape, made);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (fill_new(call, source, made) != GTH_OK) {
    operand_close(made);
    Py_DECREF(array);
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (execute(call) != GTH_OK) {
    Py_DECREF(array);
    return fail(call);
  }
  return array_or_scalar(call->known, array, form->ndim);
}

static PyObject *gather_new(request *call) {
  PyObject *like = call->args[ARG_TABLE];
  if (!array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const operands *all = &call->operands;
  const gth_request asked = GTH_REQUEST(call->op, &all->table.desc, &all->indices.desc, NULL, &call->options);
  gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  if (gth_infer(&asked, &form, GTH_MAX_NDIM, shape, &call->error) != GTH_OK) {
    return fail(call);
  }
  return write_new(call, like, &form, NULL);
}

static PyObject *scatter_new(request *call) {
  PyObject *like = call->args[ARG_TABLE];
  operand source;
  if (!array_is_made_for(call->known, like) || !operand_open(call->known, like, &source)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = write_new(call, like, &source.desc, &source.desc);
  operand_close(&source);
  return result;
}

/* Reads a shape, or the shape of an array. Returns the rank, or -1 without an exception for other objects. */
static int shape_of(PyObject *given, int64_t *shape) {
  PyObject *extents = PyTuple_Check(given) ? given : PyObject_GetAttrString(given, "shape");
  int ndim = extents && PyTuple_Check(extents) ? extents_of(extents, shape) : -1;
  if (extents != given) {
    Py_XDECREF(extents);
  }
  PyErr_Clear();
  for (int i = 0; i < ndim; i++) {
    ndim = shape[i] < 0 ? -1 : ndim;
  }
  return ndim;
}

static PyObject *gradient_new(request *call) {
  PyObject *like = call->args[ARG_ROWS];
  int64_t shape[GTH_MAX_NDIM];
  const int ndim = shape_of(call->args[ARG_TABLE], shape);
  if (ndim < 0 || !array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const gth_tensor_desc form = GTH_TENSOR_DESC_DENSE(call->operands.rows.desc.dtype, ndim, shape, NULL);
  return write_new(call, like, &form, NULL);
}

/* Writes the result. The operands that are read have been opened. */
static PyObject *write_result(request *call) {
  arguments args = call->args;
  const int is_gather = writes_rows(call->op);
  if (call->fill_value &&
      (!is_gather || !fill_image(call->fill_value, call->operands.table.desc.dtype, call->options.fill_value))) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (is_gather) {
    return args[ARG_ROWS] == Py_None ? gather_new(call) : write_given(call, args[ARG_ROWS]);
  }
  if (call->op > GTH_OP_SCATTER_ELEMENTS) {
    return gradient_new(call);
  }
  return args[ARG_INPLACE] == Py_True ? write_given(call, args[ARG_TABLE]) : scatter_new(call);
}

static PyObject *run_operands(request *call) {
  const int is_gather = writes_rows(call->op);
  operands *all = &call->operands;
  operand *read = is_gather ? &all->table : &all->rows;
  call->written = is_gather ? &all->rows : &all->table;
  if (!source_open(call->known, call->args[is_gather ? ARG_TABLE : ARG_ROWS], read)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = Py_NotImplemented;
  if (source_indices_open(call->known, call->args[ARG_INDICES], &all->indices)) {
    result = write_result(call);
    operand_close(&all->indices);
  } else {
    Py_INCREF(result);
  }
  operand_close(read);
  return result;
}

/* Runs on the context of a Handle, or on the default one for None. */
static PyObject *run_on(request *call, PyObject *handle) {
  if (handle == Py_None) {
    return run_operands(call);
  }
  call->context = handle_enter(handle);
  if (!call->context) {
    return raise_closed(call->known, GTH_OPERAND_CONTEXT);
  }
  PyObject *result = run_operands(call);
  handle_leave(handle);
  return result;
}

static int options_of(request *call) {
  arguments args = call->args;
  return args[ARG_STREAM] == Py_None && PyBool_Check(args[ARG_INPLACE]) &&
         attributes_of(args + ARG_ATTRIBUTES, &call->options) &&
         switches_of(call->known, args + ARG_SWITCHES, &call->options, &call->fill_value) &&
         own_switches_of(call->known, args + ARG_OWN_SWITCHES, &call->options);
}

/* Runs a call whose arrays are buffers or similar arrays. Returns NotImplemented for other calls. */
PyObject *run_buffers(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "run_arrays(operation, table, indices, rows, *request)");
    return NULL;
  }
  request call; /* the operands are large and stay uninitialised */
  call.known = state_of(module);
  call.args = args;
  call.op = (int32_t)PyLong_AsLong(args[ARG_OPERATION]);
  call.context = NULL;
  call.options = (gth_options)GTH_OPTIONS_INIT;
  call.fill_value = NULL;
  call.error.size = sizeof call.error; /* the library writes the other fields on an error */
  if (call.op == -1 && PyErr_Occurred()) {
    return NULL;
  }
  PyObject *handle = options_of(&call) ? handle_of_context(call.known, args[ARG_CONTEXT]) : NULL;
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = run_on(&call, handle);
  Py_DECREF(handle);
  return result;
}

/* Runs any call. The Python side runs the calls that run_buffers does not support. */
PyObject *run_arrays(PyObject *module, arguments args, Py_ssize_t count) {
  PyObject *result = run_buffers(module, args, count);
  if (result != Py_NotImplemented) {
    return result;
  }
  Py_DECREF(result);
  return call_python(state_of(module)->general, NULL, args);
}
