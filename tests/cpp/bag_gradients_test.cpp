#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <thread>

#include "hostile.hpp"

// The rules of the gradients and positions of gather_bags, except for the computed numbers: errors, ties, threads, and
// memory that changes.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;
constexpr int32_t target_operand = GTH_OPERAND_TARGET;

using Numbers = std::vector<int64_t>;
using Floats = std::vector<float>;

Array array64(const Numbers& values) { return Array(i64, {static_cast<int64_t>(values.size())}, values); }

template <class T>
std::vector<T> values_of(const Array& array) {
  const auto* first = reinterpret_cast<const T*>(array.data());
  return std::vector<T>(first, first + count_of(array.shape()));
}

// A valid call: rows 0 1 | 10 11 | 20 21 | 30 31, the bags 0 3 2, none, 1 2, and a gradient of each result.
struct Gradients {
  Array table{f32, {4, 2}, Floats{0, 1, 10, 11, 20, 21, 30, 31}}, ids = array64({0, 3, 2, 1, 2});
  Array numbers = array64({0, 3, 3, 5}), given{f32, {3, 2}, Floats{1, 2, 4, 8, 16, 32}};
  Array dense{f32, {4, 2}}, unique{i64, {5}}, sparse{f32, {5, 2}}, weights{f32, {5}};
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t = table.desc(), i = ids.desc(), g = given.desc(), b = numbers.desc();
  gth_tensor_desc d = dense.desc(), u = unique.desc(), s = sparse.desc(), w = weights.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &g, &options);
  gth_context* context = nullptr;
  int64_t count = -1;

  Gradients() { request.bags = &b; }
  Gradients(const Gradients&) = delete;

  int32_t run_dense(gth_error* err) const { return gth_gather_bags_gradient(context, &request, &d, err); }
  int32_t run_sparse(gth_error* err) { return gth_gather_bags_sparse_gradient(context, &request, &u, &s, &count, err); }
  int32_t run_weights(gth_error* err) const { return gth_gather_bags_weight_gradient(context, &request, &w, err); }

  Bytes written() const {
    Bytes all = dense.bytes();
    for (const Array* each : {&unique, &sparse, &weights}) {
      const Bytes bytes = each->bytes();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }
  // Checks that each call fails and writes nothing.
  void expect_errors(const Facts& facts) {
    const Bytes before = written();
    Error error;
    expect_facts(run_dense(&error), error, facts, "dense");
    expect_facts(run_sparse(&error), error, facts, "sparse");
    expect_facts(run_weights(&error), error, facts, "weights");
    EXPECT_TRUE(written() == before);
    EXPECT_EQ(count, -1);
  }
  void expect_dense(const Floats& expected) const {
    Error error;
    ASSERT_EQ(run_dense(&error), GTH_OK) << error.message;
    EXPECT_EQ(values_of<float>(dense), expected);
  }
};

int32_t field(size_t offset) { return static_cast<int32_t>(offset); }

TEST(BagGradients, EachRowReceivesTheGradientsOfItsBags) {
  Gradients gradients;
  gradients.expect_dense({1, 2, 16, 32, 17, 34, 1, 2});
  Error error;
  gradients.options.padding_index = gradients.options.has_padding_index = 1;
  gradients.sparse.fill(1);
  ASSERT_EQ(gradients.run_sparse(&error), GTH_OK) << error.message;
  ASSERT_EQ(gradients.count, 3);
  Numbers rows = values_of<int64_t>(gradients.unique);
  rows.resize(3);
  EXPECT_EQ(rows, (Numbers{0, 2, 3}));
  Floats sums = values_of<float>(gradients.sparse);
  sums.resize(6);
  EXPECT_EQ(sums, (Floats{1, 2, 17, 34, 1, 2}));
  ASSERT_EQ(gradients.run_weights(&error), GTH_OK) << error.message;
  EXPECT_EQ(values_of<float>(gradients.weights), (Floats{2, 92, 62, 0, 992}));
}

TEST(BagGradients, MeanDividesByTheNumberOfIdsThatAreRead) {
  Gradients gradients;
  gradients.options.pool = GTH_POOL_MEAN;
  gradients.options.has_padding_index = 1;
  gradients.options.padding_index = 3;
  gradients.expect_dense({0.5f, 1, 8, 16, 8.5f, 17, 0, 0});
}

