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

/* Opens a packed table, whose description is a handle. Returns false, without an exception, for other types. */
int packed_open(const state *known, PyObject *object, operand *opened);

/* Returns the array whose kind and dtype a new result has, as a borrowed reference. It is the object of an open table. For
 * a packed table it is the array that the table names. */
PyObject *result_like(const operand *table, PyObject *object);

#endif
