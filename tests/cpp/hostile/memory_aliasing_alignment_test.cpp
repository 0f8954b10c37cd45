#include <sys/mman.h>
#include <unistd.h>

#include <numeric>

#include "hostile.hpp"

// Hostile memory: shared, misaligned, read-only or missing memory, and strides that leave it.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;
constexpr int32_t i64 = GTH_DTYPE_INT64;

Facts alias(int32_t operand) { return {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, operand, 0}; }

Facts left_memory(int32_t operand, int64_t reached, int64_t limit, int32_t component = -1) {
  return {GTH_E_STRIDE, operand, component, -1, reached, limit};
}

Facts null_data(int32_t operand) { return {GTH_E_NULL, operand}; }

gth_tensor_desc shaped(const Array& array, const Shape& shape, int64_t offset = 0) {
  return describe(array.dtype(), shape, array.data() + offset);
}

TEST(Hostile, D1_OutputEqualToParamsIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({4}, {3, 2, 1, 0});
  const Bytes before = params.bytes();
  expect_fault({g, params.desc(), indices.desc()}, params.desc(), alias(GTH_OPERAND_PARAMS));
  EXPECT_TRUE(params.bytes() == before);
}

TEST(Hostile, D2_OutputOverlappingParamsIsRejected) {
  const Array memory(f32, {5, 2}), indices = indices64({4}, {3, 2, 1, 0});
  const Shape shape{4, 2};
  const Bytes before = memory.bytes();
  for (int64_t off : {int64_t{1}, int64_t{8}, int64_t{31}}) {
    const gth_tensor_desc low = shaped(memory, shape), high = shaped(memory, shape, off % 9);
    expect_fault({g, low, indices.desc()}, high, alias(GTH_OPERAND_PARAMS));
    expect_fault({g, high, indices.desc()}, low, alias(GTH_OPERAND_PARAMS));
  }
  EXPECT_TRUE(memory.bytes() == before);
}

TEST(Hostile, D3_OutputEqualToIndicesIsRejected) {
  const Array params(i64, {4}), indices = indices64({4}, {3, 2, 1, 0});
  expect_refused({g, params.desc(), indices.desc()}, indices, alias(GTH_OPERAND_INDICES));
}

TEST(Hostile, D4_OutputAdjacentToParamsIsAccepted) {
  const Array memory(f32, {8, 2}), indices = indices64({4}, {3, 2, 1, 0});
  const Shape shape{4, 2};
  for (bool above : {true, false}) {
    const gth_tensor_desc params = shaped(memory, shape, above ? 0 : 32), out = shaped(memory, shape, above ? 32 : 0);
    const gth_tensor_desc i = indices.desc();
    Bytes expected;
    for (int64_t row : {3, 2, 1, 0}) {
      const char* from = static_cast<const char*>(params.data) + row * 8;
      expected.insert(expected.end(), from, from + 8);
    }
    ASSERT_EQ(gth_gather(nullptr, &params, &i, &out, nullptr, nullptr), GTH_OK);
    EXPECT_EQ(std::memcmp(out.data, expected.data(), expected.size()), 0);
  }
}

// Interleaved rows share no byte, but their intervals overlap. They are rejected because overlap is defined by
// intervals.
TEST(Hostile, D4_InterleavedRowsAreRejected) {
  const Array memory(f32, {8, 2}), indices = indices64({4}, {3, 2, 1, 0});
  const Shape shape{4, 2}, strides{16, 4};
  const gth_tensor_desc params = describe(f32, shape, memory.data(), strides.data());
  const gth_tensor_desc out = describe(f32, shape, memory.data() + 8, strides.data());
  expect_fault({g, params, indices.desc()}, out, alias(GTH_OPERAND_PARAMS));
}

// Even columns are gathered into odd columns. No byte is shared. Both the fast path and plans reject this.
TEST(Hostile, D4_InterleavedColumnsAreRejected) {
  const Array memory(f32, {4, 6}), indices = indices64({4}, {3, 2, 1, 0});
  const Shape shape{4, 3}, strides{24, 8};
  const gth_tensor_desc even = describe(f32, shape, memory.data(), strides.data());
  const gth_tensor_desc odd = describe(f32, shape, memory.data() + 4, strides.data());
  expect_fault({g, even, indices.desc()}, odd, alias(GTH_OPERAND_PARAMS));
  expect_fault({g, odd, indices.desc()}, even, alias(GTH_OPERAND_PARAMS));
}

TEST(Hostile, D5_SharedParamsAndIndicesAreAccepted) {
  const Array memory = indices64({4}, {3, 2, 1, 0});
  expect_gathered({g, memory.desc(), memory.desc()}, {4}, rows_of(memory, 8, {3, 2, 1, 0}));
}

