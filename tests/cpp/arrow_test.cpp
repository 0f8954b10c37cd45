#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "../../src/core/os/testing.hpp"
#include "arrow_words.hpp"

// Imports of strings from Arrow. Cases named F belong to the list of hostile inputs.
namespace {

using namespace arrow_test;

// The strings "one", "two", "three", "", "four", in every format.
class ArrowImport : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    schema_ = {GetParam(), nullptr, nullptr, arrow_nullable, 0, nullptr, nullptr, release_schema, this};
    array_ = {5, 0, 0, 3, 0, buffers_, nullptr, nullptr, release_array, this};
    set_offsets({0, 3, 6, 11, 11, 15});
    buffers_[2] = "onetwothreefour";
  }

  void TearDown() override { EXPECT_EQ(schema_.release, release_schema); }

  static void release_schema(ArrowSchema*) { FAIL() << "the schema is only read"; }
  static void release_array(ArrowArray* self) {
    ++static_cast<ArrowImport*>(self->private_data)->released_;
    self->release = nullptr;
  }

  bool is_wide() const { return GetParam()[0] == 'U' || GetParam()[0] == 'Z'; }
  bool is_binary() const { return GetParam()[0] == 'z' || GetParam()[0] == 'Z'; }

  // Stores the offsets in a buffer of exactly their size, so that sanitizers detect reads beyond it.
  void set_offsets(const std::vector<int64_t>& offsets) {
    offsets_.resize(offsets.size() * (is_wide() ? 8 : 4));
    offsets_.shrink_to_fit();
    for (size_t i = 0; i < offsets.size(); ++i) {
      const int32_t narrow = static_cast<int32_t>(offsets[i]);
      if (is_wide()) {
        std::memcpy(&offsets_[8 * i], &offsets[i], 8);
      } else {
        std::memcpy(&offsets_[4 * i], &narrow, 4);
      }
    }
    buffers_[1] = offsets_.data();
  }

  int32_t import_as(int32_t ndim, const int64_t* shape, gth_tensor** out, gth_error* err) {
    return gth_tensor_from_arrow(nullptr, &schema_, &array_, ndim, shape, out, err);
  }

  // Expects that the import is rejected and that the producer keeps the array.
  void expect_refused(int32_t status, int64_t position, int64_t value, int64_t limit, int32_t ndim = -1,
                      const int64_t* shape = nullptr) {
    const ArrowArray before = array_;
    gth_tensor* out = reinterpret_cast<gth_tensor*>(this);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(import_as(ndim, shape, &out, &err)), gth_status_name(status));
    EXPECT_EQ(out, nullptr);
    expect_error(err, status, position, value, limit);
    EXPECT_EQ(std::memcmp(&before, &array_, sizeof before), 0);
    EXPECT_EQ(released_, 0);
  }

  gth_tensor* accept(int32_t ndim = -1, const int64_t* shape = nullptr) {
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(import_as(ndim, shape, &out, &err), GTH_OK) << err.message;
    EXPECT_EQ(array_.release, nullptr);
    EXPECT_EQ(released_, 0);
    return out;
  }

  void expect_strings(const Words& words) {
    gth_tensor* tensor = accept();
    EXPECT_EQ(read(tensor), words);
    EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
    EXPECT_EQ(released_, 1);
    array_.release = release_array;
    released_ = 0;
  }

  ArrowSchema schema_;
  ArrowArray array_;
  const void* buffers_[3] = {};
  std::vector<char> offsets_;
  int released_ = 0;
};

INSTANTIATE_TEST_SUITE_P(formats, ArrowImport, ::testing::Values("u", "U", "z", "Z"),
                         [](const auto& format) { return std::string(format.param); });

TEST_P(ArrowImport, ArrayIsMovedAndReleasedOnce) {
  gth_tensor* tensor = accept();
  EXPECT_EQ(read(tensor), (Words{"one", "two", "three", "", "four"}));
  EXPECT_EQ(gather_two(tensor), (Words{"three", "one"}));
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(released_, 1);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_E_HANDLE);
  EXPECT_EQ(released_, 1);
}

TEST_P(ArrowImport, OffsetOfTheArrayIsRespected) {
  array_.offset = 1;
  array_.length = 3;
  expect_strings({"two", "three", ""});
}

TEST_P(ArrowImport, OffsetsThatStartAbove0AreAccepted) {
  set_offsets({3, 6, 11});
  array_.length = 2;
  expect_strings({"two", "three"});
}

