#include "arrow.h"

#include <stdlib.h>
#include <string.h>

/* Arrow allocates its own memory with this alignment. */
enum { ALIGNMENT = 64 };

enum { VALIDITY, DATA, BUFFERS };

PyObject *arrow_entry(const state *known, PyObject *object) {
  return known->arrow_types ? PyDict_GetItem(known->arrow_types, (PyObject *)Py_TYPE(object)) : NULL;
}

int32_t arrow_dtype(const state *known, PyObject *object) {
  PyObject *dtype = arrow_entry(known, object);
  return dtype && PyLong_Check(dtype) ? (int32_t)PyLong_AsLong(dtype) : 0;
}

int arrow_exported(const state *known, PyObject *array, arrow_array *out, arrow_schema *type) {
  out->release = NULL;
  PyObject *address = PyLong_FromVoidPtr(out), *type_address = PyLong_FromVoidPtr(type);
  PyObject *done = address && type_address
                       ? PyObject_CallMethodObjArgs(array, known->arrow_export, address, type_address, NULL)
                       : NULL;
  Py_XDECREF(address);
  Py_XDECREF(type_address);
  Py_XDECREF(done);
  PyErr_Clear();
  return done != NULL;
}

static void describe_row(operand *opened, int32_t dtype, int64_t length, const void *data, uint32_t flags) {
  opened->shape[0] = length;
  opened->desc = (gth_tensor_desc){
      .size = sizeof(gth_tensor_desc), .dtype = dtype, .ndim = 1, .flags = flags, .data = data, .shape = opened->shape};
}

/* Describes the array that has been exported to an operand. Closes the operand and returns false if it has nulls. */
static int describe_exported(int32_t dtype, operand *opened) {
  const arrow_array *from = &opened->arrow;
  /* The count of nulls may be unknown, and is then negative. */
  if (from->buffer_count != BUFFERS || (from->null_count != 0 && from->buffers[VALIDITY])) {
    operand_close(opened);
    return 0;
  }
  const char *data = from->buffers[DATA];
  const int64_t offset = from->offset * gth_dtype_size(dtype);
  describe_row(opened, dtype, from->length, data ? data + offset : NULL, GTH_TENSOR_READONLY);
  return 1;
}

int arrow_open(const state *known, int32_t dtype, PyObject *array, operand *opened) {
  operand_without_buffer(opened);
  return arrow_exported(known, array, &opened->arrow, NULL) && describe_exported(dtype, opened);
}

/* Arrow's struct of a stream of arrays. */
typedef struct arrow_stream {
  int (*get_schema)(struct arrow_stream *self, arrow_schema *out);
  int (*get_next)(struct arrow_stream *self, arrow_array *out);
  const char *(*get_last_error)(struct arrow_stream *self);
  void (*release)(struct arrow_stream *self);
  void *producer;
} arrow_stream;

/* Returns the dtype of the integers of a stream, or 0. */
static int32_t integers_of(arrow_stream *stream) {
  static const char formats[] = "cCsSiIlL";
  static const int32_t dtypes[] = {GTH_DTYPE_INT8,  GTH_DTYPE_UINT8,  GTH_DTYPE_INT16, GTH_DTYPE_UINT16,
                                   GTH_DTYPE_INT32, GTH_DTYPE_UINT32, GTH_DTYPE_INT64, GTH_DTYPE_UINT64};
  arrow_schema schema;
  if (stream->get_schema(stream, &schema)) {
    return 0;
  }
  const char letter = schema.format[0];
  const char *found = letter && !schema.format[1] && !schema.dictionary ? strchr(formats, letter) : NULL;
  schema.release(&schema);
  return found ? dtypes[found - formats] : 0;
}

int32_t column_of_arrays(gth_context *context, arrow_schema *type, arrow_array *array, gth_column **column,
                         gth_error *error) {
  struct ArrowArray *chunks[] = {(struct ArrowArray *)array};
  return gth_column_from_arrow(context, (struct ArrowSchema *)type, 1, chunks, column, error);
}

/* Returns the array of an export that is a tuple. Returns NULL with an exception set for a capsule of another name. */
static arrow_array *array_of(PyObject *exported) {
  PyObject *capsule = PyTuple_GetItem(exported, 1);
  return capsule ? PyCapsule_GetPointer(capsule, "arrow_array") : NULL;
}

