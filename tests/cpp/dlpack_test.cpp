#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "../../src/api/dlpack_structs.hpp"
#include "../../src/core/testing.hpp"
#include "gather/gather.h"

// DLPack in and out. The F cases are hostile producers; those of capsules (F19, F20) are Python's to test. Every case of
// an import runs on both structs.
namespace {

constexpr bool is_versioned(const DLManagedTensorVersioned&) { return true; }
constexpr bool is_versioned(const DLManagedTensor&) { return false; }

int32_t import(DLManagedTensorVersioned* managed, gth_tensor** out, gth_error* err) {
  return gth_tensor_from_dlpack(nullptr, managed, out, err);
}
int32_t import(DLManagedTensor* managed, gth_tensor** out, gth_error* err) {
  return gth_tensor_from_dlpack_legacy(nullptr, managed, out, err);
}

int32_t export_to(gth_context* context, const gth_tensor* tensor, uint32_t flags, DLManagedTensorVersioned** out,
                  gth_error* err) {
  return gth_tensor_to_dlpack(context, tensor, flags, out, err);
}
int32_t export_to(gth_context* context, const gth_tensor* tensor, uint32_t flags, DLManagedTensor** out,
                  gth_error* err) {
  return gth_tensor_to_dlpack_legacy(context, tensor, flags, out, err);
}

void expect_error(const gth_error& err, int32_t status, int32_t operand, int32_t component, int64_t value,
                  int64_t limit) {
  EXPECT_STREQ(gth_status_name(err.status), gth_status_name(status)) << err.message;
  EXPECT_EQ(err.operand, operand) << err.message;
  EXPECT_EQ(err.component, component) << err.message;
  EXPECT_EQ(err.position, -1) << err.message;
  EXPECT_EQ(err.value, value) << err.message;
  EXPECT_EQ(err.limit, limit) << err.message;
  EXPECT_NE(err.message[0], 0);
}

gth_tensor_desc describe(const gth_tensor* tensor) {
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

gth_tensor* borrow(const gth_tensor_desc& desc) {
  gth_tensor* tensor = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_borrow(&desc, &tensor, &err), GTH_OK) << err.message;
  return tensor;
}

void count(void* user) { ++*static_cast<int*>(user); }

gth_tensor* adopt(const gth_tensor_desc& desc, int* freed) {
  gth_tensor* tensor = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_adopt(nullptr, &desc, count, freed, &tensor, &err), GTH_OK) << err.message;
  return tensor;
}

// Row `row` of an int32 or float32 matrix, through a gather.
std::vector<int32_t> gather_row(const gth_tensor* params, int64_t row) {
  const std::vector<int64_t> none, shape = {describe(params).shape[1]};
  std::vector<int32_t> out(static_cast<size_t>(shape[0]));
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT64, none, &row);
  const gth_tensor_desc to = dense(describe(params).dtype, shape, out.data());
  gth_tensor* index = borrow(indices);
  gth_tensor* target = borrow(to);
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_gather_into(nullptr, params, index, nullptr, target, &err), GTH_OK) << err.message;
  gth_tensor_release(index);
  gth_tensor_release(target);
  return out;
}

// A 3 x 2 int32 matrix of a foreign producer, dense, without strides.
template <class Managed>
class DlpackImport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::memset(static_cast<void*>(&managed_), 0, sizeof managed_);
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed_.version = {1, 0};
    managed_.manager_ctx = this;
    managed_.deleter = [](Managed* self) { ++static_cast<DlpackImport*>(self->manager_ctx)->deleted_; };
    tensor().data = values_;
    tensor().device = {GTH_DEVICE_CPU, 0};
    tensor().dtype = {0, 32, 1};
    set_shape({3, 2});
  }

  DLTensor& tensor() { return managed_.dl_tensor; }

  void set_shape(std::vector<int64_t> shape) {
    shape_ = std::move(shape);
    tensor().ndim = static_cast<int32_t>(shape_.size());
    tensor().shape = shape_.data();
  }

  void set_strides(std::vector<int64_t> strides) {
    strides_ = std::move(strides);
    tensor().strides = strides_.data();
  }

  // A refused import leaves everything to the producer.
  void expect_refused(int32_t status, int32_t component, int64_t value, int64_t limit) {
    gth_tensor* out = reinterpret_cast<gth_tensor*>(this);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(import(&managed_, &out, &err)), gth_status_name(status));
    EXPECT_EQ(out, nullptr);
    expect_error(err, status, GTH_OPERAND_TENSOR, component, value, limit);
    EXPECT_EQ(import(&managed_, &out, nullptr), status);
    EXPECT_EQ(deleted_, 0);
  }

  gth_tensor* accept() {
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(import(&managed_, &out, &err), GTH_OK) << err.message;
    EXPECT_EQ(deleted_, 0);
    return out;
  }

  // Whatever the call accepted is given back at once.
  void expect_accepted() {
    const int before = deleted_;
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    ASSERT_EQ(import(&managed_, &out, &err), GTH_OK) << err.message;
    EXPECT_EQ(gth_tensor_release(out), GTH_OK);
    EXPECT_EQ(deleted_, before + 1);
  }

  int32_t values_[3][2] = {{0, 1}, {10, 11}, {20, 21}};
  std::vector<int64_t> shape_, strides_;
  Managed managed_;
  int deleted_ = 0;
};

struct FormName {
  template <class Managed>
  static std::string GetName(int) {
    return is_versioned(Managed{}) ? "versioned" : "legacy";
  }
};
TYPED_TEST_SUITE(DlpackImport, ::testing::Types<DLManagedTensorVersioned, DLManagedTensor>, FormName);
