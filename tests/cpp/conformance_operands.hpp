#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "calls.hpp"
#include "conformance_file.hpp"

// The operands of a recorded case, in the form that calls take.
namespace conformance {

// A tensor of a case in memory of exactly its size.
struct Memory {
  explicit Memory(const TensorText& text) : bytes(text.bytes.begin(), text.bytes.end()) {
    desc.dtype = text.dtype;
    desc.ndim = static_cast<int32_t>(text.shape.size());
    desc.shape = text.shape.data();
    desc.strides = text.strides.empty() ? nullptr : text.strides.data();
    desc.offset = text.offset;
    desc.data = bytes.data();
    desc.extent = static_cast<int64_t>(bytes.size());
  }
  std::vector<char> bytes;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
};

// Compares the error fields of a failed call.
inline void expect_facts(const Case& test, const gth_error& err) {
  EXPECT_EQ(err.operand, test.error.operand) << test.name << ": " << err.message;
  EXPECT_EQ(err.component, test.error.component) << test.name << ": " << err.message;
  EXPECT_EQ(err.position, test.error.position) << test.name << ": " << err.message;
  EXPECT_EQ(err.value, test.error.value) << test.name << ": " << err.message;
  EXPECT_EQ(err.limit, test.error.limit) << test.name << ": " << err.message;
  EXPECT_EQ(err.flags & ~uint32_t{GTH_ERROR_CUT}, test.error.flags) << test.name << ": " << err.message;
}

inline gth_tensor* make_handle(const TensorText& text, const Memory& memory) {
  gth_tensor* handle = nullptr;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status =
      text.dtype == GTH_DTYPE_STRING
          ? gth_tensor_from_strings(nullptr, 0, memory.desc.ndim, memory.desc.shape, text.string_ends.data(),
                                    memory.bytes.data(), memory.desc.extent, nullptr, nullptr, &handle, &err)
          : gth_tensor_borrow(&memory.desc, &handle, &err);
  EXPECT_EQ(status, GTH_OK) << err.message;
  return handle;
}

}  // namespace conformance
