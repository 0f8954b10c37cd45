#include <cmath>
#include <string>

#include "guarded.hpp"
#include "hooks.hpp"
#include "hostile.hpp"

// Tests the documentation of the header about scatters. The oracle tests the results.
namespace {

using namespace hostile;

constexpr Operation s = calls::scatter, s_nd = calls::scatter_nd, s_elements = calls::scatter_elements;
constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

struct ScatterCall {
  const Operation& op;
  gth_tensor_desc target, indices, updates;
  const gth_options* options = nullptr;

  int32_t run_planned(gth_error* error) const {
    Plan plan;
    const int32_t status = op.plan(&target, &indices, &updates, options, plan.out(), error);
    if (status) return status;
    return gth_plan_run(nullptr, plan.get(), GTH_OPEN, target.data, indices.data, const_cast<void*>(updates.data),
                        error);
  }
};

// Expects that every available form rejects the call with these facts and leaves the target unchanged.
void expect_no_scatter(const ScatterCall& call, const Array& target, const Facts& facts) {
  const Bytes before = target.bytes();
  Error error;
  expect_facts(call.op.named(nullptr, &call.target, &call.indices, &call.updates, call.options, &error), error, facts,
               "named");
  EXPECT_EQ(call.op.named(nullptr, &call.target, &call.indices, &call.updates, call.options, nullptr), facts.status);
  expect_facts(call.run_planned(&error), error, facts, "plan");
  const Tensor handle(call.target), indices(call.indices), updates(call.updates);
  if (handle && indices && updates) {
    expect_facts(call.op.run(nullptr, handle.get(), indices.get(), updates.get(), call.options, &error), error, facts,
                 "handles");
    const bool is_of_memory =
        facts.status == GTH_E_ALIAS || facts.status == GTH_E_READONLY || facts.status == GTH_E_STRIDE;
    gth_tensor* made = reinterpret_cast<gth_tensor*>(&error);
    const int32_t status =
        call.op.make(nullptr, handle.get(), indices.get(), updates.get(), call.options, &made, &error);
    if (is_of_memory) {  // the target is copied, not written
      EXPECT_EQ(status, GTH_OK) << error.message;
      EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    } else {
      expect_facts(status, error, facts, "made");
      EXPECT_EQ(made, nullptr);
    }
  }
  EXPECT_TRUE(target.bytes() == before) << "the target was written";
}

// Expects `expected` in the target after every form.
template <class V>
void expect_scattered(const Operation& op, const Array& target, const Array& indices, const Array& updates,
                      const gth_options* options, const std::vector<V>& expected) {
  const Bytes before = target.bytes();
  const char* first = reinterpret_cast<const char*>(expected.data());
  const Bytes wanted(first, first + expected.size() * sizeof(V));
  const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
  Error error;
  const auto check = [&](int32_t status, const char* form) {
    EXPECT_STREQ(gth_status_name(status), "GTH_OK") << form << ": " << error.message;
    EXPECT_EQ(error.message[0], 'x') << form << ": on GTH_OK only status is written";
    EXPECT_TRUE(target.bytes() == wanted) << form;
    std::copy(before.begin(), before.end(), target.data());
  };
  check(op.named(nullptr, &t, &i, &u, options, &error), "named");
  check(ScatterCall{op, t, i, u, options}.run_planned(&error), "plan");
  const Tensor handle(t), index(i), rows(u);
  check(op.run(nullptr, handle.get(), index.get(), rows.get(), options, &error), "handles");
  Tensor made;
  ASSERT_EQ(op.make(nullptr, handle.get(), index.get(), rows.get(), options, made.out(), &error), GTH_OK);
  const char* data = static_cast<const char*>(made.desc().data);
  EXPECT_TRUE(Bytes(data, data + wanted.size()) == wanted) << "made";
  EXPECT_TRUE(target.bytes() == before) << "gth_make wrote the target";
}

// ---- results

TEST(Scatter, RowsAreWrittenAlongAnAxis) {
  const Array rows = floats({3, 2}, {0, 1, 2, 3, 4, 5});
  expect_scattered<float>(s, rows, indices64({2}, {2, 0}), floats({2, 2}, {10, 11, 12, 13}), nullptr,
                          {12, 13, 2, 3, 10, 11});
  const gth_options columns = with_axis(1);
  expect_scattered<float>(s, rows, indices64({1}, {1}), floats({3, 1}, {7, 8, 9}), &columns, {0, 7, 2, 8, 4, 9});
}

TEST(Scatter, TuplesAndElementsAreWritten) {
  const Array table = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  expect_scattered<float>(s_nd, table, indices64({2, 2}, {1, 2, 0, 0}), floats({2}, {10, 11}), nullptr,
                          {11, 1, 2, 3, 4, 10});
  const gth_options last = with_axis(-1);
  expect_scattered<float>(s_elements, table, indices64({2, 2}, {2, 0, 1, 1}), floats({2, 2}, {6, 7, 8, 9}), &last,
                          {7, 1, 6, 3, 9, 5});
}

// The tuples have two dims, and the line runs along the longer one. The duplicate of the highest position remains, for
// every order of the loops.
TEST(Scatter, I1_LastDuplicateWins) {
  const int64_t rows = 400, columns = 3;
  std::vector<int64_t> index(static_cast<size_t>(rows * columns));
  std::vector<float> update(index.size()), expected(5, -1);
  for (size_t i = 0; i < index.size(); ++i) {
    index[i] = static_cast<int64_t>(i * i % 5);
    update[i] = static_cast<float>(i);
    expected[static_cast<size_t>(index[i])] = update[i];
  }
  const Array target = floats({5}, std::vector<float>(5, -1));
  for (int32_t threads : {1, 2, 5}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    expect_scattered<float>(s, target, indices64({rows, columns}, index), floats({rows, columns}, update), &options,
                            expected);
  }
}

TEST(Scatter, NanPropagatesFromEitherSide) {
  const Array indices = indices64({2}, {0, 1});
  for (int32_t reduction : {GTH_REDUCTION_MAX, GTH_REDUCTION_MIN}) {
    const gth_options options = reducing(reduction);
    Array target = floats({3}, {NAN, 1, 2});
    const Array updates = floats({2}, {5, NAN});
    const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
    ASSERT_EQ(gth_scatter(nullptr, &t, &i, &u, &options, nullptr), GTH_OK);
    const float* values = reinterpret_cast<const float*>(target.data());
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_EQ(values[2], 2);
  }
}

TEST(Scatter, HalvesAreAddedInFloat16OrFloat32) {
  struct Format {
    int32_t dtype;
    uint16_t one, stuck, sum;  // 1, the sum at which adding ones has no effect, 4096
  };
  for (const Format& format :
       {Format{GTH_DTYPE_FLOAT16, 0x3c00, 0x6800, 0x6c00}, Format{GTH_DTYPE_BFLOAT16, 0x3f80, 0x4380, 0x4580}}) {
    const Array target(format.dtype, {1}, std::vector<uint16_t>{0});
    const Array updates(format.dtype, {4096}, std::vector<uint16_t>(4096, format.one));
    const Array indices = indices64({4096}, std::vector<int64_t>(4096, 0));
    const gth_options own = reducing(GTH_REDUCTION_ADD), wide = reducing(GTH_REDUCTION_ADD, GTH_ACCUMULATE_FLOAT32);
    expect_scattered<uint16_t>(s, target, indices, updates, &own, {format.stuck});
    expect_scattered<uint16_t>(s, target, indices, updates, &wide, {format.sum});
    gth_options torch = wide;
    torch.accumulate = 0;
    torch.profile = GTH_PROFILE_TORCH;  // scatter_add_ accumulates in float32, index_add_ does not
    expect_scattered<uint16_t>(s_elements, target, indices, updates, &torch, {format.sum});
    expect_scattered<uint16_t>(s, target, indices, updates, &torch, {format.stuck});
  }
}

// The library accumulates blocks of 512 elements.
TEST(Scatter, RowsOfWholeBlocksAreAddedInFloat32) {
  const size_t n = 1024;
  const Array target(GTH_DTYPE_FLOAT16, {2, 1024}, std::vector<uint16_t>(2 * n, 0));
  const Array updates(GTH_DTYPE_FLOAT16, {3, 1024}, std::vector<uint16_t>(3 * n, 0x3c00));
  const gth_options wide = reducing(GTH_REDUCTION_ADD, GTH_ACCUMULATE_FLOAT32);
  std::vector<uint16_t> expected(2 * n, 0x3c00);
  std::fill_n(expected.begin(), n, uint16_t{0x4000});
  expect_scattered<uint16_t>(s, target, indices64({3}, {0, 1, 0}), updates, &wide, expected);
}

// Returns a whole number of at most 8 bits as float16 or bfloat16.
uint16_t half_of(int32_t dtype, int32_t number) {
  if (number == 0) return 0;
  const int32_t exponent = 31 - __builtin_clz(static_cast<uint32_t>(number));
  const int32_t mantissa_bits = dtype == GTH_DTYPE_FLOAT16 ? 10 : 7, bias = dtype == GTH_DTYPE_FLOAT16 ? 15 : 127;
  const int32_t mantissa = (number - (1 << exponent)) << (mantissa_bits - exponent);
  return static_cast<uint16_t>((exponent + bias) << mantissa_bits | mantissa);
}

// Slices of several rows with gaps between them. The elements of a row and the rows of a slice have distinct values,
// and their sums are exact.
TEST(Scatter, LongRowsOfDistinctHalvesAreAddedInFloat32) {
  const int64_t to[] = {2, 0, 2, 2, 0}, slices = 3, rows = 2, columns = 1300;
  const Shape target_steps{9000, 3000, 2}, update_steps{7000, 2800, 2};  // bytes
  const auto target_at = [](int64_t slice, int64_t row, int64_t column) {
    return static_cast<int32_t>((slice * 5 + row * 3 + column * 7) % 13);
  };
  const auto update_at = [](int64_t tuple, int64_t row, int64_t column) {
    return static_cast<int32_t>((tuple * 3 + row * 5 + column * 31) % 41);
  };
  for (const int32_t dtype : {GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16}) {
    Array target(dtype, {slices * target_steps[0] / 2}), updates(dtype, {5 * update_steps[0] / 2});
    const auto put = [&](const Array& array, const Shape& steps, int64_t slice, int64_t row, int64_t column,
                         int32_t number) {
      const uint16_t half = half_of(dtype, number);
      std::memcpy(array.data() + slice * steps[0] + row * steps[1] + column * steps[2], &half, sizeof half);
    };
    const auto for_each = [&](int64_t count, auto&& body) {
      for (int64_t slice = 0; slice < count; ++slice) {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) body(slice, row, column);
        }
      }
    };
    for_each(slices, [&](int64_t slice, int64_t row, int64_t column) {
      put(target, target_steps, slice, row, column, target_at(slice, row, column));
    });
    for_each(5, [&](int64_t tuple, int64_t row, int64_t column) {
      put(updates, update_steps, tuple, row, column, update_at(tuple, row, column));
    });
    const Array expected(dtype, target.shape());
    std::memcpy(expected.data(), target.data(), target.bytes().size());
    for_each(slices, [&](int64_t slice, int64_t row, int64_t column) {
      int32_t sum = target_at(slice, row, column);
      for (int64_t tuple = 0; tuple < 5; ++tuple) sum += to[tuple] == slice ? update_at(tuple, row, column) : 0;
      put(expected, target_steps, slice, row, column, sum);
    });
    const Shape target_shape{slices, rows, columns}, update_shape{5, rows, columns}, count{5};
    const gth_tensor_desc t = describe(dtype, target_shape, target.data(), target_steps.data());
    const gth_tensor_desc i = describe(i64, count, to);
    const gth_tensor_desc u = describe(dtype, update_shape, updates.data(), update_steps.data());
    const gth_options wide = reducing(GTH_REDUCTION_ADD, GTH_ACCUMULATE_FLOAT32);
    Error error;
    ASSERT_EQ(gth_scatter(nullptr, &t, &i, &u, &wide, &error), GTH_OK) << error.message;
    EXPECT_TRUE(target.bytes() == expected.bytes()) << "dtype " << dtype;
  }
}

