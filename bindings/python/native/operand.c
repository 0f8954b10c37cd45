#include "operand.h"

#include <stdlib.h>

int64_t operand_lowest(int ndim, const int64_t *shape, const int64_t *strides) {
  int64_t below = 0;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] == 0) {
      return 0;
    }
    if (strides[i] < 0) {
      below -= strides[i] * (shape[i] - 1);
    }
  }
  return below;
}

void operand_without_buffer(operand *opened) {
  opened->buffer.obj = NULL; /* no buffer has to be released */
  opened->many = NULL;
  opened->arrow.release = NULL;
  opened->kept = NULL;
}

void operand_close(operand *opened) {
  PyBuffer_Release(&opened->buffer);
  free(opened->many);
  if (opened->arrow.release) {
    opened->arrow.release(&opened->arrow);
  }
  Py_XDECREF(opened->kept);
}
