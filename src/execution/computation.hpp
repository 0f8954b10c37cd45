#pragma once

#include <cstdint>

#include "columns/room.hpp"
#include "core/plan/layout.hpp"
#include "execution/context.hpp"

// The operands and the memory of a computation that is no operation, such as a gradient of gather_bags.
namespace gather::execution {

// An array of the library.
template <class T>
using Array = columns::Room<T, 1>;
using Numbers = Array<int64_t>;
using Bytes = Array<char>;

template <class T>
int32_t allocate(int64_t count, Array<T>* out, const Error& error) {
  if (out->allocate(count)) return GTH_OK;
  int64_t bytes;
  return fail_memory(core::multiply(count, int64_t{sizeof(T)}, &bytes) ? bytes : INT64_MAX, error);
}

// Allocates `count` elements of `size` bytes.
int32_t allocate(int64_t count, int64_t size, Bytes* out, const Error& error);

// Checks dtype, rank and shape of a written operand. An extent that is GTH_OPEN in `shape` may have any value.
int32_t check_form(const gth_tensor_desc& desc, int32_t operand, int32_t dtype, int32_t ndim, const int64_t* shape,
                   const Error& error);

// An operand whose memory a call uses, or none if `desc` is nullptr.
struct Used {
  const gth_tensor_desc* desc;
  int32_t name;
  bool is_written = false;
  core::Reach reach{};
};

// Checks strides, devices and pointers of the operands, and that no other operand overlaps a written one.
int32_t check_memory(const Context& context, Used* used, int32_t count, const Error& error);

// Runs run_copy in a separate stack frame, so that the caller does not keep its memory.
int32_t copy_elements(const Context& context, const gth_tensor_desc& source, const gth_tensor_desc& destination,
                      const Error& error);

// Finds the elements of an operand in dense memory. They are copied to `room` if the operand is not dense, or if
// `copies` is true.
int32_t find_dense(const Context& context, const gth_tensor_desc& desc, bool copies, Bytes* room, const char** data,
                   const Error& error);

}  // namespace gather::execution