TEST(Scatter, IndicesOutOfBoundsAreDroppedClampedOrWrapped) {
  const Array target = floats({3}, {0, 1, 2}), indices = indices64({3}, {5, -1, 1}), updates = floats({3}, {7, 8, 9});
  const gth_options skip = with_bounds(GTH_BOUNDS_SKIP), clamp = with_bounds(GTH_BOUNDS_CLAMP);
  const gth_options modulo = with_bounds(GTH_BOUNDS_MODULO), wrap = with_bounds(GTH_BOUNDS_SKIP, GTH_NEGATIVE_WRAP);
  expect_scattered<float>(s, target, indices, updates, &skip, {0, 9, 2});
  expect_scattered<float>(s, target, indices, updates, &clamp, {8, 9, 7});
  expect_scattered<float>(s, target, indices, updates, &modulo, {0, 9, 8});
  expect_scattered<float>(s, target, indices, updates, &wrap, {0, 9, 8});
}

TEST(Scatter, StringsAreScatteredIntoNewTensors) {
  const int64_t ends[] = {0, 1, 3, 6}, update_ends[] = {0, 0, 4}, shape[] = {3}, two[] = {2};
  gth_tensor *target = nullptr, *updates = nullptr, *made = nullptr;
  Error error;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, shape, ends, "abbccc", 6, nullptr, nullptr, &target, &error),
            GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, two, update_ends, "long", 4, nullptr, nullptr, &updates, &error),
            GTH_OK);
  const Array at = indices64({2}, {0, 2}), outside = indices64({2}, {0, 3});
  const Tensor indices(at.desc()), bad(outside.desc());
  ASSERT_EQ(calls::scatter.make(nullptr, target, indices.get(), updates, nullptr, &made, &error), GTH_OK)
      << error.message;
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  ASSERT_EQ(gth_tensor_strings(made, &offsets, &bytes, &error), GTH_OK);
  EXPECT_EQ(Shape(offsets, offsets + 4), (Shape{0, 0, 2, 6}));
  EXPECT_EQ(std::string(static_cast<const char*>(bytes), 6), "bblong");
  EXPECT_EQ(gth_tensor_release(made), GTH_OK);
  made = target;
  expect_facts(calls::scatter.make(nullptr, target, bad.get(), updates, nullptr, &made, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 3, 3});
  EXPECT_EQ(made, nullptr);
  const gth_options add = reducing(GTH_REDUCTION_ADD);
  expect_facts(calls::scatter.make(nullptr, target, indices.get(), updates, &add, &made, &error), error,
               {GTH_E_DTYPE, GTH_OPERAND_TARGET, -1, -1, GTH_DTYPE_STRING, 0});
  expect_facts(calls::scatter.run(nullptr, target, indices.get(), updates, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_TARGET, -1, -1, GTH_DTYPE_STRING, 0});
  EXPECT_EQ(gth_tensor_release(updates), GTH_OK);
  EXPECT_EQ(gth_tensor_release(target), GTH_OK);
}

