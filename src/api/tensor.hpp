#pragma once

#include <cstdint>

#include "api/api_boundary.hpp"
#include "core/base/strings.hpp"
#include "core/plan/layout.hpp"
#include "execution/storage.hpp"

namespace gather::api {

using core::count_bytes;
using core::count_elements;

// The object of a tensor handle. It is stored in the slot of the handle, so that a tensor of low rank needs no
// allocation.
struct Tensor {
  static constexpr int32_t inline_ndim = 6;

  gth_tensor_desc desc;    // shape and strides point into the dims below. strides is NULL if the tensor is dense.
  const int64_t* strides;  // also set if the tensor is dense
  Storage* storage;        // nullptr if the memory is borrowed
  core::Strings strings;   // set if dtype is string. desc.data is NULL then.
  bool binary;             // The strings are not text.
  int64_t* more_dims;      // replaces inline_dims if the rank is above inline_ndim
  int64_t inline_dims[2 * inline_ndim];
};

// Finds the tensor of a handle. `operand` is its role in error messages.
int32_t find_tensor(const gth_tensor* handle, int32_t operand, const Tensor** out, const Error& error);

// Rejects a tensor in files, where memory is needed.
int32_t check_in_memory(const gth_tensor_desc& desc, int32_t operand, const Error& error);

// The device and the size in bytes of described memory. All fields are known.
struct MemoryLocation {
  int32_t device, device_id;
  int64_t extent;
};

// Creates a handle for a description that check_tensor has validated. It takes ownership of `storage`, which may be
// nullptr, only if it returns GTH_OK.
int32_t make_tensor(const gth_tensor_desc& desc, const MemoryLocation& memory, Storage* storage, gth_tensor** out,
                    const Error& error);

// The same for a description that the library has made. Its device and memory size are known.
inline int32_t make_tensor(const gth_tensor_desc& desc, Storage* storage, gth_tensor** out, const Error& error) {
  return make_tensor(desc, {desc.device, desc.device_id, desc.extent}, storage, out, error);
}

// The same as make_tensor for strings. `given` provides ndim and shape.
int32_t make_string_tensor(const gth_tensor_desc& given, const core::Strings& strings, bool binary, Storage* storage,
                           gth_tensor** out, const Error& error);

// Validates dtype, rank, shape, size, strides, device and data of a description. Precondition: its struct has been
// read.
int32_t check_tensor(const gth_tensor_desc& desc, MemoryLocation* memory, const Error& error);

// Checks rank, extents and size of a dense tensor with elements of `bytes` bytes. *count receives the number of
// elements.
int32_t check_dense(int32_t ndim, const int64_t* shape, int64_t bytes, int64_t* count, const Error& error);

}  // namespace gather::api
