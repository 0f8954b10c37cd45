/* Plans. The operands of a run are compared with the planned ones, and passed as addresses. */
#include "plan.h"

#include "array.h"
#include "described.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "open.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The handles of a plan and of its context. The context is None for the default context of the process. */
typedef struct handles {
  PyObject *plan, *context;
} handles;

typedef struct planned {
  handles handles;
  described call; /* its operands are the planned ones */
  int is_gather;  /* whether the plan writes its rows. Otherwise it writes its table */
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
  Py_DECREF(held->context);
  free(memory);
}

static void free_planned(PyObject *capsule) { free_with_handles(PyCapsule_GetPointer(capsule, planned_name)); }

static void free_bound(PyObject *capsule) { free_with_handles(PyCapsule_GetPointer(capsule, bound_name)); }

/* Holds a context, and steals the reference to a plan. */
static handles handles_of(PyObject *plan, PyObject *context) {
  Py_INCREF(context);
  return (handles){plan, context};
}

/* Returns a capsule of a struct that begins with its handles. If the plan is NULL, an exception is set. */
static PyObject *capsule_of(void *memory, const char *name, PyCapsule_Destructor destroy) {
  PyObject *capsule = ((handles *)memory)->plan ? PyCapsule_New(memory, name, destroy) : NULL;
  if (!capsule) {
    free_with_handles(memory);
  }
  return capsule;
}

/* Creates the plan of a call. Rows without a description become dense. */
static int32_t create(described *call, gth_plan **made, gth_error *error) {
  int32_t status = gth_plan_create(&call->request, made, error);
  if (status == GTH_OK && !call->request.rows) {
    call->rows.desc = (gth_tensor_desc)GTH_TENSOR_DESC_INIT;
    call->rows.desc.shape = call->rows.shape;
    status = gth_plan_infer(*made, GTH_OPEN, &call->rows.desc, GTH_MAX_NDIM, call->rows.shape, error);
    if (status != GTH_OK) {
      gth_plan_release(*made);
    }
  }
  return status;
}

/* Validates an operation. The result is for the other functions of this file. */
PyObject *plan(PyObject *module, arguments args, Py_ssize_t count) {
  enum { CONTEXT, CALL, ARGUMENTS = CALL + DESCRIBED };
  const state *known = state_of(module);
  gth_plan *token;
  gth_error error = GTH_ERROR_INIT;
  planned *made = calloc(1, sizeof *made);
  if (!made) {
    return PyErr_NoMemory();
  }
  if (count != ARGUMENTS || !described_read(args + CALL, &made->call)) {
    free(made);
    return wrong_arguments("plan(context, operation, *operands, options)");
  }
  if (create(&made->call, &token, &error) != GTH_OK) {
    free(made);
    return raise_error(known, &error);
  }
  made->is_gather = writes_rows(made->call.request.op);
  made->handles = handles_of(handle_of_plan(known, token), args[CONTEXT]);
  return capsule_of(made, planned_name, free_planned);
}

static const planned *planned_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, planned_name); }

/* Releases a plan after the calls that use it. */
PyObject *plan_close(PyObject *module, PyObject *capsule) {
  (void)module;
  const planned *ended = planned_of(capsule);
  return ended ? handle_close(ended->handles.plan) : NULL;
}

/* The operands by role. */
enum role { TABLE_ROLE, INDICES_ROLE, ROWS_ROLE };

static const operand *planned_operand(const planned *plan, enum role role) {
  const described *call = &plan->call;
  return role == TABLE_ROLE ? &call->table : role == INDICES_ROLE ? &call->indices : &call->rows;
}

static int is_written(const planned *plan, enum role role) {
  return role == (plan->is_gather ? ROWS_ROLE : TABLE_ROLE);
}