// torch keeps the first of equal elements, too. But torch keeps a NaN only if it belongs to the first id.
TEST(BagGradients, MaximumGivesItsGradientToTheFirstOfEqualElementsAndToTheFirstNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array table(f32, {3, 4}, Floats{1, 5, nan, -0.0f, 2, 5, 7, 0, 2, 4, nan, 0});
  const Array ids = array64({0, 1, 2}), offsets = array64({0, 3}), given(f32, {1, 4}, Floats{1, 2, 4, 8});
  const Array out(f32, {3, 4});
  const gth_tensor_desc t = table.desc(), i = ids.desc(), b = offsets.desc(), g = given.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &g, &options);
  request.bags = &b;
  options.pool = GTH_POOL_MAX;
  ASSERT_EQ(gth_gather_bags_gradient(nullptr, &request, &o, nullptr), GTH_OK);
  EXPECT_EQ(values_of<float>(out), (Floats{0, 2, 4, 8, 1, 0, 0, 0, 0, 0, 0, 0}));
  options.pool = GTH_POOL_MIN;
  ASSERT_EQ(gth_gather_bags_gradient(nullptr, &request, &o, nullptr), GTH_OK);
  EXPECT_EQ(values_of<float>(out), (Floats{1, 0, 4, 8, 0, 0, 0, 0, 0, 2, 0, 0}));
}

TEST(BagGradients, UnsignedNumbersBeyondInt64AreCompared) {
  const Array table(GTH_DTYPE_UINT64, {2, 1}, std::vector<uint64_t>{1, uint64_t{1} << 63});
  const Array ids = indices64({1, 2}, {0, 1}), given(GTH_DTYPE_UINT64, {1, 1}, std::vector<uint64_t>{7});
  const Array out(GTH_DTYPE_UINT64, {2, 1});
  const gth_tensor_desc t = table.desc(), i = ids.desc(), g = given.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &g, &options);
  options.pool = GTH_POOL_MAX;
  ASSERT_EQ(gth_gather_bags_gradient(nullptr, &request, &o, nullptr), GTH_OK);
  EXPECT_EQ(values_of<uint64_t>(out), (std::vector<uint64_t>{0, 7}));
  options.pool = GTH_POOL_MIN;
  ASSERT_EQ(gth_gather_bags_gradient(nullptr, &request, &o, nullptr), GTH_OK);
  EXPECT_EQ(values_of<uint64_t>(out), (std::vector<uint64_t>{7, 0}));
}

// torch's mean does not read the ids after the last offset.
TEST(BagGradients, IdsAfterTheLastOffsetOfTorchReceiveNothing) {
  Gradients gradients;
  gradients.options.profile = GTH_PROFILE_TORCH;
  reinterpret_cast<int64_t*>(gradients.numbers.data())[3] = 4;
  reinterpret_cast<int64_t*>(gradients.ids.data())[4] = 9;  // It is not read, so it need not be valid.
  gradients.expect_dense({1, 2, 16, 32, 1, 2, 1, 2});
  ASSERT_EQ(gradients.run_weights(nullptr), GTH_OK);
  EXPECT_EQ(values_of<float>(gradients.weights), (Floats{2, 92, 62, 512, 0}));
}

TEST(BagGradients, BagsAreValidatedBeforeIdsAndIdsBeforeTheFirstWrite) {
  Gradients gradients;
  reinterpret_cast<int64_t*>(gradients.ids.data())[3] = 4;
  gradients.expect_errors({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 4, 4});
  reinterpret_cast<int64_t*>(gradients.numbers.data())[3] = 4;
  gradients.expect_errors({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 3, 4, 5});
  reinterpret_cast<int64_t*>(gradients.numbers.data())[3] = 5;
  gradients.options.empty = GTH_EMPTY_ERROR;
  gradients.expect_errors({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 1, 0, 1});
}

