#include "hostile.hpp"
#include "sanitizers.hpp"
#include "sparse.hpp"

// Hostile sizes: products beyond int64, and tensors beyond 2^31 and 2^32 elements in memory that is mapped but not
// allocated.
namespace {

using namespace hostile;

constexpr int32_t u8 = GTH_DTYPE_UINT8;

// Expects that every way to create a tensor of this shape fails with GTH_E_SIZE.
void expect_too_large(int32_t dtype, const Shape& shape, int64_t value) {
  const Facts facts{GTH_E_SIZE, GTH_OPERAND_TENSOR, -1, -1, value, INT64_MAX};
  char byte = 0;
  const gth_tensor_desc desc = describe(dtype, shape, &byte);
  Error error;
  gth_tensor* out = reinterpret_cast<gth_tensor*>(&byte);
  expect_facts(gth_tensor_borrow(&desc, &out, &error), error, facts, "borrow");
  EXPECT_EQ(out, nullptr);
  expect_facts(gth_tensor_alloc(nullptr, dtype, desc.ndim, shape.data(), &out, &error), error, facts, "alloc");
  EXPECT_EQ(out, nullptr);
}

void expect_created(int32_t dtype, const Shape& shape) {
  const gth_tensor_desc desc = describe(dtype, shape, nullptr);
  Tensor borrowed{desc}, allocated;
  EXPECT_TRUE(borrowed);
  EXPECT_EQ(gth_tensor_alloc(nullptr, dtype, desc.ndim, shape.data(), allocated.out(), nullptr), GTH_OK);
}

TEST(Hostile, C1_ProductOfExtentsBeyondInt64IsRejected) {
  expect_too_large(GTH_DTYPE_INT8, {int64_t{1} << 32, int64_t{1} << 32}, int64_t{1} << 32);
}

TEST(Hostile, C2_LargeDimsBesideEmptyOnesAreChecked) {
  expect_created(GTH_DTYPE_INT8, {INT64_MAX, 0});
  expect_too_large(GTH_DTYPE_FLOAT32, {INT64_MAX, 0}, INT64_MAX);
}

TEST(Hostile, C3_ProductWithTheItemBeyondInt64IsRejected) {
  expect_too_large(GTH_DTYPE_COMPLEX128, {int64_t{1} << 60}, int64_t{1} << 60);
}

TEST(Hostile, C4_EmptyFirstDimIsAcceptedIfTheRestFits) {
  constexpr int64_t large = 2322065022462387218;
  expect_created(GTH_DTYPE_INT8, {0, large});
  expect_too_large(GTH_DTYPE_FLOAT32, {0, large}, large);
}

TEST(Hostile, C4_MoreMemoryThanAvailableReturnsNomem) {
  for (int64_t bytes : {INT64_MAX, INT64_MAX - 64, int64_t{1} << 62}) {
    const Shape shape{bytes};
    Error error;
    gth_tensor* out = reinterpret_cast<gth_tensor*>(&error);
    expect_facts(gth_tensor_alloc(nullptr, u8, 1, shape.data(), &out, &error), error,
                 {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0});
    EXPECT_EQ(out, nullptr);
  }
}

// float32 accumulation lists the updates. Here all of them share one place in memory.
// The table of handles has a limit, which takes about 1 GiB.
TEST(Hostile, MoreHandlesThanTheTableHoldsReturnNomem) {
  const Shape shape{0};
  const gth_tensor_desc desc = describe(u8, shape, nullptr);
  std::vector<gth_tensor*> tensors;
  int32_t status = GTH_OK;
  for (constexpr size_t most = size_t{1} << 23; tensors.size() < most && status == GTH_OK;) {
    tensors.push_back(nullptr);
    status = gth_tensor_borrow(&desc, &tensors.back(), nullptr);
  }
  EXPECT_EQ(status, GTH_E_NOMEM);
  EXPECT_EQ(tensors.back(), nullptr);
  tensors.pop_back();
  EXPECT_GE(tensors.size(), size_t{1} << 20);
  for (gth_tensor* each : tensors) ASSERT_EQ(gth_tensor_release(each), GTH_OK);
  EXPECT_TRUE(Tensor{desc}) << "the slots are free again";
}

TEST(Hostile, C4_MoreUpdatesThanCanBeListedReturnNomem) {
  const Array target(GTH_DTYPE_FLOAT16, {3}), update(GTH_DTYPE_FLOAT16, {1}), index(u8, {1}, std::vector<char>{2});
  const Bytes before = target.bytes();
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_ADD;
  options.accumulate = GTH_ACCUMULATE_FLOAT32;
  const Shape still{0};
  const gth_tensor_desc t = target.desc();
  for (int64_t count : {int64_t{1} << 50, int64_t{1} << 60}) {
    const Shape shape{count};
    const gth_tensor_desc i = describe(u8, shape, index.data(), still.data());
    const gth_tensor_desc u = describe(GTH_DTYPE_FLOAT16, shape, update.data(), still.data());
    Error error;
    const int32_t status = gth_scatter(nullptr, &t, &i, &u, &options, &error);
    EXPECT_GT(error.value, count);
    EXPECT_EQ(error.value == INT64_MAX, count > INT64_MAX / 24) << "no number of bytes is so large";
    expect_facts(status, error, {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, error.value, 0});
    EXPECT_TRUE(target.bytes() == before);
  }
}

TEST(Hostile, C5_OutputBeyondInt64IsRejected) {
  const Shape params_shape{1, int64_t{1} << 40}, indices_shape{int64_t{1} << 40};
  const Shape still(2, 0);
  const Array table(u8, {1}), index = indices64({1}, {0}), out(u8, {1});
  const gth_tensor_desc params = describe(u8, params_shape, table.data(), still.data());
  const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, indices_shape, index.data(), still.data());
  expect_fault({g, params, indices}, describe(u8, Shape{int64_t{1} << 40, int64_t{1} << 40}, out.data()),
               {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, int64_t{1} << 40, INT64_MAX});
  int32_t ndim = 0;
  int64_t shape[2];
  Error error;
  EXPECT_EQ(calls::gather.infer(&params, &indices, nullptr, 2, &ndim, shape, &error), GTH_E_SIZE);
}

