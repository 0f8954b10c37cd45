#include "program.h"

#include <string.h>

/* Two threads without a GIL would share the program. */
#ifdef Py_GIL_DISABLED
static const int is_kept = 0;
#else
static const int is_kept = 1;
#endif

/* Returns true if a call has the same arguments as the last one. Equal objects need not be of the same type. */
static int is_last(const program *last, arguments key) {
  for (Py_ssize_t i = 0; last->key && i < ARGUMENTS; i++) {
    if (PyTuple_GetItem(last->key, i) != key[i]) {
      return 0;
    }
  }
  return last->key != NULL;
}

/* Returns a new reference to the program of a call, and keeps it. */
static PyObject *found(const state *known, program *last, arguments args, arguments key) {
  if (is_last(last, key)) {
    Py_INCREF(last->run);
    return last->run;
  }
  PyObject *run = call_python(known->find_program, NULL, args), *kept = run ? PyTuple_New(ARGUMENTS) : NULL;
  for (Py_ssize_t i = 0; kept && i < ARGUMENTS; i++) {
    Py_INCREF(key[i]);
    PyTuple_SetItem(kept, i, key[i]);
  }
  if (kept) {
    program_drop(last);
    *last = (program){kept, run};
    Py_INCREF(run);
  }
  return run;
}

/* Runs the program of a call with the given attributes of its table, which may be NULL. */
static PyObject *run_with(const state *known, program *last, arguments args, PyObject *sharding, PyObject *dtype) {
  if (!sharding || !dtype) {
    return NULL;
  }
  PyObject *key[ARGUMENTS];
  memcpy(key, args, sizeof key);
  key[ARG_TABLE] = sharding;
  key[ARG_INDICES] = dtype;
  PyObject *run = found(known, last, args, key);
  if (!run || run == Py_None) {
    return run;
  }
  PyObject *result = PyObject_CallFunctionObjArgs(run, args[ARG_TABLE], args[ARG_INDICES], NULL);
  PyObject *ready = result ? PyObject_CallMethodObjArgs(result, known->wait_name, NULL) : NULL;
  Py_XDECREF(result);
  Py_DECREF(run);
  return ready;
}

PyObject *program_run(const state *known, program *last, arguments args) {
  PyObject *table = args[ARG_TABLE], *type = (PyObject *)Py_TYPE(table);
  if (!is_kept || type != known->program_type || type != (PyObject *)Py_TYPE(args[ARG_INDICES]) ||
      args[ARG_ROWS] != Py_None || args[ARG_CONTEXT] != Py_None) { /* the key would keep a context */
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *sharding = PyObject_GetAttr(table, known->sharding_name);
  PyObject *dtype = sharding ? PyObject_GetAttr(table, known->dtype_name) : NULL;
  PyObject *result = run_with(known, last, args, sharding, dtype);
  Py_XDECREF(sharding);
  Py_XDECREF(dtype);
  if (result && result != Py_None) {
    return result;
  }
  Py_XDECREF(result);
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
    return NULL; /* such as KeyboardInterrupt */
  }
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

int program_traverse(const program *last, visitproc visit, void *arg) {
  Py_VISIT(last->key);
  Py_VISIT(last->run);
  return 0;
}

void program_drop(program *last) {
  const program before = *last;
  *last = (program){NULL, NULL};
  Py_XDECREF(before.key);
  Py_XDECREF(before.run);
}

PyObject *configure_programs(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "configure_programs(type, find)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  keep(&known->program_type, args[0]);
  keep(&known->find_program, args[1]);
  Py_RETURN_NONE;
}
