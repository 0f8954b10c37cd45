/* Reads the options of a call from objects of Python, in C and in C++. The source that includes this header has a function
 * number_of(), which reads an integer as int64_t and returns false for other objects. The functions return false, without
 * an exception, for an invalid value. */
#ifndef LIBGATHER_OPTIONS_READER_H
#define LIBGATHER_OPTIONS_READER_H

#include "option_table.h"

#include <Python.h>
#include <gather/gather.h>

/* The options in the order of a Request, and their number. */
#define OPTION_PLACE(NAME, name, field, type) FIELD_##NAME,
enum { OPTION_FIELDS(OPTION_PLACE) OPTIONS };
#undef OPTION_PLACE

/* Reads the number of a name. `choices` has a dict of numbers by name for each option with names. The macros below leave an
 * option of None unchanged. */
static inline int read_choice(PyObject *name, PyObject *choices, int option, int32_t *number) {
  PyObject *found = PyUnicode_Check(name) ? PyDict_GetItem(PyTuple_GetItem(choices, option), name) : NULL;
  *number = found ? (int32_t)PyLong_AsLong(found) : 0;
  return found != NULL;
}

static inline int read_small(PyObject *value, int32_t *number) {
  int64_t given;
  if (!number_of(value, &given) || given < INT32_MIN || given > INT32_MAX) {
    return 0;
  }
  *number = (int32_t)given;
  return 1;
}

static inline int read_given(PyObject *value, int32_t *is_given, int64_t *number) {
  *is_given = 1;
  return number_of(value, number);
}

/* Reads include_self. */
static inline int read_initial(PyObject *include_self, int32_t *initial) {
  *initial = include_self == Py_False ? GTH_INITIAL_UPDATE : 0;
  return PyBool_Check(include_self);
}

#define READ_CHOICE(value, option, field) (value == Py_None || read_choice(value, choices, option, &options->field))
#define READ_DTYPE READ_CHOICE
#define READ_COUNT(value, option, field) (value == Py_None || read_small(value, &options->field))
#define READ_INT32 READ_COUNT
#define READ_INT64(value, option, field) number_of(value, &options->field)
#define READ_GIVEN(value, option, field) (value == Py_None || read_given(value, &options->has_##field, &options->field))
#define READ_FLAG(value, option, field) read_##field(value, &options->field)
#define READ_FILL(value, option, field) 1 /* read_fill() reads it */

/* Reads one option except for a fill value. */
static inline int read_option(int option, PyObject *value, PyObject *choices, gth_options *options) {
  switch (option) {
#define OPTION_CASE(NAME, name, field, type) \
  case FIELD_##NAME: return READ_##type(value, FIELD_##NAME, field);
    OPTION_FIELDS(OPTION_CASE)
#undef OPTION_CASE
    default: return 0;
  }
}

/* Reads a fill value after the other options. It implies that bounds are filled, unless it is that of empty bags or of
 * padding. Stores a value that is not a name in `element`. */
static inline int read_fill(PyObject *value, PyObject *choices, gth_options *options, PyObject **element) {
  if (value == Py_None) {
    return 1;
  }
  /* Padding of a gather is filled, whatever an index out of bounds does. */
  const int pads = options->has_padding_index && options->bag_format == 0;
  if (options->empty != GTH_EMPTY_FILL && !pads) {
    if (options->bounds != 0 && options->bounds != GTH_BOUNDS_FILL) {
      return 0;
    }
    options->bounds = GTH_BOUNDS_FILL;
  }
  if (PyUnicode_Check(value)) {
    return read_choice(value, choices, FIELD_FILL_VALUE, &options->fill);
  }
  options->fill = GTH_FILL_VALUE;
  *element = value;
  return 1;
}

/* Reads all options of a Request except for the fill value. */
static inline int read_options(PyObject *const *values, PyObject *choices, gth_options *options) {
#define OPTION_AND(NAME, name, field, type) READ_##type(values[FIELD_##NAME], FIELD_##NAME, field) &&
  return OPTION_FIELDS(OPTION_AND) 1;
#undef OPTION_AND
}

#endif
