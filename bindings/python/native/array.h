/* Creates arrays for results: those of NumPy, of Arrow, and of libraries with an exchange table. */
#ifndef LIBGATHER_ARRAY_H
#define LIBGATHER_ARRAY_H

#include "operand.h"

/* Returns true if a result for these params can be created here. */
int array_is_made_for(const state *known, PyObject *params);

/* Creates a dense, uninitialised array of the type and dtype of another one, and opens it for a write. Returns NULL
 * without an exception if its library cannot create it. The general path then reports the reason. */
PyObject *array_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened);

/* Sets all elements of an array from array_new to zero. Calls that skip rows need this. */
void array_zero(const operand *opened);

/* Returns the array, or its scalar for rank 0 if NumPy returns a scalar. Steals the reference. */
PyObject *array_or_scalar(const state *known, PyObject *array, int32_t ndim);

/* Notifies the library of a caller's array of a write. A call that failed with a race counts as a write. Returns false
 * with an exception set on an error. */
int array_written(const state *known, PyObject *array, int32_t status);

#endif
