/* NumPy's arrays, read and made as its ABI lays them out: to ask an array for its buffer takes a tenth of a small call,
 * and so does numpy.empty(). */
#ifndef LIBGATHER_NUMPY_H
#define LIBGATHER_NUMPY_H

#include "operand.h"

int is_numpys(const state *known, PyObject *array);

/* Opens an array; false, without an exception, if its elements are none of ours. */
int numpy_open(PyObject *array, operand *opened);

/* A dense array of the dtype of another one, not initialised; NULL without an exception if there is no memory. */
PyObject *numpy_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape);

/* The same of 64-bit integers. */
PyObject *numpy_integers(const state *known, int32_t ndim, const int64_t *shape);

/* The memory of an array that numpy_new() or numpy_integers() has made. */
void *numpy_data(PyObject *array);

/* Opens an array that numpy_new() has made of these. */
void numpy_open_new(PyObject *array, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened);

/* The scalar of an array of rank 0. Takes the reference. */
PyObject *numpy_scalar(PyObject *array);

PyObject *configure_numpy(PyObject *module, arguments args, Py_ssize_t count);

#endif
