/* Arrow arrays through the C data interface. The Arrow type of the array replaces the schema of a result. */
#ifndef LIBGATHER_ARROW_H
#define LIBGATHER_ARROW_H

#include "operand.h"

/* Arrow's struct of a type, as its C data interface defines it. */
typedef struct arrow_schema {
  const char *format, *name, *metadata;
  int64_t flags, child_count;
  struct arrow_schema **children, *dictionary;
  void (*release)(struct arrow_schema *self);
  void *producer;
} arrow_schema;

/* Returns the entry of the type of an object from configure_arrow(), or NULL without an exception. The entry of an array
 * of pyarrow is its dtype, or 0. The entry of other objects is a tuple, which column.c reads. It is borrowed. */
PyObject *arrow_entry(const state *known, PyObject *object);

/* Returns the dtype of the elements of such an object. Returns 0 for other types and other objects. */
int32_t arrow_dtype(const state *known, PyObject *object);

/* Exports an array, and its type unless that is NULL. Returns false, without an exception, if that fails. */
int arrow_exported(const state *known, PyObject *array, arrow_array *out, arrow_schema *type);

/* Creates an object of an array, which it consumes, by a function of Arrow. `type` is a new type of Arrow, or NULL with
 * an exception set. Returns NULL without an exception if that fails. */
PyObject *arrow_imported(PyObject *import, arrow_array *from, PyObject *type);

/* Opens an array of a dtype. Returns false, without an exception, if it has nulls or is not on the host. */
int arrow_open(const state *known, int32_t dtype, PyObject *array, operand *opened);

/* Opens the integers of an object whose entry is a tuple and that exports a stream of one array. Returns false, without
 * an exception, for other arrays and if one is null. */
int arrow_open_integers(const state *known, PyObject *object, operand *opened);

/* Creates a column from an array, which it consumes if it succeeds. */
int32_t column_of_arrays(gth_context *context, arrow_schema *type, arrow_array *array, gth_column **column,
                         gth_error *error);

/* Creates a column from an export: a capsule of a stream, or a tuple of capsules of a type and an array. For a capsule of
 * another name the status is UNSUPPORTED, with an exception set. */
int32_t column_of_export(gth_context *context, PyObject *exported, gth_column **column, gth_error *error);

/* Returns true if the type of an export is that of a table: a struct that is not nullable. The export is a capsule of a
 * stream, or a tuple of capsules of a type and an array. */
int arrow_exports_table(PyObject *exported);

/* Creates an uninitialised array of the type of another one, and opens it for a write. Returns NULL without an
 * exception if the rank is not 1 or the allocation fails. */
PyObject *arrow_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened);

PyObject *configure_arrow(PyObject *module, arguments args, Py_ssize_t count);

#endif