int32_t column_of_export(gth_context *context, PyObject *exported, gth_column **column, gth_error *error) {
  if (PyTuple_Check(exported) && PyTuple_Size(exported) == 2) {
    PyObject *capsule = PyTuple_GetItem(exported, 0);
    arrow_schema *type = capsule ? PyCapsule_GetPointer(capsule, "arrow_schema") : NULL;
    arrow_array *array = type ? array_of(exported) : NULL;
    if (array) {
      return column_of_arrays(context, type, array, column, error);
    }
  } else {
    struct ArrowArrayStream *arrays = PyCapsule_GetPointer(exported, "arrow_array_stream");
    if (arrays) {
      return gth_column_from_arrow_stream(context, arrays, column, error);
    }
  }
  error->status = GTH_E_UNSUPPORTED; /* the exception is that of the capsule */
  return GTH_E_UNSUPPORTED;
}

static int is_table(const arrow_schema *type) {
  enum { NULLABLE = 2 };
  return type->format && !strcmp(type->format, "+s") && !(type->flags & NULLABLE);
}

int arrow_exports_table(PyObject *exported) {
  if (PyTuple_Check(exported)) {
    const arrow_schema *type = PyCapsule_GetPointer(PyTuple_GetItem(exported, 0), "arrow_schema");
    PyErr_Clear();
    return type && type->release && is_table(type);
  }
  arrow_stream *stream =
      PyCapsule_IsValid(exported, "arrow_array_stream") ? PyCapsule_GetPointer(exported, "arrow_array_stream") : NULL;
  arrow_schema type;
  if (!stream || !stream->release || stream->get_schema(stream, &type)) {
    return 0;
  }
  const int is = is_table(&type);
  type.release(&type);
  return is;
}

/* Moves the only array of a stream to *out. Returns false if there is another number of arrays. */
static int only_array(arrow_stream *stream, arrow_array *out) {
  arrow_array next = {.release = NULL};
  out->release = NULL;
  if (stream->get_next(stream, out)) {
    out->release = NULL;
    return 0;
  }
  const int is_only = out->release && !stream->get_next(stream, &next) && !next.release;
  if (next.release) {
    next.release(&next);
  }
  if (!is_only && out->release) {
    out->release(out);
    out->release = NULL;
  }
  return is_only;
}

int arrow_open_integers(const state *known, PyObject *object, operand *opened) {
  PyObject *entry = arrow_entry(known, object);
  if (!entry || !PyTuple_Check(entry)) {
    return 0;
  }
  PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
  arrow_stream *stream = capsule ? PyCapsule_GetPointer(capsule, "arrow_array_stream") : NULL;
  operand_without_buffer(opened);
  const int32_t dtype = stream && stream->release ? integers_of(stream) : 0;
  const int is_open = dtype && only_array(stream, &opened->arrow) && describe_exported(dtype, opened);
  Py_XDECREF(capsule);
  PyErr_Clear();
  return is_open;
}

/* The memory of an array that this module has created. The elements follow. */
typedef struct made {
  const void *buffers[BUFFERS];
} made;

static void release(arrow_array *array) {
  free(array->producer);
  array->release = NULL;
}

/* C has no function for aligned memory that every system has. So the elements begin at the first aligned address. */
static int make(arrow_array *out, int64_t length, int64_t size) {
  made *memory = malloc(sizeof *memory + ALIGNMENT + (size_t)(length * size));
  if (!memory) {
    return 0;
  }
  char *end = (char *)(memory + 1);
  memory->buffers[VALIDITY] = NULL;
  memory->buffers[DATA] = end + (-(uintptr_t)end & (ALIGNMENT - 1));
  *out = (arrow_array){
      .length = length, .buffer_count = BUFFERS, .buffers = memory->buffers, .release = release, .producer = memory};
  return 1;
}

PyObject *arrow_imported(PyObject *import, arrow_array *from, PyObject *type) {
  PyObject *address = PyLong_FromVoidPtr(from);
  PyObject *array = type && address ? PyObject_CallFunctionObjArgs(import, address, type, NULL) : NULL;
  Py_XDECREF(address);
  PyErr_Clear();
  if (!array && from->release) {
    from->release(from);
  }
  return array;
}

PyObject *arrow_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened) {
  arrow_array array;
  const int64_t size = gth_dtype_size(dtype);
  if (ndim != 1 || shape[0] > (INT64_MAX - ALIGNMENT) / size || !make(&array, shape[0], size)) {
    return NULL;
  }
  operand_without_buffer(opened);
  describe_row(opened, dtype, shape[0], array.buffers[DATA], 0);
  PyObject *type = PyObject_GetAttr(like, known->type_name);
  PyObject *made = arrow_imported(known->arrow_import, &array, type);
  Py_XDECREF(type);
  return made;
}

PyObject *configure_arrow(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 3 || !PyDict_Check(args[0])) {
    PyErr_SetString(PyExc_TypeError, "configure_arrow(types, export_name, import_function)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  keep(&known->arrow_export, args[1]);
  keep(&known->arrow_import, args[2]);
  keep(&known->arrow_types, args[0]);
  Py_RETURN_NONE;
}
