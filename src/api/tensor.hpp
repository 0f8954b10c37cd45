#pragma once

#include <cstdint>

#include "api/fence.hpp"
#include "api/storage.hpp"
#include "core/base/strings.hpp"

namespace gather::api {

// What a tensor handle stands for. Lives in its slot, so that making a handle of low rank allocates nothing.
struct Tensor {
  static constexpr int32_t inline_ndim = 6;

  gth_tensor_desc desc;    // shape and strides point to dims; strides NULL: dense. Strings: data NULL
  const int64_t* strides;  // also where they are dense
  Storage* storage;        // nullptr: borrowed
  core::Strings strings;   // dtype string
  bool binary;             // strings that are not text
  int64_t* more_dims;      // in place of inline_dims where the rank is higher
  int64_t inline_dims[2 * inline_ndim];
};

// The tensor of a handle. operand: what the handle is to the caller.
int32_t find_tensor(const gth_tensor* handle, int32_t operand, const Tensor** out, const Error& error);

// Where the memory of a description lies, with nothing left open.
struct Whereabouts {
  int32_t device, device_id;
  int64_t extent;
};

// Makes a handle of a description that has been checked with check_tensor; takes over `storage` (may be nullptr) if and
// only if it returns GTH_OK.
int32_t make_tensor(const gth_tensor_desc& desc, const Whereabouts& memory, Storage* storage, gth_tensor** out,
                    const Error& error);

// As above, for a description of ours, which leaves nothing open.
inline int32_t make_tensor(const gth_tensor_desc& desc, Storage* storage, gth_tensor** out, const Error& error) {
  return make_tensor(desc, {desc.device, desc.device_id, desc.extent}, storage, out, error);
}

// As make_tensor for strings: `given` has ndim and shape.
int32_t make_string_tensor(const gth_tensor_desc& given, const core::Strings& strings, bool binary, Storage* storage,
                           gth_tensor** out, const Error& error);

// Checks a description whose struct has been read: dtype, rank, shape, size, strides, device, data.
int32_t check_tensor(const gth_tensor_desc& desc, Whereabouts* memory, const Error& error);

// Rank, extents and size of a dense tensor of `bytes` an element; *count receives the number of elements.
int32_t check_dense(int32_t ndim, const int64_t* shape, int64_t bytes, int64_t* count, const Error& error);

// Of a tensor that there is: its size has been checked.
int64_t count_elements(const gth_tensor_desc& desc);

}  // namespace gather::api