// The change happens between two reads, as another thread could cause it. It happens before the lengths are read, or
// before the bytes are copied.
TEST(Scatter, ChangedOffsetsOfStringsAreReported) {
  int64_t ends[] = {0, 1, 3, 6}, update_ends[] = {0, 4};
  const int64_t shape[] = {3}, one[] = {1};
  gth_tensor *target = nullptr, *updates = nullptr;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, shape, ends, "abbccc", 6, nullptr, nullptr, &target, nullptr),
            GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, one, update_ends, "long", 4, nullptr, nullptr, &updates, nullptr),
            GTH_OK);
  const Array first = indices64({1}, {0});
  const Tensor indices(first.desc());
  const std::pair<int64_t*, int32_t> begins[] = {{ends + 1, GTH_OPERAND_TARGET}, {update_ends, GTH_OPERAND_UPDATES}};
  for (const auto& [at, operand] : begins) {
    for (const int64_t bad : {int64_t{-5}, int64_t{12}, INT64_MAX, INT64_MIN}) {
      for (const int nth : {1, 2}) {
        SCOPED_TRACE(std::to_string(operand) + ", " + std::to_string(bad) + ", memory " + std::to_string(nth));
        const int64_t good = *at;
        Hooks change{at, bad, nth};
        gth_context* context = change.context();
        gth_tensor* made = target;
        Error error;
        expect_facts(calls::scatter.make(context, target, indices.get(), updates, nullptr, &made, &error), error,
                     {GTH_E_RACE, operand, -1, -1, 0, 0});
        EXPECT_EQ(made, nullptr);
        *at = good;
        EXPECT_EQ(gth_context_release(context), GTH_OK);
        EXPECT_EQ(change.asked, nth);
        EXPECT_EQ(change.given_back, nth);
      }
    }
  }
  EXPECT_EQ(gth_tensor_release(updates), GTH_OK);
  EXPECT_EQ(gth_tensor_release(target), GTH_OK);
}

