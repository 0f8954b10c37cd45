/* New arrays for results: NumPy's, Arrow's, and those of libraries with an exchange table. */
#ifndef LIBGATHER_ARRAY_H
#define LIBGATHER_ARRAY_H

#include "operand.h"

/* Whether a result of these params is an array that can be made here. */
int array_is_made_for(const state *known, PyObject *params);

/* A dense array of the kind and the dtype of another one, with memory that is not initialised, opened to be written;
 * NULL without an exception if its library does not make it: the general path then has ours say why. */
PyObject *array_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened);

/* Makes what array_new has opened zeros, as rows are that a call skips. */
void array_zero(const operand *opened);

/* The array, or of rank 0 its scalar where NumPy returns one. Takes the reference. */
PyObject *array_or_scalar(const state *known, PyObject *array, int32_t ndim);

/* Ends a call that writes to an array of the caller: tells its library that it was written, or may have been, if indices
 * were changed during the call. False with an exception set. */
int array_written(const state *known, PyObject *array, int32_t status);

#endif