TEST(BagGradients, IdsBeyondInt64AreReportedAsUnsigned) {
  Gradients gradients;
  gradients.i.dtype = GTH_DTYPE_UINT64;
  reinterpret_cast<int64_t*>(gradients.ids.data())[2] = INT64_MIN;
  gradients.expect_errors({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, INT64_MIN, 4, GTH_ERROR_UNSIGNED});
}

TEST(BagGradients, OperandsThatDoNotFitAreRejected) {
  const auto expect = [](const Facts& facts, auto change) {
    Gradients gradients;
    change(&gradients);
    gradients.expect_errors(facts);
  };
  const auto targets = [](auto change) {
    return [change](Gradients* on) {
      for (gth_tensor_desc* each : {&on->d, &on->s, &on->w}) change(each);
    };
  };
  auto* const garbage = reinterpret_cast<gth_context*>(1);
  expect({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, GTH_OP_GATHER, GTH_OP_GATHER_BAGS}, [](Gradients* on) {
    on->request.op = GTH_OP_GATHER;
    on->request.bags = nullptr;
  });
  expect({GTH_E_NULL, GTH_OPERAND_UPDATES}, [](Gradients* on) { on->request.rows = nullptr; });
  expect({GTH_E_NULL, GTH_OPERAND_INDICES}, [](Gradients* on) { on->i.data = nullptr; });
  expect({GTH_E_NULL, GTH_OPERAND_UPDATES}, [](Gradients* on) { on->g.data = nullptr; });
  expect({GTH_E_NULL, target_operand}, targets([](gth_tensor_desc* each) { each->data = nullptr; }));
  expect({GTH_E_HANDLE, GTH_OPERAND_CONTEXT}, [&](Gradients* on) { on->context = garbage; });
  expect({GTH_E_DTYPE, GTH_OPERAND_UPDATES, -1, -1, GTH_DTYPE_INT32, f32},
         [](Gradients* on) { on->g.dtype = GTH_DTYPE_INT32; });
  expect({GTH_E_DTYPE, target_operand, -1, -1, GTH_DTYPE_INT32, f32},
         targets([](gth_tensor_desc* each) { each->dtype = GTH_DTYPE_INT32; }));
  expect({GTH_E_RANK, target_operand, -1, -1, -1, GTH_MAX_NDIM},
         targets([](gth_tensor_desc* each) { each->ndim = -1; }));
  const Shape wrong{2, 2};
  expect({GTH_E_SHAPE, GTH_OPERAND_UPDATES, 0, -1, 2, 3}, [&](Gradients* on) { on->g.shape = wrong.data(); });
  expect({GTH_E_READONLY, target_operand}, targets([](gth_tensor_desc* each) { each->flags = GTH_TENSOR_READONLY; }));
  expect({GTH_E_DEVICE, target_operand, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU},
         targets([](gth_tensor_desc* each) { each->device = GTH_DEVICE_CUDA; }));
  expect({GTH_E_ALIAS, target_operand, -1, -1, GTH_OPERAND_UPDATES, 0}, [](Gradients* on) {
    for (gth_tensor_desc* each : {&on->d, &on->s, &on->w}) each->data = on->given.data();
    on->d.extent = on->s.extent = on->w.extent = 0;
  });
  expect({GTH_E_VERSION, target_operand, 0, -1, 4, sizeof(gth_tensor_desc)},
         targets([](gth_tensor_desc* each) { each->size = 4; }));
  expect({GTH_E_VERSION, GTH_OPERAND_OPTIONS, field(offsetof(gth_options, reduction)), -1, GTH_REDUCTION_ADD, 0},
         [](Gradients* on) { on->options.reduction = GTH_REDUCTION_ADD; });
}

