#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "facts.hpp"
#include "random_scatters.hpp"
#include "scatter_positions_oracle.hpp"

// The positions of the maxima and minima of scatters: random requests against a naive loop, and errors.
namespace {

using namespace oracle;
using hostile::Array;
using hostile::count_of;
using hostile::Error;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64, out = GTH_OPERAND_OUT;

class PositionsOracle : public ::testing::Test {
 protected:
  // Makes a case a request for positions. Returns false if its dtype has no maximum.
  bool prepare(scatters::Case* c) {
    ScatterProblem& problem = c->problem;
    scatters::choose_rare_switches(random_, c);
    if (is_complex(problem.params.dtype)) return false;
    problem.reduction = c->options.reduction = random_.chance(50) ? GTH_REDUCTION_MAX : GTH_REDUCTION_MIN;
    problem.in_float32 = problem.in_float64 = false;
    if (random_.chance(50)) make_equal(&problem.params), make_equal(&problem.out);
    return true;
  }

  // Replaces the elements by few different ones.
  void make_equal(Operand* x) {
    for_each_element(*x, [&](int64_t at, const Shape&) {
      const auto other = static_cast<int64_t>(random_.below(3));
      char* const to = x->memory.data() + at;
      if (is_float(x->dtype)) return encode_float(x->dtype, static_cast<double>(other) / 2, to);
      std::memset(to, 0, static_cast<size_t>(x->item));
      *to = static_cast<char>(other);
    });
  }

  void check(const scatters::Case& from) {
    scatters::Case c = from;
    ScatterProblem& problem = c.problem;
    const ScatterAnswer answer = solve_scatter(problem);
    const std::vector<int64_t> expected = positions_of(problem);
    Operand positions = problem.params;
    positions.dtype = i64;
    positions.item = 8;
    lay_out(random_, true, &positions);
    const Bytes target = problem.params.memory, before = positions.memory;
    gth_tensor_desc t = problem.params.desc(), i = problem.indices.desc(), u = problem.out.desc();
    t.flags = GTH_TENSOR_READONLY;
    if (problem.starts_with_update) t.data = nullptr;
    const gth_tensor_desc p = positions.desc();
    for (const int32_t threads : {1, 2, 7}) {
      c.options.threads = threads;
      positions.memory = before;
      const gth_request request = GTH_REQUEST(scatters::op_of(problem).number, &t, &i, &u, &c.options);
      Error error;
      const int32_t status = gth_scatter_positions(nullptr, &request, &p, &error);
      ASSERT_EQ(status, answer.status) << describe(c) << error.message;
      EXPECT_TRUE(problem.params.memory == target);
      if (status) {
        EXPECT_EQ(error.position, answer.position) << describe(c);
        EXPECT_TRUE(positions.memory == before) << describe(c);
        continue;
      }
      std::vector<int64_t> found;
      for_each_element(positions, [&](int64_t at, const Shape&) {
        found.push_back(read_as<int64_t>(positions.memory.data() + at));
      });
      ASSERT_EQ(found, expected) << describe(c);
    }
  }

  std::string describe(const scatters::Case& c) const {
    return "case " + std::to_string(number_) + ", dtype " + std::to_string(c.problem.params.dtype) + ", reduction " +
           std::to_string(c.problem.reduction) + ", initial " + std::to_string(c.options.initial) + ", threads " +
           std::to_string(c.options.threads) + ": ";
  }

  oracle::Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261129))};
  int64_t number_ = 0;
};

TEST_F(PositionsOracle, RandomScattersMatchTheOracle) {
  for (const int64_t wanted = random_cases(20000) / 5; number_ < wanted && !HasFailure(); ++number_) {
    scatters::Case c = scatters::make_case(random_);
    if (prepare(&c)) check(c);
  }
}

TEST_F(PositionsOracle, SizesAtTheBordersOfBlocksMatchTheOracle) {
  for (const int64_t wanted = random_cases(20000) / 40; number_ < wanted && !HasFailure(); ++number_) {
    scatters::Case c = scatters::make_border(random_);
    if (prepare(&c)) check(c);
  }
}

// ---- Values

using Numbers = std::vector<int64_t>;

