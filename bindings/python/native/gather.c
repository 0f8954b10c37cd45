/* gather and gather_nd over buffers: arguments, output and call in one crossing. */
#include "operand.h"

/* A new array of NumPy's for the result; NULL with an exception set if there can be none, and without one if NumPy does
 * not make it: the general path then has the library say why. */
static PyObject *new_array(int nd, PyObject *like, const operand *params, const operand *indices,
                           const gth_options *options, gth_error *error) {
  int64_t shape[GTH_MAX_NDIM];
  int32_t ndim = 0;
  const int32_t status = (nd ? gth_gather_nd_shape : gth_gather_shape)(&params->desc, &indices->desc, options,
                                                                       GTH_MAX_NDIM, &ndim, shape, error);
  if (status != GTH_OK) {
    return raise_error(error);
  }
  PyObject *extents = tuple_of(ndim, shape);
  PyObject *dtype = PyObject_GetAttrString(like, "dtype");
  PyObject *array = NULL;
  if (extents && dtype) {
    array = PyObject_CallFunctionObjArgs(configured.empty, extents, dtype, NULL);
    if (!array) {
      PyErr_Clear();
    }
  }
  Py_XDECREF(extents);
  Py_XDECREF(dtype);
  return array;
}

static int32_t run(int nd, gth_context *context, const operand *params, const operand *indices,
                   const gth_options *options, const operand *out, gth_error *error) {
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status =
      (nd ? gth_gather_nd_desc : gth_gather_desc)(context, &params->desc, &indices->desc, options, &out->desc, error);
  Py_END_ALLOW_THREADS
  return status;
}

/* Into a given array; NotImplemented if it is no buffer that we know. */
static PyObject *gather_into(int nd, gth_context *context, const operand *params, const operand *indices,
                             const gth_options *options, PyObject *array, gth_error *error) {
  operand out;
  if (!operand_open(array, &out)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int32_t status = run(nd, context, params, indices, options, &out, error);
  operand_close(&out);
  if (status != GTH_OK) {
    return raise_error(error);
  }
  Py_INCREF(array);
  return array;
}

/* As NumPy does, a new result of rank 0 is a scalar. */
static PyObject *scalar_if_rank_0(PyObject *array, const gth_tensor_desc *params, const gth_tensor_desc *indices) {
  /* Only then can the rank be 0: each axis of the result comes from params or indices. */
  if (!array || array == Py_NotImplemented || (params->ndim > 1 && indices->ndim > 1)) {
    return array;
  }
  PyObject *empty = PyTuple_New(0);
  PyObject *ndim = PyObject_GetAttrString(array, "ndim");
  if (empty && ndim && PyLong_AsLong(ndim) == 0) {
    PyObject *scalar = PyObject_GetItem(array, empty);
    Py_DECREF(array);
    array = scalar;
  }
  Py_XDECREF(empty);
  Py_XDECREF(ndim);
  return array;
}

static PyObject *gather_new(int nd, gth_context *context, PyObject *like, const operand *params, const operand *indices,
                            const gth_options *options, gth_error *error) {
  /* Rows that are skipped are zeros in a new result, which the library makes; NumPy's would not be initialised. */
  if ((PyObject *)Py_TYPE(like) != configured.ndarray || options->bounds == GTH_BOUNDS_SKIP) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *array = new_array(nd, like, params, indices, options, error);
  if (!array) {
    if (PyErr_Occurred()) {
      return NULL;
    }
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = gather_into(nd, context, params, indices, options, array, error);
  Py_DECREF(array);
  return scalar_if_rank_0(result, &params->desc, &indices->desc);
}

/* False, without an exception, if one of the numbers is none or is beyond int64. */
static int attributes(PyObject *axis, PyObject *batch_dims, gth_options *options) {
  if (axis != Py_None) {
    options->has_axis = 1;
    options->axis = PyLong_Check(axis) ? PyLong_AsLongLong(axis) : -1;
    if (!PyLong_Check(axis) || (options->axis == -1 && PyErr_Occurred())) {
      PyErr_Clear();
      return 0;
    }
  }
  options->batch_dims = PyLong_Check(batch_dims) ? PyLong_AsLongLong(batch_dims) : -1;
  if (!PyLong_Check(batch_dims) || (options->batch_dims == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return 0;
  }
  return 1;
}

PyObject *gather(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 8) {
    PyErr_SetString(PyExc_TypeError, "gather(nd, params, indices, out, options, axis, batch_dims, context)");
    return NULL;
  }
  const int nd = args[0] == Py_True;
  PyObject *out = args[3];
  gth_options own = GTH_OPTIONS_INIT;
  const gth_options *options = address_of(args[4]);
  gth_context *context = address_of(args[7]);
  if (PyErr_Occurred()) {
    return NULL;
  }
  if (!options) {
    if (!attributes(args[5], args[6], &own)) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    options = &own;
  }
  operand params, indices;
  if (!operand_open(args[1], &params)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (!operand_open(args[2], &indices)) {
    operand_close(&params);
    Py_RETURN_NOTIMPLEMENTED;
  }
  gth_error error = GTH_ERROR_INIT;
  PyObject *result = out == Py_None ? gather_new(nd, context, args[1], &params, &indices, options, &error)
                                    : gather_into(nd, context, &params, &indices, options, out, &error);
  operand_close(&indices);
  operand_close(&params);
  return result;
}
