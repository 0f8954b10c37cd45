#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../src/core/os/testing.hpp"
#include "arrow_words.hpp"
#include "hooks.hpp"

// Strings over plain buffers and their export to Arrow. Tests which buffers are shared, copied and freed.
namespace {

using namespace arrow_test;

void count(void* user) { ++*static_cast<int*>(user); }

// Strings over a caller's buffers: "one", "two", "three", "".
class Strings : public ::testing::Test {
 protected:
  int32_t make(uint32_t flags, gth_deleter_fn deleter, gth_tensor** out, gth_error* err) {
    return gth_tensor_from_strings(nullptr, flags, static_cast<int32_t>(shape_.size()), shape_.data(), offsets_.data(),
                                   bytes_.data(), static_cast<int64_t>(bytes_.size()), deleter, &freed_, out, err);
  }

  gth_tensor* borrow(uint32_t flags = 0) { return accept(flags, nullptr); }
  gth_tensor* adopt(uint32_t flags = 0) { return accept(flags, count); }

  gth_tensor* accept(uint32_t flags, gth_deleter_fn deleter) {
    gth_tensor* out = nullptr;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(make(flags, deleter, &out, &err), GTH_OK) << err.message;
    return out;
  }

  void expect_refused(int32_t status, int64_t position, int64_t value, int64_t limit) {
    gth_tensor* out = reinterpret_cast<gth_tensor*>(this);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(make(0, count, &out, &err)), gth_status_name(status));
    EXPECT_EQ(out, nullptr);
    expect_error(err, status, position, value, limit);
    EXPECT_EQ(freed_, 0);
  }

  void expect_no_export(const gth_tensor* tensor, uint32_t flags, int32_t status, int32_t operand) {
    ArrowSchema schema;
    ArrowArray array;
    std::memset(static_cast<void*>(&schema), 0x55, sizeof schema);
    std::memset(static_cast<void*>(&array), 0x55, sizeof array);
    gth_error err = GTH_ERROR_INIT;
    EXPECT_STREQ(gth_status_name(gth_tensor_to_arrow(nullptr, tensor, flags, &schema, &array, &err)),
                 gth_status_name(status));
    EXPECT_EQ(err.status, status);
    EXPECT_EQ(err.operand, operand) << err.message;
    EXPECT_EQ(schema.flags, 0x5555555555555555);  // nothing is written
    EXPECT_EQ(array.length, 0x5555555555555555);
  }

  // Exports, reads and releases the strings.
  Words exported(const gth_tensor* tensor, uint32_t flags, const char* format = "U") {
    ArrowSchema schema;
    ArrowArray array;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(gth_tensor_to_arrow(nullptr, tensor, flags, &schema, &array, &err), GTH_OK) << err.message;
    if (err.status != GTH_OK) return {};
    expect_well_formed(schema, array, format);
    const Words words = read(array);
    array.release(&array);
    schema.release(&schema);
    EXPECT_EQ(schema.release, nullptr);
    EXPECT_EQ(array.release, nullptr);
    return words;
  }

  void expect_well_formed(const ArrowSchema& schema, const ArrowArray& array, const char* format) {
    EXPECT_STREQ(schema.format, format);
    EXPECT_STREQ(schema.name, "");
    EXPECT_EQ(schema.metadata, nullptr);
    EXPECT_EQ(schema.n_children, 0);
    EXPECT_EQ(schema.dictionary, nullptr);
    EXPECT_EQ(array.null_count, 0);
    EXPECT_EQ(array.offset, 0);
    EXPECT_EQ(array.n_buffers, 3);
    EXPECT_EQ(array.n_children, 0);
    EXPECT_EQ(array.dictionary, nullptr);
    EXPECT_EQ(array.buffers[0], nullptr);
    EXPECT_NE(array.buffers[1], nullptr);
    EXPECT_NE(array.buffers[2], nullptr);
  }