TEST(BagGradients, TargetsThatDoNotFitAreRejected) {
  Gradients gradients;
  Error error;
  const Shape wrong{3, 2};
  const int64_t overlapping[] = {0, 4};
  const Bytes before = gradients.written();
  gradients.d.shape = wrong.data();
  expect_facts(gradients.run_dense(&error), error, {GTH_E_SHAPE, target_operand, 0, -1, 3, 4});
  gradients.d = gradients.dense.desc();
  gradients.d.strides = overlapping;
  expect_facts(gradients.run_dense(&error), error, {GTH_E_STRIDE, target_operand, 0, -1, 0, 4});
  expect_facts(gth_gather_bags_gradient(nullptr, &gradients.request, nullptr, &error), error,
               {GTH_E_NULL, target_operand});
  gradients.s.shape = wrong.data();
  expect_facts(gradients.run_sparse(&error), error, {GTH_E_SHAPE, GTH_OPERAND_OUT, 0, -1, 5, 3});
  gradients.s = gradients.sparse.desc();
  gradients.u.dtype = GTH_DTYPE_UINT64;
  expect_facts(gradients.run_sparse(&error), error, {GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, GTH_DTYPE_UINT64, i64});
  gradients.u = gradients.unique.desc();
  expect_facts(
      gth_gather_bags_sparse_gradient(nullptr, &gradients.request, &gradients.u, &gradients.s, nullptr, &error), error,
      {GTH_E_NULL, GTH_OPERAND_NONE});
  expect_facts(
      gth_gather_bags_sparse_gradient(nullptr, &gradients.request, nullptr, &gradients.s, &gradients.count, &error),
      error, {GTH_E_NULL, GTH_OPERAND_OUT});
  const Shape small{2};
  Shape small_rows{2, 2};
  gradients.u.shape = small.data();
  gradients.s.shape = small_rows.data();
  expect_facts(gradients.run_sparse(&error), error, {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, 2, 4});
  gradients.options.pool = GTH_POOL_MAX;
  expect_facts(gradients.run_weights(&error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_WEIGHTS});
  EXPECT_TRUE(gradients.written() == before);
}

TEST(BagGradients, GradientsHaveTheDtypeOfParams) {
  Gradients gradients;
  const Array halves(GTH_DTYPE_FLOAT16, {4, 2}), out(GTH_DTYPE_FLOAT16, {4, 2});
  gradients.t = halves.desc();
  gradients.d = out.desc();
  gradients.options.out_dtype = f32;
  Error error;
  expect_facts(gradients.run_dense(&error), error,
               {GTH_E_VERSION, GTH_OPERAND_OPTIONS, field(offsetof(gth_options, out_dtype)), -1, f32, 0});
  const Array gradient(GTH_DTYPE_FLOAT16, {3, 2});
  gradients.g = gradient.desc();
  gradients.options.out_dtype = GTH_DTYPE_FLOAT16;
  EXPECT_EQ(gradients.run_dense(&error), GTH_OK) << error.message;
}

// Sums need only dtype and shape of params.
TEST(BagGradients, ParamsAreReadOnlyIfTheGradientDependsOnThem) {
  Gradients gradients;
  gradients.t.data = nullptr;
  gradients.expect_dense({1, 2, 16, 32, 17, 34, 1, 2});
  Error error;
  expect_facts(gradients.run_weights(&error), error, {GTH_E_NULL, GTH_OPERAND_PARAMS});
  gradients.options.pool = GTH_POOL_MIN;
  expect_facts(gradients.run_dense(&error), error, {GTH_E_NULL, GTH_OPERAND_PARAMS});
}

TEST(BagGradients, HandlesAreOperands) {
  Gradients gradients;
  const Tensor table(gradients.t), ids(gradients.i), numbers(gradients.b), given(gradients.g), dense(gradients.d);
  gradients.t = GTH_TENSOR_DESC_HANDLE(table.get());
  gradients.i = GTH_TENSOR_DESC_HANDLE(ids.get());
  gradients.b = GTH_TENSOR_DESC_HANDLE(numbers.get());
  gradients.g = GTH_TENSOR_DESC_HANDLE(given.get());
  gradients.d = GTH_TENSOR_DESC_HANDLE(dense.get());
  gradients.expect_dense({1, 2, 16, 32, 17, 34, 1, 2});
}

// A broadcast gradient, as that of a sum of the output.
TEST(BagGradients, GradientMayHaveAnyStrides) {
  Gradients gradients;
  const int64_t strides[] = {0, 0};
  gradients.g.strides = strides;
  gradients.expect_dense({1, 1, 1, 1, 2, 2, 1, 1});
}

