/* An argument that exports a buffer, and the description of it that the library reads. */
#ifndef LIBGATHER_OPERAND_H
#define LIBGATHER_OPERAND_H

#include "objects.h"

enum { FEW = 8 };

typedef struct operand {
  Py_buffer buffer;
  gth_tensor_desc desc;
  /* Of Python's integers, which are no buffer: their shape and values, in memory of their own if they are more. */
  int64_t count, few[FEW], *many;
  /* Of what is no buffer: copies of its extents and strides. */
  int64_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
} operand;

/* Opens an argument whose type is numpy.ndarray, one of the configured buffer types, or one of DLPack's exchange. False, without an exception, if
 * it is another one or its elements are none of ours: the general path knows what to do with it. */
int operand_open(const state *known, PyObject *object, operand *opened);

/* The same for indices, which may be an integer, or a list or tuple of integers, too: int64, as in NumPy. */
int indices_open(const state *known, PyObject *object, operand *opened);
void operand_close(operand *opened);

#endif