TEST(Hostile, D6_OddAddressesAreAccepted) {
  const Array params(i64, {4, 2}), indices = indices64({3}, {2, 0, 3});
  std::vector<char> memory(256);
  char *p = memory.data() + 1, *i = memory.data() + 99, *o = memory.data() + 151;
  std::memcpy(p, params.data(), 64);
  std::memcpy(i, indices.data(), 24);
  const Shape out_shape{3, 2};
  const gth_tensor_desc params_desc = describe(i64, params.shape(), p),
                        indices_desc = describe(i64, indices.shape(), i);
  const gth_tensor_desc out = describe(i64, out_shape, o);
  ASSERT_EQ(gth_gather(nullptr, &params_desc, &indices_desc, &out, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(std::memcmp(o, rows_of(params, 16, {2, 0, 3}).data(), 48), 0);
}

TEST(Hostile, D7_ReadOnlyPagesAreAcceptedAsInputs) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* memory = static_cast<char*>(mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3});
  std::memcpy(memory, params.data(), 32);
  std::memcpy(memory + 64, indices.data(), 24);
  ASSERT_EQ(mprotect(memory, page, PROT_READ), 0);
  gth_tensor_desc p = describe(f32, params.shape(), memory), i = describe(i64, indices.shape(), memory + 64);
  p.flags = i.flags = GTH_TENSOR_READONLY;
  expect_gathered({g, p, i}, {3, 2}, rows_of(params, 8, {2, 0, 3}));
  munmap(memory, page);
}

TEST(Hostile, D7_ReadOnlyOutputIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3, 2});
  gth_tensor_desc desc = out.desc();
  desc.flags = GTH_TENSOR_READONLY;
  const Bytes before = out.bytes();
  expect_fault({g, params.desc(), indices.desc()}, desc, {GTH_E_READONLY, GTH_OPERAND_OUT});
  EXPECT_TRUE(out.bytes() == before);
}

TEST(Hostile, D8_OutputOfAnotherShapeIsRejected) {
  const Array params(f32, {4, 100}), indices = indices64({8}, std::vector<int64_t>(8)), turned(f32, {100, 8});
  expect_refused({g, params.desc(), indices.desc()}, turned, {GTH_E_SHAPE, GTH_OPERAND_OUT, 0, -1, 100, 8});
  const Array longer(f32, {8, 101}), flat(f32, {800});
  expect_refused({g, params.desc(), indices.desc()}, longer, {GTH_E_SHAPE, GTH_OPERAND_OUT, 1, -1, 101, 100});
  expect_refused({g, params.desc(), indices.desc()}, flat, {GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, 1, 2});
}

// The size in bytes is right.
TEST(Hostile, D8_SmallOutputsOfAnotherShapeAreRejected) {
  const Array params(f32, {4, 3}), rows = indices64({2}, {3, 0}), pairs = indices64({2, 3}, {1, 0, 1, 1, 0, 0});
  const Array tuples = indices64({2, 1}, {3, 0}), turned(f32, {3, 2});
  gth_options prefix = GTH_OPTIONS_INIT;
  prefix.extents = GTH_EXTENTS_PREFIX;
  const Facts facts{GTH_E_SHAPE, GTH_OPERAND_OUT, 0, -1, 3, 2};
  expect_refused({g, params.desc(), rows.desc()}, turned, facts);
  expect_refused({nd, params.desc(), tuples.desc()}, turned, facts);
  expect_refused({calls::gather_elements, params.desc(), pairs.desc(), &prefix}, turned, facts);
  expect_refused({calls::gather_elements, Array(f32, {2, 3}).desc(), pairs.desc()}, turned, facts);
}

TEST(Hostile, D9_OutputOfAnotherDtypeIsRejected) {
  const Array params(f32, {4}), indices = indices64({3}, {2, 0, 3}), out(GTH_DTYPE_INT32, {3});
  expect_refused({g, params.desc(), indices.desc()}, out, {GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, GTH_DTYPE_INT32, f32});
}

TEST(Hostile, D10_NullDataIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3, 2});
  const Call call{g, params.desc(), indices.desc()};
  for (int32_t operand : {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES, GTH_OPERAND_OUT}) {
    Call bad = call;
    gth_tensor_desc target = out.desc();
    (operand == GTH_OPERAND_PARAMS ? bad.params : operand == GTH_OPERAND_INDICES ? bad.indices : target).data = nullptr;
    const Bytes before = out.bytes();
    expect_fault(bad, target, null_data(operand));
    EXPECT_TRUE(out.bytes() == before);
  }
  gth_tensor_desc desc = params.desc();
  desc.data = nullptr;
  Error error;
  gth_tensor* made = nullptr;
  expect_facts(gth_tensor_borrow(&desc, &made, &error), error, null_data(GTH_OPERAND_TENSOR));
}

