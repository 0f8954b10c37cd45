/* A call of an operation: its arguments, and what the library receives. */
#ifndef LIBGATHER_REQUEST_H
#define LIBGATHER_REQUEST_H

#include "repeat.h"
#include "switches.h"

/* The arguments of a call: the operation, its operands by role, and the fields of a request. */
enum {
  ARG_OPERATION,
  ARG_TABLE,
  ARG_INDICES,
  ARG_ROWS,
  ARG_FIELDS,
  ARG_AXIS = ARG_FIELDS + FIELD_AXIS,
  ARG_FILL_VALUE = ARG_FIELDS + FIELD_FILL_VALUE,
  ARG_PROFILE = ARG_FIELDS + FIELD_PROFILE,
  ARG_CONTEXT = ARG_FIELDS + FIELD_CONTEXT,
  ARG_STREAM = ARG_FIELDS + FIELD_STREAM,
  ARG_SYNC = ARG_FIELDS + FIELD_SYNC,
  ARG_BAGS = ARG_FIELDS + FIELD_BAGS,
  ARG_WEIGHTS = ARG_FIELDS + FIELD_WEIGHTS,
  ARG_INPLACE = ARG_FIELDS + FIELD_INPLACE,
  ARGUMENTS = ARG_FIELDS + FIELDS
};

/* The rules of a call. With the rules of NumPy, Python code runs calls with a table of rank 0 or with operands that
 * overlap. A flat call is one whose axis is None under these rules. Its axis argument is 0, and its table is viewed as
 * one dim. */
enum rules { OWN_RULES, NUMPY_RULES, NUMPY_RULES_FLAT };

typedef struct request {
  const state *known;
  arguments args;
  enum rules rules;
  int32_t op;
  gth_context *context;
  operands operands;
  const gth_tensor_desc *bags, *weights; /* NULL, or operands that are open */
  gth_options options;
  repeat *last;         /* the last call of the same function, or NULL */
  gth_plan *plan;       /* of a call that repeats it, or NULL */
  form planned;         /* of the rows, with a plan */
  PyObject *moved;      /* borrowed: the array of NumPy that is read, if its elements are only moved. Otherwise NULL */
  int32_t words;        /* 1 if such an element is a dim of words, else 0 */
  int writes_new;       /* the written operand is a new array, which is discarded after an error */
  PyObject *fill_value; /* borrowed: a number that has to be converted to an element, or NULL */
  gth_error error;
} request;

/* Reads the arguments except the operands and the context. Returns false, without an exception, if the general path
 * must run the call. */
int request_begin(request *call, const state *known, arguments args, enum rules rules, repeat *last);

/* Views the open table as one dim if the call is flat. Returns false, without an exception, if it is not dense. */
int request_flatten(request *call);

/* Finds the plan of a call that repeats the last one. Table and indices are open. */
void request_find_plan(request *call);

/* Infers dtype and shape of the rows. `shape` has room for the highest rank. */
int32_t request_infer(request *call, gth_tensor_desc *rows, int64_t *shape);

/* Runs the operation on open operands. */
int32_t request_run(request *call);

/* Copies the elements of an open operand to another one. */
int32_t request_copy(const request *call, const operand *source, const operand *destination);

/* Raises the error of a call and returns NULL. Python code adds the multi-index of an invalid index. Returns
 * NotImplemented if Python code must raise the error: with the rules of NumPy, and if an element was moved as several
 * numbers, which the error would count. */
PyObject *request_fail(const request *call);

/* Calls a Python function with the arguments of a call. They follow `first` if it is not NULL. */
PyObject *call_python(PyObject *function, PyObject *first, arguments args);

#endif
