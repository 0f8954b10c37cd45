#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "conformance_operands.hpp"
#include "scatter_oracle.hpp"

// Compares calls that reduce (scatters, gradients and bags) with their recorded results.
namespace conformance {

class Handle {
 public:
  Handle() = default;
  Handle(const TensorText& text, const Memory& memory) : handle_(make_handle(text, memory)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { EXPECT_EQ(gth_tensor_release(handle_), GTH_OK); }

  gth_tensor* get() const { return handle_; }
  gth_tensor** out() { return &handle_; }

 private:
  gth_tensor* handle_ = nullptr;
};

inline void expect_error(const Case& test, int32_t status, const gth_error& err) {
  EXPECT_STREQ(gth_status_name(status), gth_status_name(test.error.status)) << test.name << ": " << err.message;
  if (status == GTH_OK || status != test.error.status) return;
  expect_facts(test, err);
}

// Compares dense bytes with the recorded ones. The bit patterns of NaNs may differ.
inline void expect_bytes(const Case& test, std::string found) {
  ASSERT_EQ(found.size(), test.out.bytes.size()) << test.name;
  if (oracle::is_float(test.params.dtype)) {
    const auto item = static_cast<size_t>(gth_dtype_size(test.params.dtype));
    for (size_t at = 0; at < found.size(); at += item) {
      const bool are_nan = std::isnan(oracle::decode_float(test.params.dtype, found.data() + at)) &&
                           std::isnan(oracle::decode_float(test.params.dtype, test.out.bytes.data() + at));
      if (are_nan) std::copy_n(test.out.bytes.data() + at, item, found.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  EXPECT_TRUE(found == test.out.bytes) << test.name;
}

}  // namespace conformance