  std::vector<int64_t> shape_ = {4}, offsets_ = {0, 3, 6, 11, 11};
  std::vector<char> bytes_ = {'o', 'n', 'e', 't', 'w', 'o', 't', 'h', 'r', 'e', 'e'};
  int freed_ = 0;
};

// ----------------------------------------------------------------------------------------------------- Plain buffers

TEST_F(Strings, BorrowedBuffersAreUsedInPlace) {
  gth_tensor* tensor = borrow();
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  ASSERT_EQ(gth_tensor_strings(tensor, &offsets, &bytes, nullptr), GTH_OK);
  EXPECT_EQ(offsets, offsets_.data());
  EXPECT_EQ(bytes, bytes_.data());
  EXPECT_EQ(gather_two(tensor), (Words{"three", "one"}));
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(freed_, 0);
}

TEST_F(Strings, DeleterRunsOnce) {
  gth_tensor* tensor = adopt();
  EXPECT_EQ(freed_, 0);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(freed_, 1);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_E_HANDLE);
  EXPECT_EQ(freed_, 1);
}

TEST_F(Strings, BadOffsetsAreRejected) {
  offsets_ = {0, 5, 3, 6, 6};
  expect_refused(GTH_E_ARROW, 1, 3, 5);
  offsets_ = {0, 5, 6, 12, 12};
  expect_refused(GTH_E_ARROW, 2, 12, 11);
  offsets_ = {-1, 5, 6, 7, 8};
  expect_refused(GTH_E_ARROW, 0, -1, 0);
  offsets_ = {INT64_MIN, INT64_MIN, 0, 0, 0};
  expect_refused(GTH_E_ARROW, 0, INT64_MIN, 0);
  offsets_ = {0, 0, 0, 0, INT64_MAX};
  expect_refused(GTH_E_ARROW, 3, INT64_MAX, 11);
  shape_ = {0};
  offsets_ = {12};
  expect_refused(GTH_E_ARROW, 0, 12, 11);
}

TEST_F(Strings, BadShapesAreRejected) {
  shape_ = {GTH_OPEN};
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(make(0, count, &out, &err), GTH_E_SHAPE);
  EXPECT_EQ(err.component, 0);
  shape_ = std::vector<int64_t>(GTH_MAX_NDIM + 1, 1);
  expect_refused(GTH_E_RANK, -1, GTH_MAX_NDIM + 1, GTH_MAX_NDIM);
  shape_ = {int64_t{1} << 60};  // the offsets exceed int64
  expect_refused(GTH_E_SIZE, -1, int64_t{1} << 60, INT64_MAX);
}

TEST_F(Strings, NullBuffersAndNegativeExtentsAreRejected) {
  const int64_t four[] = {4}, none[] = {0, 7}, zeros[] = {0, 0, 0, 0, 0};
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  const auto call = [&](const int64_t* shape, const int64_t* offsets, const char* bytes, int64_t extent) {
    const int32_t ndim = shape == none ? 2 : 1;
    const int32_t status =
        gth_tensor_from_strings(nullptr, 0, ndim, shape, offsets, bytes, extent, nullptr, nullptr, &out, &err);
    EXPECT_EQ(out != nullptr, status == GTH_OK);
    gth_tensor_release(out);
    return status;
  };
  EXPECT_EQ(call(nullptr, zeros, "", 0), GTH_E_NULL);
  EXPECT_EQ(call(four, nullptr, "", 0), GTH_E_NULL);
  EXPECT_EQ(call(four, zeros, nullptr, 1), GTH_E_NULL);
  EXPECT_EQ(call(four, zeros, "", -1), GTH_E_ARROW);
  EXPECT_EQ(call(four, zeros, "", INT64_MIN), GTH_E_ARROW);
  EXPECT_EQ(call(four, zeros, nullptr, 0), GTH_OK);
  EXPECT_EQ(call(none, nullptr, nullptr, 0), GTH_OK);
  EXPECT_EQ(call(none, zeros, nullptr, 0), GTH_OK);
}