// ---- errors

TEST(ScatterErrors, I3_InvalidIndexLeavesTheTargetUnchanged) {
  const Array target = floats({4, 300}, std::vector<float>(1200, 1));
  std::vector<int64_t> values(5000, 1);
  values[4321] = -9;
  values[77] = 4;
  const Array indices = indices64({5000}, values), updates = floats({5000, 300}, std::vector<float>(1500000, 3));
  for (int32_t threads : {1, 3}) {
    for (int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD}) {
      gth_options options = reducing(reduction);
      options.threads = threads;
      expect_no_scatter({s, target.desc(), indices.desc(), updates.desc(), &options}, target,
                        {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 77, 4, 4});
    }
  }
}

TEST(ScatterErrors, ErrorsNameTheOperandOfShapesAndDtypes) {
  const Array target = floats({3, 2}, std::vector<float>(6)), indices = indices64({2}, {0, 1});
  const Array updates = floats({2, 2}, std::vector<float>(4)), fewer = floats({2, 1}, std::vector<float>(2));
  const Array line = floats({3}, std::vector<float>(3)), doubles(GTH_DTYPE_FLOAT64, {2, 2});
  const gth_tensor_desc t = target.desc(), i = indices.desc();
  expect_no_scatter({s, t, i, fewer.desc()}, target, {GTH_E_SHAPE, GTH_OPERAND_UPDATES, 1, -1, 1, 2});
  expect_no_scatter({s, t, i, line.desc()}, target, {GTH_E_RANK, GTH_OPERAND_UPDATES, -1, -1, 1, 2});
  expect_no_scatter({s, t, i, doubles.desc()}, target,
                    {GTH_E_DTYPE, GTH_OPERAND_UPDATES, -1, -1, GTH_DTYPE_FLOAT64, f32});
  expect_no_scatter({s, t, line.desc(), updates.desc()}, target, {GTH_E_DTYPE, GTH_OPERAND_INDICES, -1, -1, f32, 0});
  const Array scalar = floats({}, {1});
  expect_no_scatter({s, scalar.desc(), i, line.desc()}, scalar, {GTH_E_RANK, GTH_OPERAND_TARGET, -1, -1, 0, 1});
}

