/* The published layouts of DLPack and of the Arrow C data interface, declared again for the callers. */
#ifndef CALLERS_FOREIGN_H
#define CALLERS_FOREIGN_H

#include <stdint.h>

#define DLPACK_READ_ONLY 1
#define DLPACK_COPIED 2

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code; /* 0 signed, 1 unsigned, 2 float, .. */
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  struct DLDevice device;
  int32_t ndim;
  struct DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements */
  uint64_t byte_offset;
};

struct DLManagedTensor {
  struct DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  struct DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  struct DLTensor dl_tensor;
};

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *self);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *self);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *self, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *self, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *self);
  void (*release)(struct ArrowArrayStream *self);
  void *private_data;
};

#endif