TEST_F(Strings, UnknownFlagsNullAndGarbageAreRejected) {
  gth_tensor* out = nullptr;
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(make(2, count, &out, &err), GTH_E_VERSION);
  EXPECT_EQ(err.operand, GTH_OPERAND_NONE);
  EXPECT_EQ(err.value, 2);
  EXPECT_EQ(err.limit, GTH_STRINGS_BINARY);
  EXPECT_EQ(make(0, count, nullptr, &err), GTH_E_NULL);
  auto* garbage = reinterpret_cast<gth_context*>(this);
  EXPECT_EQ(gth_tensor_from_strings(garbage, 0, 1, shape_.data(), offsets_.data(), bytes_.data(), 11, count, &freed_,
                                    &out, &err),
            GTH_E_HANDLE);
  EXPECT_EQ(freed_, 0);

  gth_tensor* tensor = borrow();
  const int64_t* offsets = offsets_.data();
  const void* bytes = bytes_.data();
  EXPECT_EQ(gth_tensor_strings(tensor, nullptr, &bytes, &err), GTH_E_NULL);
  EXPECT_EQ(bytes, nullptr);
  EXPECT_EQ(gth_tensor_strings(tensor, &offsets, nullptr, &err), GTH_E_NULL);
  EXPECT_EQ(offsets, nullptr);
  EXPECT_EQ(gth_tensor_strings(nullptr, &offsets, &bytes, &err), GTH_E_NULL);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(gth_tensor_strings(tensor, &offsets, &bytes, &err), GTH_E_HANDLE);
  ASSERT_EQ(gth_tensor_alloc(nullptr, GTH_DTYPE_INT8, 0, nullptr, &tensor, nullptr), GTH_OK);
  EXPECT_EQ(gth_tensor_strings(tensor, &offsets, &bytes, &err), GTH_E_DTYPE);
  expect_error(err, GTH_E_DTYPE, -1, GTH_DTYPE_INT8, GTH_DTYPE_STRING);
  gth_tensor_release(tensor);
}

TEST_F(Strings, FailedAllocationLeavesTheBuffersToTheCaller) {
  int32_t status = GTH_E_NOMEM;
  shape_ = {1, 1, 1, 1, 1, 1, 1, 4};  // dims of this rank are not stored inline
  for (int64_t n = 1; status != GTH_OK; ++n) {
    gth_tensor* out = nullptr;
    gth_testing_fail_allocation(n, 1);
    status = make(0, count, &out, nullptr);
    gth_testing_fail_allocation(0, 0);
    ASSERT_EQ(freed_, 0);
    ASSERT_TRUE(status == GTH_OK || status == GTH_E_NOMEM) << status;
    ASSERT_EQ(out != nullptr, status == GTH_OK);
    gth_tensor_release(out);
  }
  EXPECT_EQ(freed_, 1);
}

// ------------------------------------------------------------------------------------------------------------- Arrow

TEST_F(Strings, BorrowedBuffersAreCopied) {
  gth_tensor* tensor = borrow();
  expect_no_export(tensor, GTH_EXPORT_NO_COPY, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR);
  ArrowSchema schema;
  ArrowArray array;
  ASSERT_EQ(gth_tensor_to_arrow(nullptr, tensor, 0, &schema, &array, nullptr), GTH_OK);
  gth_tensor_release(tensor);
  offsets_.assign(offsets_.size(), -1);
  bytes_.assign(bytes_.size(), 'x');
  EXPECT_EQ(read(array), (Words{"one", "two", "three", ""}));
  array.release(&array);
  schema.release(&schema);
}

TEST_F(Strings, AdoptedBuffersAreSharedAndFreedOnce) {
  gth_tensor* tensor = adopt();
  ArrowSchema schemas[3];
  ArrowArray arrays[3];
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(gth_tensor_to_arrow(nullptr, tensor, GTH_EXPORT_NO_COPY, &schemas[i], &arrays[i], nullptr), GTH_OK);
    EXPECT_EQ(arrays[i].buffers[1], offsets_.data());
    EXPECT_EQ(arrays[i].buffers[2], bytes_.data());
  }
  gth_tensor_release(tensor);
  EXPECT_EQ(freed_, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      ArrowArray moved = arrays[i];  // Arrow allows consumers to move the struct
      arrays[i].release = nullptr;
      schemas[i].release(&schemas[i]);
      moved.release(&moved);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(freed_, 1);
}

