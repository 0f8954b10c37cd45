#include "view.h"

#include "buffer.h"
#include "numbers.h"

#include <string.h>

typedef struct exporter {
  PyObject_HEAD PyObject *owner;
  PyObject *format;
  void *data;
  Py_ssize_t itemsize, size;
  int ndim, readonly;
  Py_ssize_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
} exporter;

static int get_buffer(PyObject *self, Py_buffer *buffer, int flags) {
  exporter *from = (exporter *)self;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && from->readonly) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only");
    return -1;
  }
  Py_INCREF(self);
  *buffer = (Py_buffer){
      .buf = from->data,
      .obj = self,
      .len = from->size,
      .itemsize = from->itemsize,
      .readonly = from->readonly,
      .ndim = from->ndim,
      .format = (char *)PyUnicode_AsUTF8AndSize(from->format, NULL),
      .shape = from->shape,
      .strides = from->strides,
  };
  return 0;
}

static void dealloc(PyObject *self) {
  exporter *ended = (exporter *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(ended->owner);
  Py_XDECREF(ended->format);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc}, {Py_bf_getbuffer, (void *)get_buffer}, {0, NULL}};

static PyType_Spec spec = {.name = "libgather._objects.Memory",
                           .basicsize = sizeof(exporter),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

PyObject *memory_type_new(void) { return PyType_FromSpec(&spec); }

/* The address of memory of 0 bytes, because consumers of buffers interpret NULL as an error. */
static char nothing[1];

/* Returns a memoryview of memory of the library. A memoryview requests all fields, and get_buffer() sets them all. */
PyObject *view(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 7) {
    PyErr_SetString(PyExc_TypeError, "view(owner, address, format, itemsize, shape, strides, readonly)");
    return NULL;
  }
  int64_t shape[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
  void *data = address_of(args[1]);
  const Py_ssize_t itemsize = PyLong_AsSsize_t(args[3]);
  const int ndim = extents_of(args[4], shape);
  if (PyErr_Occurred() || extents_of(args[5], strides) != ndim || !PyUnicode_AsUTF8AndSize(args[2], NULL)) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "shape and strides of different rank");
    }
    return NULL;
  }
  exporter *made = PyObject_New(exporter, (PyTypeObject *)state_of(module)->memory_type);
  if (!made) {
    return NULL;
  }
  Py_INCREF(args[0]);
  Py_INCREF(args[2]);
  made->owner = args[0];
  made->format = args[2];
  made->data = data ? data : nothing;
  made->itemsize = made->size = itemsize;
  made->ndim = ndim;
  made->readonly = args[6] == Py_True;
  for (int i = 0; i < ndim; i++) {
    made->shape[i] = (Py_ssize_t)shape[i];
    made->strides[i] = (Py_ssize_t)strides[i];
    made->size *= made->shape[i];
  }
  PyObject *memory = PyMemoryView_FromObject((PyObject *)made);
  Py_DECREF(made);
  return memory;
}

PyObject *buffer_of(PyObject *module, PyObject *object) {
  (void)module;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS_RO)) {
    return NULL;
  }
  PyObject *found = Py_BuildValue("(iN)", (int)buffer_dtype(&buffer), PyLong_FromVoidPtr(buffer.buf));
  PyBuffer_Release(&buffer);
  return found;
}
