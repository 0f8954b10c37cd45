#include "buffer.h"

#include <string.h>

/* The size distinguishes C's integer types, because it differs between native and standard formats. */
int32_t buffer_dtype(const Py_buffer *buffer) {
  const char *format = buffer->format;
  const Py_ssize_t size = buffer->itemsize;
  if (!format) {
    return GTH_DTYPE_UINT8;
  }
  if (strchr("@=<^", *format) && *format) {
    format++;
  }
  if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && !format[2]) {
    return format[1] == 'f' ? GTH_DTYPE_COMPLEX64 : GTH_DTYPE_COMPLEX128;
  }
  if (!format[0] || format[1] || size > 8) {
    return 0;
  }
  const int32_t bits = (int32_t)size * 8;
  if (strchr("bhilqn", *format)) {
    return GTH_DTYPE_INT8 - 8 + bits;
  }
  if (strchr("BHILQNc", *format)) {
    return GTH_DTYPE_UINT8 - 8 + bits;
  }
  if (strchr("efd", *format)) {
    return GTH_DTYPE_FLOAT16 - 16 + bits;
  }
  return *format == '?' ? GTH_DTYPE_BOOL : 0;
}

int is_buffer(const state *known, PyTypeObject *type) {
  const Py_ssize_t count = PyTuple_Size(known->buffer_types);
  for (Py_ssize_t i = 0; i < count; i++) {
    if (PyTuple_GetItem(known->buffer_types, i) == (PyObject *)type) {
      return 1;
    }
  }
  return 0;
}

int buffer_open(PyObject *object, operand *opened) {
  Py_buffer *buffer = &opened->buffer;
  if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO)) {
    PyErr_Clear();
    return 0;
  }
  const int32_t dtype = buffer_dtype(buffer);
  if (!dtype || buffer->ndim > GTH_MAX_NDIM) {
    PyBuffer_Release(buffer);
    return 0;
  }
  const int64_t below = operand_lowest(buffer->ndim, (const int64_t *)buffer->shape, (const int64_t *)buffer->strides);
  opened->many = NULL;
  opened->arrow.release = NULL;
  opened->kept = NULL;
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc),
      .dtype = dtype,
      .ndim = buffer->ndim,
      .flags = buffer->readonly ? GTH_TENSOR_READONLY : 0,
      .data = (const char *)buffer->buf - below,
      .shape = (const int64_t *)buffer->shape,
      .strides = (const int64_t *)buffer->strides,
      .offset = below,
  };
  return 1;
}