TEST_P(ArrowImport, UnalignedOffsetsAreAccepted) {
  offsets_.insert(offsets_.begin(), 'x');
  buffers_[1] = offsets_.data() + 1;
  gth_tensor* tensor = accept();
  EXPECT_EQ(gather_two(tensor), (Words{"three", "one"}));
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  EXPECT_EQ(gth_tensor_strings(tensor, &offsets, &bytes, nullptr), GTH_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(offsets) % alignof(int64_t), 0u) << "the library lends aligned offsets";
  gth_tensor_release(tensor);
}

TEST_P(ArrowImport, ShapesMustMatchTheLength) {
  const int64_t square[] = {2, 2}, wrong[] = {3, 2}, negative[] = {-4}, huge[] = {INT64_MAX, 2}, none[] = {4, 0};
  array_.length = 4;
  expect_refused(GTH_E_SHAPE, -1, 6, 4, 2, wrong);
  expect_refused(GTH_E_SHAPE, -1, 0, 4, 2, none);
  expect_refused(GTH_E_SHAPE, -1, 1, 4, 0, nullptr);
  expect_refused(GTH_E_RANK, -1, -2, GTH_MAX_NDIM, -2, square);
  expect_refused(GTH_E_RANK, -1, GTH_MAX_NDIM + 1, GTH_MAX_NDIM, GTH_MAX_NDIM + 1, square);
  expect_refused(GTH_E_SIZE, -1, INT64_MAX, INT64_MAX, 2, huge);
  expect_refused(GTH_E_NULL, -1, 0, 0, 1, nullptr);
  gth_error err = GTH_ERROR_INIT;
  gth_tensor* out = nullptr;
  EXPECT_EQ(import_as(1, negative, &out, &err), GTH_E_SHAPE);
  EXPECT_EQ(err.component, 0);
  EXPECT_EQ(err.value, -4);
  gth_tensor* tensor = accept(2, square);
  EXPECT_EQ(read(tensor), (Words{"one", "two", "three", ""}));
  gth_tensor_release(tensor);
}

TEST_P(ArrowImport, Rank0HasOneString) {
  array_.length = 1;
  gth_tensor* tensor = accept(0, nullptr);
  EXPECT_EQ(read(tensor), Words{"one"});
  gth_tensor_release(tensor);
}

TEST_P(ArrowImport, F19_ConsumedArrayIsRejected) {
  gth_tensor* tensor = accept();
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  gth_tensor_release(tensor);
  EXPECT_EQ(released_, 1);
  released_ = 0;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
}

TEST_P(ArrowImport, ReleasedArrayIsNotRead) {
  std::memset(static_cast<void*>(&array_), 0xff, sizeof array_);
  array_.release = nullptr;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
}

TEST_P(ArrowImport, MalformedSchemasAreRejected) {
  const ArrowSchema good = schema_;
  schema_.format = nullptr;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  schema_ = good;
  schema_.n_children = 1;
  expect_refused(GTH_E_ARROW, -1, 1, 0);
  schema_ = good;
  schema_.dictionary = &schema_;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  schema_.release = nullptr;
  schema_.format = reinterpret_cast<const char*>(1);
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  schema_ = good;
}

TEST_P(ArrowImport, F12_OtherFormatsAreRejected) {
  for (const char* format : {"", "i", "vu", "uu", "U ", "tsu:UTC", "+l", "\xff\xfe", "\n%s%n",
                             "a format that is longer than every message can show in full"}) {
    schema_.format = format;
    expect_refused(GTH_E_DTYPE, -1, 0, GTH_DTYPE_STRING);
  }
}

// The message does not repeat characters of a format that are not plain text.
TEST_P(ArrowImport, RejectedFormatIsShownInPlainText) {
  schema_.format = "x\x1b ~\x7f\xff";
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(import_as(-1, nullptr, &out, &err), GTH_E_DTYPE);
  EXPECT_NE(std::string(err.message).find("format is x? ~??,"), std::string::npos) << err.message;
}

TEST_P(ArrowImport, MalformedArraysAreRejected) {
  const ArrowArray good = array_;
  ArrowArray* child = nullptr;
  array_.n_children = 1;
  array_.children = &child;
  expect_refused(GTH_E_ARROW, -1, 1, 0);
  array_ = good;
  array_.dictionary = &array_;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  for (const int64_t n : {int64_t{2}, int64_t{4}, int64_t{-3}, INT64_MAX}) {
    array_ = good;
    array_.n_buffers = n;
    expect_refused(GTH_E_ARROW, -1, n, 3);
  }
  array_ = good;
  array_.buffers = nullptr;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  for (const int64_t n : {int64_t{-2}, INT64_MIN}) {
    array_ = good;
    array_.null_count = n;
    expect_refused(GTH_E_ARROW, -1, n, -1);
  }
}

