/* Reads arguments as operands: any type that does not need Python code. */
#ifndef LIBGATHER_OPEN_H
#define LIBGATHER_OPEN_H

#include "operand.h"

/* Sets `opened` to the memory of an argument: a NumPy array, an array of a library with DLPack's exchange table, an
 * Arrow array of numbers, or an object of a configured buffer type. Returns false, without an exception, for other
 * types, and if the elements have no dtype of the library. The general path handles these. */
int operand_open(const state *known, PyObject *object, operand *opened);

/* The same as operand_open for indices. They may also be an integer, or a list or tuple of integers, which become
 * int64. */
int indices_open(const state *known, PyObject *object, operand *opened);

/* The same as operand_open and indices_open for operands that may also be a tensor. Its description is a handle. */
int source_open(const state *known, PyObject *object, operand *opened);
int source_indices_open(const state *known, PyObject *object, operand *opened);

#endif
