/* New arrays of NumPy's, for results. */
#ifndef LIBGATHER_ARRAY_H
#define LIBGATHER_ARRAY_H

#include "objects.h"

/* Whether a result of these params is an array that can be made here. */
int array_is_made_for(const state *known, PyObject *params);

/* A dense array of the dtype of another one, with memory that is not initialised; NULL without an exception if NumPy
 * does not make it: the general path then has the library say why. */
PyObject *array_new(const state *known, PyObject *like, int32_t ndim, const int64_t *shape);

/* The array, or of rank 0 its scalar, as NumPy returns it. Takes the reference. */
PyObject *array_or_scalar(PyObject *array, int32_t ndim);

#endif