// Strings may share bytes, which are not read before the size is checked.
TEST(Hostile, C5_StringsBeyondInt64AreRejected) {
  const int64_t ends[] = {0, 1, INT64_MAX}, update_ends[] = {0, INT64_MAX};
  const Shape two{2}, one{1};
  const Array first = indices64({1}, {0});
  const Tensor indices(first.desc());
  Tensor target, updates;
  ASSERT_EQ(
      gth_tensor_from_strings(nullptr, 0, 1, two.data(), ends, "?", INT64_MAX, nullptr, nullptr, target.out(), nullptr),
      GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, one.data(), update_ends, "?", INT64_MAX, nullptr, nullptr,
                                    updates.out(), nullptr),
            GTH_OK);
  gth_tensor* made = target.get();
  Error error;
  expect_facts(calls::scatter.make(nullptr, target.get(), indices.get(), updates.get(), nullptr, &made, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_TARGET, -1, -1, 0, INT64_MAX});
  EXPECT_EQ(made, nullptr);
}

TEST(Hostile, C6_RowsOfOneByteBeyond2To31AreGathered) {
  constexpr int64_t rows = (int64_t{1} << 31) + 16;
  const Sparse table(rows);
  NEEDS(table);
  table.keep_small_pages();
  table.data()[rows - 1] = 7;
  table.data()[int64_t{1} << 31] = 5;
  const Shape shape{rows};
  const Array indices = indices64({3, 1}, {rows - 1, int64_t{1} << 31, 3});
  expect_gathered({nd, describe(u8, shape, table.data()), indices.desc()}, {3}, {7, 5, 0});
}

