/* The state of libgather._objects. Each interpreter has its own module, and its own state. */
#ifndef LIBGATHER_STATE_H
#define LIBGATHER_STATE_H

#include <Python.h>
#include <gather/gather.h>

/* The arguments of a function with METH_FASTCALL. */
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

enum { EXCHANGES = 4 };

/* Python code sets the first seven by configure(), and the others when it imports a library. */
typedef struct state {
  PyObject *make_error;   /* a function from the fields of a gth_error, as a tuple, to the exception */
  PyObject *buffer_types; /* a tuple of types that the buffer protocol describes completely */
  PyObject *choices;      /* dicts from names to numbers for each option, or None. Then that of the kinds of shards */
  PyObject *locate; /* a function that adds the place of an index to an exception, with the arguments of run_arrays() */
  PyObject *general;     /* the general path, with the arguments of run_arrays() */
  PyObject *tensor_type; /* libgather.Tensor */
  PyObject *packed_type; /* the base of libgather.Packed and libgather.Table */
  PyObject *ndarray;     /* numpy.ndarray, or NULL if NumPy is not imported or its layout is unknown */
  PyObject *memmap;      /* numpy.memmap if ndarray is set. Its arrays have the same fields */
  PyObject *int64;       /* NumPy's int64 dtype if ndarray is set */
  ndarray_maker new_ndarray;
  int numpy_abi;                 /* the number of the layout of NumPy's descriptors */
  exchange exchanges[EXCHANGES]; /* unused entries have no type */
  PyObject *frame_takers;        /* a dict of types, or NULL. See column.h */
  PyObject *arrow_types; /* a dict from the types of Arrow to their entries. See arrow.h. NULL without pyarrow */
  PyObject *arrow_export, *arrow_import; /* the name of a method, and a function of pyarrow */
  PyObject *program_type;                /* the type of the arrays of JAX, or NULL. See program.h */
  PyObject *find_program;                /* a function from the arguments of run_arrays() to a program */
  PyObject *type_name, *requires_grad_name, *level_name; /* interned names of attributes */
  PyObject *sharding_name, *dtype_name, *wait_name;
  PyObject *memory_type;
  PyObject *handle_type;
  PyObject *function_type;
  PyObject *zero;      /* the integer */
  PyObject *null_fill; /* stands for a fill_value of None that a call has given */
} state;

const state *state_of(PyObject *module);

/* Replaces the object of a slot. */
void keep(PyObject **slot, PyObject *object);

/* Visits and clears all objects of a state, for the garbage collector. */
int state_traverse(state *known, visitproc visit, void *arg);
int state_clear(state *known);

#endif
