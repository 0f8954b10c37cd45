#include "column.h"

#include "arrow.h"
#include "capsules.h"
#include "error.h"
#include "handle.h"
#include "numbers.h"
#include "numpy.h"
#include "open.h"

/* A take of more rows releases the GIL. */
enum { FEW_ROWS = 1024 };

/* A call, and the rows that it takes. */
typedef struct taking {
  request *call;
  gth_take take;
  gth_options options; /* those of the call, for the rows along its axis */
  arguments own;       /* the arguments before those of run_arrays() */
} taking;

/* Creates a column from the array that is the table. An array that cannot be exported is UNSUPPORTED. */
static int32_t column_of_array(request *call, gth_column **column) {
  arrow_schema type;
  arrow_array array;
  if (!arrow_exported(call->known, call->args[ARG_TABLE], &array, &type)) {
    call->error.status = GTH_E_UNSUPPORTED;
    return GTH_E_UNSUPPORTED;
  }
  const int32_t status = column_of_arrays(call->context, &type, &array, column, &call->error);
  type.release(&type);
  if (status != GTH_OK) {
    array.release(&array);
  }
  return status;
}

/* Creates a column from an export. If the export is None, the column is the table of the call. column_of_export() reads
 * all other exports. */
static int32_t open_column(request *call, PyObject *exported, gth_column **column) {
  return exported == Py_None ? column_of_array(call, column)
                             : column_of_export(call->context, exported, column, &call->error);
}

static int32_t take(taking *it, const gth_column *column, arrow_schema *type, arrow_array *made) {
  request *call = it->call;
  struct ArrowSchema *schema = (struct ArrowSchema *)type;
  struct ArrowArray *array = (struct ArrowArray *)made;
  if (operand_count(&call->operands.indices) <= FEW_ROWS) {
    return gth_column_take(call->context, column, &it->take, schema, array, &call->error);
  }
  int32_t status;
  Py_BEGIN_ALLOW_THREADS
  status = gth_column_take(call->context, column, &it->take, schema, array, &call->error);
  Py_END_ALLOW_THREADS
  return status;
}

/* Takes rows of a type that may be replaced, because an array of the result needs 64-bit offsets. */
static PyObject *take_large(taking *it, const gth_column *column, PyObject *import) {
  arrow_schema type;
  arrow_array made;
  if (take(it, column, &type, &made) != GTH_OK) {
    return request_fail(it->call);
  }
  PyObject *address = PyLong_FromVoidPtr(&type);
  PyObject *result = arrow_imported(import, &made, address);
  Py_XDECREF(address);
  if (type.release) {
    type.release(&type);
  }
  return result;
}

/* Takes rows, and returns what a function returns for the table and for the capsules of the rows. */
static PyObject *take_capsules(taking *it, const gth_column *column, PyObject *finish) {
  arrow_schema type;
  arrow_array made;
  if (take(it, column, &type, &made) != GTH_OK) {
    return request_fail(it->call);
  }
  PyObject *capsules = capsules_of(&type, &made);
  PyObject *result = capsules ? PyObject_CallFunctionObjArgs(finish, it->call->args[ARG_TABLE], capsules, NULL) : NULL;
  Py_XDECREF(capsules);
  if (made.release) {
    made.release(&made);
  }
  if (type.release) {
    type.release(&type);
  }
  return result;
}

/* Takes rows of an export. `import` creates an object of an array and a type. For a type of None it is the function of
 * take_capsules(). */
static PyObject *take_from(taking *it, PyObject *exported, PyObject *import, PyObject *type) {
  request *call = it->call;
  gth_column *column;
  arrow_array made;
  int32_t status = open_column(call, exported, &column);
  if (status != GTH_OK) {
    return status == GTH_E_UNSUPPORTED ? NULL : request_fail(call);
  }
  PyObject *result;
  if (type == Py_None) {
    result = take_capsules(it, column, import);
  } else if ((status = take(it, column, NULL, &made)) == GTH_E_SIZE) {
    result = take_large(it, column, import);
  } else {
    result = status == GTH_OK ? arrow_imported(import, &made, type) : request_fail(call);
  }
  gth_column_release(column);
  return result;
}

/* Returns a result, or NotImplemented if it is NULL without an exception. */
static PyObject *or_general(PyObject *result) {
  if (!result && !PyErr_Occurred()) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return result;
}