TEST_P(ArrowImport, F14_NegativeLengthAndOffsetAreRejected) {
  for (const int64_t n : {int64_t{-1}, INT64_MIN}) {
    array_.length = n;
    expect_refused(GTH_E_ARROW, -1, n, 0);
  }
  array_.length = 5;
  array_.offset = -1;
  expect_refused(GTH_E_ARROW, -1, -1, 0);
}

TEST_P(ArrowImport, F15_LengthAndOffsetBeyondInt64AreRejected) {
  constexpr int64_t most = INT64_MAX / 8 - 1;
  array_.length = INT64_MAX;
  for (const int64_t offset : {int64_t{0}, int64_t{1}, INT64_MAX}) {
    array_.offset = offset;
    expect_refused(GTH_E_ARROW, -1, INT64_MAX, most);
  }
  array_.offset = INT64_MAX / 8;
  array_.length = 1;
  expect_refused(GTH_E_ARROW, -1, 1, most);
}

TEST_P(ArrowImport, NullsInsideTheSliceAreRejected) {
  const uint8_t valid[] = {0x1f}, third_is_null[] = {0x1b};
  array_.null_count = -1;
  expect_strings({"one", "two", "three", "", "four"});
  buffers_[0] = valid;
  expect_strings({"one", "two", "three", "", "four"});
  buffers_[0] = third_is_null;
  expect_refused(GTH_E_DTYPE, 2, 0, GTH_DTYPE_STRING);
  array_.null_count = 1;
  expect_refused(GTH_E_DTYPE, 2, 0, GTH_DTYPE_STRING);
  array_.offset = 3;  // the null is outside the slice
  array_.length = 2;
  expect_strings({"", "four"});
  array_.offset = 1;
  expect_refused(GTH_E_DTYPE, 1, 0, GTH_DTYPE_STRING);
  buffers_[0] = nullptr;
  expect_refused(GTH_E_ARROW, -1, 1, 0);
}

TEST_P(ArrowImport, NullAtEveryPositionIsRejected) {
  constexpr int64_t most = 67;
  const std::vector<int64_t> offsets(most + 1, 0);
  set_offsets(offsets);
  array_.null_count = -1;
  for (int64_t offset = 0; offset < 18; ++offset) {
    array_.offset = offset;
    array_.length = most - offset;
    std::vector<uint8_t> validity((most + 7) / 8, 0xff);
    buffers_[0] = validity.data();
    for (int64_t null = 0; null < most; ++null) {
      const auto byte = static_cast<size_t>(null / 8);
      validity[byte] = static_cast<uint8_t>(~(1U << null % 8));
      if (null >= offset) expect_refused(GTH_E_DTYPE, null - offset, 0, GTH_DTYPE_STRING);
      if (null < offset) expect_strings(Words(static_cast<size_t>(array_.length)));
      validity[byte] = 0xff;
    }
  }
}

TEST_P(ArrowImport, EmptyArrayMayHaveNoBuffers) {
  const int64_t none[] = {3, 0, 2};
  array_.length = 0;
  for (const int64_t offset : {int64_t{0}, int64_t{4}}) {
    array_.offset = offset;
    expect_strings({});  // existing offsets are not read either
    buffers_[1] = buffers_[2] = nullptr;
    expect_strings({});
    gth_tensor* tensor = accept(3, none);
    EXPECT_EQ(element_count(tensor), 0);
    gth_tensor_release(tensor);
    array_.release = release_array;
    released_ = 0;
  }
}

TEST_P(ArrowImport, F13_NullBuffersAreRejected) {
  buffers_[1] = nullptr;
  expect_refused(GTH_E_ARROW, -1, 0, 0);
  set_offsets({0, 0, 3, 6, 6, 6});
  buffers_[2] = nullptr;
  expect_refused(GTH_E_ARROW, 1, 3, 0);
  set_offsets({0, 0, 0, 0, 0, 0});
  expect_strings(Words(5));
}