TEST(BagGradients, BagsWithoutIdsGiveZeros) {
  Gradients gradients;
  const Array none = array64({}), all_empty = array64({0, 0, 0, 0});
  gradients.i = none.desc();
  gradients.b = all_empty.desc();
  gradients.expect_dense({0, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_EQ(gradients.run_sparse(nullptr), GTH_OK);
  EXPECT_EQ(gradients.count, 0);
  gradients.options.pool = GTH_POOL_MAX;
  gradients.expect_dense({0, 0, 0, 0, 0, 0, 0, 0});
}

// ---- Positions of the maxima and minima

// A valid call: columns that fall and rise, a NaN, equal elements, and the bags 0 3 2, none, 1 2.
struct Positions {
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Array table{f32, {4, 4}, Floats{9, 0, 5, -0.0f, 8, 1, nan, 1, 7, 2, nan, 0, 6, 3, 5, 0}},
      ids = array64({0, 3, 2, 1, 2});
  Array numbers = array64({0, 3, 3, 5}), positions{i64, {3, 4}};
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t = table.desc(), i = ids.desc(), b = numbers.desc(), p = positions.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, nullptr, &options);
  gth_context* context = nullptr;

  Positions() {
    request.bags = &b;
    options.pool = GTH_POOL_MAX;
  }
  Positions(const Positions&) = delete;

  int32_t run(gth_error* err) const { return gth_gather_bags_positions(context, &request, &p, err); }
  void expect(const Numbers& expected) const {
    Error error;
    ASSERT_EQ(run(&error), GTH_OK) << error.message;
    EXPECT_EQ(values_of<int64_t>(positions), expected);
  }
  // Checks that the call fails and writes nothing.
  void expect_error(const Facts& facts) const {
    const Bytes before = positions.bytes();
    Error error;
    expect_facts(run(&error), error, facts);
    EXPECT_TRUE(positions.bytes() == before);
  }
};

TEST(BagPositions, FirstOfEqualElementsAndFirstNanHaveThePosition) {
  Positions on;
  on.expect({0, 1, 2, 0, -1, -1, -1, -1, 3, 4, 3, 3});
  on.options.pool = GTH_POOL_MIN;
  on.expect({1, 0, 2, 0, -1, -1, -1, -1, 4, 3, 3, 4});
}

TEST(BagPositions, PositionOfAFilledRowIsThatOfItsId) {
  Positions on;
  on.options.bounds = GTH_BOUNDS_FILL;
  on.options.fill = GTH_FILL_VALUE;
  const float fill = 8.5f;
  std::memcpy(on.options.fill_value, &fill, sizeof fill);
  reinterpret_cast<int64_t*>(on.ids.data())[3] = 77;
  on.expect({0, 1, 2, 0, -1, -1, -1, -1, 3, 3, 4, 3});
  on.options.bounds = GTH_BOUNDS_SKIP;
  on.options.fill = 0;
  on.expect({0, 1, 2, 0, -1, -1, -1, -1, 4, 4, 4, 4});
}

TEST(BagPositions, IdsThatAreNotReadHaveNoPosition) {
  Positions on;
  on.options.has_padding_index = 1;
  on.options.padding_index = 2;
  on.expect({0, 1, 0, 0, -1, -1, -1, -1, 3, 3, 3, 3});
  on.options.has_padding_index = 0;
  on.options.padding_index = 0;
  on.options.empty = GTH_EMPTY_FILL;  // It selects the row, and no position.
  on.expect({0, 1, 2, 0, -1, -1, -1, -1, 3, 4, 3, 3});
  on.options.empty = 0;
  on.options.profile = GTH_PROFILE_TORCH;
  reinterpret_cast<int64_t*>(on.numbers.data())[3] = 4;
  reinterpret_cast<int64_t*>(on.ids.data())[4] = 9;  // It is behind the last offset, so it need not be valid.
  on.expect({0, 1, 2, 0, -1, -1, -1, -1, 3, 3, 3, 3});
}

TEST(BagPositions, BagsWithoutIdsHaveNone) {
  Positions on;
  const Array none = array64({}), all_empty = array64({0, 0, 0, 0});
  on.i = none.desc();
  on.b = all_empty.desc();
  on.expect(Numbers(12, -1));
}

TEST(BagPositions, DenseBagsHaveRowMajorPositions) {
  const Array table(f32, {3}, Floats{4, 9, 2}), ids = indices64({2, 2, 2}, {0, 1, 2, 0, 0, 2, 1, 2});
  const Array out(i64, {2, 2});
  const gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.pool = GTH_POOL_MAX;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, nullptr, &options);
  ASSERT_EQ(gth_gather_bags_positions(nullptr, &request, &o, nullptr), GTH_OK);
  EXPECT_EQ(values_of<int64_t>(out), (Numbers{1, 3, 4, 6}));
}