// A request of three rows of two columns, whose updates have ties, zeros of both signs and NaN.
struct Request {
  Array target{f32, {3, 2}, std::vector<float>{5, 1, 0, 2, 7, 8}},
      updates{f32, {5, 2}, std::vector<float>{9, NAN, -0.0F, 2, 9, 3, 4, NAN, 0, 4}},
      indices{i64, {5}, Numbers{0, 1, 0, 0, 1}}, positions{i64, {3, 2}};
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc(), p = positions.desc();
  gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &options);
  gth_context* context = nullptr;

  Request() { options.reduction = GTH_REDUCTION_MAX; }
  Request(const Request&) = delete;

  int32_t run(gth_error* err) const { return gth_scatter_positions(context, &request, &p, err); }
  void expect(const Numbers& expected) const {
    Error error;
    ASSERT_EQ(run(&error), GTH_OK) << error.message;
    Numbers found(6);
    std::memcpy(found.data(), positions.data(), 48);
    EXPECT_EQ(found, expected);
  }
  // Checks that the call fails and writes nothing.
  void expect_error(const facts::Facts& expected) const {
    const Bytes before = positions.bytes();
    Error error;
    facts::expect_fields(run(&error), error, expected);
    EXPECT_TRUE(positions.bytes() == before);
  }
};

TEST(ScatterPositions, FirstOfEqualElementsAndFirstNanHaveThePosition) {
  Request on;
  on.expect({0, 1, -1, 9, -1, -1});
  on.options.reduction = GTH_REDUCTION_MIN;
  on.expect({6, 1, -1, -1, -1, -1});
  on.options.initial = GTH_INITIAL_UPDATE;
  on.expect({6, 1, 2, 3, -1, -1});
  on.options.reduction = GTH_REDUCTION_MAX;
  on.expect({0, 1, 2, 9, -1, -1});
}

TEST(ScatterPositions, NanOfTargetStays) {
  Request on;
  reinterpret_cast<float*>(on.target.data())[1] = NAN;
  on.expect({0, -1, -1, 9, -1, -1});
}

TEST(ScatterPositions, SkippedAndPaddingUpdatesHaveNoPosition) {
  Request on;
  auto* const indices = reinterpret_cast<int64_t*>(on.indices.data());
  indices[0] = 3;
  on.options.bounds = GTH_BOUNDS_SKIP;
  on.expect({4, 7, -1, 9, -1, -1});
  on.options.has_padding_index = 1;
  on.options.padding_index = 1;
  on.expect({4, 7, -1, -1, -1, -1});
}

TEST(ScatterPositions, RepeatedRowsAndNumbersHaveTheirOwnPositions) {
  Request on;
  const hostile::Shape row{2}, none{};
  on.u.shape = row.data();
  on.u.ndim = 1;
  on.expect({0, 1, 0, 1, -1, -1});
  on.u.ndim = 0;
  on.u.shape = none.data();
  on.expect({0, 0, 0, 0, -1, -1});
}

TEST(ScatterPositions, InfiniteAndExtremeUpdatesWinWithoutTarget) {
  const Array target(GTH_DTYPE_INT8, {3}), positions(i64, {3});
  const Array updates(GTH_DTYPE_INT8, {2}, std::vector<int8_t>{-128, -128}), ids(i64, {2}, Numbers{1, 1});
  const gth_tensor_desc t = target.desc(), u = updates.desc(), i = ids.desc(), p = positions.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_MAX;
  options.initial = GTH_INITIAL_UPDATE;
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &options);
  ASSERT_EQ(gth_scatter_positions(nullptr, &request, &p, nullptr), GTH_OK);
  const Numbers expected{-1, 0, -1};
  EXPECT_EQ(std::memcmp(positions.data(), expected.data(), 24), 0);
}

TEST(ScatterPositions, TensorsAreOperands) {
  Request on;
  const hostile::Tensor target(on.t), indices(on.i), updates(on.u), positions(on.p);
  gth_tensor_desc t = GTH_TENSOR_DESC_INIT, i = t, u = t, p = t;
  t.tensor = target.get();
  i.tensor = indices.get();
  u.tensor = updates.get();
  p.tensor = positions.get();
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &on.options);
  Error error;
  ASSERT_EQ(gth_scatter_positions(nullptr, &request, &p, &error), GTH_OK) << error.message;
  const Numbers expected{0, 1, -1, 9, -1, -1};
  EXPECT_EQ(std::memcmp(on.positions.data(), expected.data(), 48), 0);
}

// ---- Errors

template <class Change>
void expect_fails(const facts::Facts& expected, Change&& change) {
  Request on;
  change(&on);
  on.expect_error(expected);
}

