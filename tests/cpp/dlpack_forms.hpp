#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../../src/api/dlpack_structs.hpp"
#include "calls.hpp"

// Helpers of the DLPack tests: both structs under one name, and functions that create tensors.
namespace dlpack_test {

inline int32_t import_from(DLManagedTensorVersioned* managed, gth_tensor** out, gth_error* err) {
  return gth_tensor_from_dlpack(nullptr, managed, out, err);
}
inline int32_t import_from(DLManagedTensor* managed, gth_tensor** out, gth_error* err) {
  return gth_tensor_from_dlpack_legacy(nullptr, managed, out, err);
}

inline int32_t export_to(gth_context* context, const gth_tensor* tensor, uint32_t flags, DLManagedTensorVersioned** out,
                         gth_error* err) {
  return gth_tensor_to_dlpack(context, tensor, flags, out, err);
}
inline int32_t export_to(gth_context* context, const gth_tensor* tensor, uint32_t flags, DLManagedTensor** out,
                         gth_error* err) {
  return gth_tensor_to_dlpack_legacy(context, tensor, flags, out, err);
}

inline void expect_error(const gth_error& err, int32_t status, int32_t operand, int32_t component, int64_t value,
                         int64_t limit) {
  EXPECT_STREQ(gth_status_name(err.status), gth_status_name(status)) << err.message;
  EXPECT_EQ(err.operand, operand) << err.message;
  EXPECT_EQ(err.component, component) << err.message;
  EXPECT_EQ(err.position, -1) << err.message;
  EXPECT_EQ(err.value, value) << err.message;
  EXPECT_EQ(err.limit, limit) << err.message;
  EXPECT_NE(err.message[0], 0);
}

inline gth_tensor_desc describe(const gth_tensor* tensor) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  EXPECT_EQ(gth_tensor_describe(tensor, &desc, nullptr), GTH_OK);
  return desc;
}

template <class T>
gth_tensor_desc dense(int32_t dtype, const std::vector<int64_t>& shape, const T* data) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = dtype;
  desc.ndim = static_cast<int32_t>(shape.size());
  desc.shape = shape.data();
  desc.data = data;
  return desc;
}

inline gth_tensor* borrow(const gth_tensor_desc& desc) {
  gth_tensor* tensor = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_borrow(&desc, &tensor, &err), GTH_OK) << err.message;
  return tensor;
}

inline void count(void* user) { ++*static_cast<int*>(user); }

inline gth_tensor* adopt(const gth_tensor_desc& desc, int* freed) {
  gth_tensor* tensor = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_adopt(nullptr, &desc, count, freed, &tensor, &err), GTH_OK) << err.message;
  return tensor;
}

// Gathers row `row` of an int32 or float32 matrix.
inline std::vector<int32_t> gather_row(const gth_tensor* params, int64_t row) {
  const std::vector<int64_t> none, shape = {describe(params).shape[1]};
  std::vector<int32_t> out(static_cast<size_t>(shape[0]));
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT64, none, &row);
  const gth_tensor_desc to = dense(describe(params).dtype, shape, out.data());
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(calls::gather.run(nullptr, params, &indices, &to, nullptr, &err), GTH_OK) << err.message;
  return out;
}

struct FormName {
  template <class Managed>
  static std::string GetName(int) {
    return std::is_same_v<Managed, DLManagedTensor> ? "legacy" : "versioned";
  }
};
using Forms = ::testing::Types<DLManagedTensorVersioned, DLManagedTensor>;

}  // namespace dlpack_test
