#include "capsules.h"

#include "exchange.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

static const char *const legacy_name = "dltensor", *const versioned_name = "dltensor_versioned";

PyObject *capsule_address(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "capsule_address(capsule, name)");
    return NULL;
  }
  const char *name = PyUnicode_AsUTF8AndSize(args[1], NULL);
  if (!name) {
    return NULL;
  }
  if (!PyCapsule_IsValid(args[0], name)) {
    PyErr_Format(PyExc_BufferError, "not a capsule of the name %s, or it has been used", name);
    return NULL;
  }
  return PyLong_FromVoidPtr(PyCapsule_GetPointer(args[0], name));
}

PyObject *dlpack_used(PyObject *module, PyObject *capsule) {
  (void)module;
  const char *used = PyCapsule_IsValid(capsule, versioned_name) ? "used_dltensor_versioned" : "used_dltensor";
  if (PyCapsule_SetName(capsule, used)) {
    return NULL;
  }
  Py_RETURN_NONE;
}

/* A consumer renames a capsule when it takes ownership. With the old name the struct is still owned by the capsule. */
static void free_legacy(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, legacy_name)) {
    dl_managed *managed = PyCapsule_GetPointer(capsule, legacy_name);
    managed->deleter(managed);
  }
}

static void free_versioned(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, versioned_name)) {
    dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, versioned_name);
    managed->deleter(managed);
  }
}

PyObject *dlpack_capsule(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "dlpack_capsule(address, versioned)");
    return NULL;
  }
  void *managed = address_of(args[0]);
  if (!managed) {
    return NULL;
  }
  return args[1] == Py_True ? PyCapsule_New(managed, versioned_name, free_versioned)
                            : PyCapsule_New(managed, legacy_name, free_legacy);
}

PyObject *exchange_out_of(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "exchange_out_of(table, object)");
    return NULL;
  }
  const dl_exchange *table = exchange_of(args[0]);
  dl_managed_versioned *managed = NULL;
  if (!table || table->from_object(args[1], &managed)) {
    return NULL;
  }
  return PyCapsule_New(managed, versioned_name, free_versioned);
}

PyObject *exchange_into(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "exchange_into(table, capsule)");
    return NULL;
  }
  const dl_exchange *table = exchange_of(args[0]);
  dl_managed_versioned *managed = table ? PyCapsule_GetPointer(args[1], versioned_name) : NULL;
  void *object = NULL;
  if (!managed || table->to_object(managed, &object)) {
    return NULL;
  }
  PyCapsule_SetName(args[1], "used_dltensor_versioned");
  return object;
}

/* The last fields of Arrow's structs: a function that is NULL after a release, and a pointer of the producer. */
typedef struct arrow_tail {
  void (*release)(void *self);
  void *producer;
} arrow_tail;

enum { SCHEMA_SIZE = 72, ARRAY_SIZE = 80 };

static void free_arrow(PyObject *capsule, const char *name, size_t size) {
  char *base = PyCapsule_GetPointer(capsule, name);
  arrow_tail *tail = (arrow_tail *)(void *)(base + size - sizeof(arrow_tail));
  if (tail->release) {
    tail->release(base);
  }
  free(base);
}

static void free_schema(PyObject *capsule) { free_arrow(capsule, "arrow_schema", SCHEMA_SIZE); }

static void free_array(PyObject *capsule) { free_arrow(capsule, "arrow_array", ARRAY_SIZE); }

/* Moves a struct into a new capsule. The source is then released. */
static PyObject *arrow_capsule(void *source, size_t size, const char *name, PyCapsule_Destructor destructor) {
  void *copy = malloc(size);
  if (!copy) {
    return PyErr_NoMemory();
  }
  memcpy(copy, source, size);
  PyObject *capsule = PyCapsule_New(copy, name, destructor);
  if (!capsule) {
    free(copy);
    return NULL;
  }
  ((arrow_tail *)(void *)((char *)source + size - sizeof(arrow_tail)))->release = NULL;
  return capsule;
}

PyObject *arrow_capsules(PyObject *module, arguments args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "arrow_capsules(schema, array)");
    return NULL;
  }
  void *schema = address_of(args[0]), *array = address_of(args[1]);
  return schema && array ? capsules_of(schema, array) : NULL;
}

PyObject *capsules_of(void *schema, void *array) {
  PyObject *first = arrow_capsule(schema, SCHEMA_SIZE, "arrow_schema", free_schema);
  PyObject *second = first ? arrow_capsule(array, ARRAY_SIZE, "arrow_array", free_array) : NULL;
  PyObject *both = second ? PyTuple_Pack(2, first, second) : NULL;
  Py_XDECREF(first);
  Py_XDECREF(second);
  return both;
}