TEST(ScatterPositions, WrongRequestsAreReported) {
  constexpr int32_t options = GTH_OPERAND_OPTIONS, request = GTH_OPERAND_REQUEST;
  for (const int32_t op : {GTH_OP_GATHER, GTH_OP_GATHER_GRADIENT, GTH_OP_GATHER_BAGS}) {
    expect_fails({GTH_E_VERSION, request, -1, -1, op, GTH_OP_SCATTER_ELEMENTS},
                 [&](Request* on) { on->request.op = op; });
  }
  expect_fails({GTH_E_VERSION, request, -1, -1, 99, GTH_OP_LAST}, [](Request* on) { on->request.op = 99; });
  for (const int32_t reduction : {0, GTH_REDUCTION_NONE, GTH_REDUCTION_ADD, GTH_REDUCTION_MUL, GTH_REDUCTION_MEAN}) {
    expect_fails({GTH_E_VERSION, options, offsetof(gth_options, reduction), -1, reduction, GTH_REDUCTION_MIN},
                 [&](Request* on) { on->options.reduction = reduction; });
  }
  expect_fails({GTH_E_VERSION, options, offsetof(gth_options, reduction), -1, 0, GTH_REDUCTION_MIN},
               [](Request* on) { on->request.options = nullptr; });
  expect_fails({GTH_E_NULL, GTH_OPERAND_UPDATES}, [](Request* on) { on->request.rows = nullptr; });
  expect_fails({GTH_E_NULL, GTH_OPERAND_TARGET}, [](Request* on) { on->request.table = nullptr; });
  Request on;
  Error error;
  facts::expect_fields(gth_scatter_positions(nullptr, &on.request, nullptr, &error), error, {GTH_E_NULL, out});
  facts::expect_fields(gth_scatter_positions(nullptr, nullptr, &on.p, &error), error, {GTH_E_NULL, request});
}

TEST(ScatterPositions, WrongOperandsAreReported) {
  for (const int32_t dtype : {GTH_DTYPE_INT32, GTH_DTYPE_UINT64, GTH_DTYPE_FLOAT64}) {
    expect_fails({GTH_E_DTYPE, out, -1, -1, dtype, i64}, [&](Request* on) { on->p.dtype = dtype; });
  }
  expect_fails({GTH_E_DTYPE, GTH_OPERAND_TARGET, -1, -1, GTH_DTYPE_COMPLEX64, 0},
               [](Request* on) { on->t.dtype = on->u.dtype = GTH_DTYPE_COMPLEX64; });
  expect_fails({GTH_E_RANK, out, -1, -1, 1, 2}, [](Request* on) { on->p.ndim = 1; });
  const hostile::Shape wrong{3, 3};
  expect_fails({GTH_E_SHAPE, out, 1, -1, 3, 2}, [&](Request* on) { on->p.shape = wrong.data(); });
  const int64_t overlapping[] = {12, 8};
  expect_fails({GTH_E_STRIDE, out, 0, -1, 12, 16}, [&](Request* on) { on->p.strides = overlapping; });
  expect_fails({GTH_E_READONLY, out}, [](Request* on) { on->p.flags = GTH_TENSOR_READONLY; });
  expect_fails({GTH_E_DEVICE, out, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU},
               [](Request* on) { on->p.device = GTH_DEVICE_CUDA; });
  expect_fails({GTH_E_VERSION, out, 0, -1, 4, sizeof(gth_tensor_desc)}, [](Request* on) { on->p.size = 4; });
  expect_fails({GTH_E_NULL, GTH_OPERAND_TARGET}, [](Request* on) { on->t.data = nullptr; });
  expect_fails({GTH_E_NULL, GTH_OPERAND_UPDATES}, [](Request* on) { on->u.data = nullptr; });
  // Dtypes are validated before indices.
  expect_fails({GTH_E_DTYPE, out, -1, -1, GTH_DTYPE_UINT64, i64}, [](Request* on) {
    on->p.dtype = GTH_DTYPE_UINT64;
    reinterpret_cast<int64_t*>(on->indices.data())[3] = 4;
  });
  expect_fails({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 3, 3},
               [](Request* on) { reinterpret_cast<int64_t*>(on->indices.data())[3] = 3; });
}

TEST(ScatterPositions, OperandsMayOverlapButPositionsMayNot) {
  Request on;
  on.t.data = on.u.data;
  Error error;
  EXPECT_EQ(on.run(&error), GTH_OK) << error.message;
  const std::pair<int32_t, const Array*> operands[] = {
      {GTH_OPERAND_TARGET, &on.target}, {GTH_OPERAND_INDICES, &on.indices}, {GTH_OPERAND_UPDATES, &on.updates}};
  on.t.data = on.target.data();
  for (const auto& [name, array] : operands) {
    on.p.data = array->data() + array->bytes().size() - 8;
    const Bytes before = array->bytes();
    facts::expect_fields(on.run(&error), error, {GTH_E_ALIAS, out, -1, -1, name, 0});
    EXPECT_TRUE(array->bytes() == before);
  }
  on.p.data = on.target.data();
  on.options.initial = GTH_INITIAL_UPDATE;
  on.t.data = nullptr;
  on.p.data = on.positions.data();
  EXPECT_EQ(on.run(&error), GTH_OK) << error.message;
}

// ---- Large calls

