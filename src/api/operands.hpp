#pragma once

#include <cstddef>
#include <cstring>

#include "api/context.hpp"
#include "api/handles.hpp"
#include "api/tensor.hpp"
#include "core/meaning/request.hpp"
#include "core/base/structs.hpp"

// Reading the operands of a call: structs of any size become structs of the known size, and handles become tensors.
namespace gather::api {

// Copies of structs that are shorter than the library's.
struct Room {
  gth_tensor_desc table, indices, rows;
  gth_options options;
};

// How a call treats the rows of its request.
enum class Rows : uint8_t { required, optional, ignored };

// Reads a request in the order of the contract: operation, required pointers, structs and switches, handles. `given` has
// the known size. *out describes memory only, and refers to `room` and to the caller's structs.
int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Rows rows, Room* room,
                      const Context** context, core::Request* out, const Error& error);

// Reads one operand: memory, or the memory of a tensor.
int32_t find_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error);

// Whether a description that names a tensor sets no other field. It reads 16 bytes at once. dtype is read by itself,
// because a load that spans two recent stores, those of size and dtype, would wait for both.
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

// The description of an operand that passes every check of find_operand and has no field that was added after the first
// release. nullptr for all others.
inline const gth_tensor_desc* find_quickly(const gth_tensor_desc* operand) {
  if (!operand || !core::has_first_fields_only(operand)) return nullptr;
  if (!operand->tensor) {
    return (operand->flags & ~uint32_t{GTH_TENSOR_READONLY}) || operand->codec ? nullptr : operand;
  }
  if (!names_tensor_only(*operand)) return nullptr;
  const Content* content = find_slot(token_of(operand->tensor), Kind::tensor);
  return content ? &content->as<Tensor>().desc : nullptr;
}

// Finds the operands of a valid request, as find_quickly. False: at least one is of another kind. Options are not checked
// beyond their size.
inline bool find_all_quickly(const gth_request& given, core::Open open, Rows rows, core::Request* out) {
  const bool has_rows = rows == Rows::required || (rows == Rows::optional && given.rows);
  *out = {given.op,
          open,
          find_quickly(given.table),
          find_quickly(given.indices),
          has_rows ? find_quickly(given.rows) : nullptr,
          given.options,
          0,
          0};
  return core::is_operation(given.op) && out->table && out->indices && (out->rows || !has_rows) &&
         (!given.options || core::has_first_fields_only(given.options));
}

// The rest of find_operands after find_all_quickly.
int32_t finish_operands(gth_context* handle, const gth_request& given, bool is_found, Rows rows, Room* room,
                        const Context** context, core::Request* out, const Error& error);

}  // namespace gather::api
