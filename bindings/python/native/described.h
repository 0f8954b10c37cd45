/* Calls whose operands Python code has read. It passes a tuple that describes each operand. */
#ifndef LIBGATHER_DESCRIBED_H
#define LIBGATHER_DESCRIBED_H

#include "operand.h"

/* An operation, its operands and its options. An operand that is None has no description. */
typedef struct described {
  gth_options options;
  operand table, indices, rows, bags, weights;
  gth_request request; /* of the other fields */
} described;

/* The arguments of such a call: the number of the operation, its operands by role, and the bytes of a gth_options. */
enum {
  DESCRIBED_OPERATION,
  DESCRIBED_TABLE,
  DESCRIBED_INDICES,
  DESCRIBED_ROWS,
  DESCRIBED_BAGS,
  DESCRIBED_WEIGHTS,
  DESCRIBED_OPTIONS,
  DESCRIBED
};

/* Reads the arguments. The tuples must outlive the call. Returns false with an exception set on an error. */
int described_read(arguments args, described *call);

/* Opens an operand by its handle, if it has one. The library then reads the description itself. Otherwise reads the
 * description of its memory. Returns false with an exception set on an error. */
int described_open(PyObject *description, operand *opened);

/* Returns extents as a tuple. */
PyObject *tuple_of(int32_t ndim, const int64_t *shape);

PyObject *infer(PyObject *module, arguments args, Py_ssize_t count);
PyObject *run_described(PyObject *module, arguments args, Py_ssize_t count);
PyObject *copy(PyObject *module, arguments args, Py_ssize_t count);

#endif