// Targets with 2,147,534,622 elements, and with 2^32 elements and as many components as a tier supports.
TEST(Hostile, I12_TargetsBeyond2To31AreWritten) {
  const Shape deep(8, 16), flat{1, 46342, 46341};
  for (const Shape& shape : {flat, deep}) {
    const Sparse target(count_of(shape));
    NEEDS(target);
    target.keep_small_pages();
    std::vector<int64_t> tuples;
    for (int64_t extent : shape) tuples.push_back(extent - 1);
    for (size_t d = 0; d < shape.size(); ++d) tuples.push_back(d + 1 == shape.size() ? 1 : 0);
    const Array indices = indices64({2, static_cast<int64_t>(shape.size())}, tuples);
    const Array updates(u8, {2});
    gth_options options = GTH_OPTIONS_INIT;
    options.reduction = GTH_REDUCTION_ADD;
    const gth_tensor_desc t = describe(u8, shape, target.data()), i = indices.desc(), u = updates.desc();
    Error error;
    ASSERT_EQ(gth_scatter_nd(nullptr, &t, &i, &u, nullptr, &error), GTH_OK) << error.message;
    ASSERT_EQ(gth_scatter_nd(nullptr, &t, &i, &u, &options, &error), GTH_OK) << error.message;
    EXPECT_EQ(target.data()[count_of(shape) - 1], static_cast<char>(2 * updates.data()[0]));
    EXPECT_EQ(target.data()[1], static_cast<char>(2 * updates.data()[1]));
    EXPECT_EQ(target.data()[0], 0);
  }
}

#if !GATHER_SANITIZED  // gigabytes take too long there

TEST(Hostile, I12_UpdatesBeyond2To31AreApplied) {
  constexpr int64_t count = (int64_t{1} << 31) + 3;
  char target[] = {0, 0};
  const char one = 1;
  const Array index = indices64({1}, {1});
  const Shape rows{2}, many{count}, still{0};
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_ADD;
  const gth_tensor_desc t = describe(u8, rows, target), u = describe(u8, many, const_cast<char*>(&one), still.data());
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, many, index.data(), still.data());
  Error error;
  ASSERT_EQ(gth_scatter(nullptr, &t, &i, &u, &options, &error), GTH_OK) << error.message;
  EXPECT_EQ(target[0], 0);
  EXPECT_EQ(target[1], 3);
}

TEST(Hostile, C7_OutputOf6GiBIsWritten) {
  constexpr int64_t rows = 6 * 1024, width = int64_t{1} << 20;
  const Array params(u8, {2, width});
  const Repeated memory(rows * width);
  NEEDS(memory);
  const Shape shape{rows, width};
  std::vector<int64_t> values(rows, 0);
  values.back() = 1;
  const Array indices = indices64({rows}, values);
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = describe(u8, shape, memory.data());
  Error error;
  ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  EXPECT_EQ(std::memcmp(memory.data() + (rows - 1) * width, params.data() + width, width), 0);
}

// The rows have no bytes and the indices are validated, so only the tuples take time.
TEST(Hostile, C8_TuplesBeyond2To31AreValidated) {
  constexpr int64_t tuples = (int64_t{1} << 31) + 3;
  const Repeated memory(tuples);
  NEEDS(memory);
  const Shape params_shape{3, 0}, indices_shape{tuples}, out_shape{tuples, 0};
  const gth_options options = with_profile(GTH_PROFILE_NUMPY_RAISE);
  const gth_tensor_desc p = describe(u8, params_shape, nullptr), o = describe(u8, out_shape, nullptr);
  const gth_tensor_desc i = describe(GTH_DTYPE_INT8, indices_shape, memory.data());
  Error error;
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, &options, &error), GTH_OK) << error.message;
  // Tuple 2^31 + 2 is byte 2 of a repeated piece, and so is tuple 2.
  memory.data()[2] = 3;
  expect_facts(gth_gather(nullptr, &p, &i, &o, &options, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 3, 3, GTH_ERROR_WRAP});
}