TEST_F(Strings, BinaryIsExportedAsBinary) {
  for (const uint32_t flags : {0, GTH_EXPORT_COPY}) {
    gth_tensor* tensor = adopt(GTH_STRINGS_BINARY);
    EXPECT_EQ(exported(tensor, flags, "Z"), (Words{"one", "two", "three", ""}));
    gth_tensor_release(tensor);
  }
  EXPECT_EQ(freed_, 2);
}

// If one operand may contain bytes that are not text, so may the result.
TEST_F(Strings, ScatteredStringsAreBinaryIfAnOperandIs) {
  const int64_t shape[] = {4}, at[] = {3, 2, 1, 0};
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, at);
  gth_tensor* indices = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&desc, &indices, nullptr), GTH_OK);
  for (const uint32_t of_target : {0, GTH_STRINGS_BINARY}) {
    for (const uint32_t of_updates : {0, GTH_STRINGS_BINARY}) {
      gth_tensor *target = borrow(of_target), *updates = borrow(of_updates), *made = nullptr;
      ASSERT_EQ(calls::scatter.make(nullptr, target, indices, updates, nullptr, &made, nullptr), GTH_OK);
      EXPECT_EQ(exported(made, 0, of_target | of_updates ? "Z" : "U"), (Words{"", "three", "two", "one"}));
      for (gth_tensor* each : {target, updates, made}) gth_tensor_release(each);
    }
  }
  gth_tensor_release(indices);
}

TEST_F(Strings, MatrixIsExportedFlat) {
  shape_ = {2, 1, 2};
  gth_tensor* tensor = borrow();
  EXPECT_EQ(exported(tensor, 0), (Words{"one", "two", "three", ""}));
  gth_tensor_release(tensor);
}

TEST_F(Strings, CopyBeginsWithItsFirstByte) {
  offsets_ = {3, 6, 11};
  shape_ = {2};
  gth_tensor* tensor = borrow();
  ArrowSchema schema;
  ArrowArray array;
  ASSERT_EQ(gth_tensor_to_arrow(nullptr, tensor, 0, &schema, &array, nullptr), GTH_OK);
  EXPECT_EQ(static_cast<const int64_t*>(array.buffers[1])[0], 0);
  EXPECT_EQ(read(array), (Words{"two", "three"}));
  array.release(&array);
  schema.release(&schema);
  gth_tensor_release(tensor);
}

TEST_F(Strings, EmptyStringsAndArraysAreExported) {
  for (const gth_deleter_fn deleter : {gth_deleter_fn{nullptr}, gth_deleter_fn{count}}) {
    for (const int64_t extent : {0, 4}) {
      shape_ = {extent, 1};
      offsets_.assign(5, 0);
      gth_tensor* tensor = nullptr;
      ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 2, shape_.data(), offsets_.data(), nullptr, 0, deleter, &freed_,
                                        &tensor, nullptr),
                GTH_OK);
      EXPECT_EQ(exported(tensor, 0), Words(static_cast<size_t>(extent)));
      EXPECT_EQ(exported(tensor, GTH_EXPORT_COPY), Words(static_cast<size_t>(extent)));
      gth_tensor_release(tensor);
    }
  }
}

// If another thread changes borrowed offsets, no read exceeds the bytes.
TEST_F(Strings, ChangedOffsetsAreRejectedByExports) {
  gth_tensor* tensor = borrow();
  for (const int64_t bad : {int64_t{-5}, int64_t{12}, INT64_MAX, INT64_MIN}) {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      const int64_t good = offsets_[i];
      offsets_[i] = bad;
      expect_no_export(tensor, 0, GTH_E_RACE, GTH_OPERAND_TENSOR);
      offsets_[i] = good;
    }
  }
  EXPECT_EQ(exported(tensor, 0), (Words{"one", "two", "three", ""}));
  gth_tensor_release(tensor);
}