TEST(BagPositions, RowsOfTheRequestAreIgnoredAndOutDtypeHasNoEffect) {
  Positions on;
  const Array halves(GTH_DTYPE_FLOAT16, {4, 2}, std::vector<uint16_t>{0x3c00, 0, 0x3800, 1, 0x4000, 2, 0x4200, 3});
  const Array out(i64, {3, 2});
  on.t = halves.desc();
  on.p = out.desc();
  on.options.out_dtype = f32;
  gth_tensor_desc wrong = GTH_TENSOR_DESC_INIT;
  wrong.ndim = -3;
  on.request.rows = &wrong;
  ASSERT_EQ(on.run(nullptr), GTH_OK);
  EXPECT_EQ(values_of<int64_t>(out), (Numbers{1, 1, -1, -1, 4, 4}));
}

TEST(BagPositions, HandlesAndStridesAreOperands) {
  Positions on;
  Array wide(i64, {3, 8});
  const int64_t strides[] = {64, -8};
  on.p.data = wide.data();
  on.p.strides = strides;
  on.p.offset = 32;
  on.p.extent = 0;
  const Tensor table(on.t), ids(on.i), numbers(on.b), positions(on.p);
  on.t = GTH_TENSOR_DESC_HANDLE(table.get());
  on.i = GTH_TENSOR_DESC_HANDLE(ids.get());
  on.b = GTH_TENSOR_DESC_HANDLE(numbers.get());
  on.p = GTH_TENSOR_DESC_HANDLE(positions.get());
  wide.fill(0);
  ASSERT_EQ(on.run(nullptr), GTH_OK);
  EXPECT_EQ(values_of<int64_t>(wide),
            (Numbers{0, 0, 2, 1, 0, 0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, 3, 3, 4, 3, 0, 0, 0}));
}

