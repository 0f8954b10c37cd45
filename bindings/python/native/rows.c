#include "rows.h"

#include "arrow.h"
#include "capsules.h"
#include "error.h"
#include "numbers.h"

#include <stdlib.h>

static const char *const column_name = "libgather_column";

static void free_column(PyObject *capsule) { gth_column_release(PyCapsule_GetPointer(capsule, column_name)); }

/* Creates a column of an export. *length becomes that of its array, unless it is a stream. Returns NULL with an exception
 * set if that fails. */
static gth_column *column_of(const state *known, PyObject *exported, int64_t *length) {
  gth_column *column;
  gth_error error = GTH_ERROR_INIT;
  int32_t status;
  if (PyTuple_Check(exported)) {
    PyObject *type = PyTuple_GetItem(exported, 0), *rows = type ? PyTuple_GetItem(exported, 1) : NULL;
    struct ArrowSchema *schema = rows ? PyCapsule_GetPointer(type, "arrow_schema") : NULL;
    arrow_array *array = schema ? PyCapsule_GetPointer(rows, "arrow_array") : NULL;
    if (!array) {
      return NULL;
    }
    *length = array->length;
    struct ArrowArray *chunks[] = {(struct ArrowArray *)array};
    status = gth_column_from_arrow(NULL, schema, 1, chunks, &column, &error);
  } else {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(exported, "arrow_array_stream");
    if (!stream) {
      return NULL;
    }
    status = gth_column_from_arrow_stream(NULL, stream, &column, &error);
  }
  if (status != GTH_OK) {
    raise_error(known, &error);
    return NULL;
  }
  return column;
}

PyObject *rows_kept(PyObject *module, arguments args, Py_ssize_t count) {
  int64_t length;
  if (count != 2 || !number_of(args[1], &length)) {
    return wrong_arguments("rows_kept(exported, length)");
  }
  gth_column *column = column_of(state_of(module), args[0], &length);
  PyObject *kept = column ? PyCapsule_New(column, column_name, free_column) : NULL;
  if (!kept) {
    gth_column_release(column); /* which may be NULL */
    return NULL;
  }
  return Py_BuildValue("(NL)", kept, (long long)length);
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