TEST_F(Strings, ExportsRejectUnknownFlagsNullAndGarbage) {
  gth_tensor* tensor = adopt();
  for (const uint32_t flags : {3U, 4U, UINT32_MAX}) expect_no_export(tensor, flags, GTH_E_VERSION, GTH_OPERAND_NONE);
  expect_no_export(nullptr, 0, GTH_E_NULL, GTH_OPERAND_TENSOR);
  expect_no_export(reinterpret_cast<gth_tensor*>(this), 0, GTH_E_HANDLE, GTH_OPERAND_TENSOR);
  ArrowSchema schema;
  ArrowArray array;
  EXPECT_EQ(gth_tensor_to_arrow(nullptr, tensor, 0, nullptr, &array, nullptr), GTH_E_NULL);
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(gth_tensor_to_arrow(reinterpret_cast<gth_context*>(this), tensor, 0, &schema, &array, &err), GTH_E_HANDLE);
  EXPECT_EQ(err.operand, GTH_OPERAND_CONTEXT);
  EXPECT_EQ(gth_tensor_to_arrow(nullptr, tensor, 0, &schema, nullptr, nullptr), GTH_E_NULL);
  gth_tensor_release(tensor);
  expect_no_export(tensor, 0, GTH_E_HANDLE, GTH_OPERAND_TENSOR);
  ASSERT_EQ(gth_tensor_alloc(nullptr, GTH_DTYPE_INT8, 0, nullptr, &tensor, nullptr), GTH_OK);
  expect_no_export(tensor, 0, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR);
  gth_tensor_release(tensor);
}

TEST_F(Strings, FailedAllocationOfAnExportLeaksNothing) {
  gth_tensor* tensor = borrow();
  for (const int32_t sticky : {0, 1}) {
    int32_t status = GTH_E_NOMEM;
    int64_t n = 0;
    while (status != GTH_OK) {
      ArrowSchema schema;
      ArrowArray array;
      gth_testing_fail_allocation(++n, sticky);
      status = gth_tensor_to_arrow(nullptr, tensor, 0, &schema, &array, nullptr);
      gth_testing_fail_allocation(0, 0);
      if (status == GTH_OK) array.release(&array);
      ASSERT_TRUE(status == GTH_OK || status == GTH_E_NOMEM) << status;
    }
    EXPECT_GT(n, 3);
  }
  gth_tensor_release(tensor);
}

// A gather reads offsets that another thread has changed since the tensor was created and validated.
TEST_F(Strings, ChangedOffsetsAreRejectedByGathers) {
  gth_tensor* tensor = borrow();
  const int64_t all[] = {0, 1, 2, 3}, shape[] = {4};
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, all);
  gth_tensor *indices = nullptr, *made = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&desc, &indices, nullptr), GTH_OK);
  for (const int64_t bad : {int64_t{-5}, int64_t{12}, INT64_MAX, INT64_MIN}) {
    for (int64_t& offset : offsets_) {
      const int64_t good = offset;
      offset = bad;
      gth_error err = GTH_ERROR_INIT;
      EXPECT_EQ(calls::gather.make(nullptr, tensor, indices, nullptr, nullptr, &made, &err), GTH_E_RACE) << bad;
      EXPECT_EQ(err.operand, GTH_OPERAND_PARAMS);
      EXPECT_EQ(made, nullptr);
      offset = good;
    }
  }
  EXPECT_EQ(gather_two(tensor), (Words{"three", "one"}));
  gth_tensor_release(indices);
  gth_tensor_release(tensor);
}