/* Returns true if a call gathers along one axis, and selects an element of the table for each index. */
static int selects_elements(const request *call) {
  const gth_options *options = &call->options;
  return call->op == GTH_OP_GATHER && call->args[ARG_ROWS] == Py_None && options->batch_dims == 0 &&
         options->opset == 0 && call->args[ARG_FILL_VALUE] == Py_None && options->bounds != GTH_BOUNDS_FILL &&
         options->bounds != GTH_BOUNDS_SKIP && !options->has_padding_index &&
         is_in(options->profile, PROFILES_strings_yes);
}

/* Returns true if indices of rank 1 select in the first axis of a column. */
static int selects_first_axis(const request *call) {
  const gth_options *options = &call->options;
  return call->operands.indices.desc.ndim == 1 && (!options->has_axis || options->axis == 0 || options->axis == -1);
}

static PyObject *take_array(taking *it) {
  const request *call = it->call;
  PyObject *array = call->args[ARG_TABLE];
  if (!selects_first_axis(call)) {
    return NULL;
  }
  PyObject *type = PyObject_GetAttr(array, call->known->type_name);
  PyObject *result = type ? take_from(it, Py_None, call->known->arrow_import, type) : NULL;
  Py_XDECREF(type);
  return result;
}

/* Returns true if all numbers are in [0, extent). */
static int are_in_bounds(const int64_t *numbers, int64_t count, int64_t extent) {
  uint64_t signs = 0; /* without a branch, so that compilers vectorise the loop */
  for (int64_t i = 0; i < count; i++) {
    signs |= (uint64_t)numbers[i] | ((uint64_t)(extent - 1) - (uint64_t)numbers[i]);
  }
  return signs >> 63 == 0;
}

static int are_unsigned_in_bounds(const uint32_t *numbers, int64_t count, int64_t extent) {
  uint32_t most = 0;
  for (int64_t i = 0; i < count; i++) {
    most = numbers[i] > most ? numbers[i] : most;
  }
  return count == 0 || most < extent;
}

static int indices_in_bounds(const gth_tensor_desc *indices, int64_t count, int64_t extent) {
  return indices->dtype == GTH_DTYPE_INT64 ? are_in_bounds(indices->data, count, extent)
                                           : are_unsigned_in_bounds(indices->data, count, extent);
}

/* Returns true if the indices are an array of a type that contains the row numbers as int64 or uint32. */
static int are_numbers(const taking *it, PyObject *type, int64_t extent) {
  const request *call = it->call;
  const gth_tensor_desc *indices = &call->operands.indices.desc;
  const gth_options *options = &call->options;
  if ((PyObject *)Py_TYPE(call->args[ARG_INDICES]) != type || indices->strides ||
      (indices->dtype != GTH_DTYPE_INT64 && indices->dtype != GTH_DTYPE_UINT32) || it->take.validity ||
      options->bounds == GTH_BOUNDS_FILL || options->has_padding_index) {
    return 0;
  }
  const int64_t count = operand_count(&call->operands.indices);
  if (count <= FEW_ROWS) {
    return indices_in_bounds(indices, count, extent);
  }
  int are;
  Py_BEGIN_ALLOW_THREADS
  are = indices_in_bounds(indices, count, extent);
  Py_END_ALLOW_THREADS
  return are;
}

/* Returns a row number for each index, and -1 for none, as an array of NumPy. It returns the indices themselves if they
 * are such an array, because new memory takes more time than their validation. */
static PyObject *numbers_of(taking *it, int64_t extent) {
  request *call = it->call;
  const operand *indices = &call->operands.indices;
  if (indices->desc.dtype == GTH_DTYPE_INT64 && are_numbers(it, call->known->ndarray, extent)) {
    PyObject *given = call->args[ARG_INDICES];
    Py_INCREF(given);
    return given;
  }
  PyObject *rows = numpy_integers(call->known, indices->desc.ndim, indices->desc.shape);
  if (!rows) {
    return NULL;
  }
  const int64_t capacity = operand_count(indices);
  int32_t status;
  if (capacity <= FEW_ROWS) {
    status = gth_resolve(call->context, extent, &it->take, capacity, numpy_data(rows), &call->error);
  } else {
    Py_BEGIN_ALLOW_THREADS
    status = gth_resolve(call->context, extent, &it->take, capacity, numpy_data(rows), &call->error);
    Py_END_ALLOW_THREADS
  }
  if (status != GTH_OK) {
    Py_DECREF(rows);
    return request_fail(call);
  }
  return rows;
}