TEST(BagPositions, OperandsThatDoNotFitAreRejected) {
  const auto expect = [](const Facts& facts, auto change) {
    Positions on;
    change(&on);
    on.expect_error(facts);
  };
  const int32_t out = GTH_OPERAND_OUT, pool = field(offsetof(gth_options, pool));
  auto* const garbage = reinterpret_cast<gth_context*>(1);
  for (const int32_t other : {0, GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN}) {
    expect({GTH_E_VERSION, GTH_OPERAND_OPTIONS, pool, -1, other, GTH_POOL_MIN},
           [&](Positions* on) { on->options.pool = other; });
  }
  expect({GTH_E_VERSION, GTH_OPERAND_OPTIONS, pool, -1, 0, GTH_POOL_MIN},
         [](Positions* on) { on->request.options = nullptr; });
  expect({GTH_E_VERSION, GTH_OPERAND_WEIGHTS}, [](Positions* on) { on->request.weights = &on->t; });
  expect({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, GTH_OP_GATHER, GTH_OP_GATHER_BAGS},
         [](Positions* on) { on->request.op = GTH_OP_GATHER; });
  expect({GTH_E_NULL, GTH_OPERAND_PARAMS}, [](Positions* on) { on->t.data = nullptr; });
  expect({GTH_E_NULL, GTH_OPERAND_INDICES}, [](Positions* on) { on->request.indices = nullptr; });
  expect({GTH_E_NULL, out}, [](Positions* on) { on->p.data = nullptr; });
  expect({GTH_E_HANDLE, GTH_OPERAND_CONTEXT}, [&](Positions* on) { on->context = garbage; });
  expect({GTH_E_HANDLE, out},
         [](Positions* on) { on->p = GTH_TENSOR_DESC_HANDLE(reinterpret_cast<const gth_tensor*>(1)); });
  for (const int32_t dtype : {GTH_DTYPE_INT32, GTH_DTYPE_UINT64, f32}) {
    expect({GTH_E_DTYPE, out, -1, -1, dtype, i64}, [&](Positions* on) { on->p.dtype = dtype; });
  }
  expect({GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_COMPLEX64, 0},
         [](Positions* on) { on->t.dtype = GTH_DTYPE_COMPLEX64; });
  expect({GTH_E_RANK, out, -1, -1, 1, 2}, [](Positions* on) { on->p.ndim = 1; });
  const Shape wrong{3, 3};
  expect({GTH_E_SHAPE, out, 1, -1, 3, 4}, [&](Positions* on) { on->p.shape = wrong.data(); });
  const int64_t overlapping[] = {16, 8};
  expect({GTH_E_STRIDE, out, 0, -1, 16, 32}, [&](Positions* on) { on->p.strides = overlapping; });
  expect({GTH_E_READONLY, out}, [](Positions* on) { on->p.flags = GTH_TENSOR_READONLY; });
  expect({GTH_E_DEVICE, out, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU},
         [](Positions* on) { on->p.device = GTH_DEVICE_CUDA; });
  expect({GTH_E_VERSION, out, 0, -1, 4, sizeof(gth_tensor_desc)}, [](Positions* on) { on->p.size = 4; });
  // Dtypes are validated before ids.
  expect({GTH_E_DTYPE, out, -1, -1, GTH_DTYPE_UINT64, i64}, [](Positions* on) {
    on->p.dtype = GTH_DTYPE_UINT64;
    reinterpret_cast<int64_t*>(on->ids.data())[3] = 4;
  });
  Positions on;
  Error error;
  expect_facts(gth_gather_bags_positions(nullptr, &on.request, nullptr, &error), error, {GTH_E_NULL, out});
  expect_facts(gth_gather_bags_positions(nullptr, nullptr, &on.p, &error), error, {GTH_E_NULL, GTH_OPERAND_REQUEST});
}

TEST(BagPositions, OutputThatIsTooLargeIsReportedAsOut) {
  Positions on;
  const Array segments = array64({0, 0, 0, 1, 1});
  on.b = segments.desc();
  on.options.bag_format = GTH_BAGS_SEGMENTS;
  on.options.bag_count = INT64_MAX / 4;
  Error error;
  EXPECT_EQ(on.run(&error), GTH_E_SIZE) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
}

TEST(BagPositions, BagsAreValidatedBeforeIdsAndIdsBeforeTheFirstWrite) {
  Positions on;
  reinterpret_cast<int64_t*>(on.ids.data())[3] = 4;
  on.expect_error({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 4, 4});
  reinterpret_cast<int64_t*>(on.numbers.data())[3] = 4;
  on.expect_error({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 3, 4, 5});
  reinterpret_cast<int64_t*>(on.numbers.data())[3] = 5;
  on.options.empty = GTH_EMPTY_ERROR;
  on.expect_error({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 1, 0, 1});
}

// ---- Large calls

// A call of many bags. Its ids are divided between threads.
struct Large {
  static constexpr int64_t rows = 500, dim = 70, bags = 900, ids = 9000;
  Array table{f32, {rows, dim}}, id{i64, {ids}}, begin{i64, {bags + 1}}, given{f32, {bags, dim}};
  Array weights{f32, {ids}};
  gth_tensor_desc t = table.desc(), i = id.desc(), b = begin.desc(), g = given.desc(), w = weights.desc();
  gth_options options = GTH_OPTIONS_INIT;
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &g, &options);

  Large() {
    uint64_t state = 1;
    const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
    for (const Array* each : {&table, &given, &weights}) {
      for (int64_t k = 0; k < count_of(each->shape()); ++k) {
        reinterpret_cast<float*>(each->data())[k] = static_cast<float>(next() % 2001) / 37 - 27;
      }
    }
    for (int64_t k = 0; k < ids; ++k) numbers(id)[k] = static_cast<int64_t>(next() % rows);
    for (int64_t k = 0; k <= bags; ++k) numbers(begin)[k] = k * ids / bags;
    request.bags = &b;
  }
  Large(const Large&) = delete;
  static int64_t* numbers(const Array& array) { return reinterpret_cast<int64_t*>(array.data()); }
};

