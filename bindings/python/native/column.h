/* Rows of columns. The library takes rows of Arrow arrays and tables. For columns whose own library moves the rows, it
 * validates the indices. */
#ifndef LIBGATHER_COLUMN_H
#define LIBGATHER_COLUMN_H

#include "request.h"

/* Gathers rows of Arrow arrays, chunks and tables, of columns and tables of pandas and polars, or objects of a NumPy
 * array. Returns NotImplemented for other tables and for other requests, such as those that fill. */
PyObject *column_gather(request *call);

/* Functions of the module. Their last arguments are those of run_arrays(). They return NotImplemented if the indices or
 * options are not supported here. */
PyObject *take_rows(PyObject *module, arguments args, Py_ssize_t count);
PyObject *resolve(PyObject *module, arguments args, Py_ssize_t count);

/* Sets a dict from types of columns and tables to functions that take their rows by validated numbers. */
PyObject *configure_frames(PyObject *module, arguments args, Py_ssize_t count);

#endif
