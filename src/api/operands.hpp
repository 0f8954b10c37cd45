#pragma once

#include <cstddef>
#include <cstring>

#include "api/context.hpp"
#include "api/handles.hpp"
#include "api/tensor.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/request.hpp"

// Reads the operands of a call. Structs of other sizes are copied to structs of the known size. Handles are replaced by
// the descriptions of their tensors.
namespace gather::api {

// Copies of structs that are shorter than the library's.
struct Room {
  core::ByRole<gth_tensor_desc> operands;
  gth_options options;
};

// The requirement of a call for the operands of its request whose shape is a result.
enum class Results : uint8_t { required, optional, ignored };

// Reads the struct of a request. *out refers to `given` or to `room`, and not to its operands.
int32_t read_request(const gth_request* given, gth_request* room, const gth_request** out, const Error& error);

// Reports an operand that the operation does not have.
int32_t fail_absent(int32_t operand, const Error& error);

// Checks that a request has a known operation, all required operands, and no operand that the operation does not have.
int32_t check_required(const gth_request& given, Results results, const Error& error);

// Reads a request in the order that gather.h promises: check_required, structs and switches, handles. Each operand of
// *out describes memory. *out refers to `room` and to the caller's structs. Precondition: `given` has the known size.
int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Results results, Room* room,
                      const Context** context, core::Request* out, const Error& error);

// Reads the struct of an operand that is not NULL. Does not look up its tensor.
int32_t read_operand(const gth_tensor_desc* given, int32_t name, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error);

// Replaces an operand that names a tensor by the description of the tensor.
int32_t resolve_tensor(int32_t name, const gth_tensor_desc** desc, const Error& error);

// Returns true if an operand has the known size, names no tensor, and is valid.
inline bool is_memory(const gth_tensor_desc* desc) {
  return desc->size == sizeof(gth_tensor_desc) && !desc->tensor && !desc->codec &&
         !(desc->flags & ~uint32_t{GTH_TENSOR_READONLY});
}

// Returns true if a description that names a tensor sets no other field. It reads 16 bytes at once. dtype is read
// separately, because a load that covers the recent stores of size and dtype would stall.
inline bool names_tensor_only(const gth_tensor_desc& desc) {
  typedef uint64_t Pair __attribute__((vector_size(16)));
  const auto at = [&](size_t offset) {
    Pair pair;
    std::memcpy(&pair, reinterpret_cast<const char*>(&desc) + offset, sizeof pair);
    return pair;
  };
  const Pair all = at(offsetof(gth_tensor_desc, device)) | at(offsetof(gth_tensor_desc, data)) |
                   at(offsetof(gth_tensor_desc, strides)) | at(offsetof(gth_tensor_desc, offset));
  return (static_cast<uint64_t>(static_cast<uint32_t>(desc.dtype)) | all[0] | all[1]) == 0;
}

// Finds the description of the memory of an operand for the fast path. Returns nullptr if the operand is invalid. Its
// struct may be that of the first release.
inline const gth_tensor_desc* find_memory(const gth_tensor_desc* operand) {
  if (!operand || !core::has_first_fields_only(operand)) return nullptr;
  if (!operand->tensor) return operand;
  if (!names_tensor_only(*operand)) return nullptr;
  const Content* content = find_slot(token_of(operand->tensor), Kind::tensor);
  return content ? &content->as<Tensor>().desc : nullptr;
}

}  // namespace gather::api
