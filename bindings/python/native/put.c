#include "put.h"

#include "numpy.h"
#include "open.h"
#include "switches.h"

/* Broadcasts rows to a larger shape, as NumPy does. Returns false if their shape cannot be broadcast to it. */
static int broadcast(operand *rows, int32_t ndim, const int64_t *shape) {
  gth_tensor_desc *desc = &rows->desc;
  const int32_t lead = ndim - desc->ndim;
  int64_t dense = gth_dtype_size(desc->dtype);
  if (lead < 0) {
    return 0;
  }
  for (int32_t i = ndim - 1; i >= 0; i--) {
    const int64_t extent = i < lead ? 1 : desc->shape[i - lead];
    const int64_t stride = i < lead ? 0 : desc->strides ? desc->strides[i - lead] : dense;
    if (extent != shape[i] && extent != 1) {
      return 0;
    }
    dense *= extent;
    rows->strides[i] = extent == shape[i] ? stride : 0;
  }
  desc->ndim = ndim;
  desc->shape = shape;
  desc->strides = rows->strides;
  return 1;
}

/* Describes a Python number as rows of one element. Returns false if the dtype cannot represent the number. */
static int number_open(PyObject *value, int32_t dtype, operand *rows) {
  operand_without_buffer(rows);
  if (!fill_image(value, dtype, rows->few)) {
    return 0;
  }
  rows->desc = (gth_tensor_desc)GTH_TENSOR_DESC_DENSE(dtype, 0, NULL, rows->few);
  return 1;
}

/* Runs the scatter. The table and the indices are open. */
static PyObject *put_rows(request *call, PyObject *values) {
  operands *all = &call->operands;
  const int32_t dtype = all->table.desc.dtype;
  gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  const int is_open =
      is_numpys(call->known, values) ? numpy_open(values, &all->rows) : number_open(values, dtype, &all->rows);
  if (!is_open || request_infer(call, &form, shape) != GTH_OK || !broadcast(&all->rows, form.ndim, shape)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (request_run(call) != GTH_OK) {
    return request_fail(call);
  }
  Py_RETURN_NONE;
}

/* Writes values, which are a number or an array of the dtype of the table. */
static PyObject *put(request *call, PyObject *values) {
  operands *all = &call->operands;
  if (!numpy_open(call->args[ARG_TABLE], &all->table) || !request_flatten(call) ||
      !indices_open(call->known, call->args[ARG_INDICES], &all->indices)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = put_rows(call, values);
  operand_close(&all->indices);
  return result;
}

PyObject *put_along(const state *known, arguments args, enum rules rules) {
  request call; /* the operands are large and stay uninitialised */
  PyObject *array = args[ARG_TABLE], *values = args[ARG_ROWS];
  if (!is_numpys(known, array) || !request_begin(&call, known, args, rules, NULL)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (PyFloat_CheckExact(values) || PyLong_CheckExact(values)) {
    return put(&call, values);
  }
  PyObject *rows = numpy_converted(known, values, array);
  if (!rows) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = put(&call, rows);
  Py_DECREF(rows);
  return result;
}
