#include "function.h"

#include "program.h"
#include "run.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* These names are part of the limited API of Python 3.12. Python 3.11 has the same flag and the same protocol. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif

typedef PyObject *(*vectorcall)(PyObject *self, arguments args, size_t count, PyObject *names);

static const size_t vectorcall_flag = (size_t)1 << (8 * sizeof(size_t) - 1);

/* The parameters of a function. Enough for all operations. */
enum { PARAMETERS = 24 };

/* The ways to run a call. */
enum kind { OPERATION, TAKE };

/* A function. Its Python function has the same parameters, and runs the calls that are not supported here. */
typedef struct function_object {
  PyObject_HEAD vectorcall call;
  PyObject *attributes; /* its dict */
  PyObject *references; /* the weak references to it */
  PyObject *module, *python;
  PyObject *names;    /* a tuple of the names of the parameters */
  PyObject *defaults; /* a tuple of the arguments of run_arrays() before those of a call are read */
  PyObject *modes;    /* a dict from the values of the profile parameter to profiles, or None */
  enum kind kind;
  Py_ssize_t required, positional, parameters;
  PyObject *name_of[PARAMETERS], *default_of[ARGUMENTS]; /* the items of both tuples */
  repeat last;                                           /* the last call */
  program program;                                       /* of the last call on arrays of JAX */
  unsigned char places[PARAMETERS];                      /* of the parameters in the arguments of run_arrays() */
} function_object;

