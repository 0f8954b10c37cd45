/* A Python extension that looks up rows of float32 by int64 ids. It uses the stable ABI of Python. */
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <gather/gather.h>

static PyObject *raise_failure(const gth_error *err) {
  if (err->status != GTH_E_INDEX) return PyErr_Format(PyExc_ValueError, "%s", err->message);
  PyObject *details = Py_BuildValue("(LLL)", (long long)err->position, (long long)err->value, (long long)err->limit);
  if (details) PyErr_SetObject(PyExc_IndexError, details);
  Py_XDECREF(details);
  return NULL;
}

static PyObject *gather(const Py_buffer *table, int64_t width, const Py_buffer *ids, const Py_buffer *out) {
  const int64_t row = width * (int64_t)sizeof(float), n = ids->len / (int64_t)sizeof(int64_t);
  const int64_t table_shape[] = {table->len / row, width}, out_shape[] = {n, width};
  gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, table->buf);
  gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &n, ids->buf);
  gth_tensor_desc rows = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape, out->buf);
  gth_error err = GTH_ERROR_INIT;
  params.extent = table->len, rows.extent = out->len;
  if (gth_gather(NULL, &params, &indices, &rows, NULL, &err) != GTH_OK) return raise_failure(&err);
  return Py_BuildValue("");
}

static PyObject *lookup(PyObject *module, PyObject *arguments) {
  Py_buffer table, ids, out;
  long long width;
  PyObject *result;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "y*Ly*w*", &table, &width, &ids, &out)) return NULL;
  result = gather(&table, width, &ids, &out);
  PyBuffer_Release(&table);
  PyBuffer_Release(&ids);
  PyBuffer_Release(&out);
  return result;
}

static PyMethodDef methods[] = {{"lookup", lookup, METH_VARARGS, "lookup(table, width, ids, out)"},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void);
PyMODINIT_FUNC PyInit_extension(void) {
  if (gth_abi_version() != GTH_ABI_VERSION) {
    PyErr_SetString(PyExc_ImportError, "libgather has another ABI");
    return NULL;
  }
  return PyModule_Create(&definition);
}
