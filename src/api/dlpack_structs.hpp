#pragma once

#include <cstdint>

// The structs of DLPack that describe tensors in memory. gather.h declares the two managed ones.
// https://dmlc.github.io/dlpack/latest/c_api.html

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
  int64_t* strides;      // in elements. nullptr means dense for producers before version 1.2.
  uint64_t byte_offset;  // the offset of element 0 from data
};

// The legacy struct of producers before version 1.
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
  DLPackVersion version;  // With another major version, the layout of the other fields is unknown.
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80,
              "the published layout");
