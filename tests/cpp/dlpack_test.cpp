#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "../../src/core/os/testing.hpp"
#include "dlpack_forms.hpp"

// Imports from DLPack. The F cases are hostile producers. The Python tests have the cases of capsules (F19, F20). Every
// case runs with both structs.
namespace {

using namespace dlpack_test;

// A dense 3 x 2 int32 matrix of a foreign producer, without strides.
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

  // Expects that the import is rejected and that the producer keeps the tensor.
  void expect_refused(int32_t status, int32_t component, int64_t value, int64_t limit) {
    gth_tensor* out = reinterpret_cast<gth_tensor*>(this);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(import_from(&managed_, &out, &err)), gth_status_name(status));
    EXPECT_EQ(out, nullptr);
    expect_error(err, status, GTH_OPERAND_TENSOR, component, value, limit);
    EXPECT_EQ(import_from(&managed_, &out, nullptr), status);
    EXPECT_EQ(deleted_, 0);
  }

  gth_tensor* accept() {
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(import_from(&managed_, &out, &err), GTH_OK) << err.message;
    EXPECT_EQ(deleted_, 0);
    return out;
  }

  // Expects that the import succeeds, and releases the tensor.
  void expect_accepted() {
    const int before = deleted_;
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    ASSERT_EQ(import_from(&managed_, &out, &err), GTH_OK) << err.message;
    EXPECT_EQ(gth_tensor_release(out), GTH_OK);
    EXPECT_EQ(deleted_, before + 1);
  }

  int32_t values_[3][2] = {{0, 1}, {10, 11}, {20, 21}};
  std::vector<int64_t> shape_, strides_;
  Managed managed_;
  int deleted_ = 0;
};

TYPED_TEST_SUITE(DlpackImport, Forms, FormName);

using DlpackVersion = DlpackImport<DLManagedTensorVersioned>;

// A call for the other struct reads the low half of a data pointer as the version.
TEST_F(DlpackVersion, F1_LegacyStructInVersionedCallIsRejected) {
  DLManagedTensor legacy{};
  legacy.dl_tensor.data = values_;
  std::memset(static_cast<void*>(&managed_), 0xff, sizeof managed_);
  std::memcpy(static_cast<void*>(&managed_), &legacy, sizeof legacy);
  this->expect_refused(GTH_E_VERSION, -1, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values_)), 1);
}

TEST_F(DlpackVersion, F2_UnknownMajorVersionReadsNothingElse) {
  for (const uint32_t major : {0U, 2U, UINT32_MAX}) {
    managed_.version.major = major;
    managed_.dl_tensor.shape = reinterpret_cast<int64_t*>(1);
    managed_.dl_tensor.dtype = {255, 255, 255};
    this->expect_refused(GTH_E_VERSION, -1, major, 1);
  }
}

TEST_F(DlpackVersion, F2_UnknownMinorVersionAndFlagsAreAccepted) {
  managed_.version.minor = UINT32_MAX;
  managed_.flags = ~uint64_t{dlpack_read_only};
  gth_tensor* tensor = accept();
  EXPECT_EQ(describe(tensor).flags, 0U);
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F3_null_strides_are_dense) {
  gth_tensor* tensor = this->accept();
  const gth_tensor_desc desc = describe(tensor);
  ASSERT_EQ(desc.ndim, 2);
  EXPECT_EQ(desc.dtype, GTH_DTYPE_INT32);
  EXPECT_EQ(desc.device, GTH_DEVICE_CPU);
  EXPECT_EQ(desc.strides[0], 8);
  EXPECT_EQ(desc.strides[1], 4);
  EXPECT_EQ(desc.offset, 0);
  EXPECT_EQ(desc.extent, 24);
  EXPECT_EQ(desc.data, this->values_);
  EXPECT_EQ(gather_row(tensor, 2), (std::vector<int32_t>{20, 21}));
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(this->deleted_, 1);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_E_HANDLE);
  EXPECT_EQ(this->deleted_, 1);
}