TEST(Hostile, D10_NullDataWithoutElementsIsAccepted) {
  const Shape rows{3, 0}, none{0}, no_rows{0, 2};
  const Array params(f32, {4, 2}), indices = indices64({2}, {2, 0});
  expect_gathered({g, describe(f32, rows, nullptr), indices.desc()}, {2, 0}, {});
  expect_gathered({g, params.desc(), describe(i64, none, nullptr)}, {0, 2}, {});
  expect_gathered({g, describe(f32, no_rows, nullptr), describe(i64, none, nullptr)}, {0, 2}, {});
}

// No offset is added to a NULL pointer.
TEST(Hostile, D10_NullDataWithAnOffsetIsAccepted) {
  const Shape no_rows{0, 2}, tuple{1, 0};
  const gth_options fill = with_bounds(GTH_BOUNDS_FILL);
  const Array indices = indices64({1}, {0}), params(f32, {4, 2});
  gth_tensor_desc empty = describe(f32, no_rows, nullptr);
  empty.offset = 8;
  expect_gathered({g, empty, indices.desc(), &fill}, {1, 2}, Bytes(8, 0));
  gth_tensor_desc no_components = describe(i64, tuple, nullptr);
  no_components.offset = 8;
  expect_gathered({nd, params.desc(), no_components}, {1, 4, 2}, params.bytes());
}

// Strides of a tensor without elements are not validated, so they must not be used in computations.
TEST(Hostile, D10_StridesWithoutElementsAreIgnored) {
  const Shape shape{0, 3, 2}, strides{INT64_MIN, INT64_MAX / 2 + 2, INT64_MIN};
  const Array indices = indices64({2}, {0, 5});
  const gth_options fill = with_bounds(GTH_BOUNDS_FILL);
  const gth_tensor_desc params = describe(f32, shape, nullptr, strides.data());
  expect_gathered({g, params, indices.desc(), &fill}, {2, 3, 2}, Bytes(48, 0));
  const Array tuples = indices64({2, 1}, {0, 5});
  expect_gathered({nd, params, tuples.desc(), &fill}, {2, 3, 2}, Bytes(48, 0));
}

TEST(Hostile, D11_InvalidPointerWithoutElementsIsNotUsed) {
  void* one = reinterpret_cast<void*>(1);
  const Shape none{0}, shape{0, 2};
  const Array params(f32, {4, 2});
  expect_gathered({g, params.desc(), describe(i64, none, one)}, {0, 2}, {});
  expect_gathered({g, describe(f32, shape, one), describe(i64, none, one)}, {0, 2}, {});
  const gth_tensor_desc p = params.desc(), i = describe(i64, none, one), o = describe(f32, shape, one);
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, nullptr), GTH_OK);
}

TEST(Hostile, D12_StrideOfADimOfOneIsIgnored) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3});
  for (int64_t stride : {int64_t{1} << 60, INT64_MAX, INT64_MIN, int64_t{0}}) {
    const Shape p_shape{1, 4, 2}, p_strides{stride, 8, 4}, i_shape{3, 1}, i_strides{8, stride};
    const gth_tensor_desc p = describe(f32, p_shape, params.data(), p_strides.data());
    const gth_tensor_desc i = describe(i64, i_shape, indices.data(), i_strides.data());
    const gth_options options = with_axis(1);
    const Bytes expected = rows_of(params, 8, {2, 0, 3});
    expect_gathered({g, p, i, &options}, {1, 3, 1, 2}, expected);
    const Array out(f32, {1, 3, 1, 2});
    const Shape o_strides{stride, 8, stride, 4};
    const gth_tensor_desc o = describe(f32, out.shape(), out.data(), o_strides.data());
    ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, &options, nullptr), GTH_OK);
    EXPECT_TRUE(out.bytes() == expected);
    const Array zero = indices64({2}, {0, -1});
    const gth_options wrap = with_bounds(0, GTH_NEGATIVE_WRAP);
    Bytes twice = params.bytes();
    twice.insert(twice.end(), twice.begin(), twice.begin() + 32);
    expect_gathered({g, p, zero.desc(), &wrap}, {2, 4, 2}, twice);
  }
}

