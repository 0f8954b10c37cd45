/* Operations over buffers: one call from Python reads the arguments, creates the result and calls the library. */
#include "run.h"

#include "array.h"
#include "column.h"
#include "dense.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "numpy.h"
#include "open.h"
#include "switches.h"

static const char *const signature = "run_arrays(operation, table, indices, rows, *request)";

/* Runs the operation, and closes the operand that it has written. */
static int32_t run_into(request *call, operand *written) {
  const int32_t status = request_run(call);
  operand_close(written);
  return status;
}

/* Opens an array whose elements are written or copied. Elements that are only moved need an array of the same dtype. */
static int open_like_read(request *call, PyObject *array, operand *opened) {
  return !call->moved ? operand_open(call->known, array, opened)
                      : is_numpys(call->known, array) && numpy_same_dtype(array, call->moved) &&
                            numpy_open_moved(call->known, array, opened, &call->words);
}

/* Writes to a given array. Returns NotImplemented if its type is not supported here. */
static PyObject *write_given(request *call, operand *written, PyObject *array) {
  if (!open_like_read(call, array, written)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  request_find_plan(call);
  const int32_t status = run_into(call, written);
  if (!array_written(call->known, array, status)) {
    return NULL;
  }
  if (status != GTH_OK) {
    return request_fail(call);
  }
  Py_INCREF(array);
  return array;
}

/* Writes to a new array. `written` has its description. Steals the reference to it. */
static PyObject *write_new(request *call, operand *written, PyObject *array) {
  const int32_t ndim = written->desc.ndim;
  call->writes_new = 1;
  if (run_into(call, written) != GTH_OK) {
    Py_DECREF(array);
    return request_fail(call);
  }
  return array_or_scalar(call->known, array, ndim - call->words);
}

/* Creates an array like another one, and opens it. */
static PyObject *new_array(const request *call, PyObject *like, const gth_tensor_desc *form, const int64_t *shape,
                           operand *made) {
  if (!call->words) {
    return array_new(call->known, like, form->dtype, form->ndim, shape, made);
  }
  PyObject *array = numpy_new(call->known, like, form->ndim - 1, shape);
  if (array) {
    numpy_open_new(array, form->dtype, form->ndim, shape, made);
  }
  return array;
}

static PyObject *gather_new(request *call) {
  PyObject *like = result_like(&call->operands.table, call->args[ARG_TABLE]);
  operand *made = &call->operands.rows;
  gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  if (call->options.out_dtype || !array_is_made_for(call->known, like)) { /* a new array has the dtype of the table */
    Py_RETURN_NOTIMPLEMENTED;
  }
  request_find_plan(call);
  if (request_infer(call, &form, shape) != GTH_OK) {
    return request_fail(call);
  }
  PyObject *array = new_array(call, like, &form, shape, made);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (call->options.bounds == GTH_BOUNDS_SKIP) {
    array_zero(made);
  }
  operand copy;
  PyObject *dense = call->words ? NULL : dense_table(call, &copy);
  PyObject *result = write_new(call, made, array);
  if (dense) {
    operand_close(&copy);
    Py_DECREF(dense);
  }
  return result;
}

/* Copies the target to a new array, and scatters to it. */
static PyObject *scatter_to_copy(request *call, const operand *source) {
  operand *made = &call->operands.table;
  const gth_tensor_desc *form = &source->desc;
  PyObject *array = new_array(call, call->args[ARG_TABLE], form, form->shape, made);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (request_copy(call, source, made) != GTH_OK) {
    operand_close(made);
    Py_DECREF(array);
    Py_RETURN_NOTIMPLEMENTED;
  }
  return write_new(call, made, array);
}

static PyObject *scatter_new(request *call) {
  PyObject *like = call->args[ARG_TABLE];
  operand source;
  if (!array_is_made_for(call->known, like) || !open_like_read(call, like, &source)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = scatter_to_copy(call, &source);
  operand_close(&source);
  return result;
}

/* Reads a shape, or the shape of an array. Returns the rank, or -1 without an exception for other objects. */
static int shape_of(PyObject *given, int64_t *shape) {
  const int is_shape = PyTuple_Check(given) || PyList_Check(given);
  PyObject *extents = is_shape ? PySequence_Tuple(given) : PyObject_GetAttrString(given, "shape");
  int ndim = extents && PyTuple_Check(extents) ? extents_of(extents, shape) : -1;
  Py_XDECREF(extents);
  PyErr_Clear();
  for (int i = 0; i < ndim; i++) {
    ndim = shape[i] < 0 ? -1 : ndim;
  }
  return ndim;
}

static PyObject *gradient_new(request *call) {
  PyObject *like = call->args[ARG_ROWS];
  operand *made = &call->operands.table;
  int64_t shape[GTH_MAX_NDIM];
  const int ndim = shape_of(call->args[ARG_TABLE], shape);
  if (ndim < 0 || !array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *array = array_new(call->known, like, call->operands.rows.desc.dtype, ndim, shape, made);
  if (!array) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return write_new(call, made, array);
}

/* Gathers. The operands that are read are open. */
static PyObject *gather(request *call) {
  PyObject *out = call->args[ARG_ROWS];
  if (!request_flatten(call) ||
      (call->fill_value && !fill_image(call->fill_value, call->operands.table.desc.dtype, call->options.fill_value))) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return out == Py_None ? gather_new(call) : write_given(call, &call->operands.rows, out);
}

/* Scatters, or computes a gradient. The operands that are read are open. */
static PyObject *scatter(request *call) {
  if (call->fill_value) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int is_in_place = !is_gradient(call->op) && call->args[ARG_INPLACE] == Py_True;
  if (!is_in_place || call->options.bounds == GTH_BOUNDS_ERROR_PARTIAL) {
    call->last = NULL; /* a new target has no plan, and a run that fails after some updates must not be repeated */
  }
  if (is_in_place) {
    return write_given(call, &call->operands.table, call->args[ARG_TABLE]);
  }
  return is_gradient(call->op) ? gradient_new(call) : scatter_new(call);
}

/* Runs the operation. The table or the rows, and the indices are open. */
static PyObject *run_opened(request *call) { return writes_rows(call->op) ? gather(call) : scatter(call); }

/* Opens the weights and runs the operation. */
static PyObject *run_weighted(request *call) {
  operand *weights = &call->operands.weights;
  if (call->args[ARG_WEIGHTS] == Py_None) {
    return run_opened(call);
  }
  if (!source_open(call->known, call->args[ARG_WEIGHTS], weights)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  call->last = NULL; /* plans have three operands */
  call->weights = &weights->desc;
  PyObject *result = run_opened(call);
  operand_close(weights);
  return result;
}

/* Opens the bags and the weights, which only some operations have, and runs the operation. */
static PyObject *run_bags(request *call) {
  operand *bags = &call->operands.bags;
  if (call->args[ARG_BAGS] == Py_None) {
    return run_weighted(call);
  }
  if (!source_indices_open(call->known, call->args[ARG_BAGS], bags)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  call->last = NULL;
  call->bags = &bags->desc;
  PyObject *result = run_weighted(call);
  operand_close(bags);
  return result;
}

/* Returns true if a gather or scatter does not use the values of the elements of an array of NumPy. A row that is filled
 * has zero bytes. */
static int only_moves(const request *call, PyObject *array) {
  const gth_options *options = &call->options;
  const uint32_t profiles = numpy_has_text(array) ? PROFILES_strings_yes : PROFILES_foreign_all;
  return is_in(call->op, OPERATIONS_kind_gather | OPERATIONS_kind_scatter) && !call->fill_value &&
         options->fill <= GTH_FILL_ZERO && options->reduction <= GTH_REDUCTION_NONE &&
         is_in(options->profile, profiles);
}

/* Opens the operand of a call that only moves elements. Returns false, without an exception, for other calls. */
static int open_moved(request *call, PyObject *array, operand *read) {
  gth_options *options = &call->options;
  if (!is_numpys(call->known, array) || !only_moves(call, array) ||
      !numpy_open_moved(call->known, array, read, &call->words)) {
    return 0;
  }
  call->moved = array;
  options->axis -= options->has_axis && options->axis < 0 ? call->words : 0;
  return 1;
}

/* Returns true if indices select in the last dim of a table whose elements are moved as several numbers. The table of
 * the caller does not have this dim. */
static int selects_in_words(const request *call) {
  PyObject *table = call->args[ARG_TABLE];
  const gth_options *options = &call->options;
  const gth_tensor_desc *indices = &call->operands.indices.desc;
  if (indices->tensor || !is_numpys(call->known, table)) {
    return 1;
  }
  const int64_t rank = numpy_rank(table), last = indices->ndim - 1;
  const int64_t batch_dims = options->batch_dims + (options->batch_dims < 0 ? indices->ndim : 0);
  if (is_in(call->op, OPERATIONS_tuples_last)) {
    return last >= 0 && indices->shape[last] > rank - batch_dims;
  }
  return (options->has_axis ? options->axis : batch_dims) >= rank;
}

/* Reads the indices. If an element is moved as several numbers, indices of single elements select all of them. */
static int open_indices(request *call, const operand *read) {
  operand *indices = &call->operands.indices;
  const gth_tensor_desc *elements = &read->desc;
  if (!source_indices_open(call->known, call->args[ARG_INDICES], indices)) {
    return 0;
  }
  const int is_repeated = call->words && selects_single_elements(call->op);
  if ((call->words && selects_in_words(call)) ||
      (is_repeated && !operand_repeat(indices, elements->shape[elements->ndim - 1]))) {
    operand_close(indices);
    return 0;
  }
  return 1;
}

/* Opens the operands that are read, and runs the operation. */
static PyObject *run_operands(request *call) {
  const int is_gather = writes_rows(call->op);
  operands *all = &call->operands;
  operand *read = is_gather ? &all->table : &all->rows;
  PyObject *array = call->args[is_gather ? ARG_TABLE : ARG_ROWS];
  if (!source_open(call->known, array, read) && !open_moved(call, array, read)) {
    return column_gather(call);
  }
  PyObject *result = Py_NotImplemented;
  if (open_indices(call, read)) {
    result = run_bags(call);
    operand_close(&all->indices);
  } else {
    Py_INCREF(result);
  }
  operand_close(read);
  return result;
}

/* Runs on the context of a Handle, or on the default one for None. */
static PyObject *run_on(request *call, PyObject *handle) {
  if (!context_enter(call->known, handle, &call->context)) {
    return NULL;
  }
  PyObject *result = run_operands(call);
  context_leave(handle);
  return result;
}

PyObject *run_request(const state *known, arguments args, enum rules rules, repeat *last) {
  request call; /* the operands are large and stay uninitialised */
  const int is_begun = request_begin(&call, known, args, rules, last);
  PyObject *handle = is_begun ? handle_of_context(known, args[ARG_CONTEXT]) : NULL;
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = run_on(&call, handle);
  Py_DECREF(handle);
  return result;
}

PyObject *run_or_general(const state *known, arguments args, repeat *last) {
  PyObject *result = run_request(known, args, OWN_RULES, last);
  if (result != Py_NotImplemented) {
    return result;
  }
  Py_DECREF(result);
  return call_python(known->general, NULL, args);
}

PyObject *run_buffers(PyObject *module, arguments args, Py_ssize_t count) {
  return count == ARGUMENTS ? run_request(state_of(module), args, OWN_RULES, NULL) : wrong_arguments(signature);
}

PyObject *run_arrays(PyObject *module, arguments args, Py_ssize_t count) {
  return count == ARGUMENTS ? run_or_general(state_of(module), args, NULL) : wrong_arguments(signature);
}
