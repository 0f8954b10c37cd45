#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "../../src/core/os/testing.hpp"
#include "dlpack_forms.hpp"
#include "hooks.hpp"

// Exports to DLPack in both structs. Tests which memory is shared, copied and freed.
namespace {

using namespace dlpack_test;

template <class Managed>
class DlpackExport : public ::testing::Test {
 protected:
  // Compares the flags of the versioned struct. The legacy struct has none.
  void expect_flags(const Managed& out, uint64_t flags) {
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
      EXPECT_EQ(out.version.major, 1U);
      EXPECT_EQ(out.flags, flags);
    }
  }

  void expect_refused(const gth_tensor* tensor, uint32_t flags, int32_t status, int32_t operand) {
    Managed* out = reinterpret_cast<Managed*>(this);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(export_to(nullptr, tensor, flags, &out, &err)), gth_status_name(status));
    EXPECT_EQ(err.status, status);
    EXPECT_EQ(err.operand, operand);
    EXPECT_EQ(out, nullptr);
  }

  Managed* accept(gth_context* context, const gth_tensor* tensor, uint32_t flags) {
    Managed* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(export_to(context, tensor, flags, &out, &err), GTH_OK) << err.message;
    return out;
  }

  int32_t values_[3][2] = {{0, 1}, {10, 11}, {20, 21}};
};
TYPED_TEST_SUITE(DlpackExport, Forms, FormName);

TYPED_TEST(DlpackExport, borrowed_memory_is_copied) {
  gth_tensor* tensor = borrow(dense(GTH_DTYPE_INT32, {3, 2}, this->values_));
  this->expect_refused(tensor, GTH_EXPORT_NO_COPY, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR);
  TypeParam* out = this->accept(nullptr, tensor, 0);
  gth_tensor_release(tensor);
  std::memset(this->values_, 0xff, sizeof this->values_);
  this->expect_flags(*out, dlpack_is_copied);
  EXPECT_EQ(out->dl_tensor.strides[0], 2);
  EXPECT_EQ(out->dl_tensor.strides[1], 1);
  EXPECT_EQ(out->dl_tensor.byte_offset, 0U);
  EXPECT_EQ(out->dl_tensor.device.device_type, GTH_DEVICE_CPU);
  const int32_t wanted[] = {0, 1, 10, 11, 20, 21};
  EXPECT_EQ(std::memcmp(out->dl_tensor.data, wanted, sizeof wanted), 0);
  out->deleter(out);
}

TYPED_TEST(DlpackExport, a_copy_is_dense_and_never_read_only) {
  int freed = 0;
  const int64_t strides[] = {-8, 4};
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, {3, 2}, this->values_);
  const int64_t shape[] = {3, 2};
  desc.shape = shape;
  desc.strides = strides;
  desc.offset = 16;
  desc.flags = GTH_TENSOR_READONLY;
  gth_tensor* tensor = adopt(desc, &freed);
  TypeParam* out = this->accept(nullptr, tensor, GTH_EXPORT_COPY);
  this->expect_flags(*out, dlpack_is_copied);
  EXPECT_NE(out->dl_tensor.data, this->values_);
  EXPECT_EQ(out->dl_tensor.strides[0], 2);
  const int32_t wanted[] = {20, 21, 10, 11, 0, 1};
  EXPECT_EQ(std::memcmp(out->dl_tensor.data, wanted, sizeof wanted), 0);
  gth_tensor_release(tensor);
  EXPECT_EQ(freed, 1);
  out->deleter(out);
}

