#include "switches.h"

#include "error.h"

#include <math.h>
#include <string.h>

int options_of(const state *known, arguments fields, gth_options *options, PyObject **fill_value) {
  PyObject *given = fields[FIELD_FILL_VALUE], *fill = given == known->null_fill ? Py_None : given;
  return read_options(fields, known->choices, options) && read_fill(fill, known->choices, options, fill_value);
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
  return kind == Py_None || read_choice(kind, known->choices, OPTIONS, number);
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
 * Python code handles. All supported machines are little-endian, so an integer begins with its lowest bytes. */
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