/* Gathers rows of an object of another library than pyarrow. */
static PyObject *take_foreign(taking *it) {
  enum { EXPORT, FINISH }; /* the items of the entry */
  const request *call = it->call;
  PyObject *table = call->args[ARG_TABLE], *entry = arrow_entry(call->known, table);
  if (!selects_first_axis(call) || call->options.axis == -1) {
    return NULL;
  }
  PyObject *exported = PyObject_CallFunctionObjArgs(PyTuple_GetItem(entry, EXPORT), table, NULL);
  PyErr_Clear(); /* the Python code reports it */
  PyObject *result =
      exported && exported != Py_None ? take_from(it, exported, PyTuple_GetItem(entry, FINISH), Py_None) : NULL;
  Py_XDECREF(exported);
  return result;
}

/* Gathers rows of chunks or of a table. */
static PyObject *take_chunks(taking *it) {
  enum { IMPORT, TYPE, FLAGS, FINISH, ITEMS }; /* the items of the entry */
  const request *call = it->call;
  PyObject *table = call->args[ARG_TABLE], *entry = arrow_entry(call->known, table);
  if (PyTuple_Size(entry) != ITEMS) {
    return take_foreign(it);
  }
  if (call->operands.indices.desc.ndim != 1 || (call->options.has_axis && call->options.axis != 0)) {
    return NULL;
  }
  it->take.flags = (uint32_t)PyLong_AsLong(PyTuple_GetItem(entry, FLAGS));
  PyObject *stream = PyObject_CallMethod(table, "__arrow_c_stream__", NULL);
  PyObject *type = stream ? PyObject_GetAttr(table, PyTuple_GetItem(entry, TYPE)) : NULL;
  if (!type) {
    PyErr_Clear(); /* the Python code reports it */
  }
  PyObject *rows = type ? take_from(it, stream, PyTuple_GetItem(entry, IMPORT), type) : NULL;
  PyObject *result =
      rows && rows != Py_NotImplemented ? PyObject_CallFunction(PyTuple_GetItem(entry, FINISH), "[O]", rows) : NULL;
  Py_XDECREF(rows);
  Py_XDECREF(type);
  Py_XDECREF(stream);
  return result;
}

/* Gathers elements that only NumPy moves. */
static PyObject *take_objects(taking *it) {
  const request *call = it->call;
  PyObject *array = call->args[ARG_TABLE];
  const int64_t axis = call->options.has_axis ? call->options.axis : 0;
  /* numpy.take() itself runs the calls with NumPy's rules. */
  const int64_t extent = call->rules == OWN_RULES ? numpy_extent_of_objects(array, axis) : -1;
  PyObject *rows = extent < 0 ? NULL : numbers_of(it, extent);
  /* Mode clip does not validate the rows again, and is the fastest one for objects. */
  PyObject *result = rows ? PyObject_CallMethod(array, "take", "OLOs", rows, (long long)axis, Py_None, "clip") : NULL;
  Py_XDECREF(rows);
  return result;
}

/* Returns true if an object has one dim. */
static int has_one_dim(PyObject *object) {
  PyObject *shape = PyObject_GetAttrString(object, "shape");
  const int has_one = shape && PyTuple_Check(shape) && PyTuple_Size(shape) == 1;
  Py_XDECREF(shape);
  PyErr_Clear();
  return has_one;
}

/* Returns row numbers for the library of a column or table, which takes its own columns too. */
static PyObject *numbers_for(taking *it, PyObject *frame) {
  const state *known = it->call->known;
  const int64_t extent = PyObject_Size(frame);
  if (extent < 0) {
    PyErr_Clear(); /* The general path refuses a table whose rows are not there yet. */
    return NULL;
  }
  /* A column of polars has an entry. */
  if (arrow_entry(known, frame) && are_numbers(it, (PyObject *)Py_TYPE(frame), extent)) {
    PyObject *given = it->call->args[ARG_INDICES];
    Py_INCREF(given);
    return given;
  }
  return known->ndarray ? numbers_of(it, extent) : NULL;
}

/* Gathers rows of a column or table of pandas or polars. */
static PyObject *take_frame(taking *it) {
  const request *call = it->call;
  PyObject *frame = call->args[ARG_TABLE];
  if (call->operands.indices.desc.ndim != 1 || (call->options.has_axis && call->options.axis != 0) ||
      (call->rules == NUMPY_RULES_FLAT && !has_one_dim(frame))) {
    return NULL;
  }
  PyObject *rows = numbers_for(it, frame);
  PyObject *function = PyDict_GetItem(call->known->frame_takers, (PyObject *)Py_TYPE(frame));
  PyObject *result = rows ? PyObject_CallFunctionObjArgs(function, frame, rows, NULL) : NULL;
  Py_XDECREF(rows);
  return result;
}

