/* Runs of plans over buffers. The buffers are compared with the planned operands, and passed as addresses. */
#include "plan.h"

#include "array.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "open.h"

#include <stdlib.h>

typedef struct planned_operand {
  int32_t dtype;
  int32_t ndim;
  int has_strides; /* 0 means dense for any open extent */
  int64_t shape[GTH_MAX_NDIM];
  int64_t strides[GTH_MAX_NDIM];
} planned_operand;

/* The handles of a plan and of its context. The context is NULL for the default context of the process. */
typedef struct handles {
  PyObject *plan, *context;
} handles;

typedef struct planned {
  handles handles;
  int is_gather;     /* whether the plan writes its rows. Otherwise it writes its table */
  int makes_results; /* whether a new result can be created, which is dense */
  int skips;         /* whether a new result must be set to zeros, because rows may be skipped */
  planned_operand table, indices, rows;
} planned;

/* The addresses of the operands of a run. */
typedef struct addresses {
  void *table, *indices, *rows;
} addresses;

typedef struct bound_call {
  handles handles;
  int64_t n;
  addresses data;
} bound_call;

static const char *const planned_name = "libgather.planned", *const bound_name = "libgather.bound";

/* Frees a struct that begins with its handles. */
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

/* Reads a planned operand from a tuple (dtype, shape, strides or None). */
static int planned_operand_of(PyObject *spec, planned_operand *operand) {
  PyObject *strides = PyTuple_GetItem(spec, 2);
  operand->dtype = (int32_t)PyLong_AsLong(PyTuple_GetItem(spec, 0));
  operand->ndim = extents_of(PyTuple_GetItem(spec, 1), operand->shape);
  operand->has_strides = strides != Py_None;
  return operand->ndim >= 0 && (!operand->has_strides || extents_of(strides, operand->strides) == operand->ndim);
}

PyObject *plan(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLAN, CONTEXT, OPERATION, MAKES_RESULTS, SKIPS, TABLE, INDICES, ROWS, ARGUMENTS };
  (void)module;
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "plan(plan, context, operation, makes_results, skips, table, indices, rows)");
    return NULL;
  }
  planned *made = calloc(1, sizeof *made);
  if (!made) {
    return PyErr_NoMemory();
  }
  made->handles = handles_of(args[PLAN], args[CONTEXT]);
  made->is_gather = writes_rows(PyLong_AsLong(args[OPERATION]));
  made->makes_results = args[MAKES_RESULTS] == Py_True;
  made->skips = args[SKIPS] == Py_True;
  const int read = planned_operand_of(args[TABLE], &made->table) && planned_operand_of(args[INDICES], &made->indices) &&
                   planned_operand_of(args[ROWS], &made->rows);
  if (!read || PyErr_Occurred()) {
    free_with_handles(made);
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "shape and strides of different rank");
    }
    return NULL;
  }
  return capsule_of(made, planned_name, free_planned);
}

/* Returns true if an operand is as planned. All operands must have the same open extent, which is stored in n. */
static int as_planned(const planned_operand *plan, const operand *given, int64_t *n) {
  const gth_tensor_desc *desc = &given->desc;
  if (desc->dtype != plan->dtype || desc->ndim != plan->ndim) {
    return 0;
  }
  int64_t dense = gth_dtype_size(desc->dtype);
  for (int i = plan->ndim - 1; i >= 0; i--) {
    const int64_t extent = desc->shape[i];
    if (plan->shape[i] == GTH_OPEN) {
      if (*n != GTH_OPEN && *n != extent) {
        return 0;
      }
      *n = extent;
    } else if (extent != plan->shape[i]) {
      return 0;
    }
    if (plan->has_strides && extent > 1 && (desc->strides ? desc->strides[i] : dense) != plan->strides[i]) {
      return 0;
    }
    dense *= extent;
  }
  return plan->has_strides || operand_is_dense(given);
}

/* Runs a plan at validated addresses. Another thread may close its handles during the run. */
static int32_t run_at(const handles *handles, int64_t n, const addresses *data, gth_error *error) {
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
  status = gth_plan_run(context, plan, n, data->table, data->indices, data->rows, error);
  Py_END_ALLOW_THREADS
  if (context) {
    handle_leave(handles->context);
  }
  handle_leave(handles->plan);
  return status;
}

/* A run whose arguments are buffers. */
typedef struct planned_run {
  const state *known;
  const planned *plan;
  int64_t n;
  operands operands;
  operand *written;            /* the rows or the table of operands */
  const planned_operand *form; /* of the written operand */
  gth_error error;
} planned_run;

