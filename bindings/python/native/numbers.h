/* Python integers as numbers of C. */
#ifndef LIBGATHER_NUMBERS_H
#define LIBGATHER_NUMBERS_H

#include <Python.h>
#include <gather/gather.h>

/* Reads an integer. Returns false, without an exception, for other objects, a bool, and values beyond int64. */
int number_of(PyObject *value, int64_t *number);

/* Returns an address, or a handle's token, from a Python integer. Returns NULL with an exception set on an error. */
void *address_of(PyObject *number);

/* Reads a tuple of integers as extents or strides. Returns the rank, or -1 with an exception set. */
int extents_of(PyObject *tuple, int64_t *extents);

#endif
