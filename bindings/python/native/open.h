/* Opens arguments of any type that the C half reads. */
#ifndef LIBGATHER_OPEN_H
#define LIBGATHER_OPEN_H

#include "operand.h"

/* Opens an argument: a NumPy array, an array of a library with DLPack's exchange table, an Arrow array of numbers, or
 * an object of a configured buffer type. Returns false, without an exception, for other types, and if the elements have
 * no dtype of the library. The general path handles these. */
int operand_open(const state *known, PyObject *object, operand *opened);

/* The same as operand_open for indices. They may also be an integer, or a list or tuple of integers, which become
 * int64. */
int indices_open(const state *known, PyObject *object, operand *opened);

/* The same as operand_open and indices_open for operands that may also be a tensor. Its description is a handle. */
int source_open(const state *known, PyObject *object, operand *opened);
int source_indices_open(const state *known, PyObject *object, operand *opened);

#endif
