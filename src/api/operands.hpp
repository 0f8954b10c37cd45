#pragma once

#include "api/context.hpp"
#include "api/tensor.hpp"
#include "core/request.hpp"

// Reading the operands of a call: structs of any size become structs of the known size, and handles become tensors.
namespace gather::api {

// Copies of structs that are shorter than the library's.
struct Room {
  gth_tensor_desc table, indices, rows;
  gth_options options;
};

// How a call treats the rows of its request.
enum class Rows : uint8_t { required, optional, ignored };

// The operands of a call. request describes memory only. The tensors are those that operands name, or nullptr.
struct Operands {
  const Context* context;
  core::Request request;
  const Tensor *table, *indices, *rows;
};

// Reads a request in the order of the contract: operation, required pointers, structs and switches, handles. `given` has
// the known size. *out refers to `room` and to the caller's structs.
int32_t find_operands(gth_context* handle, const gth_request& given, core::Open open, Rows rows, Room* room,
                      Operands* out, const Error& error);

// Reads one operand: memory, or the memory of a tensor. *tensor is nullptr for memory of the caller.
int32_t find_operand(const gth_tensor_desc* given, int32_t role, gth_tensor_desc* room, const gth_tensor_desc** out,
                     const Tensor** tensor, const Error& error);

// The description of an operand whose structs have the sizes and the fields that the fast path accepts. nullptr for
// others, and for invalid ones.
const gth_tensor_desc* find_quickly(const gth_tensor_desc* operand);

}  // namespace gather::api