/* Returns the number of the parameter with a name, or -1. Names in source code are interned. */
static Py_ssize_t parameter_named(const function_object *self, PyObject *name) {
  for (Py_ssize_t i = 0; i < self->parameters; i++) {
    if (self->name_of[i] == name) {
      return i;
    }
  }
  for (Py_ssize_t i = 0; i < self->parameters; i++) {
    if (PyUnicode_Compare(self->name_of[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

/* Stores an argument of a call. A fill_value of None means null for columns, if the call has given it. */
static void read_argument(const function_object *self, int place, PyObject *value, PyObject **read) {
  const int is_null = value == Py_None && place == ARG_FILL_VALUE;
  read[place] = is_null ? state_of(self->module)->null_fill : value;
}

/* Stores the arguments of a call as those of run_arrays(). Returns false, without an exception, if they do not fit. */
static int read_arguments(const function_object *self, arguments args, Py_ssize_t count, PyObject *names,
                          PyObject **read) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  int given = count < self->required ? (int)count : (int)self->required;
  if (count > self->positional) {
    return 0;
  }
  memcpy(read, self->default_of, sizeof self->default_of);
  for (Py_ssize_t i = 0; i < count; i++) {
    read[self->places[i]] = args[i];
  }
  for (Py_ssize_t i = 0; i < named; i++) {
    const Py_ssize_t parameter = parameter_named(self, PyTuple_GetItem(names, i));
    if (parameter < count) {
      return 0;
    }
    read_argument(self, self->places[parameter], args[count + i], read);
    given += parameter < self->required;
  }
  return given == self->required;
}

/* Runs a call with NumPy's rules. Returns NotImplemented for calls that are not supported here. */
static PyObject *run_numpys(function_object *self, PyObject **args) {
  const state *known = state_of(self->module);
  enum rules rules = NUMPY_RULES;
  if (args[ARG_AXIS] == Py_None) {
    args[ARG_AXIS] = known->zero;
    rules = NUMPY_RULES_FLAT;
  }
  if (self->modes != Py_None) {
    PyObject *mode = args[ARG_PROFILE];
    args[ARG_PROFILE] = PyUnicode_CheckExact(mode) ? PyDict_GetItem(self->modes, mode) : NULL;
    if (!args[ARG_PROFILE]) {
      Py_RETURN_NOTIMPLEMENTED;
    }
  }
  return run_request(known, args, rules, &self->last);
}

/* Runs a call in Python. */
static PyObject *run_python(const function_object *self, arguments args, Py_ssize_t count, PyObject *names) {
  PyObject *positional = PyTuple_New(count), *named = PyDict_New();
  for (Py_ssize_t i = 0; positional && i < count; i++) {
    Py_INCREF(args[i]);
    PyTuple_SetItem(positional, i, args[i]);
  }
  int failed = !positional || !named;
  for (Py_ssize_t i = 0; !failed && names && i < PyTuple_Size(names); i++) {
    failed = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[count + i]);
  }
  PyObject *result = failed ? NULL : PyObject_Call(self->python, positional, named);
  Py_XDECREF(positional);
  Py_XDECREF(named);
  return result;
}

static PyObject *call_vector(PyObject *object, arguments args, size_t flagged, PyObject *names) {
  function_object *self = (function_object *)object;
  const Py_ssize_t count = (Py_ssize_t)(flagged & ~vectorcall_flag);
  PyObject *read[ARGUMENTS];
  if (!read_arguments(self, args, count, names, read)) {
    return run_python(self, args, count, names);
  }
  const state *known = state_of(self->module);
  PyObject *result = self->kind == OPERATION ? program_run(known, &self->program, read) : run_numpys(self, read);
  if (result != Py_NotImplemented) {
    return result;
  }
  Py_DECREF(result);
  return self->kind == OPERATION ? run_or_general(known, read, &self->last) : run_python(self, args, count, names);
}

static PyObject *call_tuple(PyObject *self, PyObject *args, PyObject *named) {
  return PyObject_Call(self, args, named); /* it uses the vector call */
}

/* If a class has a function as an attribute, the function does not become a method, as with built-in functions. */
static PyObject *get(PyObject *self, PyObject *object, PyObject *type) {
  (void)object, (void)type;
  Py_INCREF(self);
  return self;
}

static PyObject *represent(PyObject *self) { return PyObject_Repr(((function_object *)self)->python); }

/* A function is pickled by its name, like a Python function. */
static PyObject *reduce(PyObject *self, PyObject *nothing) {
  (void)nothing;
  return PyObject_GetAttrString(self, "__qualname__");
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
  function_object *self = (function_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->attributes);
  Py_VISIT(self->module);
  Py_VISIT(self->python);
  Py_VISIT(self->names);
  Py_VISIT(self->defaults);
  Py_VISIT(self->modes);
  return program_traverse(&self->program, visit, arg);
}

static int clear(PyObject *object) {
  function_object *self = (function_object *)object;
  Py_CLEAR(self->attributes);
  program_drop(&self->program);
  return 0;
}

static void dealloc(PyObject *object) {
  function_object *self = (function_object *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->references) {
    PyObject_ClearWeakRefs(object);
  }
  clear(object);
  repeat_drop(&self->last);
  Py_XDECREF(self->module);
  Py_XDECREF(self->python);
  Py_XDECREF(self->names);
  Py_XDECREF(self->defaults);
  Py_XDECREF(self->modes);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(function_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(function_object, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(function_object, references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef properties[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},   {Py_tp_traverse, (void *)traverse},
                              {Py_tp_clear, (void *)clear},       {Py_tp_call, (void *)call_tuple},
                              {Py_tp_descr_get, (void *)get},     {Py_tp_repr, (void *)represent},
                              {Py_tp_methods, (void *)methods},   {Py_tp_members, (void *)members},
                              {Py_tp_getset, (void *)properties}, {0, NULL}};

static PyType_Spec spec = {
    .name = "libgather._objects.Function",
    .basicsize = sizeof(function_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots};

PyObject *function_type_new(void) { return PyType_FromSpec(&spec); }

static PyObject *owned(PyObject *object) {
  Py_INCREF(object);
  return object;
}

PyObject *function(PyObject *module, arguments args, Py_ssize_t count) {
  enum { PYTHON, KIND, NAMES, PLACES, REQUIRED, POSITIONAL, DEFAULTS, MODES, COUNT };
  if (count != COUNT || PyTuple_Size(args[NAMES]) > PARAMETERS || PyTuple_Size(args[DEFAULTS]) != ARGUMENTS) {
    PyErr_SetString(PyExc_TypeError, "function(python, kind, names, places, required, positional, defaults, modes)");
    return NULL;
  }
  const state *known = state_of(module);
  function_object *made = PyObject_GC_New(function_object, (PyTypeObject *)known->function_type);
  if (!made) {
    return NULL;
  }
  made->call = call_vector;
  made->attributes = made->references = NULL;
  made->last = (repeat){.plan = NULL};
  made->program = (program){NULL, NULL};
  made->module = owned(module);
  made->python = owned(args[PYTHON]);
  made->names = owned(args[NAMES]);
  made->defaults = owned(args[DEFAULTS]);
  made->modes = owned(args[MODES]);
  made->kind = (enum kind)PyLong_AsLong(args[KIND]);
  made->required = PyLong_AsSsize_t(args[REQUIRED]);
  made->positional = PyLong_AsSsize_t(args[POSITIONAL]);
  made->parameters = PyTuple_Size(args[NAMES]);
  for (Py_ssize_t i = 0; i < made->parameters; i++) {
    made->name_of[i] = PyTuple_GetItem(args[NAMES], i);
    made->places[i] = (unsigned char)PyLong_AsLong(PyTuple_GetItem(args[PLACES], i));
  }
  for (Py_ssize_t i = 0; i < ARGUMENTS; i++) {
    made->default_of[i] = PyTuple_GetItem(args[DEFAULTS], i);
  }
  PyObject_GC_Track((PyObject *)made);
  return (PyObject *)made;
}
