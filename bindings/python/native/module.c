#include "arrow.h"
#include "exchange.h"
#include "numpy.h"

#include <string.h>

const state *state_of(PyObject *module) { return PyModule_GetState(module); }

PyObject *exception_of(const state *known, const gth_error *error) {
  return PyObject_CallFunction(known->make_error, "((iiiILLLLN))", (int)error->status, (int)error->operand,
                               (int)error->component, (unsigned)error->flags, (long long)error->position,
                               (long long)error->value, (long long)error->limit, (long long)error->item,
                               PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace"));
}

PyObject *raise_exception(PyObject *exception) {
  if (exception) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

PyObject *raise_error(const state *known, const gth_error *error) {
  return raise_exception(exception_of(known, error));
}

int32_t closed_error(int32_t operand, gth_error *error) {
  error->operand = operand;
  error->status = GTH_E_HANDLE;
  return error->status;
}

PyObject *raise_closed(const state *known, int32_t operand) {
  gth_error error = GTH_ERROR_INIT;
  closed_error(operand, &error);
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

void keep(PyObject **slot, PyObject *object) {
  PyObject *before = *slot;
  Py_INCREF(object);
  *slot = object;
  Py_XDECREF(before);
}

static PyObject *configure(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 6) {
    PyErr_SetString(PyExc_TypeError, "configure(make_error, buffer_types, choices, locate, general, tensor_type)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  keep(&known->make_error, args[0]);
  keep(&known->buffer_types, args[1]);
  keep(&known->choices, args[2]);
  keep(&known->locate, args[3]);
  keep(&known->general, args[4]);
  keep(&known->tensor_type, args[5]);
  Py_RETURN_NONE;
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
#define ONE(name, function) {name, (PyCFunction)(function), METH_O, NULL}

/* Signatures are in _objects.pyi. */
static PyMethodDef methods[] = {
    FAST("configure", configure),
    FAST("configure_numpy", configure_numpy),
    FAST("configure_exchange", configure_exchange),
    FAST("configure_arrow", configure_arrow),
    FAST("run_arrays", run_arrays),
    FAST("run_buffers", run_buffers),
    FAST("partition", partition),
    FAST("join", join),
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
  known->type_name = PyUnicode_InternFromString("type");
  known->requires_grad_name = PyUnicode_InternFromString("requires_grad");
  known->level_name = PyUnicode_InternFromString("_current_level");
  const int named = known->type_name && known->requires_grad_name && known->level_name;
  known->memory_type = named ? memory_type_new() : NULL;
  known->handle_type = known->memory_type ? handle_type_new() : NULL;
  return known->handle_type
             ? PyModule_AddStringConstant(module, "__doc__", "Calls on Python objects that cffi cannot make.")
             : -1;
}

/* Returns the address of each object reference of the module state, by number. Returns NULL after the last one. */
static PyObject **slot_of(state *known, size_t number) {
  PyObject **const slots[] = {&known->make_error,   &known->buffer_types, &known->choices,
                              &known->locate,       &known->general,      &known->tensor_type,
                              &known->ndarray,      &known->int64,        &known->arrow_export,
                              &known->arrow_import, &known->type_name,    &known->requires_grad_name,
                              &known->level_name,   &known->memory_type,  &known->handle_type};
  const size_t alone = sizeof slots / sizeof *slots;
  if (number < alone) {
    return slots[number];
  }
  number -= alone;
  if (number < ARROW_TYPES) {
    return &known->arrow_types[number].type;
  }
  number -= ARROW_TYPES;
  enum { PARTS = 6 };
  if (number >= EXCHANGES * PARTS) {
    return NULL;
  }
  exchange *entry = &known->exchanges[number / PARTS];
  PyObject **const parts[PARTS] = {&entry->type,       &entry->capsule,      &entry->is_plain,
                                   &entry->is_negated, &entry->forward_mode, &entry->written};
  return parts[number % PARTS];
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  PyObject **slot;
  for (size_t i = 0; (slot = slot_of(PyModule_GetState(module), i)); i++) {
    Py_VISIT(*slot);
  }
  return 0;
}

static int clear(PyObject *module) {
  PyObject **slot;
  for (size_t i = 0; (slot = slot_of(PyModule_GetState(module), i)); i++) {
    Py_CLEAR(*slot);
  }
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