// Every output byte is in one of the pieces. The last piece shows whether all rows up to the last are written.
TEST(Hostile, C9_TupleCountsAround2To31AreCopiedOnce) {
  const Array params(u8, {2});
  const Repeated memory((int64_t{1} << 31) + 1);
  NEEDS(memory);
  const Array zero = indices64({1}, {1});
  const Shape still{0};
  Shape counts{(int64_t{1} << 31) + 1};
  if (!GATHER_SANITIZED) counts.insert(counts.end(), {(int64_t{1} << 31) - 1, int64_t{1} << 31});
  for (int64_t tuples : counts) {
    const Shape shape{tuples};
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = 3;
    std::memset(memory.data(), 0, piece);
    const gth_tensor_desc p = params.desc(), o = describe(u8, shape, memory.data());
    const gth_tensor_desc i = describe(GTH_DTYPE_INT64, shape, zero.data(), still.data());
    Error error;
    ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, &options, &error), GTH_OK) << error.message;
    EXPECT_EQ(memory.data()[tuples - 1], params.data()[1]);
    const char first = memory.data()[0];
    EXPECT_EQ(first, params.data()[1]);
    EXPECT_EQ(std::memcmp(memory.data(), memory.data() + 1, piece - 1), 0);
  }
}

#endif

TEST(Hostile, C10_OffsetBeyond2To31IsAccepted) {
  constexpr int64_t rows = 262144, width = 8960, row = 239674;
  const Sparse table(rows * width);
  NEEDS(table);
  table.keep_small_pages();
  std::memset(table.data() + row * width, 9, width);
  const Shape shape{rows, width};
  const Array indices = indices32({1}, {row});
  expect_gathered({g, describe(GTH_DTYPE_INT8, shape, table.data()), indices.desc()}, {1, width}, Bytes(width, 9));
}

TEST(Hostile, C10_OffsetBeyond2To32OnAMiddleAxisIsAccepted) {
  constexpr int64_t outer = 3, rows = int64_t{1} << 22, width = 1024;
  const Sparse table(outer * rows * width);
  NEEDS(table);
  table.keep_small_pages();
  for (int64_t o = 0; o < outer; ++o)
    std::memset(table.data() + (o * rows + rows - 1) * width, static_cast<int>(o + 1), 4);
  const Shape shape{outer, rows, width / 4};
  const Array indices = indices32({1}, {rows - 1});
  const gth_options options = with_axis(1);
  Bytes expected(outer * width, 0);
  for (size_t o = 0; o < outer; ++o) std::memset(&expected[o * width], static_cast<int>(o + 1), 4);
  expect_gathered({g, describe(GTH_DTYPE_INT32, shape, table.data()), indices.desc(), &options}, {outer, 1, width / 4},
                  expected);
}

// These sizes fit int64, but exceed it with the overhead of an allocator.
TEST(Hostile, C2_NewTensorsOfNearlyInt64MaxReturnNomem) {
  for (int64_t less = 0; less < 130; ++less) {
    const int64_t bytes = INT64_MAX - less;
    gth_tensor* made = nullptr;
    Error error;
    expect_facts(gth_tensor_alloc(nullptr, GTH_DTYPE_INT8, 1, &bytes, &made, &error), error,
                 {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0});
    EXPECT_EQ(made, nullptr);
  }
}

TEST(Hostile, C12_ShapeQueryWithoutCapacityReturnsTheRank) {
  const Array params(u8, {2, 3, 4}), indices = indices64({5}, {0, 0, 0, 0, 0});
  const gth_tensor_desc p = params.desc(), i = indices.desc();
  for (int32_t capacity : {0, 1, 2, -1, INT32_MIN}) {
    int64_t shape[3] = {-7, -7, -7};
    int32_t ndim = -7;
    Error error;
    expect_facts(calls::gather.infer(&p, &i, nullptr, capacity, &ndim, shape, &error), error,
                 {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, capacity, 3});
    EXPECT_EQ(ndim, 3);
    EXPECT_EQ(Shape(shape, shape + 3), Shape(3, -7));
  }
  int32_t ndim = 0;
  EXPECT_EQ(calls::gather.infer(&p, &i, nullptr, 0, &ndim, nullptr, nullptr), GTH_E_SIZE);
  EXPECT_EQ(ndim, 3);
  EXPECT_EQ(calls::gather.infer(&p, &i, nullptr, 3, &ndim, nullptr, nullptr), GTH_E_NULL);
}

}  // namespace
