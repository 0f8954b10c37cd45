/* NumPy arrays. They are read and created through NumPy's ABI, because a buffer export takes a tenth of a small call,
 * and so does numpy.empty(). */
#ifndef LIBGATHER_NUMPY_H
#define LIBGATHER_NUMPY_H

#include "operand.h"

/* Returns true for an array of type numpy.ndarray or numpy.memmap. */
int is_numpys(const state *known, PyObject *array);

/* Opens an array. Returns false, without an exception, if its elements have no dtype of the library. */
int numpy_open(PyObject *array, operand *opened);

/* Opens an array whose elements are only moved: as numbers of the same size, or with a last dim of words that an element
 * consists of. `words` is then 1, else 0. Returns false, without an exception, if the elements hold references. */
int numpy_open_moved(const state *known, PyObject *array, operand *opened, int32_t *words);

/* Returns the rank of an array. */
int numpy_rank(PyObject *array);

/* Returns true if the elements of an array are strings of one size. */
int numpy_has_text(PyObject *array);

/* Returns true if two arrays have the same dtype. */
int numpy_same_dtype(PyObject *array, PyObject *other);

/* Returns the extent of an axis of an array of Python objects or StringDType. Returns -1 for other arrays and axes, and
 * if another dim is empty. Indices of such an array are not validated. */
int64_t numpy_extent_of_objects(PyObject *array, int64_t axis);

/* Creates a dense, uninitialised array of the type and dtype of another one. Returns NULL without an exception if it
 * fails. */
PyObject *numpy_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape);

/* The same as numpy_new for 64-bit integers. */
PyObject *numpy_integers(const state *known, int32_t ndim, const int64_t *shape);

/* Returns the memory of an array from numpy_new() or numpy_integers(). */
void *numpy_data(PyObject *array);

/* Opens an array from numpy_new(). */
void numpy_open_new(PyObject *array, int32_t dtype, int32_t ndim, const int64_t *shape, operand *opened);

/* Returns the scalar of an array of rank 0. Steals the reference. */
PyObject *numpy_scalar(PyObject *array);

PyObject *configure_numpy(PyObject *module, arguments args, Py_ssize_t count);

#endif
