// Tensors of torch as operands of the library, and the library's errors as exceptions.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <gather/gather.h>

#include <string>
#include <vector>

#include "option_table.h"

namespace libgather {

// The switches of a call. This is their order in the operators' argument `switches`. Missing numbers are zero, so the list
// can grow. SPARSE, which is not in gth_options, makes the gradient of params a sparse tensor.
#define SWITCH_NUMBER(NAME, field, kinds) NAME,
#define SPARSE_NUMBER SPARSE,
enum Switch { OPTION_SWITCHES(SWITCH_NUMBER, SPARSE_NUMBER) SWITCHES };
#undef SWITCH_NUMBER
#undef SPARSE_NUMBER

// The arguments of an operator that are not tensors. The switches are borrowed.
struct Attributes {
  int64_t axis, batch_dims;
  at::IntArrayRef switches;

  int64_t operator[](Switch which) const {
    return static_cast<size_t>(which) < switches.size() ? switches[static_cast<size_t>(which)] : 0;
  }
};

constexpr bool has_axis(int32_t op) { return is_in(op, OPERATIONS_tuples_one & ~OPERATIONS_form_bags); }
constexpr bool is_elements(int32_t op) { return is_in(op, OPERATIONS_form_paired); }

// Returns the first operation of a kind whose indices are those of another operation.
constexpr int32_t of_kind(uint32_t kind, int32_t op) {
  kind &= is_in(op, OPERATIONS_form_paired) ? OPERATIONS_form_paired : ~OPERATIONS_form_paired;
  kind &= is_in(op, OPERATIONS_tuples_last) ? OPERATIONS_tuples_last : ~OPERATIONS_tuples_last;
  int32_t first = 0;
  while (!is_in(first, kind)) {
    first++;
  }
  return first;
}

// Returns the operation that reads the places which a scatter or a gradient writes.
constexpr int32_t gather_of(int32_t op) { return of_kind(OPERATIONS_kind_gather, op); }
constexpr int32_t scatter_of(int32_t op) { return of_kind(OPERATIONS_kind_scatter, op); }
constexpr int32_t gradient_of(int32_t op) { return of_kind(OPERATIONS_kind_gradient, op); }

// Returns the library's number of a dtype, or a negative number, which the library rejects.
int32_t dtype_of(at::ScalarType type);

// Returns the name of a dtype as users of torch write it.
std::string name_of(int32_t dtype);

gth_options options_of(int32_t op, const Attributes &attributes);

// Describes a tensor. Dense strides are left out, because the library then needs no test for them.
struct Operand {
  gth_tensor_desc desc;
  int64_t strides[GTH_MAX_NDIM];

  explicit Operand(const at::Tensor &tensor);
};

// Describes a tensor without values. Symbolic extents are open.
struct OpenOperand {
  gth_tensor_desc desc;
  int64_t shape[GTH_MAX_NDIM];

  explicit OpenOperand(const at::Tensor &tensor);
};

// Stores a number as an element. Returns false if the dtype cannot represent it.
bool store(const at::Scalar &value, at::ScalarType type, void *image);

// The error that was thrown last on this thread. A caller clears its status first. Python's exception is made from it,
// because torch converts C++ exceptions to exceptions without fields.
extern thread_local gth_error last_error;

// Throws the exception that torch.ops shows for an error.
[[noreturn]] void raise(const gth_error &error);

inline gth_error no_error() { return GTH_ERROR_INIT; }

inline void require(int32_t status, const gth_error &error) {
  if (C10_UNLIKELY(status != GTH_OK)) {
    raise(error);
  }
}

// Throws an error of one operand.
[[noreturn]] void raise(int32_t status, int32_t operand, const std::string &message);

}  // namespace libgather