// Sizes that exceed int64 are found before bytes are copied: by one thread, or by the step that combines the pieces of
// several threads. The string is long in its offsets only, so its bytes must not be read.
TEST_F(Strings, MoreBytesThanInt64AreRejected) {
  constexpr int64_t longest = int64_t{1} << 45, picks = int64_t{1} << 18;
  const int64_t offsets[] = {0, longest}, one[] = {1}, shape[] = {picks};
  const std::vector<int64_t> zeros(picks);
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, zeros.data());
  gth_tensor *tensor = nullptr, *indices = nullptr, *made = nullptr;
  ASSERT_EQ(
      gth_tensor_from_strings(nullptr, 0, 1, one, offsets, bytes_.data(), longest, nullptr, nullptr, &tensor, nullptr),
      GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&desc, &indices, nullptr), GTH_OK);
  for (int32_t threads : {1, 2, 3}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    gth_error err = GTH_ERROR_INIT;
    EXPECT_EQ(calls::gather.make(nullptr, tensor, indices, nullptr, &options, &made, &err), GTH_E_SIZE) << err.message;
    EXPECT_EQ(err.operand, GTH_OPERAND_OUT);
    EXPECT_EQ(made, nullptr);
  }
  gth_tensor_release(indices);
  gth_tensor_release(tensor);
}

// The offset of a string takes 8 bytes in the result, even if the string is short.
TEST_F(Strings, MoreStringsThanMemoryReturnNomem) {
  const int64_t many[] = {int64_t{1} << 61}, again[] = {0};
  const int8_t zero = 0;
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 1, many, &zero);
  desc.strides = again;
  gth_tensor *tensor = borrow(), *indices = nullptr, *made = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&desc, &indices, nullptr), GTH_OK);
  gth_error err = GTH_ERROR_INIT;
  EXPECT_EQ(calls::gather.make(nullptr, tensor, indices, nullptr, nullptr, &made, &err), GTH_E_NOMEM) << err.message;
  EXPECT_EQ(err.operand, GTH_OPERAND_OUT);
  EXPECT_EQ(err.value, INT64_MAX);
  EXPECT_EQ(made, nullptr);
  gth_tensor_release(indices);
  gth_tensor_release(tensor);
}

// The bytes are allocated after offsets are validated and before bytes are copied.
TEST_F(Strings, OffsetsAreReadOnce) {
  Hooks writer;
  gth_context* context = writer.context();
  gth_tensor* tensor = borrow();
  const int64_t third[] = {2}, shape[] = {1};
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, third);
  gth_tensor *indices = nullptr, *made = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&desc, &indices, nullptr), GTH_OK);
  writer.at = &offsets_[2];
  writer.nth = 2;
  const int64_t good = offsets_[2];
  for (const int64_t bad : {int64_t{-1}, int64_t{7}, int64_t{12}, INT64_MAX, INT64_MIN}) {
    writer.asked = 0;
    writer.to = bad;
    ASSERT_EQ(calls::gather.make(context, tensor, indices, nullptr, nullptr, &made, nullptr), GTH_OK) << bad;
    offsets_[2] = good;
    EXPECT_EQ(exported(made, 0), Words{"three"}) << bad;
    gth_tensor_release(made);
  }
  EXPECT_EQ(writer.given_back, 5 * 2);
  gth_tensor_release(indices);
  gth_tensor_release(tensor);
  gth_context_release(context);
}

TEST_F(Strings, CopiesAllocateTwiceFromTheHooks) {
  Hooks hooks;
  gth_context* context = hooks.context();
  gth_tensor* tensor = borrow();
  ArrowSchema schema;
  ArrowArray array;
  ASSERT_EQ(gth_tensor_to_arrow(context, tensor, 0, &schema, &array, nullptr), GTH_OK);
  gth_context_release(context);
  gth_tensor_release(tensor);
  EXPECT_EQ(hooks.asked, 2);
  EXPECT_EQ(read(array), (Words{"one", "two", "three", ""}));
  EXPECT_EQ(hooks.given_back, 0);
  array.release(&array);
  EXPECT_EQ(hooks.given_back, 2);
}

}  // namespace