// NumPy and JAX have no axis for rank 0, and ONNX does not allow such tensors.
TEST(ScatterErrors, OnlyTorchAcceptsElementsOfRank0) {
  const Array target = floats({}, {1}), index = indices64({}, {0}), update = floats({}, {5});
  for (int32_t profile = 0; profile <= GTH_PROFILE_JAX_CLIP; ++profile) {
    gth_options options = GTH_OPTIONS_INIT;
    options.profile = profile;
    const ScatterCall call{s_elements, target.desc(), index.desc(), update.desc(), &options};
    if (profile == GTH_PROFILE_TORCH) {
      EXPECT_EQ(gth_scatter_elements(nullptr, &call.target, &call.indices, &call.updates, &options, nullptr), GTH_OK);
    } else {
      expect_no_scatter(call, target, {GTH_E_RANK, GTH_OPERAND_TARGET, -1, -1, 0, 1});
    }
  }
}

TEST(ScatterErrors, I5_ReductionsOfOtherDtypesAreRejected) {
  constexpr int32_t all[] = {GTH_REDUCTION_ADD, GTH_REDUCTION_MUL, GTH_REDUCTION_MAX, GTH_REDUCTION_MIN};
  const Array indices = indices64({1}, {1});
  for (int32_t dtype = 1; dtype < GTH_DTYPE_STRING; ++dtype) {
    if (gth_dtype_size(dtype) == 0) continue;
    const Array target(dtype, {2}), updates(dtype, {1});
    const bool is_float8 = dtype >= GTH_DTYPE_FLOAT8_E3M4 && dtype <= GTH_DTYPE_FLOAT8_E8M0FNU;
    const bool is_complex = dtype == GTH_DTYPE_COMPLEX64 || dtype == GTH_DTYPE_COMPLEX128;
    for (int32_t reduction : all) {
      const gth_options options = reducing(reduction);
      const ScatterCall call{s, target.desc(), indices.desc(), updates.desc(), &options};
      if (is_float8 || (is_complex && reduction >= GTH_REDUCTION_MAX)) {
        expect_no_scatter(call, target, {GTH_E_DTYPE, GTH_OPERAND_TARGET, -1, -1, dtype, 0});
      } else {
        EXPECT_EQ(gth_scatter(nullptr, &call.target, &call.indices, &call.updates, &options, nullptr), GTH_OK);
      }
    }
    const ScatterCall call{s, target.desc(), indices.desc(), updates.desc()};
    EXPECT_EQ(gth_scatter(nullptr, &call.target, &call.indices, &call.updates, nullptr, nullptr), GTH_OK);
  }
}

TEST(Scatter, OneRowOrNumberIsRepeatedForEachTuple) {
  const Array target = floats({3, 2}, {0, 1, 2, 3, 4, 5}), indices = indices64({2}, {2, 0});
  expect_scattered<float>(s, target, indices, floats({2}, {7, 8}), nullptr, {7, 8, 2, 3, 7, 8});
  expect_scattered<float>(s, target, indices, floats({}, {9}), nullptr, {9, 9, 2, 3, 9, 9});
  const gth_options add = reducing(GTH_REDUCTION_ADD);
  expect_scattered<float>(s, target, indices64({2}, {1, 1}), floats({}, {1}), &add, {0, 1, 4, 5, 4, 5});
  const Array numbers = floats({1}, {9});
  expect_no_scatter({s, target.desc(), indices.desc(), numbers.desc(), nullptr}, target,
                    {GTH_E_RANK, GTH_OPERAND_UPDATES, -1, -1, 1, 2});
  const gth_options torch = with_profile(GTH_PROFILE_TORCH);
  const Array number = floats({}, {9});
  expect_no_scatter({s, target.desc(), indices.desc(), number.desc(), &torch}, target,
                    {GTH_E_RANK, GTH_OPERAND_UPDATES, -1, -1, 0, 2});
}

