#pragma once

#include <cstdint>

// DLPack's structs, as far as memory goes: what the producers and consumers of tensors agree on. gather.h names the two
// managed ones. https://dmlc.github.io/dlpack/latest/c_api.html

// Bits of DLManagedTensorVersioned::flags.
constexpr uint64_t dlpack_read_only = 1;
constexpr uint64_t dlpack_is_copied = 2;

struct DLDevice {
  int32_t device_type;  // GTH_DEVICE_* are these numbers
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;  // GTH_DTYPE_* are code * 256 + bits
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;      // in elements; older producers: nullptr for dense
  uint64_t byte_offset;  // of element 0 from data
};

// The legacy form, of producers before version 1.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;  // with another major the rest has an unknown layout
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80,
              "the layout that is published");