TYPED_TEST(DlpackImport, F4_null_shape_is_rejected) {
  this->tensor().shape = nullptr;
  this->tensor().ndim = 1;
  this->expect_refused(GTH_E_DLPACK, -1, 0, 0);
  this->tensor().ndim = GTH_MAX_NDIM;
  this->expect_refused(GTH_E_DLPACK, -1, 0, 0);
  this->tensor().ndim = 0;
  this->expect_accepted();
}

TYPED_TEST(DlpackImport, F5_rank_out_of_range_reads_no_shape) {
  this->tensor().shape = reinterpret_cast<int64_t*>(1);
  for (const int32_t ndim : {-1, GTH_MAX_NDIM + 1, INT32_MAX, INT32_MIN}) {
    this->tensor().ndim = ndim;
    this->expect_refused(GTH_E_RANK, -1, ndim, GTH_MAX_NDIM);
  }
}

TYPED_TEST(DlpackImport, F5_highest_rank_is_accepted) {
  this->set_shape(std::vector<int64_t>(GTH_MAX_NDIM, 1));
  this->set_strides(std::vector<int64_t>(GTH_MAX_NDIM, -7));
  this->expect_accepted();
}

TYPED_TEST(DlpackImport, F6_byte_offset_is_respected) {
  this->set_shape({2, 2});
  this->tensor().byte_offset = 8;
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(describe(tensor).data, this->values_);
  EXPECT_EQ(describe(tensor).offset, 8);
  EXPECT_EQ(gather_row(tensor, 0), (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(gather_row(tensor, 1), (std::vector<int32_t>{20, 21}));
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F7_byte_offset_beyond_int64_is_rejected) {
  for (const uint64_t offset : {UINT64_MAX - 7, uint64_t{1} << 63}) {
    this->tensor().byte_offset = offset;
    this->expect_refused(GTH_E_DLPACK, -1, static_cast<int64_t>(offset), INT64_MAX);
  }
  this->tensor().byte_offset = INT64_MAX;  // the offset fits, but the elements exceed int64
  this->expect_refused(GTH_E_STRIDE, -1, INT64_MAX, 0);
}

TYPED_TEST(DlpackImport, F8_unaligned_byte_offset_is_accepted) {
  char bytes[3 + sizeof this->values_];
  std::memcpy(bytes + 3, this->values_, sizeof this->values_);
  this->tensor().data = bytes;
  this->tensor().dtype = {2, 32, 1};
  this->tensor().byte_offset = 3;
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(gather_row(tensor, 1), (std::vector<int32_t>{10, 11}));
  gth_tensor_release(tensor);
}

// NumPy exports a[::-1] in this form: data is at element 0, and the other elements are below it.
TYPED_TEST(DlpackImport, F9_negative_stride_below_data_is_rejected) {
  this->set_strides({-2, 1});
  this->tensor().data = reinterpret_cast<char*>(this->values_) + 16;
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(describe(tensor).strides[0], -8);
  EXPECT_EQ(gather_row(tensor, 0), (std::vector<int32_t>{20, 21}));
  EXPECT_EQ(gather_row(tensor, 2), (std::vector<int32_t>{0, 1}));
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F9_negative_stride_below_every_address_is_rejected) {
  this->set_shape({3});
  this->set_strides({-1});
  this->tensor().data = reinterpret_cast<void*>(8);
  this->expect_refused(GTH_E_STRIDE, -1, -8, 0);
}

TYPED_TEST(DlpackImport, F9_negative_stride_without_data_is_rejected) {
  this->set_strides({-2, 1});
  this->tensor().data = nullptr;
  this->expect_refused(GTH_E_NULL, -1, 0, 0);
}

TYPED_TEST(DlpackImport, F9_negative_stride_inside_the_memory_is_accepted) {
  this->set_strides({-2, 1});
  this->tensor().byte_offset = 16;
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(describe(tensor).strides[0], -8);
  EXPECT_EQ(describe(tensor).extent, 24);
  EXPECT_EQ(gather_row(tensor, 0), (std::vector<int32_t>{20, 21}));
  EXPECT_EQ(gather_row(tensor, 2), (std::vector<int32_t>{0, 1}));
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F9_stride_zero_repeats_elements) {
  this->set_strides({0, 1});
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(gather_row(tensor, 2), (std::vector<int32_t>{0, 1}));
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F10_strides_beyond_int64_are_rejected) {
  this->set_strides({INT64_MIN, 1});
  this->expect_refused(GTH_E_STRIDE, 0, INT64_MIN, 0);
  this->set_strides({1, INT64_MAX / 4 + 1});
  this->expect_refused(GTH_E_STRIDE, 1, INT64_MAX, 0);
  this->set_strides({INT64_MAX / 4, 1});  // fits in bytes, but two steps exceed int64
  this->expect_refused(GTH_E_STRIDE, 0, INT64_MAX, 0);
}

// Each stride fits in bytes, but the lowest element does not. It is at INT64_MIN, below it, or too far from data for
// the data pointer to move.
TYPED_TEST(DlpackImport, F10_elements_below_every_address_are_rejected) {
  constexpr int64_t far = int64_t{1} << 62;
  this->tensor().dtype = {0, 8, 1};
  this->set_shape({2, 2});
  this->set_strides({-far, -far});
  this->expect_refused(GTH_E_STRIDE, 1, INT64_MIN, 0);
  this->set_strides({-far, -far - 1});
  this->expect_refused(GTH_E_STRIDE, 1, INT64_MIN, 0);
  this->set_strides({-far, -far + 1});
  this->expect_refused(GTH_E_STRIDE, -1, -2 * far + 1, 0);
  this->tensor().data = nullptr;
  this->tensor().byte_offset = far;
  this->set_strides({-far, -1});
  this->expect_refused(GTH_E_NULL, -1, 0, 0);
  this->set_strides({-far, -far});
  this->expect_refused(GTH_E_STRIDE, -1, -far, 0);
}

TYPED_TEST(DlpackImport, F11_lanes_are_rejected) {
  for (const int lanes : {0, 4, 65535}) {
    this->tensor().dtype.lanes = static_cast<uint16_t>(lanes);
    this->expect_refused(GTH_E_DTYPE, -1, GTH_DTYPE_INT32, 0);
  }
}

TYPED_TEST(DlpackImport, F12_unknown_bits_and_codes_are_rejected) {
  for (const int bits : {0, 1, 6, 12, 255}) {
    this->tensor().dtype = {0, static_cast<uint8_t>(bits), 1};
    this->expect_refused(GTH_E_DTYPE, -1, bits, 0);
  }
  for (const int code : {3, 15, 16, 17, 200, 255}) {
    this->tensor().dtype = {static_cast<uint8_t>(code), 8, 1};
    this->expect_refused(GTH_E_DTYPE, -1, code * 256 + 8, 0);
  }
}

TYPED_TEST(DlpackImport, F12_dtype_is_checked_before_the_rank) {
  this->tensor().dtype.bits = 12;
  this->tensor().ndim = -1;
  this->expect_refused(GTH_E_DTYPE, -1, 12, 0);
}

TYPED_TEST(DlpackImport, F13_null_data_is_rejected) {
  this->tensor().data = nullptr;
  this->expect_refused(GTH_E_NULL, -1, 0, 0);
  this->set_shape({3, 0});
  this->expect_accepted();
}

TYPED_TEST(DlpackImport, F14_negative_dim_is_rejected) {
  this->set_shape({0, -5});
  this->expect_refused(GTH_E_SHAPE, 1, -5, 0);
  this->set_shape({GTH_OPEN, 2});
  this->expect_refused(GTH_E_SHAPE, 0, -1, 0);
}

TYPED_TEST(DlpackImport, F15_size_beyond_int64_is_rejected) {
  constexpr int64_t huge = int64_t{1} << 62;
  this->set_shape({huge, huge});
  this->expect_refused(GTH_E_SIZE, -1, huge, INT64_MAX);
  this->set_shape({0, huge});
  this->expect_refused(GTH_E_SIZE, -1, huge, INT64_MAX);
  this->tensor().byte_offset = UINT64_MAX;  // the size is checked first
  this->expect_refused(GTH_E_SIZE, -1, huge, INT64_MAX);
}

TYPED_TEST(DlpackImport, F16_unused_strides_are_accepted) {
  this->set_shape({1, 2});
  this->set_strides({INT64_MAX, 1});
  gth_tensor* tensor = this->accept();
  EXPECT_EQ(gather_row(tensor, 0), (std::vector<int32_t>{0, 1}));
  gth_tensor_release(tensor);

  this->set_shape({2, 0});
  this->set_strides({INT64_MIN, INT64_MAX});
  this->tensor().data = reinterpret_cast<void*>(1);
  this->tensor().byte_offset = INT64_MAX;
  this->expect_accepted();
}

TYPED_TEST(DlpackImport, F17_unknown_devices_are_rejected) {
  for (const int32_t device : {0, 4, 99, -1, INT32_MIN, INT32_MAX}) {
    this->tensor().device = {device, 0};
    this->expect_refused(GTH_E_DEVICE, -1, device, GTH_DEVICE_CPU);
  }
  this->tensor().device = {GTH_DEVICE_CUDA_HOST, 0};
  this->expect_accepted();
  this->tensor().device = {GTH_DEVICE_CUDA, 1000};
  gth_tensor* out = nullptr;
  EXPECT_EQ(import_from(&this->managed_, &out, nullptr), GTH_E_DEVICE);
}

TYPED_TEST(DlpackImport, F18_failed_allocation_leaves_the_tensor_to_the_producer) {
  this->set_shape(std::vector<int64_t>(16, 1));  // dims of this rank are not stored inline
  int32_t status = GTH_E_NOMEM;
  int64_t n = 0;
  gth_tensor* out = nullptr;
  while (status != GTH_OK) {
    gth_error err = GTH_ERROR_INIT;
    gth_testing_fail_allocation(++n, 1);
    status = import_from(&this->managed_, &out, &err);
    gth_testing_fail_allocation(0, 0);
    ASSERT_EQ(this->deleted_, 0);
    if (status == GTH_OK) break;
    ASSERT_EQ(status, GTH_E_NOMEM) << err.message;
    ASSERT_EQ(err.status, GTH_E_NOMEM);
    ASSERT_EQ(out, nullptr);
  }
  EXPECT_GT(n, 2);
  gth_tensor_release(out);
  EXPECT_EQ(this->deleted_, 1);
}

TYPED_TEST(DlpackImport, F21_null_deleter_is_accepted) {
  this->managed_.deleter = nullptr;
  gth_tensor* tensor = this->accept();
  std::memset(static_cast<void*>(&this->managed_), 0xff, sizeof this->managed_);
  EXPECT_EQ(gather_row(tensor, 1), (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
}

TEST_F(DlpackVersion, F22_ReadOnlyTensorIsRejectedAsOutput) {
  managed_.flags = dlpack_read_only;
  gth_tensor* tensor = accept();
  EXPECT_EQ(describe(tensor).flags, uint32_t{GTH_TENSOR_READONLY});
  const int32_t other[3][2] = {{7, 7}, {7, 7}, {7, 7}};
  gth_tensor* source = borrow(dense(GTH_DTYPE_INT32, {3, 2}, other));
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(calls::copy(nullptr, source, tensor, &err), GTH_E_READONLY);
  EXPECT_EQ(err.operand, GTH_OPERAND_OUT);
  EXPECT_EQ(values_[0][0], 0);
  gth_tensor_release(source);
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, F23_shape_and_strides_are_copied) {
  auto shape = std::make_unique<int64_t[]>(2);
  auto strides = std::make_unique<int64_t[]>(2);
  shape[0] = 3, shape[1] = 2;
  strides[0] = 2, strides[1] = 1;
  this->tensor().shape = shape.get();
  this->tensor().strides = strides.get();
  gth_tensor* tensor = this->accept();
  shape.reset();
  strides.reset();
  EXPECT_EQ(describe(tensor).shape[0], 3);
  EXPECT_EQ(gather_row(tensor, 2), (std::vector<int32_t>{20, 21}));
  gth_tensor_release(tensor);
}

TYPED_TEST(DlpackImport, every_dtype_is_imported_and_exported) {
  int dtypes = 0;
  for (int32_t dtype = 1; dtype < GTH_DTYPE_STRING; ++dtype) {
    if (gth_dtype_size(dtype) == 0) continue;
    ++dtypes;
    char bytes[2 * 16] = {};
    this->set_shape({2});
    this->tensor().data = bytes;
    this->tensor().dtype = {static_cast<uint8_t>(dtype / 256), static_cast<uint8_t>(dtype % 256), 1};
    gth_tensor* tensor = this->accept();
    EXPECT_EQ(describe(tensor).dtype, dtype);
    TypeParam* out = nullptr;
    ASSERT_EQ(export_to(nullptr, tensor, GTH_EXPORT_NO_COPY, &out, nullptr), GTH_OK);
    EXPECT_EQ(out->dl_tensor.dtype.code * 256 + out->dl_tensor.dtype.bits, dtype);
    EXPECT_EQ(out->dl_tensor.dtype.lanes, 1);
    out->deleter(out);
    gth_tensor_release(tensor);
    EXPECT_EQ(this->deleted_, 1);
    this->deleted_ = 0;
  }
  EXPECT_EQ(dtypes, 23);
}

TYPED_TEST(DlpackImport, the_deleter_runs_once_after_tensor_and_exports_are_released) {
  this->set_strides({-2, 1});
  this->tensor().byte_offset = 16;
  gth_tensor* tensor = this->accept();
  TypeParam* shared[3] = {};
  for (TypeParam*& out : shared) {
    ASSERT_EQ(export_to(nullptr, tensor, GTH_EXPORT_NO_COPY, &out, nullptr), GTH_OK);
    EXPECT_EQ(out->dl_tensor.data, this->values_);
    EXPECT_EQ(out->dl_tensor.byte_offset, 16U);
    EXPECT_EQ(out->dl_tensor.strides[0], -2);
    EXPECT_EQ(out->dl_tensor.strides[1], 1);
  }
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(this->deleted_, 0);
  std::vector<std::thread> threads;
  for (TypeParam* out : shared) threads.emplace_back([out] { out->deleter(out); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->deleted_, 1);
}

TYPED_TEST(DlpackImport, an_export_can_be_imported_again) {
  gth_tensor* first = this->accept();
  TypeParam* out = nullptr;
  ASSERT_EQ(export_to(nullptr, first, 0, &out, nullptr), GTH_OK);
  gth_tensor* second = nullptr;
  ASSERT_EQ(import_from(out, &second, nullptr), GTH_OK);
  gth_tensor_release(first);
  EXPECT_EQ(gather_row(second, 1), (std::vector<int32_t>{10, 11}));
  EXPECT_EQ(this->deleted_, 0);
  gth_tensor_release(second);
  EXPECT_EQ(this->deleted_, 1);
}

TYPED_TEST(DlpackImport, null_arguments_and_garbage_contexts_are_rejected) {
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(import_from(static_cast<TypeParam*>(nullptr), &out, &err), GTH_E_NULL);
  EXPECT_EQ(err.operand, GTH_OPERAND_TENSOR);
  EXPECT_EQ(import_from(&this->managed_, nullptr, &err), GTH_E_NULL);
  EXPECT_EQ(import_from(&this->managed_, nullptr, nullptr), GTH_E_NULL);
  auto* garbage = reinterpret_cast<gth_context*>(this);
  const int32_t status = [&] {
    if constexpr (std::is_same_v<TypeParam, DLManagedTensor>) {
      return gth_tensor_from_dlpack_legacy(garbage, &this->managed_, &out, &err);
    } else {
      return gth_tensor_from_dlpack(garbage, &this->managed_, &out, &err);
    }
  }();
  EXPECT_EQ(status, GTH_E_HANDLE);
  EXPECT_EQ(err.operand, GTH_OPERAND_CONTEXT);
  EXPECT_EQ(this->deleted_, 0);
}

}  // namespace
