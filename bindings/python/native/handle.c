#include "handle.h"

#include "numbers.h"

#include <stdatomic.h>
#include <string.h>

enum { CLOSED = 1, USE = 2 };

typedef struct held {
  PyObject_HEAD void *token;
  int32_t (*release)(void *token);
  atomic_llong uses; /* the sum of USE for each running call, and CLOSED after a close */
} held;

static int32_t release_context(void *token) { return gth_context_release(token); }

static int32_t release_plan(void *token) { return gth_plan_release(token); }

static void release(held *ended) {
  Py_BEGIN_ALLOW_THREADS
  ended->release(ended->token);
  Py_END_ALLOW_THREADS
}

void *handle_enter(PyObject *handle) {
  held *used = (held *)handle;
  long long uses = atomic_load(&used->uses);
  do {
    if (uses & CLOSED) {
      return NULL;
    }
  } while (!atomic_compare_exchange_weak(&used->uses, &uses, uses + USE));
  return used->token;
}

void handle_leave(PyObject *handle) {
  held *used = (held *)handle;
  if (atomic_fetch_sub(&used->uses, USE) == USE + CLOSED) {
    release(used);
  }
}

PyObject *handle_of_context(const state *known, PyObject *context) {
  if (context == Py_None) {
    Py_INCREF(context);
    return context;
  }
  PyObject *handle = PyObject_GetAttrString(context, "_handle");
  if (!handle) {
    PyErr_Clear();
  } else if ((PyObject *)Py_TYPE(handle) != known->handle_type) {
    Py_CLEAR(handle);
  }
  return handle;
}

static PyObject *enter(PyObject *self, PyObject *nothing) {
  (void)nothing;
  void *token = handle_enter(self);
  if (!token) {
    Py_RETURN_NONE;
  }
  return PyLong_FromVoidPtr(token);
}

static PyObject *leave(PyObject *self, PyObject *pointer) {
  (void)pointer;
  handle_leave(self);
  Py_RETURN_NONE;
}

static PyObject *end(PyObject *self, PyObject *nothing) {
  (void)nothing;
  held *closed = (held *)self;
  if (atomic_fetch_or(&closed->uses, CLOSED) == 0) {
    release(closed);
  }
  Py_RETURN_NONE;
}

static void dealloc(PyObject *self) {
  held *ended = (held *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (atomic_load(&ended->uses) == 0) { /* no call is running, because it would hold a reference */
    release(ended);
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"enter", enter, METH_NOARGS, "Begins a use. Returns the token, or None if the handle is closed."},
    {"leave", leave, METH_O, "Ends a use. The argument is ignored."},
    {"close", end, METH_NOARGS, "Releases the handle after the running calls have left it."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {.name = "libgather._objects.Handle",
                           .basicsize = sizeof(held),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

PyObject *handle_type_new(void) { return PyType_FromSpec(&spec); }

PyObject *handle(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "handle(kind, token)");
    return NULL;
  }
  const char *kind = PyUnicode_AsUTF8AndSize(args[0], NULL);
  void *token = kind ? address_of(args[1]) : NULL;
  if (PyErr_Occurred()) {
    return NULL;
  }
  held *made = PyObject_New(held, (PyTypeObject *)state_of(module)->handle_type);
  if (made) {
    made->token = token;
    made->release = strcmp(kind, "gth_plan") ? release_context : release_plan;
    atomic_init(&made->uses, 0);
  }
  return (PyObject *)made;
}
