#include <gtest/gtest.h>

#include "columns_request.hpp"

// Indices that are resolved to row numbers.
namespace {

using namespace columns_test;

TEST(Resolve, RowsAreInRangeOrMinusOne) {
  int64_t rows[5];
  Request request({-1, 0, null_id, 4, 3}, GTH_TAKE_NULL);
  gth_error error = GTH_ERROR_INIT;
  ASSERT_EQ(gth_resolve(nullptr, 4, &request.take, 5, rows, &error), GTH_OK) << error.message;
  EXPECT_EQ(Ids(rows, rows + 5), (Ids{3, 0, -1, -1, 3}));
}

// The bits have the row-major order of the indices, whatever their strides are. A gather would take the columns of a high
// matrix one after the other.
TEST(Resolve, NullsOfATransposedMatrixAreInRowMajorOrder) {
  for (const int64_t height : {2, 20}) {
    const int64_t shape[] = {height, 3}, strides[] = {8, 8 * height};
    Ids expected, columns(static_cast<size_t>(3 * height));
    for (int64_t k = 0; k < 3 * height; ++k) expected.push_back(k % 5 == 1 ? null_id : k * 7 % 11);
    Request request(expected);
    for (int64_t k = 0; k < 3 * height; ++k) {
      int64_t& row = expected[static_cast<size_t>(k)];
      columns[static_cast<size_t>(k / 3 + k % 3 * height)] = row == null_id ? 99 : row;
      if (row == null_id) row = -1;
    }
    request.desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 2, shape, columns.data());
    request.desc.strides = strides;
    Ids rows(expected.size());
    gth_error error = GTH_ERROR_INIT;
    ASSERT_EQ(gth_resolve(nullptr, 11, &request.take, 3 * height, rows.data(), &error), GTH_OK) << error.message;
    EXPECT_EQ(rows, expected);
  }
}

TEST(Resolve, PaddingSelectsNoRow) {
  for (const bool has_null : {false, true}) {
    int64_t rows[4];
    Request request({9, -1, 3, has_null ? null_id : 9});
    request.options.has_padding_index = 1;
    request.options.padding_index = 9;
    gth_error error = GTH_ERROR_INIT;
    ASSERT_EQ(gth_resolve(nullptr, 4, &request.take, 4, rows, &error), GTH_OK) << error.message;
    EXPECT_EQ(Ids(rows, rows + 4), (Ids{-1, 3, 3, -1}));
    request.ids[2] = 4;
    EXPECT_EQ(gth_resolve(nullptr, 4, &request.take, 4, rows, &error), GTH_E_INDEX);
  }
}

TEST(Resolve, K13_NothingIsWrittenOnAnError) {
  for (const bool has_null : {false, true}) {
    int64_t rows[3] = {-7, -7, -7};
    Request request({0, has_null ? null_id : 1, 4});
    gth_error error = GTH_ERROR_INIT;
    EXPECT_EQ(gth_resolve(nullptr, 4, &request.take, 3, rows, &error), GTH_E_INDEX);
    EXPECT_EQ(error.position, 2);
    EXPECT_EQ(Ids(rows, rows + 3), (Ids{-7, -7, -7}));
  }
}

TEST(Resolve, ManyIndicesOfEachTypeAreResolved) {
  const Below below = seeded(1);
  for (const int32_t dtype : {GTH_DTYPE_INT8, GTH_DTYPE_UINT16, GTH_DTYPE_INT32, GTH_DTYPE_UINT64}) {
    std::vector<char> bytes;
    Ids expected;
    for (int64_t i = 0; i < 100000; ++i) {
      const int64_t id = expected.emplace_back(below(100));
      bytes.insert(bytes.end(), reinterpret_cast<const char*>(&id),
                   reinterpret_cast<const char*>(&id) + gth_dtype_size(dtype));
    }
    Request request({});
    const int64_t shape[] = {100000};
    request.desc = GTH_TENSOR_DESC_DENSE(dtype, 1, shape, bytes.data());
    Ids rows(100000);
    ASSERT_EQ(gth_resolve(nullptr, 100, &request.take, 100000, rows.data(), nullptr), GTH_OK);
    EXPECT_TRUE(rows == expected);
  }
}

TEST(Resolve, K12_InvalidArgumentsAreRejected) {
  Ids rows(4);
  Request request({0, 1});
  const auto status = [&](int64_t extent, int64_t capacity, int64_t* to) {
    return gth_resolve(nullptr, extent, &request.take, capacity, to, nullptr);
  };
  EXPECT_EQ(status(2, 2, rows.data()), GTH_OK);
  EXPECT_EQ(status(2, 1, rows.data()), GTH_E_SIZE);
  EXPECT_EQ(status(2, 2, nullptr), GTH_E_NULL);
  EXPECT_EQ(status(-1, 2, rows.data()), GTH_E_SHAPE);
  EXPECT_EQ(status(INT64_MAX, 2, rows.data()), GTH_E_SIZE);
  EXPECT_EQ(status(2, 2, request.ids.data()), GTH_E_ALIAS);
  EXPECT_EQ(status(2, 2, reinterpret_cast<int64_t*>(reinterpret_cast<char*>(rows.data()) + 4)), GTH_E_UNSUPPORTED);
  request.take.flags = GTH_TAKE_RECORD;
  EXPECT_EQ(status(2, 2, rows.data()), GTH_E_VERSION);
  request.take.flags = GTH_TAKE_NULL;
  request.options.bounds = GTH_BOUNDS_CLAMP;
  EXPECT_EQ(status(2, 2, rows.data()), GTH_E_VERSION);
  request.options.bounds = 0;
  request.options.has_axis = 1;
  for (const int64_t axis : {-3, -2, -1, 0, 1, 5}) {
    request.options.axis = axis;
    EXPECT_EQ(status(2, 2, rows.data()), axis == 0 || axis == -1 ? GTH_OK : GTH_E_AXIS) << axis;
  }
  request.options.has_axis = 0, request.options.axis = 0;
  request.options.batch_dims = 1;
  EXPECT_EQ(status(2, 2, rows.data()), GTH_E_BATCH);
  request.options.batch_dims = 0;
  request.take.indices = nullptr;
  EXPECT_EQ(status(2, 2, rows.data()), GTH_E_NULL);
  EXPECT_EQ(gth_resolve(nullptr, 2, nullptr, 2, rows.data(), nullptr), GTH_E_NULL);
}

}  // namespace