/* Sets an error of an operand that is not as planned. Returns false. */
static int differs(gth_error *error, const planned *plan, enum role role, int32_t status, int component, int64_t value,
                   int64_t limit, const char *format, ...) {
  static const char *const names[2][3] = {{"target", "indices", "updates"}, {"params", "indices", "out"}};
  static const int32_t numbers[2][3] = {{GTH_OPERAND_TARGET, GTH_OPERAND_INDICES, GTH_OPERAND_UPDATES},
                                        {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES, GTH_OPERAND_OUT}};
  const int32_t number = numbers[plan->is_gather][role];
  va_list words;
  *error = (gth_error){.size = sizeof *error, .status = status, .operand = number, .component = component};
  error->position = error->item = -1;
  error->value = value;
  error->limit = limit;
  const int length = snprintf(error->message, sizeof error->message, "%s: ", names[plan->is_gather][role]);
  va_start(words, format);
  vsnprintf(error->message + length, sizeof error->message - (size_t)length, format, words);
  va_end(words);
  return 0;
}

static int has_planned_strides(const gth_tensor_desc *planned, const operand *given) {
  const gth_tensor_desc *desc = &given->desc;
  int64_t dense = gth_dtype_size(desc->dtype);
  if (!planned->strides) {
    return operand_is_dense(given);
  }
  for (int i = planned->ndim - 1; i >= 0; i--) {
    if (desc->shape[i] > 1 && (desc->strides ? desc->strides[i] : dense) != planned->strides[i]) {
      return 0;
    }
    dense *= desc->shape[i];
  }
  return 1;
}

/* Returns true if an operand is as planned. All operands must have the same open extent, which is stored in n. */
static int as_planned(const planned *plan, enum role role, const operand *given, int64_t *n, gth_error *error) {
  const gth_tensor_desc *planned = &planned_operand(plan, role)->desc, *desc = &given->desc;
  if (planned->tensor || desc->tensor) {
    return planned->tensor == desc->tensor || differs(error, plan, role, GTH_E_UNSUPPORTED, -1, 0, 0, "%s is planned",
                                                      planned->tensor ? "another packed table" : "no packed table");
  }
  if (desc->dtype != planned->dtype) {
    return differs(error, plan, role, GTH_E_DTYPE, -1, desc->dtype, planned->dtype, "%s, %s is planned",
                   gth_dtype_name(desc->dtype), gth_dtype_name(planned->dtype));
  }
  if (desc->ndim != planned->ndim) {
    return differs(error, plan, role, GTH_E_RANK, -1, desc->ndim, planned->ndim, "rank %d, %d is planned",
                   (int)desc->ndim, (int)planned->ndim);
  }
  for (int i = 0; i < planned->ndim; i++) {
    const int64_t extent = desc->shape[i], wanted = planned->shape[i] == GTH_OPEN ? *n : planned->shape[i];
    if (wanted != GTH_OPEN && extent != wanted) {
      return differs(error, plan, role, GTH_E_SHAPE, i, extent, wanted, "dim %d is %lld, %lld is planned", i,
                     (long long)extent, (long long)wanted);
    }
    *n = planned->shape[i] == GTH_OPEN ? extent : *n;
  }
  if (!has_planned_strides(planned, given)) {
    return differs(error, plan, role, GTH_E_STRIDE, -1, 0, 0, "other strides are planned");
  }
  return !is_written(plan, role) || !(desc->flags & GTH_TENSOR_READONLY) ||
         differs(error, plan, role, GTH_E_READONLY, -1, 0, 0, "it is read-only");
}

/* Begins a use of both handles, which another thread may close. Returns a status. */
static int32_t enter(const handles *handles, gth_plan **plan, gth_context **context, gth_error *error) {
  *plan = handle_enter(handles->plan);
  if (!*plan) {
    return closed_error(GTH_OPERAND_PLAN, error);
  }
  *context = handles->context == Py_None ? NULL : handle_enter(handles->context);
  if (handles->context != Py_None && !*context) {
    handle_leave(handles->plan);
    return closed_error(GTH_OPERAND_CONTEXT, error);
  }
  return GTH_OK;
}

static void leave(const handles *handles) {
  handle_leave(handles->plan);
  context_leave(handles->context);
}

/* Runs a plan at validated addresses. */
static int32_t run_at(const handles *handles, int64_t n, const addresses *data, gth_error *error) {
  gth_plan *plan;
  gth_context *context;
  int32_t status = enter(handles, &plan, &context, error);
  if (status != GTH_OK) {
    return status;
  }
  Py_BEGIN_ALLOW_THREADS
  status = gth_plan_run(context, plan, n, data->table, data->indices, data->rows, error);
  Py_END_ALLOW_THREADS
  leave(handles);
  return status;
}

