#include "switches.h"

#include "error.h"
#include "numbers.h"

#include <math.h>
#include <string.h>

/* The dicts of names, in the order of configure(). */
enum {
  NEGATIVE,
  BOUNDS,
  PROFILES,
  EXTENTS,
  REDUCTIONS,
  ACCUMULATES,
  BAG_FORMATS,
  POOLS,
  EMPTIES,
  OUT_DTYPES,
  FILLS,
  SHARD_KINDS
};

/* Reads the number of a name. None leaves it unchanged. Returns false for an unknown name. */
static int choice(const state *known, int which, PyObject *name, int32_t *number) {
  if (name == Py_None) {
    return 1;
  }
  PyObject *found = PyUnicode_Check(name) ? PyDict_GetItem(PyTuple_GetItem(known->choices, which), name) : NULL;
  *number = found ? (int32_t)PyLong_AsLong(found) : 0;
  return found != NULL;
}

static int small_number(PyObject *value, int32_t *number) {
  int64_t given = 0;
  if (value != Py_None && (!number_of(value, &given) || given < INT32_MIN || given > INT32_MAX)) {
    return 0;
  }
  *number = (int32_t)given;
  return 1;
}

int switches_of(const state *known, arguments args, gth_options *options, PyObject **fill_value) {
  PyObject *negative = args[0], *bounds = args[1], *fill = args[2], *profile = args[3];
  if (!choice(known, NEGATIVE, negative, &options->negative) || !choice(known, BOUNDS, bounds, &options->bounds) ||
      !choice(known, PROFILES, profile, &options->profile) || !small_number(args[4], &options->opset) ||
      !small_number(args[5], &options->threads)) {
    return 0;
  }
  if (fill == Py_None || fill == known->null_fill) {
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
  if (PyUnicode_Check(fill)) {
    return choice(known, FILLS, fill, &options->fill);
  }
  options->fill = GTH_FILL_VALUE;
  *fill_value = fill;
  return 1;
}

/* Reads bag_format, pool, empty, padding_index and bag_count. */
static int bag_switches_of(const state *known, arguments args, gth_options *options) {
  PyObject *padding_index = args[3];
  options->has_padding_index = padding_index != Py_None;
  return choice(known, BAG_FORMATS, args[0], &options->bag_format) && choice(known, POOLS, args[1], &options->pool) &&
         choice(known, EMPTIES, args[2], &options->empty) &&
         (padding_index == Py_None || number_of(padding_index, &options->padding_index)) &&
         number_of(args[4], &options->bag_count);
}

/* Reads include_self. */
static int initial_of(PyObject *include_self, int32_t *initial) {
  *initial = include_self == Py_False ? GTH_INITIAL_UPDATE : 0;
  return PyBool_Check(include_self);
}

int options_of(const state *known, arguments fields, gth_options *options, PyObject **fill_value) {
  PyObject *axis = fields[FIELD_AXIS];
  arguments own = fields + FIELD_OWN_SWITCHES;
  options->has_axis = axis != Py_None;
  return (axis == Py_None || number_of(axis, &options->axis)) &&
         number_of(fields[FIELD_BATCH_DIMS], &options->batch_dims) && bag_switches_of(known, own + 3, options) &&
         switches_of(known, fields + FIELD_SWITCHES, options, fill_value) &&
         choice(known, EXTENTS, own[0], &options->extents) && choice(known, REDUCTIONS, own[1], &options->reduction) &&
         choice(known, ACCUMULATES, own[2], &options->accumulate) && initial_of(own[8], &options->initial) &&
         choice(known, OUT_DTYPES, own[9], &options->out_dtype);
}

PyObject *options(PyObject *module, arguments args, Py_ssize_t count) {
  enum { FILL, IMAGE, FIRST, ARGUMENTS = FIRST + FIELDS };
  gth_options read = GTH_OPTIONS_INIT;
  PyObject *fill_value;
  const Py_ssize_t size = count == ARGUMENTS ? PyBytes_Size(args[IMAGE]) : -1;
  if (size < 0 || size > (Py_ssize_t)sizeof read.fill_value) {
    return wrong_arguments("options(fill, image, *request)");
  }
  if (!options_of(state_of(module), args + FIRST, &read, &fill_value)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  read.fill = (int32_t)PyLong_AsLong(args[FILL]);
  memcpy(read.fill_value, PyBytes_AsString(args[IMAGE]), (size_t)size);
  return PyBytes_FromStringAndSize((const char *)&read, sizeof read);
}

int shard_kind_of(const state *known, PyObject *kind, int32_t *number) {
  return choice(known, SHARD_KINDS, kind, number);
}

static int float_image(double value, int32_t dtype, void *image) {
  const float narrow = (float)value;
  if (dtype == GTH_DTYPE_FLOAT64) {
    memcpy(image, &value, sizeof value);
    return 1;
  }
  if (dtype != GTH_DTYPE_FLOAT32 || (isinf(narrow) && !isinf(value))) {
    return 0;
  }
  memcpy(image, &narrow, sizeof narrow);
  return 1;
}

/* Stores an integer as an element. Returns false if it does not fit, and for uint64 values beyond int64, which the
 * Python side handles. All supported machines are little-endian, so an integer begins with its lowest bytes. */
static int integer_image(PyObject *value, int32_t dtype, void *image) {
  const int bits = dtype & 0xff, is_signed = dtype < GTH_DTYPE_UINT8;
  int overflows = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflows);
  const long long highest = bits == 64 ? INT64_MAX : (1LL << (is_signed ? bits - 1 : bits)) - 1;
  if (overflows || number > highest || number < (is_signed ? -highest - 1 : 0)) {
    return 0;
  }
  memcpy(image, &number, (size_t)bits / 8);
  return 1;
}

/* Reads a float, or an integer that a float represents exactly. Returns false, without an exception, for others. */
static int float_of(PyObject *value, int32_t dtype, double *number) {
  if (PyFloat_CheckExact(value)) {
    *number = PyFloat_AsDouble(value);
    return 1;
  }
  const long long exact = dtype == GTH_DTYPE_FLOAT32 ? 1LL << 24 : 1LL << 53;
  int overflows = 0;
  const long long integer = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflows) : exact + 1;
  *number = (double)integer;
  return !overflows && integer >= -exact && integer <= exact;
}

int fill_image(PyObject *value, int32_t dtype, void *image) {
  if (dtype == GTH_DTYPE_FLOAT32 || dtype == GTH_DTYPE_FLOAT64) {
    double number;
    return float_of(value, dtype, &number) && float_image(number, dtype, image);
  }
  const int is_integer = dtype > 0 && dtype <= GTH_DTYPE_UINT64;
  return is_integer && PyLong_CheckExact(value) && integer_image(value, dtype, image);
}