PyObject *configure_frames(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 1 || !PyDict_Check(args[0])) {
    return wrong_arguments("configure_frames(functions)");
  }
  state *known = PyModule_GetState(module);
  keep(&known->frame_takers, args[0]);
  Py_RETURN_NONE;
}

/* Returns the function that gathers from a table, or NULL. */
static PyObject *(*taker_of(const state *known, PyObject *table))(taking *) {
  PyObject *takers = known->frame_takers;
  if (takers && PyDict_GetItem(takers, (PyObject *)Py_TYPE(table))) {
    return take_frame;
  }
  PyObject *entry = arrow_entry(known, table);
  if (entry) {
    return PyTuple_Check(entry) ? take_chunks : take_array;
  }
  return is_numpys(known, table) ? take_objects : NULL;
}

/* Runs a function with open indices. */
static PyObject *with_indices(taking *it, PyObject *(*function)(taking *)) {
  request *call = it->call;
  operand *indices = &call->operands.indices;
  if (!indices_open(call->known, call->args[ARG_INDICES], indices)) {
    return NULL;
  }
  it->take.indices = &indices->desc;
  it->options = call->options;
  it->options.has_axis = 0;
  it->options.axis = it->options.batch_dims = 0;
  it->take.options = &it->options;
  PyObject *result = function(it);
  operand_close(indices);
  return result;
}

PyObject *column_gather(request *call) {
  PyObject *table = call->args[ARG_TABLE];
  PyObject *(*taker)(taking *) = taker_of(call->known, table);
  if (!taker || !selects_elements(call)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  taking it = {.call = call, .take = {.size = sizeof it.take}};
  return or_general(with_indices(&it, taker));
}

/* Runs a function with the validity bits of the indices. */
static PyObject *with_validity(taking *it, PyObject *bits, PyObject *(*function)(taking *)) {
  Py_buffer validity;
  if (bits == Py_None) {
    return with_indices(it, function);
  }
  if (PyObject_GetBuffer(bits, &validity, PyBUF_SIMPLE)) {
    return NULL;
  }
  it->take.validity = validity.buf;
  PyObject *result = with_indices(it, function);
  PyBuffer_Release(&validity);
  return result;
}

/* Runs a function. The arguments before those of run_arrays() end with flags, validity bits and validity offset. */
static PyObject *with_arguments(PyObject *module, arguments args, Py_ssize_t own, PyObject *(*function)(taking *)) {
  enum { FLAGS = 3, VALIDITY = 2, OFFSET = 1 }; /* counted from the end */
  request call;                                 /* the operands are large and stay uninitialised */
  int64_t flags, offset;
  if (!number_of(args[own - FLAGS], &flags) || !number_of(args[own - OFFSET], &offset) ||
      !request_begin(&call, state_of(module), args + own, OWN_RULES, NULL)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  taking it = {.call = &call,
               .take = {.size = sizeof it.take, .flags = (uint32_t)flags, .validity_offset = offset},
               .own = args};
  PyObject *handle = handle_of_context(call.known, call.args[ARG_CONTEXT]);
  if (!handle) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *result = NULL;
  if (context_enter(call.known, handle, &call.context)) {
    result = or_general(with_validity(&it, args[own - VALIDITY], function));
    context_leave(handle);
  }
  Py_DECREF(handle);
  return result;
}

static PyObject *rows_of(taking *it) {
  enum { EXPORTED, IMPORT, TYPE };
  if (it->own[TYPE] == Py_None && arrow_exports_table(it->own[EXPORTED])) {
    it->take.flags |= GTH_TAKE_RECORD;
  }
  return take_from(it, it->own[EXPORTED], it->own[IMPORT], it->own[TYPE]);
}

PyObject *take_rows(PyObject *module, arguments args, Py_ssize_t count) {
  enum { OWN = 6 };
  return count == OWN + ARGUMENTS
             ? with_arguments(module, args, OWN, rows_of)
             : wrong_arguments(
                   "take_rows(exported, import_function, type, flags, validity, validity_offset, *request)");
}

static PyObject *own_numbers(taking *it) {
  int64_t extent;
  return it->call->known->ndarray && number_of(it->own[0], &extent) ? numbers_of(it, extent) : NULL;
}

PyObject *resolve(PyObject *module, arguments args, Py_ssize_t count) {
  enum { OWN = 4 };
  return count == OWN + ARGUMENTS ? with_arguments(module, args, OWN, own_numbers)
                                  : wrong_arguments("resolve(extent, flags, validity, validity_offset, *request)");
}
