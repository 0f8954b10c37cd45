/* libgather._objects: calls on Python objects that cffi cannot make. It runs operations on buffers, exchanges capsules,
 * and exports memory of the library as buffers. */
#ifndef LIBGATHER_OBJECTS_H
#define LIBGATHER_OBJECTS_H

#include <Python.h>
#include <gather/gather.h>

typedef PyObject *const *arguments;

/* NumPy's function that creates arrays. Its parameters are type, descriptor, rank, extents, strides, memory, flags and
 * owner. */
typedef PyObject *(*ndarray_maker)(PyObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *, int,
                                   PyObject *);

/* A type whose arrays are read through DLPack's exchange table. See exchange.c. */
typedef struct exchange {
  PyObject *type;
  const struct dl_exchange *table; /* of the capsule */
  PyObject *capsule, *is_plain, *is_negated, *forward_mode, *written;
} exchange;

/* A type of Arrow arrays of numbers. See arrow.c. */
typedef struct arrow_type {
  PyObject *type;
  int32_t dtype;
} arrow_type;

enum { EXCHANGES = 4, ARROW_TYPES = 16 };

/* The state of a module. Each interpreter has its own module. The Python side sets the first six by configure(), and
 * the others when it imports a library. */
typedef struct state {
  PyObject *make_error;   /* a function from the fields of a gth_error, as a tuple, to the exception */
  PyObject *buffer_types; /* a tuple of types that the buffer protocol describes completely */
  PyObject *choices;      /* dicts from the names of switches to their numbers. See switches.c */
  PyObject *locate; /* a function that adds the place of an index to an exception, with the arguments of run_arrays() */
  PyObject *tensor_type; /* libgather.Tensor */
  PyObject *general;     /* the general path, with the arguments of run_arrays() */
  PyObject *ndarray;     /* numpy.ndarray, or NULL if NumPy is not imported or its layout is unknown */
  PyObject *int64;       /* NumPy's int64 dtype if ndarray is set */
  ndarray_maker new_ndarray;
  exchange exchanges[EXCHANGES]; /* unused entries have no type */
  arrow_type arrow_types[ARROW_TYPES];
  PyObject *arrow_export, *arrow_import;                 /* the name of a method, and a function of pyarrow */
  PyObject *type_name, *requires_grad_name, *level_name; /* interned names of attributes */
  PyObject *memory_type;
  PyObject *handle_type;
} state;

const state *state_of(PyObject *module);

/* Replaces the object of a slot. */
void keep(PyObject **slot, PyObject *object);

/* Returns the exception for an error. Returns NULL with another exception set if it cannot be created. */
PyObject *exception_of(const state *known, const gth_error *error);

/* Raises an exception and steals the reference. NULL means that one is already raised. Returns NULL. */
PyObject *raise_exception(PyObject *exception);
PyObject *raise_error(const state *known, const gth_error *error);

/* Sets the error of a closed handle. Returns its status. */
int32_t closed_error(int32_t operand, gth_error *error);
PyObject *raise_closed(const state *known, int32_t operand);

/* Returns an address, or a handle's token, from a Python integer. Returns NULL with an exception set on an error. */
void *address_of(PyObject *number);

/* Reads a tuple of integers as extents or strides. Returns the rank, or -1 with an exception set. */
int extents_of(PyObject *tuple, int64_t *extents);
PyObject *tuple_of(int count, const int64_t *extents);

PyObject *run_arrays(PyObject *module, arguments args, Py_ssize_t count);
PyObject *run_buffers(PyObject *module, arguments args, Py_ssize_t count);
PyObject *partition(PyObject *module, arguments args, Py_ssize_t count);
PyObject *join(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan(PyObject *module, arguments args, Py_ssize_t count);
PyObject *plan_run(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound(PyObject *module, arguments args, Py_ssize_t count);
PyObject *bound_run(PyObject *module, PyObject *capsule);
PyObject *capsule_address(PyObject *module, arguments args, Py_ssize_t count);
PyObject *dlpack_used(PyObject *module, PyObject *capsule);
PyObject *dlpack_capsule(PyObject *module, arguments args, Py_ssize_t count);
PyObject *exchange_out_of(PyObject *module, arguments args, Py_ssize_t count);
PyObject *exchange_into(PyObject *module, arguments args, Py_ssize_t count);
PyObject *arrow_capsules(PyObject *module, arguments args, Py_ssize_t count);
PyObject *address(PyObject *module, PyObject *exporter);
PyObject *view(PyObject *module, arguments args, Py_ssize_t count);
PyObject *handle(PyObject *module, arguments args, Py_ssize_t count);
PyObject *xla_handler(PyObject *module, PyObject *unused);

/* Creates the types of this module. Returns NULL with an exception set on an error. */
PyObject *memory_type_new(void);
PyObject *handle_type_new(void);

#endif