static void *data_of(const operand *opened) { return (void *)opened->desc.data; }

/* Validates the written operand, runs the plan, and closes this operand. The other operands are already validated.
 * Returns false if the written operand is not as planned. */
static int execute(planned_run *call, int32_t *status) {
  const operands *all = &call->operands;
  operand *written = call->written;
  const int is_planned = as_planned(call->form, written, &call->n) && !(written->desc.flags & GTH_TENSOR_READONLY);
  if (is_planned) {
    const addresses data = {data_of(&all->table), data_of(&all->indices), data_of(&all->rows)};
    *status = run_at(&call->plan->handles, call->n, &data, &call->error);
  }
  operand_close(written);
  return is_planned;
}

static PyObject *run_given(planned_run *call, PyObject *array) {
  int32_t status;
  if (!operand_open(call->known, array, call->written) || !execute(call, &status)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!array_written(call->known, array, status)) {
    return NULL;
  }
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  Py_INCREF(array);
  return array;
}

static PyObject *run_new(planned_run *call, PyObject *like) {
  const planned_operand *form = call->form;
  operand *made = call->written;
  if (!call->plan->makes_results || !array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int64_t shape[GTH_MAX_NDIM];
  for (int i = 0; i < form->ndim; i++) {
    shape[i] = form->shape[i] == GTH_OPEN ? call->n : form->shape[i];
  }
  PyObject *array = array_new(call->known, like, form->dtype, form->ndim, shape, made);
  int32_t status;
  if (array && call->plan->skips) {
    array_zero(made);
  }
  if (!array || !execute(call, &status)) {
    Py_XDECREF(array);
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (status != GTH_OK) {
    Py_DECREF(array);
    return raise_error(call->known, &call->error);
  }
  return array_or_scalar(call->known, array, form->ndim);
}

/* Validates the opened operands that are read, and runs the plan. */
static PyObject *run_opened(planned_run *call, PyObject *like, PyObject *written) {
  const planned *plan = call->plan;
  const operands *all = &call->operands;
  const int is_planned =
      plan->is_gather ? as_planned(&plan->table, &all->table, &call->n) : as_planned(&plan->rows, &all->rows, &call->n);
  if (!is_planned || !as_planned(&plan->indices, &all->indices, &call->n)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return written == Py_None ? run_new(call, like) : run_given(call, written);
}

/* Opens the operands that are read, and runs the plan. */
static PyObject *run_planned(planned_run *call, PyObject *read, PyObject *indices, PyObject *written) {
  operands *all = &call->operands;
  operand *opened = call->plan->is_gather ? &all->table : &all->rows;
  if (!operand_open(call->known, read, opened)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = Py_NotImplemented;
  if (indices_open(call->known, indices, &all->indices)) {
    result = run_opened(call, read, written);
    operand_close(&all->indices);
  } else {
    Py_INCREF(result);
  }
  operand_close(opened);
  return result;
}

PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, TABLE, INDICES, ROWS, ARGUMENTS };
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "plan_run(planned, table, indices, rows)");
    return NULL;
  }
  planned_run call; /* the operands are large and stay uninitialised */
  call.plan = PyCapsule_GetPointer(args[PLANNED], planned_name);
  if (!call.plan) {
    return NULL;
  }
  call.known = state_of(module);
  call.n = GTH_OPEN;
  call.error = (gth_error)GTH_ERROR_INIT;
  if (call.plan->is_gather) {
    call.written = &call.operands.rows;
    call.form = &call.plan->rows;
    return run_planned(&call, args[TABLE], args[INDICES], args[ROWS]);
  }
  call.written = &call.operands.table;
  call.form = &call.plan->table;
  return run_planned(&call, args[ROWS], args[INDICES], args[TABLE]);
}

PyObject *bound(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLAN, CONTEXT, EXTENT, TABLE, INDICES, ROWS, ARGUMENTS };
  (void)module;
  if (count != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "bound(plan, context, n, table, indices, rows)");
    return NULL;
  }
  bound_call *call = calloc(1, sizeof *call);
  if (!call) {
    return PyErr_NoMemory();
  }
  call->handles = handles_of(args[PLAN], args[CONTEXT]);
  call->n = PyLong_AsLongLong(args[EXTENT]);
  call->data = (addresses){address_of(args[TABLE]), address_of(args[INDICES]), address_of(args[ROWS])};
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
  if (run_at(&call->handles, call->n, &call->data, &error) != GTH_OK) {
    return raise_error(state_of(module), &error);
  }
  Py_RETURN_NONE;
}