TEST(ScatterErrors, OptionsOfGathersAreRejected) {
  const Array target = floats({3}, {0, 1, 2}), indices = indices64({1}, {1}), updates = floats({1}, {5});
  const gth_options fill = with_bounds(GTH_BOUNDS_FILL);
  const int32_t bounds = offsetof(gth_options, bounds), reduction = offsetof(gth_options, reduction);
  const int32_t accumulate = offsetof(gth_options, accumulate), order = offsetof(gth_options, order);
  expect_no_scatter({s, target.desc(), indices.desc(), updates.desc(), &fill}, target,
                    {GTH_E_VERSION, GTH_OPERAND_OPTIONS, bounds, -1, GTH_BOUNDS_FILL, 0});
  const gth_options add = reducing(GTH_REDUCTION_ADD), wide = reducing(0, GTH_ACCUMULATE_FLOAT32);
  expect_refused({g, target.desc(), indices.desc(), &add}, updates,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, reduction, -1, GTH_REDUCTION_ADD, 0});
  expect_refused({nd, target.desc(), indices.desc(), &wide}, floats({}, {5}),
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, accumulate, -1, GTH_ACCUMULATE_FLOAT32, 0});
  gth_options any = GTH_OPTIONS_INIT;
  any.order = GTH_ORDER_ANY;
  expect_refused({g, target.desc(), indices.desc(), &any}, updates,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, order, -1, GTH_ORDER_ANY, 0});
  const gth_options unknown = reducing(GTH_REDUCTION_MEAN + 1), negative = reducing(0, -1);
  expect_no_scatter({s, target.desc(), indices.desc(), updates.desc(), &unknown}, target,
                    {GTH_E_VERSION, GTH_OPERAND_OPTIONS, reduction, -1, GTH_REDUCTION_MEAN + 1, GTH_REDUCTION_MEAN});
  expect_no_scatter({s, target.desc(), indices.desc(), updates.desc(), &negative}, target,
                    {GTH_E_VERSION, GTH_OPERAND_OPTIONS, accumulate, -1, -1, GTH_ACCUMULATE_FLOAT64});
  for (const int32_t value : {-1, GTH_ORDER_ANY + 1}) {
    any.order = value;
    expect_no_scatter({s, target.desc(), indices.desc(), updates.desc(), &any}, target,
                      {GTH_E_VERSION, GTH_OPERAND_OPTIONS, order, -1, value, GTH_ORDER_ANY});
  }
}

// ONNX has reductions since opset 16, and max and min since opset 18.
TEST(ScatterErrors, ReductionsBeforeTheirOpsetAreRejected) {
  const Array target = floats({3}, {0, 1, 2}), indices = indices64({1, 1}, {1}), updates = floats({1}, {5});
  struct Row {
    int32_t opset, highest;
  };
  for (const Row& row : {Row{11, GTH_REDUCTION_NONE}, Row{13, GTH_REDUCTION_NONE}, Row{16, GTH_REDUCTION_MUL},
                         Row{17, GTH_REDUCTION_MUL}, Row{18, GTH_REDUCTION_MIN}, Row{0, GTH_REDUCTION_MIN}}) {
    for (int32_t reduction = GTH_REDUCTION_NONE; reduction <= GTH_REDUCTION_MIN; ++reduction) {
      gth_options options = reducing(reduction);
      options.profile = GTH_PROFILE_ONNX;
      options.opset = row.opset;
      const ScatterCall call{s_nd, target.desc(), indices.desc(), updates.desc(), &options};
      if (reduction <= row.highest) {
        EXPECT_EQ(gth_scatter_nd(nullptr, &call.target, &call.indices, &call.updates, &options, nullptr), GTH_OK);
      } else {
        expect_no_scatter(
            call, target,
            {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reduction), -1, reduction, row.highest});
      }
    }
  }
}

// If the definition allows negative indices, they count from the end. All versions of ScatterND allow them.
TEST(ScatterErrors, NegativeIndicesCountFromTheEnd) {
  for (int32_t opset : {11, 13, 16, 18, 0}) {
    const Array target = floats({3}, {0, 1, 2}), indices = indices64({1, 1}, {-1}), updates = floats({1}, {5});
    gth_options options = GTH_OPTIONS_INIT;
    options.profile = GTH_PROFILE_ONNX;
    options.opset = opset;
    const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
    EXPECT_EQ(gth_scatter_nd(nullptr, &t, &i, &u, &options, nullptr), GTH_OK) << opset;
    float last;
    std::memcpy(&last, target.data() + 8, sizeof last);
    EXPECT_EQ(last, 5) << opset;
  }
}

TEST(ScatterErrors, I4_MemoryThatCannotBeWrittenIsRejected) {
  const Array target = floats({4}, {0, 1, 2, 3}), indices = indices64({2}, {0, 1}), updates = floats({2}, {5, 6});
  gth_tensor_desc readonly = target.desc();
  readonly.flags = GTH_TENSOR_READONLY;
  expect_no_scatter({s, readonly, indices.desc(), updates.desc()}, target, {GTH_E_READONLY, GTH_OPERAND_TARGET});
  gth_tensor_desc overlapping = target.desc();
  const int64_t step = 2;
  overlapping.strides = &step;
  expect_no_scatter({s, overlapping, indices.desc(), updates.desc()}, target,
                    {GTH_E_STRIDE, GTH_OPERAND_TARGET, 0, -1, 2, 4});
  gth_tensor_desc inside = updates.desc(), index_inside = indices.desc();
  inside.data = target.data() + 8;
  index_inside.data = target.data();
  expect_no_scatter({s, target.desc(), indices.desc(), inside}, target,
                    {GTH_E_ALIAS, GTH_OPERAND_TARGET, -1, -1, GTH_OPERAND_UPDATES, 0});
  const gth_tensor_desc t = target.desc(), u = updates.desc();
  Error error;
  expect_facts(gth_scatter(nullptr, &t, &index_inside, &u, nullptr, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_TARGET, -1, -1, GTH_OPERAND_INDICES, 0});
  gth_tensor_desc none = t;
  none.data = nullptr;
  expect_facts(gth_scatter(nullptr, &none, &index_inside, &u, nullptr, &error), error,
               {GTH_E_NULL, GTH_OPERAND_TARGET});
  expect_facts(gth_scatter(nullptr, nullptr, &t, &u, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_TARGET});
  expect_facts(gth_scatter(nullptr, &t, nullptr, &u, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_INDICES});
  expect_facts(gth_scatter(nullptr, &t, &t, nullptr, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_UPDATES});
}

