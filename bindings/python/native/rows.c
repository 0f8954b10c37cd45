#include "rows.h"

#include "arrow.h"
#include "capsules.h"
#include "error.h"
#include "numbers.h"

#include <stdlib.h>

static const char *const column_name = "libgather_column";

static void free_column(PyObject *capsule) { gth_column_release(PyCapsule_GetPointer(capsule, column_name)); }

/* Returns the number of rows of a column. It is the limit in the error for an index that no column has. */
static int64_t length_of(const gth_column *column) {
  const int64_t one = 1, outside = INT64_MAX;
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &one, &outside);
  const gth_take take = {.size = sizeof take, .indices = &indices};
  gth_error error = GTH_ERROR_INIT;
  arrow_array made;
  gth_column_take(NULL, column, &take, NULL, (struct ArrowArray *)&made, &error);
  return error.limit;
}

PyObject *rows_kept(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 1) {
    return wrong_arguments("rows_kept(exported)");
  }
  gth_column *column;
  gth_error error = GTH_ERROR_INIT;
  if (column_of_export(NULL, args[0], &column, &error) != GTH_OK) {
    return PyErr_Occurred() ? NULL : raise_error(state_of(module), &error);
  }
  PyObject *kept = PyCapsule_New(column, column_name, free_column);
  if (!kept) {
    gth_column_release(column);
    return NULL;
  }
  return Py_BuildValue("(NL)", kept, (long long)length_of(column));
}

PyObject *rows_exported(PyObject *module, arguments args, Py_ssize_t count) {
  int64_t length;
  if (count != 2 || !number_of(args[1], &length) || length < 0) {
    return wrong_arguments("rows_exported(column, length)");
  }
  gth_column *column = PyCapsule_GetPointer(args[0], column_name);
  int64_t *numbers = column ? malloc((size_t)(length + 1) * sizeof *numbers) : NULL;
  if (!numbers) {
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  for (int64_t i = 0; i < length; i++) {
    numbers[i] = i;
  }
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &length, numbers);
  const gth_take take = {.size = sizeof take, .indices = &indices};
  gth_error error = GTH_ERROR_INIT;
  arrow_schema type;
  arrow_array made;
  const int32_t status =
      gth_column_take(NULL, column, &take, (struct ArrowSchema *)&type, (struct ArrowArray *)&made, &error);
  free(numbers);
  return status == GTH_OK ? capsules_of(&type, &made) : raise_error(state_of(module), &error);
}
