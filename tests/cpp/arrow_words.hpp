#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../src/columns/arrow_structs.hpp"
#include "calls.hpp"

// Helpers of the tests of strings: tensors and arrays as vectors of words.
namespace arrow_test {

using Words = std::vector<std::string>;

inline void expect_error(const gth_error& err, int32_t status, int64_t position, int64_t value, int64_t limit) {
  EXPECT_STREQ(gth_status_name(err.status), gth_status_name(status)) << err.message;
  EXPECT_EQ(err.operand, GTH_OPERAND_TENSOR) << err.message;
  EXPECT_EQ(err.component, -1) << err.message;
  EXPECT_EQ(err.position, position) << err.message;
  EXPECT_EQ(err.value, value) << err.message;
  EXPECT_EQ(err.limit, limit) << err.message;
  EXPECT_NE(err.message[0], 0);
}

inline int64_t element_count(const gth_tensor* tensor) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  EXPECT_EQ(gth_tensor_describe(tensor, &desc, nullptr), GTH_OK);
  EXPECT_EQ(desc.dtype, GTH_DTYPE_STRING);
  int64_t count = 1;
  for (int32_t i = 0; i < desc.ndim; ++i) count *= desc.shape[i];
  return count;
}

inline Words cut(const int64_t* offsets, const char* bytes, int64_t count) {
  Words words;
  for (int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    words.push_back(size ? std::string(bytes + offsets[i], size) : std::string());
  }
  return words;
}

inline Words read(const gth_tensor* tensor) {
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  EXPECT_EQ(gth_tensor_strings(tensor, &offsets, &bytes, nullptr), GTH_OK);
  return cut(offsets, static_cast<const char*>(bytes), element_count(tensor));
}

inline Words read(const ArrowArray& array) {
  return cut(static_cast<const int64_t*>(array.buffers[1]) + array.offset, static_cast<const char*>(array.buffers[2]),
             array.length);
}

// Gathers strings 2 and 0.
inline Words gather_two(const gth_tensor* params) {
  const int64_t picks[] = {2, 0}, shape[] = {2};
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, picks);
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(calls::gather.make(nullptr, params, &indices, nullptr, nullptr, &out, &err), GTH_OK) << err.message;
  const Words words = read(out);
  gth_tensor_release(out);
  return words;
}

}  // namespace arrow_test