TEST(BagGradients, ThreadsDoNotChangeBits) {
  Large on;
  for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN, GTH_POOL_MAX}) {
    on.options.pool = pool;
    on.request.weights = pool == GTH_POOL_MAX ? nullptr : &on.w;
    Bytes dense, weights, found;
    for (const int32_t threads : {1, 2, 3, 8}) {
      on.options.threads = threads;
      const Array out(f32, {Large::rows, Large::dim}), of_weights(f32, {Large::ids});
      const gth_tensor_desc o = out.desc(), w = of_weights.desc();
      ASSERT_EQ(gth_gather_bags_gradient(nullptr, &on.request, &o, nullptr), GTH_OK);
      const Array positions(i64, {Large::bags, Large::dim});
      const gth_tensor_desc p = positions.desc();
      if (pool != GTH_POOL_MAX) {
        ASSERT_EQ(gth_gather_bags_weight_gradient(nullptr, &on.request, &w, nullptr), GTH_OK);
      } else {
        ASSERT_EQ(gth_gather_bags_positions(nullptr, &on.request, &p, nullptr), GTH_OK);
      }
      if (threads == 1) dense = out.bytes(), weights = of_weights.bytes(), found = positions.bytes();
      EXPECT_TRUE(out.bytes() == dense && of_weights.bytes() == weights && positions.bytes() == found)
          << "pool " << pool << ", threads " << threads;
    }
  }
}

// Another thread writes ids and offsets during the calls. Each is read once, so no call reports a race. The address
// sanitizer finds accesses outside memory.
TEST(BagGradients, NumbersThatChangeDuringTheCallAreReadOnce) {
  Large on;
  const Array out(f32, {Large::rows, Large::dim}), unique(i64, {Large::rows}), weights(f32, {Large::ids});
  const Array positions(i64, {Large::bags, Large::dim});
  const gth_tensor_desc o = out.desc(), u = unique.desc(), w = weights.desc(), p = positions.desc();
  const Numbers begin = values_of<int64_t>(on.begin);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    auto* const ids = static_cast<volatile int64_t*>(Large::numbers(on.id));
    auto* const borders = static_cast<volatile int64_t*>(Large::numbers(on.begin));
    constexpr int64_t bad[] = {-1, Large::rows, INT64_MAX, INT64_MIN};
    for (int64_t k = 0; !stop.load(); ++k) {
      ids[k * 7 % Large::ids] = bad[k % 4];
      borders[k % Large::bags] = bad[k / 4 % 4];
      ids[k * 7 % Large::ids] = 1;
      borders[k % Large::bags] = begin[static_cast<size_t>(k % Large::bags)];
    }
  });
  int32_t seen = 0;
  // On a busy machine, the writer may not run during the first calls.
  for (int32_t call = 0; call < 200 || ((seen & ~1) == 0 && call < 20000); ++call) {
    on.options.pool = call % 2 ? GTH_POOL_MAX : GTH_POOL_MEAN;
    int64_t count = 0;
    int32_t status = gth_gather_bags_gradient(nullptr, &on.request, &o, nullptr);
    seen |= 1 << -status;
    status = gth_gather_bags_sparse_gradient(nullptr, &on.request, &u, &o, &count, nullptr);
    seen |= 1 << -status;
    on.options.pool = GTH_POOL_MIN;
    seen |= 1 << -gth_gather_bags_positions(nullptr, &on.request, &p, nullptr);
    on.options.pool = GTH_POOL_SUM;
    seen |= 1 << -gth_gather_bags_weight_gradient(nullptr, &on.request, &w, nullptr);
  }
  stop.store(true);
  writer.join();
  EXPECT_NE(seen & ~1, 0) << "no call has read a changed number";
  EXPECT_EQ(seen & ~(1 | 1 << -GTH_E_INDEX | 1 << -GTH_E_OFFSETS), 0);
}

}  // namespace
