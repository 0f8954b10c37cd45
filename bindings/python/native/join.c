/* Answers of shards put where they belong: one scatter each, in one crossing. */
#include "numpy.h"
#include "operand.h"

#include <stdlib.h>

/* A call over buffers. */
typedef struct request {
  const state *known;
  operand target, order;
  Py_ssize_t count; /* of answers */
  operand *answers; /* in memory of their own */
  gth_error error;
} request;

static int64_t length_of(const operand *rows) { return rows->desc.shape[0]; }

/* Whether the rows of an answer are rows of the target: the library says what is wrong with others, but only when those
 * before have been written. */
static int is_like(const gth_tensor_desc *rows, const gth_tensor_desc *target) {
  if (rows->dtype != target->dtype || rows->ndim != target->ndim) {
    return 0;
  }
  for (int i = 1; i < rows->ndim; i++) {
    if (rows->shape[i] != target->shape[i]) {
      return 0;
    }
  }
  return 1;
}

/* Whether each row of the answers has its position. */
static int is_whole(const request *call) {
  if (call->target.desc.ndim < 1 || call->order.desc.ndim != 1) {
    return 0;
  }
  int64_t rows = 0;
  for (Py_ssize_t i = 0; i < call->count; i++) {
    if (!is_like(&call->answers[i].desc, &call->target.desc)) {
      return 0;
    }
    rows += length_of(&call->answers[i]);
  }
  return rows == length_of(&call->order);
}

static int32_t run(request *call) {
  const int64_t stride = call->order.desc.strides ? call->order.desc.strides[0] : (int64_t)sizeof(int64_t);
  gth_tensor_desc positions = call->order.desc;
  int32_t status = GTH_OK;
  for (Py_ssize_t i = 0; i < call->count && status == GTH_OK; i++) {
    const int64_t rows = length_of(&call->answers[i]);
    positions.shape = &rows;
    status = gth_scatter(NULL, &call->target.desc, &positions, &call->answers[i].desc, NULL, &call->error);
    positions.offset += rows * stride;
  }
  return status;
}

static PyObject *join_opened(request *call, PyObject *target) {
  if (!is_whole(call)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = run(call);
  Py_END_ALLOW_THREADS
  if (status != GTH_OK) {
    return raise_error(call->known, &call->error);
  }
  Py_INCREF(target);
  return target;
}

/* Opens as many answers as it can. */
static Py_ssize_t answers_open(const request *call, PyObject *answers) {
  Py_ssize_t opened = 0;
  while (opened < call->count && operand_open(call->known, PyTuple_GetItem(answers, opened), &call->answers[opened])) {
    opened++;
  }
  return opened;
}

static PyObject *join_answers(request *call, PyObject *target, PyObject *answers) {
  PyObject *result = NULL;
  const Py_ssize_t opened = answers_open(call, answers);
  if (opened == call->count) {
    result = join_opened(call, target);
  }
  for (Py_ssize_t i = 0; i < opened; i++) {
    operand_close(&call->answers[i]);
  }
  if (opened < call->count) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return result;
}

static PyObject *join_rows(request *call, PyObject *target, PyObject *answers) {
  call->count = PyTuple_Size(answers);
  call->answers =
      malloc((size_t)call->count * sizeof *call->answers + 1); /* of no bytes it would not say whether it failed */
  if (!call->answers) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = join_answers(call, target, answers);
  free(call->answers);
  return result;
}

static PyObject *join_into(request *call, PyObject *target, PyObject *order, PyObject *answers) {
  if (!operand_open(call->known, order, &call->order)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = join_rows(call, target, answers);
  operand_close(&call->order);
  return result;
}

/* Almost every call: a target of NumPy's, and answers that are buffers or nearly so; NotImplemented for every other one,
 * when nothing has been written. */
PyObject *join(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 3 || !PyTuple_CheckExact(args[2])) {
    PyErr_SetString(PyExc_TypeError, "join(target, order, answers)");
    return NULL;
  }
  request call;
  call.known = state_of(module);
  call.error.size = sizeof call.error; /* the library writes the rest, if it fails */
  if (!is_numpys(call.known, args[0]) || !operand_open(call.known, args[0], &call.target)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = join_into(&call, args[0], args[1], args[2]);
  operand_close(&call.target);
  return result;
}