TEST(Hostile, D13_NegativeStridesAreAcceptedInsideTheMemory) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3, 2});
  const Shape strides{-8, 4};
  gth_tensor_desc reversed = describe(f32, params.shape(), params.data(), strides.data());
  reversed.offset = 24;
  expect_gathered({g, reversed, indices.desc()}, {3, 2}, rows_of(params, 8, {1, 3, 0}));
  reversed.extent = 32;
  expect_gathered({g, reversed, indices.desc()}, {3, 2}, rows_of(params, 8, {1, 3, 0}));
  reversed.offset = 23;
  expect_refused({g, reversed, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, -1, 32));
  reversed.offset = 25;
  expect_refused({g, reversed, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, 33, 32));
  reversed.offset = 0;
  Error error;
  gth_tensor* made = nullptr;
  expect_facts(gth_tensor_borrow(&reversed, &made, &error), error, left_memory(GTH_OPERAND_TENSOR, -24, 32));
}

TEST(Hostile, D13_DenseTensorBeyondTheExtentIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3, 2});
  gth_tensor_desc desc = params.desc();
  desc.extent = 31;
  expect_refused({g, desc, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, 32, 31));
  desc.extent = 32;
  desc.offset = 1;
  expect_refused({g, desc, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, 33, 32));
  desc.extent = 0;
  desc.offset = -1;
  expect_refused({g, desc, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, -1, 0));
  desc.offset = INT64_MAX;
  expect_refused({g, desc, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, INT64_MAX, 0));
}

TEST(Hostile, D14_StrideOfInt64MaxIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3});
  const Shape shape{3};
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 2 + 1}) {
    const gth_tensor_desc desc = describe(f32, shape, params.data(), &stride);
    const int64_t end = stride < 0 ? INT64_MIN : INT64_MAX;
    expect_refused({g, desc, indices.desc()}, out, left_memory(GTH_OPERAND_PARAMS, end, 0, 0));
    const gth_tensor_desc index = describe(i64, shape, indices.data(), &stride);
    expect_refused({g, params.desc(), index}, Array(f32, {3, 2}), left_memory(GTH_OPERAND_INDICES, end, 0, 0));
  }
}

TEST(Hostile, D15_OutputWithOverlappingElementsIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({2}, {2, 0});
  const Array memory(f32, {64});
  struct Case {
    Shape strides;
    int32_t component;
    int64_t limit;
  };
  const Case cases[] = {{{0, 4}, 0, 4}, {{4, 4}, 1, 8}, {{8, 3}, 1, 4}, {{7, 4}, 0, 8}, {{8, 0}, 1, 4}, {{4, 0}, 1, 4}};
  for (const Case& each : cases) {
    const Shape shape{2, 2};
    const gth_tensor_desc out = describe(f32, shape, memory.data(), each.strides.data());
    const Bytes before = memory.bytes();
    Error error;
    const gth_tensor_desc p = params.desc(), i = indices.desc();
    EXPECT_EQ(gth_gather(nullptr, &p, &i, &out, nullptr, &error), GTH_E_STRIDE) << error.message;
    EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
    EXPECT_EQ(error.limit, each.limit);
    ASSERT_GE(error.component, 0);
    EXPECT_EQ(error.value, each.strides[static_cast<size_t>(error.component)]);
    // If both strides are equal, either dim may be reported.
    if (each.strides[0] != each.strides[1]) {
      EXPECT_EQ(error.component, each.component);
    }
    EXPECT_TRUE(memory.bytes() == before);
  }
}

TEST(Hostile, D15_ReversedAndTransposedOutputIsAccepted) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), memory(f32, {6});
  const Shape shape{3, 2}, strides{-4, 12};
  gth_tensor_desc out = describe(f32, shape, memory.data(), strides.data());
  out.offset = 8;
  const gth_tensor_desc p = params.desc(), i = indices.desc();
  ASSERT_EQ(gth_gather(nullptr, &p, &i, &out, nullptr, nullptr), GTH_OK);
  const int64_t rows[] = {2, 0, 3};
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t c = 0; c < 2; ++c) {
      EXPECT_EQ(std::memcmp(memory.data() + 8 - 4 * t + 12 * c, params.data() + rows[t] * 8 + c * 4, 4), 0);
    }
  }
}

TEST(Hostile, D16_LastByteBeforeAnInaccessiblePageIsRead) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  for (int64_t n : {1, 5, 31, 300}) {
    char* table = memory + page - n;
    for (int64_t i = 0; i < n; ++i) table[i] = static_cast<char>(i * 3);
    const Shape shape{n};
    std::vector<int64_t> last(static_cast<size_t>(n));
    std::iota(last.rbegin(), last.rend(), 0);
    const Array indices = indices64({n}, last);
    Bytes expected(table, table + n);
    std::reverse(expected.begin(), expected.end());
    expect_gathered({g, describe(GTH_DTYPE_INT8, shape, table), indices.desc()}, {n}, expected);
  }
  munmap(memory, 2 * page);
}

}  // namespace
