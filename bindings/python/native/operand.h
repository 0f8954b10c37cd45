/* An argument that exports a buffer, and the description of it that the library reads. */
#ifndef LIBGATHER_OPERAND_H
#define LIBGATHER_OPERAND_H

#include "objects.h"

typedef struct operand {
  Py_buffer buffer;
  gth_tensor_desc desc;
} operand;

/* Opens an argument whose type is numpy.ndarray or one of the configured buffer types. False, without an exception, if
 * it is another one or its elements are none of ours: the general path knows what to do with it. */
int operand_open(const state *known, PyObject *object, operand *opened);
void operand_close(operand *opened);

#endif
