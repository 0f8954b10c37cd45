/* The part of DLPack that this module needs: its structs and the exchange table of version 1. */
#ifndef LIBGATHER_DLPACK_H
#define LIBGATHER_DLPACK_H

#include <stdint.h>

typedef struct dl_tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *manager;
  void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_managed_versioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_managed_versioned *self);
  uint64_t flags;
  dl_tensor tensor;
} dl_managed_versioned;

typedef void (*dl_error)(void *context, const char *kind, const char *message);

typedef struct dl_exchange {
  uint32_t major, minor;
  const struct dl_exchange *previous;
  int (*allocate)(dl_tensor *like, dl_managed_versioned **out, void *error_context, dl_error error);
  int (*from_object)(void *object, dl_managed_versioned **out);
  int (*to_object)(dl_managed_versioned *managed, void **object);
  int (*describe)(void *object, dl_tensor *out);
} dl_exchange;

#endif