/* A run whose arguments are buffers. */
typedef struct planned_run {
  const state *known;
  const planned *plan;
  int64_t n;
  operands operands;
  gth_error error;
} planned_run;

static operand *written_of(planned_run *call) {
  return call->plan->is_gather ? &call->operands.rows : &call->operands.table;
}

static void *data_of(const operand *opened) { return (void *)opened->desc.data; }

static addresses addresses_of(const operand *table, const operand *indices, const operand *rows) {
  return (addresses){data_of(table), data_of(indices), data_of(rows)};
}

/* Validates the written operand, runs the plan, and closes this operand. The other operands are already validated.
 * Returns false if the written operand is not as planned. */
static int execute(planned_run *call, int32_t *status) {
  const operands *all = &call->operands;
  const enum role role = call->plan->is_gather ? ROWS_ROLE : TABLE_ROLE;
  const int is_planned = as_planned(call->plan, role, written_of(call), &call->n, &call->error);
  if (is_planned) {
    const addresses data = addresses_of(&all->table, &all->indices, &all->rows);
    *status = run_at(&call->plan->handles, call->n, &data, &call->error);
  }
  operand_close(written_of(call));
  return is_planned;
}

static PyObject *run_given(planned_run *call, PyObject *array) {
  int32_t status;
  if (!operand_open(call->known, array, written_of(call)) || !execute(call, &status)) {
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
  const described *planned = &call->plan->call;
  const gth_tensor_desc *form = &planned->rows.desc;
  operand *made = written_of(call);
  if (!call->plan->is_gather || planned->request.rows || !array_is_made_for(call->known, like)) {
    Py_RETURN_NOTIMPLEMENTED; /* results are dense */
  }
  int64_t shape[GTH_MAX_NDIM];
  for (int i = 0; i < form->ndim; i++) {
    shape[i] = form->shape[i] == GTH_OPEN ? call->n : form->shape[i];
  }
  PyObject *array = array_new(call->known, like, form->dtype, form->ndim, shape, made);
  int32_t status;
  if (array && planned->options.bounds == GTH_BOUNDS_SKIP) {
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
  const int is_planned = plan->is_gather ? as_planned(plan, TABLE_ROLE, &all->table, &call->n, &call->error)
                                         : as_planned(plan, ROWS_ROLE, &all->rows, &call->n, &call->error);
  if (!is_planned || !as_planned(plan, INDICES_ROLE, &all->indices, &call->n, &call->error)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (written != Py_None) {
    return run_given(call, written);
  }
  return run_new(call,
                 plan->is_gather ? result_like(&all->table, like) : like); /* the table of a scatter is not open */
}

/* Opens the operands that are read, and runs the plan. */
static PyObject *run_planned(planned_run *call, PyObject *read, PyObject *indices, PyObject *written) {
  operands *all = &call->operands;
  operand *opened = call->plan->is_gather ? &all->table : &all->rows;
  if (!operand_open(call->known, read, opened) && !(call->plan->is_gather && packed_open(call->known, read, opened))) {
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

/* Runs a plan on buffers or similar arrays. Returns NotImplemented for other arguments. */
PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, TABLE, INDICES, ROWS, ARGUMENTS };
  planned_run call; /* the operands are large and stay uninitialised */
  call.plan = count == ARGUMENTS ? planned_of(args[PLANNED]) : NULL;
  if (!call.plan) {
    return wrong_arguments("plan_run(planned, table, indices, rows)");
  }
  call.known = state_of(module);
  call.n = GTH_OPEN;
  call.error = (gth_error)GTH_ERROR_INIT;
  return call.plan->is_gather ? run_planned(&call, args[TABLE], args[INDICES], args[ROWS])
                              : run_planned(&call, args[ROWS], args[INDICES], args[TABLE]);
}

/* Opens a described operand and compares it with the planned one. Returns false with an exception set on an error. */
static int compared(const state *known, const planned *plan, enum role role, PyObject *description, operand *opened,
                    int64_t *n) {
  gth_error error = GTH_ERROR_INIT;
  if (!described_open(description, opened)) {
    return 0;
  }
  if (!as_planned(plan, role, opened, n, &error)) {
    raise_error(known, &error);
  }
  return !PyErr_Occurred();
}

/* Returns the shape of the rows as a tuple. */
static PyObject *shape_at(const state *known, const planned *plan, int64_t n) {
  const handles alone = {plan->handles.plan, Py_None};
  gth_plan *token;
  gth_context *context;
  gth_error error = GTH_ERROR_INIT;
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  int32_t status = enter(&alone, &token, &context, &error);
  if (status == GTH_OK) {
    status = gth_plan_infer(token, n, &rows, GTH_MAX_NDIM, shape, &error);
    leave(&alone);
  }
  return status == GTH_OK ? tuple_of(rows.ndim, shape) : raise_error(known, &error);
}

/* Returns the shape of the rows for an open extent. */
PyObject *plan_infer(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, EXTENT, ARGUMENTS };
  const planned *plan = count == ARGUMENTS ? planned_of(args[PLANNED]) : NULL;
  const int64_t n = plan ? PyLong_AsLongLong(args[EXTENT]) : 0;
  if (!plan || PyErr_Occurred()) {
    return wrong_arguments("plan_infer(planned, n)");
  }
  return shape_at(state_of(module), plan, n);
}

/* Returns the shape of the rows for described operands. */
PyObject *plan_shape(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, TABLE, INDICES, ARGUMENTS };
  const state *known = state_of(module);
  const planned *plan = count == ARGUMENTS ? planned_of(args[PLANNED]) : NULL;
  operand opened;
  int64_t n = GTH_OPEN;
  if (!plan) {
    return wrong_arguments("plan_shape(planned, table, indices)");
  }
  if (!compared(known, plan, TABLE_ROLE, args[TABLE], &opened, &n) ||
      !compared(known, plan, INDICES_ROLE, args[INDICES], &opened, &n)) {
    return NULL;
  }
  return shape_at(known, plan, n);
}

/* Validates described indices. */
PyObject *plan_check(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, CONTEXT, INDICES, ARGUMENTS };
  const state *known = state_of(module);
  const planned *plan = count == ARGUMENTS ? planned_of(args[PLANNED]) : NULL;
  operand indices;
  gth_plan_args run = GTH_PLAN_ARGS_INIT;
  gth_plan *token;
  gth_context *context;
  gth_error error = GTH_ERROR_INIT;
  if (!plan) {
    return wrong_arguments("plan_check(planned, context, indices)");
  }
  if (!compared(known, plan, INDICES_ROLE, args[INDICES], &indices, &run.n)) {
    return NULL;
  }
  const handles used = {plan->handles.plan, args[CONTEXT]};
  run.indices = data_of(&indices);
  int32_t status = enter(&used, &token, &context, &error);
  if (status == GTH_OK) {
    Py_BEGIN_ALLOW_THREADS
    status = gth_plan_check(context, token, &run, &error);
    Py_END_ALLOW_THREADS
    leave(&used);
  }
  if (status != GTH_OK) {
    return raise_error(known, &error);
  }
  Py_RETURN_NONE;
}

/* Returns a plan with the addresses of described operands, for bound_run(). */
PyObject *bound(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PLANNED, CONTEXT, TABLE, INDICES, ROWS, ARGUMENTS };
  const state *known = state_of(module);
  const planned *plan = count == ARGUMENTS ? planned_of(args[PLANNED]) : NULL;
  operands all;
  int64_t n = GTH_OPEN;
  if (!plan) {
    return wrong_arguments("bound(planned, context, table, indices, rows)");
  }
  if (!compared(known, plan, TABLE_ROLE, args[TABLE], &all.table, &n) ||
      !compared(known, plan, INDICES_ROLE, args[INDICES], &all.indices, &n) ||
      !compared(known, plan, ROWS_ROLE, args[ROWS], &all.rows, &n)) {
    return NULL;
  }
  bound_call *call = calloc(1, sizeof *call);
  if (!call) {
    return PyErr_NoMemory();
  }
  Py_INCREF(plan->handles.plan);
  call->handles = handles_of(plan->handles.plan, args[CONTEXT]);
  call->n = n;
  call->data = addresses_of(&all.table, &all.indices, &all.rows);
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