TEST(ScatterErrors, UnavailableDevicesAreRejected) {
  const Array target = floats({3}, {0, 1, 2}), indices = indices64({1}, {1}), updates = floats({1}, {5});
  gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
  t.device = i.device = u.device = GTH_DEVICE_CUDA;
  Plan plan;
  Error error;
  expect_facts(calls::scatter.plan(&t, &i, &u, nullptr, plan.out(), &error), error,
               {GTH_E_DEVICE, GTH_OPERAND_TARGET, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
}

// Extents whose products exceed int64, over memory that does not exist.
TEST(ScatterErrors, I6_HugeShapesAreRejected) {
  const int64_t huge = int64_t{1} << 40;
  const Array target = floats({1}, {0}), indices = indices64({1}, {0}), updates = floats({1}, {0});
  const Shape wide{huge, huge}, row{1, huge}, many{huge};
  gth_tensor_desc t = describe(f32, wide, target.data()), i = indices.desc(), u = describe(f32, row, updates.data());
  Error error;
  expect_facts(gth_scatter(nullptr, &t, &i, &u, nullptr, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_TARGET, -1, -1, huge, INT64_MAX});
  const Shape long_row{2, huge}, product{huge, huge};
  t = describe(f32, long_row, target.data());
  i = describe(i64, many, indices.data());
  u = describe(f32, product, updates.data());
  expect_facts(gth_scatter(nullptr, &t, &i, &u, nullptr, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_UPDATES, -1, -1, huge, INT64_MAX});
  // 2^59 rows without bytes that all have one index. No loop runs over them.
  const Shape nothing{3, 0}, indices_of_nothing{int64_t{1} << 59}, updates_of_nothing{int64_t{1} << 59, 0};
  t = describe(f32, nothing, nullptr);
  const int64_t repeated = 0;
  i = describe(i64, indices_of_nothing, indices.data(), &repeated);
  u = describe(f32, updates_of_nothing, nullptr);
  EXPECT_EQ(gth_scatter(nullptr, &t, &i, &u, nullptr, nullptr), GTH_OK);
}

// ---- threads and memory

// Large enough for several threads in the shipped library too.
class ScatterThreads : public testing::Test {
 protected:
  static std::vector<int64_t> drawn(int64_t count, int64_t below) {
    std::vector<int64_t> index(static_cast<size_t>(count));
    for (size_t k = 0; k < index.size(); ++k)
      index[k] = static_cast<int64_t>(k * 2654435761u % static_cast<size_t>(below));
    return index;
  }
  static Array numbers(const std::vector<int64_t>& shape, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 1000) * 0.37f;
    return floats(shape, values);
  }

  // `call` scatters into a target of ones.
  template <class Call>
  static void expect_that_of_one_thread(const std::vector<int64_t>& shape, Call&& call) {
    const std::vector<float> ones(static_cast<size_t>(count_of(shape)), 1);
    for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD}) {
      Bytes first;
      for (const int32_t threads : {1, 2, 3, 16}) {
        Array target = floats(shape, ones);
        gth_options options = reducing(reduction);
        options.threads = threads;
        const gth_tensor_desc t = target.desc();
        ASSERT_EQ(call(&t, &options), GTH_OK);
        if (threads == 1) first = target.bytes();
        EXPECT_TRUE(target.bytes() == first) << shape[0] << " x " << shape[1] << ", threads " << threads;
      }
    }
  }
};

// Tests short rows in and beyond the cache, longer and long rows, and few and many duplicates.
TEST_F(ScatterThreads, I2_RowsEqualThoseOfOneThread) {
  struct Size {
    int64_t rows, width, updates;
  };
  for (const Size& size : {Size{1 << 16, 1, 1 << 20}, Size{1 << 23, 1, 1 << 20}, Size{3, 1, 1 << 20},
                           Size{4096, 32, 1 << 16}, Size{64, 1024, 4096}, Size{2, 8192, 300}}) {
    const Array indices = indices64({size.updates}, drawn(size.updates, size.rows)),
                updates = numbers({size.updates, size.width}, size.updates * size.width);
    const gth_tensor_desc i = indices.desc(), u = updates.desc();
    expect_that_of_one_thread({size.rows, size.width}, [&](const gth_tensor_desc* t, const gth_options* options) {
      return gth_scatter(nullptr, t, &i, &u, options, nullptr);
    });
  }
}

