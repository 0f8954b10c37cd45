#pragma once

#include <cstdint>

#include "hostile.hpp"

// Calls with hostile handles, structs and hooks.
namespace handles {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

template <class T>
constexpr uint32_t sizeof32() {
  return static_cast<uint32_t>(sizeof(T));
}

inline Facts null_of(int32_t operand) { return {GTH_E_NULL, operand}; }
inline Facts bad_handle(int32_t operand) { return {GTH_E_HANDLE, operand}; }

template <class Handle>
Handle* token(uintptr_t value) {
  return reinterpret_cast<Handle*>(value);
}

constexpr Operation scatters[] = {calls::scatter, calls::scatter_nd, calls::scatter_elements};

// A valid call whose arguments are made invalid one by one.
class Handles : public ::testing::Test {
 protected:
  const Array params_{f32, {4, 2}}, indices_ = indices64({3}, {2, 0, 3}), tuples_ = indices64({3, 1}, {2, 0, 3});
  const Array out_{f32, {3, 2}};
  const gth_tensor_desc p_ = params_.desc(), i_ = indices_.desc(), j_ = tuples_.desc(), o_ = out_.desc();
  const Tensor params{p_}, indices{i_}, tuples{j_}, out{o_};
  const Bytes before_ = out_.bytes();
  Error error;

  void TearDown() override { EXPECT_TRUE(out_.bytes() == before_) << "the output was written"; }

  // Checks the error of the last call.
  void expect(int32_t status, const Facts& facts, const char* what = "") { expect_facts(status, error, facts, what); }
};

}  // namespace handles
