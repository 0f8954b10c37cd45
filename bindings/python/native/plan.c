/* Runs of plans over buffers: the buffers are held against what was planned, and passed on as addresses. */
#include "array.h"
#include "handle.h"
#include "operand.h"

#include <stdlib.h>

typedef struct planned_operand {
  int32_t dtype;
  int32_t ndim;
  int has_strides; /* 0: dense around the open extent */
  int64_t shape[GTH_MAX_NDIM];
  int64_t strides[GTH_MAX_NDIM];
} planned_operand;

/* The handles of a plan and of its context, which is NULL for the process's default. */
typedef struct handles {
  PyObject *plan, *context;
} handles;

typedef struct planned {
  handles handles;
  int makes_results; /* whether a new result is dense */
  int skips;         /* whether it has to begin with zeros, because rows may be skipped */
  planned_operand params, indices, out;
} planned;

typedef struct bound_call {
  handles handles;
  const void *params, *indices;
  void *out;
  int64_t n;
} bound_call;

static const char *const planned_name = "libgather.planned", *const bound_name = "libgather.bound";

/* The handles come first in both structs. */
static void free_with_handles(void *memory) {
  handles *held = memory;
  Py_XDECREF(held->plan);
  Py_XDECREF(held->context);
  free(memory);
}

static void free_planned(PyObject *capsule) { free_with_handles(PyCapsule_GetPointer(capsule, planned_name)); }

static void free_bound(PyObject *capsule) { free_with_handles(PyCapsule_GetPointer(capsule, bound_name)); }

static handles handles_of(PyObject *plan, PyObject *context) {
  Py_INCREF(plan);
  if (context == Py_None) {
    return (handles){plan, NULL};
  }
  Py_INCREF(context);
  return (handles){plan, context};
}

static PyObject *capsule_of(void *memory, const char *name, PyCapsule_Destructor destructor) {
  PyObject *capsule = PyCapsule_New(memory, name, destructor);
  if (!capsule) {
    free_with_handles(memory);
  }
  return capsule;
}

/* From a tuple (dtype, shape, strides or None). */
static int planned_operand_of(PyObject *spec, planned_operand *operand) {
  PyObject *strides = PyTuple_GetItem(spec, 2);
  operand->dtype = (int32_t)PyLong_AsLong(PyTuple_GetItem(spec, 0));
  operand->ndim = extents_of(PyTuple_GetItem(spec, 1), operand->shape);
  operand->has_strides = strides != Py_None;
  return operand->ndim >= 0 && (!operand->has_strides || extents_of(strides, operand->strides) == operand->ndim);
}

PyObject *plan(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 7) {
    PyErr_SetString(PyExc_TypeError, "plan(plan, context, makes_results, skips, params, indices, out)");
    return NULL;
  }
  planned *made = calloc(1, sizeof *made);
  if (!made) {
    return PyErr_NoMemory();
  }
  made->handles = handles_of(args[0], args[1]);
  made->makes_results = args[2] == Py_True;
  made->skips = args[3] == Py_True;
  if (!planned_operand_of(args[4], &made->params) || !planned_operand_of(args[5], &made->indices) ||
      !planned_operand_of(args[6], &made->out) || PyErr_Occurred()) {
    free_with_handles(made);
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "shape and strides of different rank");
    }
    return NULL;
  }
  return capsule_of(made, planned_name, free_planned);
}

static int dense(const gth_tensor_desc *desc) {
  int64_t stride = gth_dtype_size(desc->dtype);
  for (int i = desc->ndim - 1; i >= 0; i--) {
    if (desc->shape[i] == 0) {
      return 1;
    }
    if (desc->shape[i] != 1 && desc->strides[i] != stride) {
      return 0;
    }
    stride *= desc->shape[i];
  }
  return 1;
}

/* Is the operand what was planned? Fills n with the open extent, which all operands must agree on. */
static int as_planned(const planned_operand *plan, const operand *given, int64_t *n) {
  const gth_tensor_desc *desc = &given->desc;
  if (desc->dtype != plan->dtype || desc->ndim != plan->ndim) {
    return 0;
  }
  for (int i = 0; i < plan->ndim; i++) {
    const int64_t extent = desc->shape[i];
    if (plan->shape[i] == GTH_OPEN) {
      if (*n != GTH_OPEN && *n != extent) {
        return 0;
      }
      *n = extent;
    } else if (extent != plan->shape[i]) {
      return 0;
    }
    if (plan->has_strides && extent > 1 && (!desc->strides || desc->strides[i] != plan->strides[i])) {
      return 0;
    }
  }
  return plan->has_strides || !desc->strides || dense(desc);
}

