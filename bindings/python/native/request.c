#include "request.h"

#include "error.h"

#include <string.h>

int request_begin(request *call, const state *known, arguments args, enum rules rules, repeat *last) {
  call->known = known;
  call->args = args;
  call->rules = rules;
  call->op = (int32_t)PyLong_AsLong(args[ARG_OPERATION]);
  if (call->op == -1) {
    PyErr_Clear();
    return 0;
  }
  call->context = NULL;
  call->bags = call->weights = NULL;
  call->options = (gth_options)GTH_OPTIONS_INIT;
  call->last = last;
  call->plan = NULL;
  call->moved = NULL;
  call->words = 0;
  call->writes_new = 0;
  call->fill_value = NULL;
  call->error.size = sizeof call->error; /* the library writes the other fields on an error */
  if (last && repeat_has_fields(last, args + ARG_FIELDS)) {
    call->options = last->options;
    return 1;
  }
  return args[ARG_STREAM] == Py_None && PyBool_Check(args[ARG_SYNC]) && PyBool_Check(args[ARG_INPLACE]) &&
         options_of(known, args + ARG_FIELDS, &call->options, &call->fill_value);
}

int request_flatten(request *call) {
  operand *table = &call->operands.table;
  const int32_t ndim = table->desc.ndim - call->words;
  if (call->rules != NUMPY_RULES_FLAT || ndim == 1) {
    return call->rules != NUMPY_RULES || ndim != 0;
  }
  if (call->words || table->desc.tensor || !operand_is_dense(table)) {
    return 0;
  }
  table->count = operand_count(table);
  table->desc.ndim = 1;
  table->desc.shape = &table->count;
  table->desc.strides = NULL;
  return 1;
}

void request_find_plan(request *call) {
  if (call->context) {
    call->last = NULL;
  }
  if (call->last) {
    call->plan = repeat_find(call->last, call->op, &call->operands, &call->options, &call->planned);
  }
}

int32_t request_infer(request *call, gth_tensor_desc *rows, int64_t *shape) {
  if (call->plan) {
    rows->dtype = call->planned.dtype;
    rows->ndim = call->planned.ndim;
    memcpy(shape, call->planned.shape, sizeof call->planned.shape);
    return GTH_OK;
  }
  const operands *all = &call->operands;
  gth_request asked = GTH_REQUEST(call->op, &all->table.desc, &all->indices.desc, NULL, &call->options);
  asked.bags = call->bags;
  asked.weights = call->weights;
  return gth_infer(&asked, rows, GTH_MAX_NDIM, shape, &call->error);
}

int32_t request_copy(const request *call, const operand *source, const operand *destination) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_copy(call->context, &source->desc, &destination->desc, NULL);
  Py_END_ALLOW_THREADS
  return status;
}

/* Returns true if an invalid index is an error. */
static int refuses(const gth_options *options) {
  return options->bounds == GTH_BOUNDS_ERROR ||
         (options->bounds == 0 && is_in(options->profile, PROFILES_bounds_error));
}

/* The library reads the indices of a new array once, because the array may be partly written after an error. */
static int32_t run(request *call) {
  const operands *all = &call->operands;
  gth_options options = call->options;
  const int is_plain = !all->table.desc.tensor; /* a profile may have other bounds for packed rows */
  if (call->writes_new && is_plain && refuses(&options)) {
    options.bounds = GTH_BOUNDS_ERROR_PARTIAL;
  }
  if (!call->bags && !call->weights) {
    return gth_run(call->context, call->op, &all->table.desc, &all->indices.desc, &all->rows.desc, &options,
                   &call->error);
  }
  gth_request asked = GTH_REQUEST(call->op, &all->table.desc, &all->indices.desc, &all->rows.desc, &options);
  asked.bags = call->bags;
  asked.weights = call->weights;
  return gth_run_request(call->context, &asked, &call->error);
}

int32_t request_run(request *call) {
  if (call->plan) {
    const int32_t status = repeat_run(call->plan, call->op, &call->operands, &call->planned, &call->error);
    if (status == GTH_OK || status == GTH_E_RACE) {
      return status;
    }
  }
  if (operands_are_small(&call->operands)) {
    const int32_t status = run(call);
    if (call->last && !call->plan && status == GTH_OK) {
      const int were_read = !call->fill_value && !call->moved;
      repeat_note(call->last, &call->operands, &call->options, were_read ? call->args + ARG_FIELDS : NULL);
    }
    return status;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = run(call);
  Py_END_ALLOW_THREADS
  return status;
}

PyObject *call_python(PyObject *function, PyObject *first, arguments args) {
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

/* Returns true if an error has a rank, a shape or a position of words. */
static int counts_words(const request *call) {
  const int32_t status = call->error.status;
  return call->words && (status == GTH_E_RANK || status == GTH_E_AXIS || status == GTH_E_SHAPE ||
                         (status == GTH_E_INDEX && selects_single_elements(call->op)));
}

PyObject *request_fail(const request *call) {
  if (counts_words(call) || (call->rules != OWN_RULES && call->error.status == GTH_E_ALIAS)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
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
