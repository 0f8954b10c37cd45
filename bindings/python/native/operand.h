/* An argument that exports a buffer, and the description of it that the library reads. */
#ifndef LIBGATHER_OPERAND_H
#define LIBGATHER_OPERAND_H

#include "objects.h"

enum { FEW = 8 };

/* The roles of operands, in the order in which every function takes them. */
enum { TABLE, INDICES, ROWS, ROLES };

/* The role of the operand that an operation writes. */
static inline int role_written(int64_t op) { return op <= GTH_OP_GATHER_ELEMENTS ? ROWS : TABLE; }

/* Arrow's struct of an array, as its C data interface has it. */
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
  /* Of Python's integers, which are no buffer: their shape and values, in memory of their own if they are more. */
  int64_t count, few[FEW], *many;
  /* Of what is no buffer: copies of its extents and strides. */
  int64_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
  /* Of an array of Arrow's: what it has exported. */
  arrow_array arrow;
  /* Of a tensor handle: an object that keeps it from being released. */
  PyObject *kept;
} operand;

/* Opens an argument: an array of NumPy's, of a library with DLPack's exchange table, of Arrow's numbers, or of one of
 * the configured buffer types. False, without an exception, if it is another one or its elements are none of ours: the
 * general path knows what to do with it. */
int operand_open(const state *known, PyObject *object, operand *opened);

/* The same for what has a buffer. */
int buffer_open(PyObject *object, operand *opened);

/* For those that open what is no buffer: nothing of it is to be released. */
void operand_is_no_buffer(operand *opened);

/* How far below its first element the memory of an array begins: where negative strides lead. */
int64_t operand_lowest(int ndim, const int64_t *shape, const int64_t *strides);

/* The same for indices, which may be an integer, or a list or tuple of integers, too: int64, as in NumPy. */
int indices_open(const state *known, PyObject *object, operand *opened);

/* The same for operands that may also be a tensor, which is then described as a handle. */
int source_open(const state *known, PyObject *object, operand *opened);
int source_indices_open(const state *known, PyObject *object, operand *opened);

void operand_close(operand *opened);

#endif
