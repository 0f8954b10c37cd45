#include "array.h"
#include "exchange.h"

#include <string.h>

const state *state_of(PyObject *module) { return PyModule_GetState(module); }

PyObject *raise_error(const state *known, const gth_error *error) {
  PyObject *exception = PyObject_CallFunction(
      known->make_error, "((iiiILLLN))", (int)error->status, (int)error->operand, (int)error->component,
      (unsigned)error->flags, (long long)error->position, (long long)error->value, (long long)error->limit,
      PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace"));
  if (exception) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

PyObject *raise_closed(const state *known, int32_t operand) {
  gth_error error = GTH_ERROR_INIT;
  error.status = GTH_E_HANDLE;
  error.operand = operand;
  return raise_error(known, &error);
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
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "configure(make_error, buffer_types, choices)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  keep(&known->make_error, args[0]);
  keep(&known->buffer_types, args[1]);
  keep(&known->choices, args[2]);
  Py_RETURN_NONE;
}

static PyObject *configure_numpy(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "configure_numpy(ndarray, empty, any_array)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  known->is_legible = array_is_legible(args[2]);
  keep(&known->empty, args[1]);
  keep(&known->ndarray, args[0]);
  Py_RETURN_NONE;
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
#define ONE(name, function) {name, (PyCFunction)(function), METH_O, NULL}

/* Signatures are in _objects.pyi. */
static PyMethodDef methods[] = {
    FAST("configure", configure),
    FAST("configure_numpy", configure_numpy),
    FAST("configure_exchange", configure_exchange),
    FAST("gather", gather),
    FAST("scatter", scatter),
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
    FAST("handle", handle),
    {"xla_handler", xla_handler, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  state *known = PyModule_GetState(module);
  known->exchanges = PyDict_New();
  known->dtype_name = PyUnicode_InternFromString("dtype");
  known->memory_type = known->exchanges && known->dtype_name ? memory_type_new() : NULL;
  known->handle_type = known->memory_type ? handle_type_new() : NULL;
  return known->handle_type
             ? PyModule_AddStringConstant(module, "__doc__", "The Python objects that cffi has no words for.")
             : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  const state *known = PyModule_GetState(module);
  Py_VISIT(known->make_error);
  Py_VISIT(known->buffer_types);
  Py_VISIT(known->choices);
  Py_VISIT(known->dtype_name);
  Py_VISIT(known->exchanges);
  Py_VISIT(known->ndarray);
  Py_VISIT(known->empty);
  Py_VISIT(known->memory_type);
  Py_VISIT(known->handle_type);
  return 0;
}

static int clear(PyObject *module) {
  state *known = PyModule_GetState(module);
  Py_CLEAR(known->make_error);
  Py_CLEAR(known->buffer_types);
  Py_CLEAR(known->choices);
  Py_CLEAR(known->dtype_name);
  Py_CLEAR(known->exchanges);
  Py_CLEAR(known->ndarray);
  Py_CLEAR(known->empty);
  Py_CLEAR(known->memory_type);
  Py_CLEAR(known->handle_type);
  return 0;
}

static void release(void *module) { clear(module); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "libgather._objects",
                                 .m_size = sizeof(state),
                                 .m_methods = methods,
                                 .m_slots = slots,
                                 .m_traverse = traverse,
                                 .m_clear = clear,
                                 .m_free = release};

PyMODINIT_FUNC PyInit__objects(void) { return PyModuleDef_Init(&definition); }
