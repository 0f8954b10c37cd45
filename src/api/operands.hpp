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
  gth_tensor_desc table, indices, rows;
  gth_options options;
};

// The requirement of a call for the rows of its request.
enum class Rows : uint8_t { required, optional, ignored };

// Reads the struct of a request. *out refers to `given` or to `room`, and not to its operands.
int32_t read_request(const gth_request* given, gth_request* room, const gth_request** out, const Error& error);

// Reads a request in the order that gather.h promises: operation, required pointers, structs and switches, handles.
// Each operand of *out describes memory. *out refers to `room` and to the caller's structs. Precondition: `given` has
// the known size.
int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Rows rows, Room* room,
                      const Context** context, core::Request* out, const Error& error);

// Reads the struct of an operand that is not NULL. Does not look up its tensor.
int32_t read_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Error& error);

// Replaces an operand that names a tensor by the description of the tensor.
int32_t resolve_tensor(int32_t role, const gth_tensor_desc** desc, const Error& error);

// Reports an operand that the operation does not have.
int32_t fail_absent(int32_t operand, const Error& error);

// Checks that a request has a known operation, all required operands, and no operand that the operation does not have.
int32_t check_required(const gth_request& given, Rows rows, const Error& error);

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

// Fast path of find_operand. Returns the description of a valid operand if all fields added after the first release are
// zero. Returns nullptr for other operands.
inline const gth_tensor_desc* find_operand_fast(const gth_tensor_desc* operand) {
  if (!operand || !core::has_first_fields_only(operand)) return nullptr;
  if (!operand->tensor) {
    return (operand->flags & ~uint32_t{GTH_TENSOR_READONLY}) || operand->codec ? nullptr : operand;
  }
  if (!names_tensor_only(*operand)) return nullptr;
  const Content* content = find_slot(token_of(operand->tensor), Kind::tensor);
  return content ? &content->as<Tensor>().desc : nullptr;
}

// Fast path of find_operands. Returns false if find_operand_fast fails for an operand. It checks only the size of the
// options. Structs may be those of the first release. So code that runs before finish_operands may read only fields of
// the first release in *out.
inline bool find_operands_fast(const gth_request& given, core::Open open, Rows rows, core::Request* out) {
  const bool has_rows = rows == Rows::required || (rows == Rows::optional && given.rows);
  *out = {given.op,
          open,
          find_operand_fast(given.table),
          find_operand_fast(given.indices),
          has_rows ? find_operand_fast(given.rows) : nullptr,
          given.options,
          0,
          0};
  return core::is_operation(given.op) && !core::has_more_operands(given) && out->table && out->indices &&
         (out->rows || !has_rows) && (!given.options || core::has_first_fields_only(given.options));
}

// Completes find_operands. `is_found` is the result of find_operands_fast.
int32_t finish_operands(gth_context* handle, const gth_request& given, bool is_found, Rows rows, Room* room,
                        const Context** context, core::Request* out, const Error& error);

}  // namespace gather::api
