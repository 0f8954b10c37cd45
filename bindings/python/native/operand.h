/* An argument that is open: its description for the library, and the references that keep its memory alive. */
#ifndef LIBGATHER_OPERAND_H
#define LIBGATHER_OPERAND_H

#include "option_table.h"
#include "state.h"

enum { FEW = 8 };

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

/* The operands of a call by role, as in gather.h. */
typedef struct operands {
  operand table, indices, rows, bags, weights;
} operands;

/* Returns true for a gradient, which creates its table. */
static inline int is_gradient(int64_t op) { return is_in(op, OPERATIONS_kind_gradient); }

/* Returns true if an operation writes its rows and reads its table. Other operations write the table. */
static inline int writes_rows(int64_t op) { return !is_in(op, OPERATIONS_kind_gradient | OPERATIONS_kind_scatter); }

/* Returns true if the indices of a gather or scatter select single elements. */
static inline int selects_single_elements(int64_t op) {
  return is_in(op, OPERATIONS_form_paired & ~OPERATIONS_kind_gradient);
}

/* Marks an operand as one without a buffer. operand_close() then releases no buffer. */
void operand_without_buffer(operand *opened);

/* Returns the distance in bytes from the lowest address of an array to its first element. It is 0 without negative
 * strides. */
int64_t operand_lowest(int ndim, const int64_t *shape, const int64_t *strides);

/* Returns the number of elements. The product of the extents must fit in int64. */
int64_t operand_count(const operand *opened);

/* Returns true if a call of these operands takes a few microseconds at most. It keeps the GIL, because releasing the GIL
 * would add a tenth to its time. */
int operands_are_small(const operands *all);

/* Returns true if the memory is dense row-major. */
int operand_is_dense(const operand *opened);

/* Adds a last dim of `count` equal elements. Returns false for a handle and for the highest rank. */
int operand_repeat(operand *opened, int64_t count);

void operand_close(operand *opened);

#endif