// Each thread processes some of the columns, or of the rows.
TEST_F(ScatterThreads, I2_ElementsEqualThoseOfOneThread) {
  for (const int64_t axis : {0, 1}) {
    const Array indices = indices64({600, 500}, drawn(600 * 500, axis == 0 ? 600 : 500)),
                updates = numbers({600, 500}, 600 * 500);
    const gth_tensor_desc i = indices.desc(), u = updates.desc();
    expect_that_of_one_thread({600, 500}, [&](const gth_tensor_desc* t, gth_options* options) {
      options->has_axis = 1;
      options->axis = axis;
      return gth_scatter_elements(nullptr, t, &i, &u, options, nullptr);
    });
  }
}

// Target, indices and updates are directly beside inaccessible pages, and the inputs are read-only. Every access
// outside ends the test.
TEST(ScatterGuardPages, I8_EveryRowSizeStaysInside) {
  Guarded targets(1), index_pages(1), update_pages(2);
  constexpr int64_t rows = 3, n = 9;
  int64_t runs = 0;
  for (int64_t row = 1; row <= 300; ++row) {
    for (int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD, GTH_REDUCTION_MAX}) {
      for (bool low : {false, true}) {
        for (int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP}) {
          char* const target = targets.at(rows * row, low);
          char* const updates = update_pages.at(n * row, low);
          char* const indices = index_pages.at(n * 4, low);
          Bytes expected(static_cast<size_t>(rows * row), 1);
          std::memset(target, 1, expected.size());
          for (int32_t k = 0; k < n; ++k) {
            const int32_t value = bounds == GTH_BOUNDS_SKIP && k % 4 == 3 ? 100 : static_cast<int32_t>(k % rows);
            std::memcpy(indices + k * 4, &value, 4);
            for (int64_t b = 0; b < row; ++b) {
              const char update = static_cast<char>(k * 7 + b);
              updates[k * row + b] = update;
              if (value == 100) continue;
              char& at = expected[static_cast<size_t>(value * row + b)];
              const auto sum = static_cast<char>(at + update);
              at = reduction == GTH_REDUCTION_NONE ? update
                   : reduction == GTH_REDUCTION_ADD
                       ? sum
                       : static_cast<char>(std::max(static_cast<uint8_t>(at), static_cast<uint8_t>(update)));
            }
          }
          const Shape t_shape{rows, row}, i_shape{n}, u_shape{n, row};
          const gth_tensor_desc t = describe(GTH_DTYPE_UINT8, t_shape, target);
          const gth_tensor_desc i = describe(GTH_DTYPE_INT32, i_shape, indices);
          const gth_tensor_desc u = describe(GTH_DTYPE_UINT8, u_shape, updates);
          gth_options options = reducing(reduction);
          options.bounds = bounds;
          index_pages.allow(hostile::readable);
          update_pages.allow(hostile::readable);
          ASSERT_EQ(gth_scatter(nullptr, &t, &i, &u, &options, nullptr), GTH_OK);
          index_pages.allow(hostile::writable);
          update_pages.allow(hostile::writable);
          ASSERT_EQ(std::memcmp(target, expected.data(), expected.size()), 0) << "row " << row;
          ++runs;
        }
      }
    }
  }
  EXPECT_EQ(runs, 300 * 3 * 2 * 2);
}

// Element types of every width at odd addresses, directly before the end of a page.
TEST(ScatterGuardPages, I8_EveryDtypeAtOddAddressesStaysInside) {
  Guarded targets(1), update_pages(1);
  const Array indices = indices64({3}, {1, 0, 1});
  for (int32_t dtype : {GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64, GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16, f32,
                        GTH_DTYPE_FLOAT64, GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128}) {
    for (int64_t width : {1, 3, 17}) {
      const int64_t row = width * gth_dtype_size(dtype);
      for (int32_t accumulate : {GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT32}) {
        for (bool low : {false, true}) {
          char* const target = targets.at(2 * row, low);
          char* const updates = update_pages.at(3 * row, low);
          std::memset(target, 0, static_cast<size_t>(2 * row));
          std::memset(updates, 0, static_cast<size_t>(3 * row));
          const Shape t_shape{2, width}, u_shape{3, width};
          const gth_tensor_desc t = describe(dtype, t_shape, target), i = indices.desc();
          const gth_tensor_desc u = describe(dtype, u_shape, updates);
          const gth_options options = reducing(GTH_REDUCTION_ADD, accumulate);
          ASSERT_EQ(gth_scatter(nullptr, &t, &i, &u, &options, nullptr), GTH_OK);
          for (int64_t b = 0; b < 2 * row; ++b) ASSERT_EQ(target[b], 0);
        }
      }
    }
  }
}

}  // namespace