TYPED_TEST(DlpackExport, a_copy_of_pinned_memory_is_not_pinned) {
  int freed = 0;
  const int64_t shape[] = {3, 2};
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, {3, 2}, this->values_);
  desc.shape = shape;
  desc.device = GTH_DEVICE_CUDA_HOST;
  gth_tensor* tensor = adopt(desc, &freed);
  for (const uint32_t flags : {GTH_EXPORT_COPY, GTH_EXPORT_NO_COPY}) {
    TypeParam* out = this->accept(nullptr, tensor, flags);
    EXPECT_EQ(out->dl_tensor.device.device_type, flags == GTH_EXPORT_COPY ? GTH_DEVICE_CPU : GTH_DEVICE_CUDA_HOST);
    out->deleter(out);
  }
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackExport, read_only_memory_is_shared_only_with_a_flag) {
  int freed = 0;
  const int64_t shape[] = {3, 2};
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, {3, 2}, this->values_);
  desc.shape = shape;
  desc.flags = GTH_TENSOR_READONLY;
  gth_tensor* tensor = adopt(desc, &freed);
  if constexpr (std::is_same_v<TypeParam, DLManagedTensor>) {
    this->expect_refused(tensor, 0, GTH_E_READONLY, GTH_OPERAND_TENSOR);
    this->expect_refused(tensor, GTH_EXPORT_NO_COPY, GTH_E_READONLY, GTH_OPERAND_TENSOR);
  } else {
    TypeParam* out = this->accept(nullptr, tensor, 0);
    this->expect_flags(*out, dlpack_read_only);
    EXPECT_EQ(out->dl_tensor.data, this->values_);
    out->deleter(out);
  }
  gth_tensor_release(tensor);
  EXPECT_EQ(freed, 1);
}

TYPED_TEST(DlpackExport, strides_between_elements_are_copied) {
  // An int32 starts at every fifth byte.
  char bytes[10] = {};
  const int32_t numbers[] = {77, 88};
  std::memcpy(bytes, &numbers[0], 4);
  std::memcpy(bytes + 5, &numbers[1], 4);
  const int64_t shape[] = {2, 1}, strides[] = {5, 3};
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, {2, 1}, bytes);
  desc.shape = shape;
  desc.strides = strides;
  int freed = 0;
  gth_tensor* tensor = adopt(desc, &freed);
  this->expect_refused(tensor, GTH_EXPORT_NO_COPY, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR);
  TypeParam* out = this->accept(nullptr, tensor, 0);
  this->expect_flags(*out, dlpack_is_copied);
  EXPECT_EQ(std::memcmp(out->dl_tensor.data, numbers, sizeof numbers), 0);
  out->deleter(out);
  gth_tensor_release(tensor);
  EXPECT_EQ(freed, 1);
}

TYPED_TEST(DlpackExport, unused_strides_do_not_cause_a_copy) {
  const int64_t shape[] = {1, 2}, strides[] = {3, 4}, empty[] = {0, 2};
  int freed = 0;
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, {1, 2}, this->values_);
  desc.strides = strides;
  desc.shape = shape;
  gth_tensor* tensor = adopt(desc, &freed);
  TypeParam* out = this->accept(nullptr, tensor, GTH_EXPORT_NO_COPY);
  EXPECT_EQ(out->dl_tensor.strides[1], 1);
  out->deleter(out);
  gth_tensor_release(tensor);

  // The offset of an empty tensor may be negative. DLPack cannot express that.
  desc.shape = empty;
  desc.offset = -8;
  tensor = adopt(desc, &freed);
  out = this->accept(nullptr, tensor, GTH_EXPORT_NO_COPY);
  EXPECT_EQ(out->dl_tensor.byte_offset, 0U);
  EXPECT_EQ(out->dl_tensor.shape[0], 0);
  out->deleter(out);
  gth_tensor_release(tensor);
  EXPECT_EQ(freed, 2);
}

TYPED_TEST(DlpackExport, scalars_empty_tensors_and_the_highest_rank_are_exported) {
  const int64_t ones[GTH_MAX_NDIM] = {};
  const int32_t ranks[] = {0, 1, GTH_MAX_NDIM};
  for (const int32_t rank : ranks) {
    gth_tensor* tensor = nullptr;
    ASSERT_EQ(gth_tensor_alloc(nullptr, GTH_DTYPE_FLOAT64, rank, ones, &tensor, nullptr), GTH_OK);
    for (const uint32_t flags : {0, GTH_EXPORT_COPY, GTH_EXPORT_NO_COPY}) {
      TypeParam* out = this->accept(nullptr, tensor, flags);
      this->expect_flags(*out, flags == GTH_EXPORT_COPY ? dlpack_is_copied : 0);
      EXPECT_EQ(out->dl_tensor.ndim, rank);
      EXPECT_NE(out->dl_tensor.strides, nullptr);
      EXPECT_EQ(out->dl_tensor.data == nullptr, rank > 0);
      out->deleter(out);
    }
    gth_tensor_release(tensor);
  }
}

