/* The part of XLA's foreign function interface that a handler needs. Structs begin with their size. New versions only
 * add fields at the end. */
#ifndef LIBGATHER_XLA_H
#define LIBGATHER_XLA_H

#include <Python.h>

#include <stddef.h>
#include <stdint.h>

typedef struct xla_error xla_error;

/* The first fields of every extension. Extensions form a list. */
typedef struct xla_extension {
  size_t size;
  int32_t kind;
  struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
  size_t size;
  xla_extension *extensions;
  int32_t major, minor;
} xla_version;

typedef struct xla_metadata {
  size_t size;
  xla_version version;
  uint32_t traits;
} xla_metadata;

/* With this extension, a handler must not run. It returns the version of its interface. */
enum { XLA_EXTENSION_METADATA = 1 };

typedef struct xla_metadata_extension {
  xla_extension base;
  xla_metadata *metadata;
} xla_metadata_extension;

enum { XLA_ERROR_INVALID_ARGUMENT = 3, XLA_ERROR_OUT_OF_RANGE = 11 };

typedef struct xla_error_arguments {
  size_t size;
  xla_extension *extensions;
  const char *message; /* XLA copies it */
  int32_t code;
} xla_error_arguments;

typedef struct xla_api {
  size_t size;
  xla_extension *extensions;
  xla_version version;
  const void *internal;
  xla_error *(*error_create)(xla_error_arguments *arguments);
} xla_api;

typedef struct xla_buffer {
  size_t size;
  xla_extension *extensions;
  int32_t dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} xla_buffer;

typedef struct xla_array {
  int32_t dtype;
  size_t count;
  void *data;
} xla_array;

enum { XLA_KIND_BUFFER = 1, XLA_ATTRIBUTE_ARRAY = 1 };

typedef struct xla_buffers {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int32_t *kinds;
  void **items;
} xla_buffers;

typedef struct xla_attributes {
  size_t size;
  xla_extension *extensions;
  int64_t count;
  int32_t *kinds;
  void **names;
  void **items;
} xla_attributes;

enum { XLA_STAGE_EXECUTE = 3 };

typedef struct xla_frame {
  size_t size;
  xla_extension *extensions;
  const xla_api *api;
  void *context;
  int32_t stage;
  xla_buffers arguments, results;
  xla_attributes attributes;
} xla_frame;

/* Returns a capsule of the handler. */
PyObject *xla_handler(PyObject *module, PyObject *unused);

#endif
