/* libgather._objects: the Python objects that cffi has no words for. Calls over buffers in one crossing, capsules, and
 * memory of the library as a buffer. */
#ifndef LIBGATHER_OBJECTS_H
#define LIBGATHER_OBJECTS_H

#include <Python.h>
#include <gather/gather.h>

typedef PyObject *const *arguments;

/* NumPy's function for new arrays: type, descriptor, rank, extents, strides, memory, flags, and whose array it is. */
typedef PyObject *(*ndarray_maker)(PyObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *, int,
                                   PyObject *);

/* A type whose arrays are read through DLPack's exchange table: exchange.c. */
typedef struct exchange {
  PyObject *type;
  const struct dl_exchange *table; /* of the capsule */
  PyObject *capsule, *is_plain, *is_negated, *forward_mode, *written;
} exchange;

/* A type of Arrow's arrays of numbers: arrow.c. */
typedef struct arrow_type {
  PyObject *type;
  int32_t dtype;
} arrow_type;

enum { EXCHANGES = 4, ARROW_TYPES = 16 };

/* What a module knows: each interpreter has a module of its own. The first six are what the Python side hands over
 * once, by configure(); the others come as their libraries are met. */
typedef struct state {
  PyObject *make_error;   /* the fields of a gth_error as a tuple -> the exception */
  PyObject *buffer_types; /* a tuple of types whose buffer protocol tells all there is to know about them */
  PyObject *choices;      /* dicts of the names of switches to their numbers: switches.c */
  PyObject *locate; /* adds to an exception where its index stands: the exception and the arguments of run_arrays() */
  PyObject *tensor_type; /* libgather.Tensor */
  PyObject *general;     /* does what run_buffers() does not: the arguments of run_arrays() */
  PyObject *ndarray;     /* numpy.ndarray, or NULL while NumPy has not been met, or is not legible */
  PyObject *int64;       /* NumPy's dtype, where there is ndarray */
  ndarray_maker new_ndarray;
  exchange exchanges[EXCHANGES]; /* as many as have a type */
  arrow_type arrow_types[ARROW_TYPES];
  PyObject *arrow_export, *arrow_import;                 /* the name of a method, and a function of pyarrow's */
  PyObject *type_name, *requires_grad_name, *level_name; /* of attributes, to be looked up */
  PyObject *memory_type;
  PyObject *handle_type;
} state;

const state *state_of(PyObject *module);

/* Has a slot hold an object in place of the one before. */
void keep(PyObject **slot, PyObject *object);

/* The exception for an error. NULL with another exception set if it cannot be made. */
PyObject *exception_of(const state *known, const gth_error *error);

/* Raises an exception and takes the reference; NULL: one has been raised. Returns NULL. */
PyObject *raise_exception(PyObject *exception);
PyObject *raise_error(const state *known, const gth_error *error);

/* What is told of a handle that has been closed. Returns the status. */
int32_t closed_error(int32_t operand, gth_error *error);
PyObject *raise_closed(const state *known, int32_t operand);

/* An address, or a handle's token, out of a Python integer; NULL with an exception set if it is none. */
void *address_of(PyObject *number);

/* A tuple of integers as extents or strides. The rank, or -1 with an exception set. */
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

/* The types of this module; NULL with an exception set if there is no memory for them. */
PyObject *memory_type_new(void);
PyObject *handle_type_new(void);

#endif