TYPED_TEST(DlpackExport, unknown_flags_null_and_garbage_are_rejected) {
  gth_tensor* tensor = borrow(dense(GTH_DTYPE_INT32, {3, 2}, this->values_));
  for (const uint32_t flags : {3U, 4U, 0x80000000U, UINT32_MAX}) {
    TypeParam* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(export_to(nullptr, tensor, flags, &out, &err), GTH_E_VERSION);
    expect_error(err, GTH_E_VERSION, GTH_OPERAND_NONE, -1, flags, GTH_EXPORT_NO_COPY);
  }
  this->expect_refused(nullptr, 0, GTH_E_NULL, GTH_OPERAND_TENSOR);
  this->expect_refused(reinterpret_cast<gth_tensor*>(this), 0, GTH_E_HANDLE, GTH_OPERAND_TENSOR);
  EXPECT_EQ(export_to(nullptr, tensor, 0, static_cast<TypeParam**>(nullptr), nullptr), GTH_E_NULL);
  TypeParam* none = reinterpret_cast<TypeParam*>(this);
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(export_to(reinterpret_cast<gth_context*>(this), tensor, 0, &none, &err), GTH_E_HANDLE);
  expect_error(err, GTH_E_HANDLE, GTH_OPERAND_CONTEXT, -1, 0, 0);
  EXPECT_EQ(none, nullptr);
  gth_tensor_release(tensor);
  this->expect_refused(tensor, 0, GTH_E_HANDLE, GTH_OPERAND_TENSOR);
}

TYPED_TEST(DlpackExport, strings_are_rejected) {
  const int64_t offsets[] = {0, 1};
  gth_tensor* tensor = nullptr;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 0, nullptr, offsets, "a", 1, nullptr, nullptr, &tensor, nullptr),
            GTH_OK);
  this->expect_refused(tensor, 0, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR);
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackExport, failed_allocations_leak_nothing) {
  gth_tensor* tensor = borrow(dense(GTH_DTYPE_INT32, {3, 2}, this->values_));
  for (const int32_t sticky : {0, 1}) {
    int32_t status = GTH_E_NOMEM;
    for (int64_t n = 1; status != GTH_OK; ++n) {
      TypeParam* out = nullptr;
      gth_error err = GTH_ERROR_INIT;
      gth_testing_fail_allocation(n, sticky);
      status = export_to(nullptr, tensor, 0, &out, &err);
      gth_testing_fail_allocation(0, 0);
      ASSERT_EQ(err.status, status);
      if (status == GTH_OK) {
        EXPECT_GT(n, 2);
        out->deleter(out);
      } else {
        ASSERT_EQ(status, GTH_E_NOMEM);
        ASSERT_EQ(out, nullptr);
      }
    }
  }
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackExport, copies_come_from_the_hooks_and_outlive_the_context) {
  Hooks hooks;
  gth_context* context = hooks.context();
  gth_tensor* tensor = borrow(dense(GTH_DTYPE_INT32, {3, 2}, this->values_));
  TypeParam* out = this->accept(context, tensor, 0);
  EXPECT_EQ(hooks.asked, 1);
  gth_tensor_release(tensor);
  gth_context_release(context);
  EXPECT_EQ(static_cast<int32_t*>(out->dl_tensor.data)[2], 10);
  EXPECT_EQ(hooks.given_back, 0);
  out->deleter(out);
  EXPECT_EQ(hooks.given_back, 1);
}

}  // namespace
