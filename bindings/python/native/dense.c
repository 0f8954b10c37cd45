#include "dense.h"

#include "array.h"

/* Returns true if each element is read `times` times or more often. */
static int is_read(const operands *all, int64_t times) {
  return operand_count(&all->rows) / times >= operand_count(&all->table);
}

/* Returns true if the elements of a slice are contiguous, or if slices have one element. Elements that are close to
 * each other count as contiguous, unless they are read often. Kernels for small elements gain less than a copy does. */
static int has_close_elements(const request *call) {
  enum { CLOSE = 2, OFTEN = 4, OFTEN_FOR_SMALL = 2, SMALL = 4 };
  const gth_tensor_desc *table = &call->operands.table.desc;
  const int last = table->ndim - 1;
  if (!table->strides || last < 1 || selects_single_elements(call->op)) {
    return 1;
  }
  const int64_t axis = call->options.axis, item = gth_dtype_size(table->dtype);
  const int64_t often = item < SMALL ? OFTEN_FOR_SMALL : OFTEN;
  const int64_t reach = is_read(&call->operands, often) ? item : CLOSE * item;
  const int selects_last = is_in(call->op, OPERATIONS_tuples_one) && (axis == last || axis == -1);
  return selects_last || (table->strides[last] >= -reach && table->strides[last] <= reach);
}

/* Returns true if a copy pays: the call moves more than a few elements, and at least as many as the table has. */
static int is_read_often(const operands *all) {
  enum { FEW_ELEMENTS = 4096 };
  return operand_count(&all->rows) > FEW_ELEMENTS && is_read(all, 1);
}

PyObject *dense_table(request *call, operand *copy) {
  operand *table = &call->operands.table;
  const gth_tensor_desc *form = &table->desc;
  if (call->plan || form->tensor || form->device > GTH_DEVICE_CPU || gth_dtype_size(form->dtype) == 0 ||
      has_close_elements(call) || !is_read_often(&call->operands)) {
    return NULL;
  }
  PyObject *array = array_new(call->known, call->args[ARG_TABLE], form->dtype, form->ndim, form->shape, copy);
  if (array && request_copy(call, table, copy) != GTH_OK) {
    operand_close(copy);
    Py_CLEAR(array);
  }
  if (array) {
    table->desc = copy->desc;
  }
  return array;
}
