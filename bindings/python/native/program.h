/* Compiled programs of another library, which run calls on its own arrays. JAX is the only such library. It records the
 * stack of each call of a program, so each function of Python between takes time. */
#ifndef LIBGATHER_PROGRAM_H
#define LIBGATHER_PROGRAM_H

#include "request.h"

/* The program of the last call of a function. */
typedef struct program {
  PyObject *key; /* a tuple: the arguments of the call, with attributes of the table instead of the arrays. Or NULL */
  PyObject *run; /* a function of table and indices, or None */
} program;

/* Runs a program on the arrays of a call. Returns NotImplemented, without an exception, if there is none or it fails. The
 * general path then runs the call again. */
PyObject *program_run(const state *known, program *last, arguments args);

int program_traverse(const program *last, visitproc visit, void *arg);
void program_drop(program *last);

/* configure_programs(type, find) sets the type of the arrays, and the function from the arguments of a call to its
 * program. */
PyObject *configure_programs(PyObject *module, arguments args, Py_ssize_t count);

#endif
