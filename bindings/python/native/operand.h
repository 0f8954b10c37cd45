/* An argument, and its description for the library. */
#ifndef LIBGATHER_OPERAND_H
#define LIBGATHER_OPERAND_H

#include "objects.h"

enum { FEW = 8 };

/* The roles of operands. Every function takes them in this order. */
enum { TABLE, INDICES, ROWS, ROLES };

/* The role of the operand that an operation writes. */
static inline int role_written(int64_t op) { return op <= GTH_OP_GATHER_ELEMENTS ? ROWS : TABLE; }

/* Arrow's struct of an array, as its C data interface defines it. */
typedef struct arrow_array {
  int64_t length, null_count, offset, buffer_count, child_count;
  const void **buffers;
  struct arrow_array **children, *dictionary;
  void (*release)(struct arrow_array *self);
  void *producer;
} arrow_array;

typedef struct operand {
  Py_buffer buffer;
  gth_tensor_desc desc;
  /* For Python integers: the shape and the values. More than FEW values are allocated. */
  int64_t count, few[FEW], *many;
  /* For arrays without a buffer: copies of the extents and strides. */
  int64_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
  /* For an Arrow array: the exported struct. */
  arrow_array arrow;
  /* For a tensor: the object that keeps its handle alive. */
  PyObject *kept;
} operand;

/* Opens an argument: a NumPy array, an array of a library with DLPack's exchange table, an Arrow array of numbers, or
 * an object of a configured buffer type. Returns false, without an exception, for other types, and if the elements have
 * no dtype of the library. The general path handles these. */
int operand_open(const state *known, PyObject *object, operand *opened);

/* As operand_open, for an object with a buffer. */
int buffer_open(PyObject *object, operand *opened);

/* Marks an operand as one without a buffer, so that operand_close() releases none. */
void operand_without_buffer(operand *opened);

/* Returns the distance in bytes from the lowest address of an array to its first element. It is 0 without negative
 * strides. */
int64_t operand_lowest(int ndim, const int64_t *shape, const int64_t *strides);

/* As operand_open, for indices. They may also be an integer, or a list or tuple of integers, which become int64. */
int indices_open(const state *known, PyObject *object, operand *opened);

/* As operand_open and indices_open, for operands that may also be a tensor. Its description is a handle. */
int source_open(const state *known, PyObject *object, operand *opened);
int source_indices_open(const state *known, PyObject *object, operand *opened);

void operand_close(operand *opened);

#endif