TEST_P(ArrowImport, DecreasingOrNegativeOffsetsAreRejected) {
  set_offsets({0, 3, 6, 5, 11, 15});
  expect_refused(GTH_E_ARROW, 2, 5, 6);
  array_.offset = 3;  // offsets before the slice are not validated
  array_.length = 2;
  expect_strings({"othree", "four"});
  array_.offset = 0;
  array_.length = 5;
  set_offsets({-1, 3, 6, 11, 11, 15});
  expect_refused(GTH_E_ARROW, 0, -1, 0);
  set_offsets({0, 3, 6, 11, 11, INT32_MIN});
  expect_refused(GTH_E_ARROW, 4, INT32_MIN, 11);
}

TEST_P(ArrowImport, F18_FailedAllocationLeavesTheArrayToTheProducer) {
  const int64_t shape[] = {1, 1, 1, 1, 5, 1, 1, 1};  // dims of this rank are not stored inline
  for (const int32_t sticky : {0, 1}) {
    int32_t status = GTH_E_NOMEM;
    int64_t n = 0;
    gth_tensor* out = nullptr;
    while (status != GTH_OK) {
      gth_error err = GTH_ERROR_INIT;
      gth_testing_fail_allocation(++n, sticky);
      status = import_as(8, shape, &out, &err);
      gth_testing_fail_allocation(0, 0);
      ASSERT_EQ(err.status, status);
      if (status == GTH_OK) break;
      ASSERT_EQ(status, GTH_E_NOMEM) << err.message;
      ASSERT_EQ(out, nullptr);
      ASSERT_EQ(array_.release, release_array);
      ASSERT_EQ(released_, 0);
    }
    EXPECT_GT(n, is_wide() ? 2 : 3);
    gth_tensor_release(out);
    EXPECT_EQ(released_, 1);
    released_ = 0;
    array_.release = release_array;
  }
}

TEST_P(ArrowImport, F23_FreedStructIsNotUsed) {
  gth_tensor* tensor = accept();
  std::memset(static_cast<void*>(&array_), 0xff, sizeof array_);
  EXPECT_EQ(gather_two(tensor), (Words{"three", "one"}));
  gth_tensor_release(tensor);
  EXPECT_EQ(released_, 1);
}

TEST_P(ArrowImport, DescriptionsHaveTheBytesOfStrings) {
  gth_tensor* tensor = accept();
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(tensor, &desc, nullptr), GTH_OK);
  EXPECT_EQ(desc.dtype, GTH_DTYPE_STRING);
  EXPECT_EQ(desc.extent, 15);  // one, two, three, four
  EXPECT_EQ(desc.data, nullptr);
  EXPECT_EQ(desc.strides, nullptr);
  gth_tensor_release(tensor);
}

TEST_P(ArrowImport, ImportedStringsAreExportedShared) {
  gth_tensor* tensor = accept();
  ArrowSchema schema;
  ArrowArray array;
  gth_error err = GTH_ERROR_INIT;
  ASSERT_EQ(gth_tensor_to_arrow(nullptr, tensor, GTH_EXPORT_NO_COPY, &schema, &array, &err), GTH_OK) << err.message;
  EXPECT_STREQ(schema.format, is_binary() ? "Z" : "U");
  EXPECT_EQ(array.buffers[2], buffers_[2]);
  EXPECT_EQ(array.buffers[1] == buffers_[1], is_wide());
  gth_tensor_release(tensor);
  EXPECT_EQ(read(array), (Words{"one", "two", "three", "", "four"}));
  EXPECT_EQ(released_, 0);
  schema.release(&schema);
  array.release(&array);
  EXPECT_EQ(released_, 1);
}

TEST_P(ArrowImport, NullArgumentsAndGarbageContextsAreRejected) {
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_from_arrow(nullptr, nullptr, &array_, -1, nullptr, &out, &err), GTH_E_NULL);
  EXPECT_EQ(gth_tensor_from_arrow(nullptr, &schema_, nullptr, -1, nullptr, &out, &err), GTH_E_NULL);
  EXPECT_EQ(gth_tensor_from_arrow(nullptr, &schema_, &array_, -1, nullptr, nullptr, &err), GTH_E_NULL);
  auto* garbage = reinterpret_cast<gth_context*>(this);
  EXPECT_EQ(gth_tensor_from_arrow(garbage, &schema_, &array_, -1, nullptr, &out, &err), GTH_E_HANDLE);
  EXPECT_EQ(err.operand, GTH_OPERAND_CONTEXT);
  EXPECT_EQ(released_, 0);
}

}  // namespace