/* Runs a plan at addresses that have been checked. Its handles may be closed meanwhile. */
static int32_t run_at(const handles *handles, const void *params, const void *indices, void *out, int64_t n,
                      gth_error *error) {
  gth_plan *plan = handle_enter(handles->plan);
  if (!plan) {
    return closed_error(GTH_OPERAND_PLAN, error);
  }
  gth_context *context = handles->context ? handle_enter(handles->context) : NULL;
  if (handles->context && !context) {
    handle_leave(handles->plan);
    return closed_error(GTH_OPERAND_CONTEXT, error);
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_plan_run(context, plan, params, indices, out, n, error);
  Py_END_ALLOW_THREADS
  if (context) {
    handle_leave(handles->context);
  }
  handle_leave(handles->plan);
  return status;
}

/* Runs a plan on operands that are what was planned, into an output, which is closed then. False if that is not what was
 * planned. */
static int run_into(const planned *plan, const operand *params, const operand *indices, operand *out, int64_t n,
                    int32_t *status, gth_error *error) {
  const int is_planned = as_planned(&plan->out, out, &n) && !(out->desc.flags & GTH_TENSOR_READONLY);
  if (is_planned) {
    *status = run_at(&plan->handles, params->desc.data, indices->desc.data, (void *)out->desc.data, n, error);
  }
  operand_close(out);
  return is_planned;
}

static PyObject *run_given(const state *known, const planned *plan, const operand *params, const operand *indices,
                           PyObject *array, int64_t n) {
  operand out;
  gth_error error = GTH_ERROR_INIT;
  int32_t status;
  if (!operand_open(known, array, &out) || !run_into(plan, params, indices, &out, n, &status, &error)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return array_after(known, array, status, &error);
}

static PyObject *run_new(const state *known, const planned *plan, PyObject *like, const operand *params,
                         const operand *indices, int64_t n) {
  if (!plan->makes_results || !array_is_made_for(known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int64_t shape[GTH_MAX_NDIM];
  for (int i = 0; i < plan->out.ndim; i++) {
    shape[i] = plan->out.shape[i] == GTH_OPEN ? n : plan->out.shape[i];
  }
  operand out;
  PyObject *array = array_new(known, like, plan->out.dtype, plan->out.ndim, shape, &out);
  gth_error error = GTH_ERROR_INIT;
  int32_t status;
  if (array && plan->skips) {
    array_zero(&out);
  }
  if (!array || !run_into(plan, params, indices, &out, n, &status, &error)) {
    Py_XDECREF(array);
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (status != GTH_OK) {
    Py_DECREF(array);
    return raise_error(known, &error);
  }
  return array_or_scalar(known, array, plan->out.ndim);
}

PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "plan_run(planned, params, indices, out)");
    return NULL;
  }
  const planned *plan = PyCapsule_GetPointer(args[0], planned_name);
  if (!plan) {
    return NULL;
  }
  const state *known = state_of(module);
  operand params, indices;
  if (!operand_open(known, args[1], &params)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!indices_open(known, args[2], &indices)) {
    operand_close(&params);
    Py_RETURN_NOTIMPLEMENTED;
  }
  int64_t n = GTH_OPEN;
  PyObject *result = Py_NotImplemented;
  if (!as_planned(&plan->params, &params, &n) || !as_planned(&plan->indices, &indices, &n)) {
    Py_INCREF(result);
  } else if (args[3] == Py_None) {
    result = run_new(known, plan, args[1], &params, &indices, n);
  } else {
    result = run_given(known, plan, &params, &indices, args[3], n);
  }
  operand_close(&indices);
  operand_close(&params);
  return result;
}

PyObject *bound(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 6) {
    PyErr_SetString(PyExc_TypeError, "bound(plan, context, params, indices, out, n)");
    return NULL;
  }
  bound_call *call = calloc(1, sizeof *call);
  if (!call) {
    return PyErr_NoMemory();
  }
  call->handles = handles_of(args[0], args[1]);
  call->params = address_of(args[2]);
  call->indices = address_of(args[3]);
  call->out = address_of(args[4]);
  call->n = PyLong_AsLongLong(args[5]);
  if (PyErr_Occurred()) {
    free_with_handles(call);
    return NULL;
  }
  return capsule_of(call, bound_name, free_bound);
}

PyObject *bound_run(PyObject *module, PyObject *capsule) {
  const bound_call *call = PyCapsule_GetPointer(capsule, bound_name);
  if (!call) {
    return NULL;
  }
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = run_at(&call->handles, call->params, call->indices, call->out, call->n, &error);
  if (status != GTH_OK) {
    return raise_error(state_of(module), &error);
  }
  Py_RETURN_NONE;
}