// A call whose target is divided between threads, by rows (axis 0) or by lines (axis 1).
struct Large {
  Array target, updates, ids, positions;
  gth_tensor_desc t, u, i, p;
  gth_options options = GTH_OPTIONS_INIT;
  gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &options);

  Large(int64_t axis, int64_t outer, int64_t rows, int64_t count, int64_t width)
      : target(f32, {outer, rows, width}),
        updates(f32, {outer, count, width}),
        ids(i64, {count}),
        positions(i64, {outer, rows, width}),
        t(target.desc()),
        u(updates.desc()),
        i(ids.desc()),
        p(positions.desc()) {
    uint64_t state = 3;
    const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
    for (const Array* each : {&target, &updates}) {
      for (int64_t k = 0; k < count_of(each->shape()); ++k) {
        reinterpret_cast<float*>(each->data())[k] = static_cast<float>(next() % 301) / 3 - 27;
      }
    }
    for (int64_t k = 0; k < count; ++k) numbers()[k] = static_cast<int64_t>(next() % static_cast<uint64_t>(rows));
    options.reduction = GTH_REDUCTION_MAX;
    options.has_axis = 1;
    options.axis = axis;
  }
  Large(const Large&) = delete;
  int64_t* numbers() const { return reinterpret_cast<int64_t*>(ids.data()); }

  // Returns the positions of a naive loop.
  Numbers expected() const {
    const int64_t outer = target.shape()[0], rows = target.shape()[1], width = target.shape()[2],
                  count = ids.shape()[0];
    const auto* const from = reinterpret_cast<const float*>(updates.data());
    std::vector<float> best(static_cast<size_t>(outer * rows * width));
    std::memcpy(best.data(), target.data(), best.size() * 4);
    Numbers result(best.size(), -1);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t c = 0; c < width; ++c) {
          const auto to = static_cast<size_t>((o * rows + numbers()[k]) * width + c);
          const int64_t at = (o * count + k) * width + c;
          if (from[at] > best[to]) best[to] = from[at], result[to] = at;
        }
      }
    }
    return result;
  }
};

TEST(ScatterPositions, ThreadsDoNotChangePositions) {
  const int64_t sizes[][5] = {
      {1, 1, 700, 9000, 70}, {1, 700, 9, 80, 70}, {1, 1, 300000, 400000, 1}, {1, 1, 4, 40, 40000}};
  for (const auto& [axis, outer, rows, count, width] : sizes) {
    Large on(axis, outer, rows, count, width);
    const Numbers expected = on.expected();
    for (const int32_t threads : {1, 2, 3, 8}) {
      on.options.threads = threads;
      ASSERT_EQ(gth_scatter_positions(nullptr, &on.request, &on.p, nullptr), GTH_OK);
      EXPECT_EQ(std::memcmp(on.positions.data(), expected.data(), expected.size() * 8), 0)
          << "outer " << outer << ", rows " << rows << ", width " << width << ", threads " << threads;
    }
  }
}

// Another thread writes indices during the calls. The last update is the largest, and its index does not change. So a
// call that stops at an invalid index has not found it. The address sanitizer finds accesses outside memory.
TEST(ScatterPositions, IndicesThatChangeDuringTheCallAreReported) {
  Large on(1, 1, 700, 9000, 70);
  constexpr int64_t last = 8999, row = 5;
  on.numbers()[last] = row;
  std::fill_n(reinterpret_cast<float*>(on.updates.data()) + last * 70, 70, 1e9F);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    auto* const ids = static_cast<volatile int64_t*>(on.numbers());
    constexpr int64_t bad[] = {-1, 700, INT64_MAX, INT64_MIN};
    for (int64_t k = 0; !stop.load(); ++k) {
      ids[k * 7 % last] = bad[k % 4];
      ids[k * 7 % last] = 1;
    }
  });
  int32_t seen = 0;
  // On a busy machine, the writer may not run during the first calls.
  for (int32_t call = 0; call < 100 || ((seen & ~1) == 0 && call < 20000); ++call) {
    const Bytes before = on.positions.bytes();
    const int32_t status = gth_scatter_positions(nullptr, &on.request, &on.p, nullptr);
    seen |= 1 << -status;
    EXPECT_TRUE(status == GTH_OK || on.positions.bytes() == before);
    if (status != GTH_OK) continue;
    for (int64_t c = 0; c < 70; ++c) {
      ASSERT_EQ(read_as<int64_t>(on.positions.data() + (row * 70 + c) * 8), last * 70 + c);
    }
  }
  stop.store(true);
  writer.join();
  EXPECT_NE(seen & ~1, 0) << "no call has read a changed index";
  EXPECT_EQ(seen & ~(1 | 1 << -GTH_E_INDEX | 1 << -GTH_E_RACE), 0);
}

}  // namespace
