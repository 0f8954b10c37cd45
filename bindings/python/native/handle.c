#include "handle.h"

#include "error.h"
#include "numbers.h"

#include <stdatomic.h>

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

int context_enter(const state *known, PyObject *handle, gth_context **context) {
  *context = handle == Py_None ? NULL : handle_enter(handle);
  if (handle != Py_None && !*context) {
    raise_closed(known, GTH_OPERAND_CONTEXT);
  }
  return handle == Py_None || *context;
}

void context_leave(PyObject *handle) {
  if (handle != Py_None) {
    handle_leave(handle);
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

PyObject *handle_close(PyObject *handle) {
  held *closed = (held *)handle;
  if (atomic_fetch_or(&closed->uses, CLOSED) == 0) {
    release(closed);
  }
  Py_RETURN_NONE;
}

static PyObject *end(PyObject *self, PyObject *nothing) {
  (void)nothing;
  return handle_close(self);
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

/* Returns a new Handle, or NULL after a release of the token. */
static PyObject *handle_new(const state *known, void *token, int32_t (*release_token)(void *)) {
  held *made = PyObject_New(held, (PyTypeObject *)known->handle_type);
  if (!made) {
    release_token(token);
    return NULL;
  }
  made->token = token;
  made->release = release_token;
  atomic_init(&made->uses, 0);
  return (PyObject *)made;
}

PyObject *handle_of_plan(const state *known, gth_plan *plan) { return handle_new(known, plan, release_plan); }

PyObject *handle(PyObject *module, PyObject *token) {
  void *context = address_of(token);
  return PyErr_Occurred() ? NULL : handle_new(state_of(module), context, release_context);
}
