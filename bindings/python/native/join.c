/* Joins the rows of shards into one result, with one scatter for each shard and one call from Python. */
#include "join.h"

#include "error.h"
#include "numpy.h"
#include "open.h"

#include <stdlib.h>

/* A call whose arguments are buffers. */
typedef struct request {
  const state *known;
  operand target, order;
  Py_ssize_t count; /* of answers */
  operand *answers; /* allocated */
  gth_error error;
} request;

static int64_t length_of(const operand *rows) { return rows->desc.shape[0]; }

/* Returns true if the rows of an answer have the dtype and the shape of the target's rows. This is tested for all
 * answers before the first scatter. Otherwise the library would write the rows of some answers before it rejects
 * another answer. */
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

/* Returns true if all answers are valid and the number of their rows is the length of order. */
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

/* Opens answers up to the first that cannot be opened. Returns their number. */
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
  /* malloc(0) may return NULL, so at least one byte is allocated. */
  call->answers = malloc((size_t)call->count * sizeof *call->answers + 1);
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

/* Joins answers that are buffers or similar arrays into a NumPy array. Returns NotImplemented for other arguments. In
 * this case nothing has been written. */
PyObject *join(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 3 || !PyTuple_CheckExact(args[2])) {
    PyErr_SetString(PyExc_TypeError, "join(target, order, answers)");
    return NULL;
  }
  request call;
  call.known = state_of(module);
  call.error.size = sizeof call.error; /* the library writes the other fields on an error */
  if (!is_numpys(call.known, args[0]) || !operand_open(call.known, args[0], &call.target)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = join_into(&call, args[0], args[1], args[2]);
  operand_close(&call.target);
  return result;
}
