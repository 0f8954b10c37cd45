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

int64_t operand_count(const operand *opened) {
  int64_t count = 1;
  for (int i = 0; i < opened->desc.ndim; i++) {
    if (opened->desc.shape[i] == 0) {
      return 0;
    }
    count *= opened->desc.shape[i];
  }
  return count;
}

/* Returns true if the elements have at most `bytes` bytes. Returns false for a handle. */
static int operand_fits(const operand *opened, int64_t bytes) {
  int64_t size = (opened->desc.dtype & 0xff) / 8; /* the bits of a dtype are its lowest byte */
  if (size == 0) {
    return 0;
  }
  for (int i = 0; i < opened->desc.ndim; i++) {
    const int64_t extent = opened->desc.shape[i];
    if (extent == 0) {
      return 1;
    }
    if (extent > bytes / size) {
      return 0;
    }
    size *= extent;
  }
  return 1;
}

int operands_are_small(const operands *all) {
  enum { SMALL = 32768 };
  return operand_fits(&all->table, SMALL) && operand_fits(&all->indices, SMALL) && operand_fits(&all->rows, SMALL);
}

int operand_is_dense(const operand *opened) {
  const gth_tensor_desc *desc = &opened->desc;
  int64_t stride = gth_dtype_size(desc->dtype);
  if (!desc->strides || operand_count(opened) == 0) {
    return 1;
  }
  for (int i = desc->ndim - 1; i >= 0; i--) {
    if (desc->shape[i] != 1 && desc->strides[i] != stride) {
      return 0;
    }
    stride *= desc->shape[i];
  }
  return 1;
}

int operand_repeat(operand *opened, int64_t count) {
  gth_tensor_desc *desc = &opened->desc;
  const int32_t ndim = desc->ndim;
  int64_t stride = gth_dtype_size(desc->dtype);
  if (desc->tensor || ndim >= GTH_MAX_NDIM) {
    return 0;
  }
  for (int i = ndim - 1; i >= 0; i--) {
    opened->shape[i] = desc->shape[i];
    opened->strides[i] = desc->strides ? desc->strides[i] : stride;
    stride *= desc->shape[i];
  }
  opened->shape[ndim] = count;
  opened->strides[ndim] = 0;
  desc->shape = opened->shape;
  desc->strides = opened->strides;
  desc->ndim++;
  return 1;
}

void operand_close(operand *opened) {
  if (opened->buffer.obj) {
    PyBuffer_Release(&opened->buffer);
  }
  if (opened->many) {
    free(opened->many);
  }
  if (opened->arrow.release) {
    opened->arrow.release(&opened->arrow);
  }
  Py_XDECREF(opened->kept);
}
