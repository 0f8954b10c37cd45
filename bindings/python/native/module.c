#include "objects.h"

settings configured;

PyObject *raise_error(const gth_error *error) {
  PyObject *exception = PyObject_CallFunction(
      configured.make_error, "((iiiILLLN))", (int)error->status, (int)error->operand, (int)error->component,
      (unsigned)error->flags, (long long)error->position, (long long)error->value, (long long)error->limit,
      PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace"));
  if (exception) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

void *address_of(PyObject *number) { return PyLong_AsVoidPtr(number); }

int extents_of(PyObject *tuple, int64_t *extents) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  if (count > GTH_MAX_NDIM) {
    PyErr_SetString(PyExc_ValueError, "more than 64 dims");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    extents[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (extents[i] == -1 && PyErr_Occurred()) {
      return -1;
    }
  }
  return (int)count;
}

PyObject *tuple_of(int count, const int64_t *extents) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; i++) {
    PyObject *extent = PyLong_FromLongLong(extents[i]);
    if (!extent || PyTuple_SetItem(tuple, i, extent)) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static void keep(PyObject **slot, PyObject *object) {
  PyObject *before = *slot;
  Py_INCREF(object);
  *slot = object;
  Py_XDECREF(before);
}

static PyObject *configure(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "configure(make_error, buffer_types)");
    return NULL;
  }
  keep(&configured.make_error, args[0]);
  keep(&configured.buffer_types, args[1]);
  Py_RETURN_NONE;
}

static PyObject *configure_numpy(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "configure_numpy(ndarray, empty)");
    return NULL;
  }
  keep(&configured.empty, args[1]);
  keep(&configured.ndarray, args[0]);
  Py_RETURN_NONE;
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
#define ONE(name, function) {name, (PyCFunction)(function), METH_O, NULL}

/* Signatures are in _objects.pyi. */
static PyMethodDef methods[] = {
    FAST("configure", configure),
    FAST("configure_numpy", configure_numpy),
    FAST("gather", gather),
    FAST("plan", plan),
    FAST("plan_run", plan_run),
    FAST("bound", bound),
    ONE("bound_run", bound_run),
    FAST("capsule_address", capsule_address),
    ONE("dlpack_used", dlpack_used),
    FAST("dlpack_capsule", dlpack_capsule),
    FAST("exchange_out_of", exchange_out_of),
    FAST("exchange_into", exchange_into),
    FAST("arrow_capsules", arrow_capsules),
    ONE("address", address),
    FAST("view", view),
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  return PyModule_AddStringConstant(module, "__doc__", "The Python objects that cffi has no words for.") || view_ready()
             ? -1
             : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "libgather._objects", .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__objects(void) { return PyModuleDef_Init(&definition); }
