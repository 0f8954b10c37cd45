#include "elements_oracle.hpp"
#include "hostile.hpp"
#include "opened.hpp"
#include "random_elements.hpp"

// Compares gather_elements with its oracle and with the documentation of the header.
namespace {

using namespace hostile;
using oracle::Answer;
using oracle::ElementsProblem;
using oracle::Extents;
using oracle::Operand;
using oracle::Random;
using oracle::elements::Case;
using oracle::elements::make_case;

constexpr Operation elements = calls::gather_elements;
constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

gth_options with_extents(int32_t extents, int64_t axis = 0) {
  gth_options options = with_axis(axis);
  options.extents = extents;
  return options;
}

// ---- random cases

// Returns the case with its extent open, as a plan is created from it.
Case opened(const Case& from) {
  Case c = from;
  const size_t dim = static_cast<size_t>(c.open);
  c.problem.indices.shape[dim] = c.problem.out.shape[dim] = GTH_OPEN;
  if (c.open != c.problem.axis) c.problem.params.shape[dim] = GTH_OPEN;
  return c;
}

class Elements : public ::testing::Test {
 protected:
  void expect(const char* form, const Case& c, const Answer& answer, const oracle::Bytes& found, int32_t status,
              const Error& error) {
    ++runs_;
    bool same = status == answer.status && found == answer.memory;
    if (status == GTH_E_INDEX) {
      same = same && error.operand == GTH_OPERAND_INDICES && error.position == answer.position &&
             error.component == 0 && error.value == answer.value && error.limit == answer.limit &&
             error.flags == answer.flags;
    }
    EXPECT_TRUE(same) << form << " of case " << number_ << " rank " << c.problem.params.shape.size() << " axis "
                      << c.problem.axis << " bounds " << c.problem.bounds << " expected " << answer.status << " at "
                      << answer.position << ", observed " << status << " at " << error.position << " " << error.message;
  }

  void run_desc(const Case& c, const Answer& answer) {
    for (int32_t threads : {1, 3}) {
      Case run = c;
      run.options.threads = threads;
      const gth_tensor_desc p = run.problem.params.desc(), i = run.problem.indices.desc(), o = run.problem.out.desc();
      Error error;
      const int32_t status = gth_gather_elements(nullptr, &p, &i, &o, &run.options, &error);
      expect("desc", run, answer, run.problem.out.memory, status, error);
    }
  }

  void run_planned(const Case& c, const Answer& answer) {
    Case run = c;
    const bool is_open = c.open >= 0;
    const Case planned = is_open ? opened(c) : c;
    const gth_tensor_desc p = planned.problem.params.desc(), i = planned.problem.indices.desc();
    const gth_tensor_desc o = planned.problem.out.desc();
    Plan plan;
    Error error;
    ASSERT_EQ(calls::gather_elements.plan(&p, &i, &o, &planned.options, plan.out(), &error), GTH_OK)
        << "case " << number_ << ": " << error.message;
    const int64_t n = is_open ? c.problem.indices.shape[static_cast<size_t>(c.open)] : GTH_OPEN;
    Operand &params = run.problem.params, &indices = run.problem.indices, &out = run.problem.out;
    const int32_t judged = calls::check(nullptr, plan.get(), n, indices.memory.data(), nullptr);
    if (count_of(c.problem.out.shape) > 0) {
      EXPECT_EQ(judged, answer.status) << "case " << number_;
    }
    const int32_t status = calls::run_args(
        nullptr, plan.get(),
        calls::args(n, params.memory.data(), indices.memory.data(), out.memory.data(),
                    static_cast<int64_t>(params.memory.size()), static_cast<int64_t>(indices.memory.size()),
                    static_cast<int64_t>(out.memory.size())),
        &error);
    expect("plan", run, answer, out.memory, status, error);
  }

  void run_handles(const Case& c) {
    Case run = c;
    Operand& out = run.problem.out;
    out.dense = true;
    out.offset = 0;
    out.strides = oracle::dense_strides(out.shape, out.item);
    out.memory.assign(static_cast<size_t>(count_of(out.shape) * out.item), 0);
    const Answer answer = oracle::solve_elements(run.problem);
    const Tensor params(run.problem.params.desc()), indices(run.problem.indices.desc());
    Tensor made;
    Error error;
    int32_t status =
        calls::gather_elements.make(nullptr, params.get(), indices.get(), nullptr, &run.options, made.out(), &error);
    oracle::Bytes found = out.memory;
    if (!status && !found.empty()) std::memcpy(found.data(), made.desc().data, found.size());
    expect("allocating", run, answer, found, status, error);
    const Tensor target(out.desc());
    status = calls::gather_elements.run(nullptr, params.get(), indices.get(), target.get(), &run.options, &error);
    expect("into", run, answer, out.memory, status, error);
  }

  // Gathers from a table in segments, by name and as a new tensor.
  void run_opened(const Case& c, const Answer& answer) {
    const Operand& params = c.problem.params;
    if (params.shape[0] == 0) return;
    Operand dense = params;
    dense.dense = true;
    dense.offset = 0;
    dense.strides = oracle::dense_strides(params.shape, params.item);
    dense.memory.clear();
    oracle::for_each_element(params, [&](int64_t at, const Shape&) {
      dense.memory.insert(dense.memory.end(), params.memory.data() + at, params.memory.data() + at + params.item);
    });
    const auto draw = [&](int64_t n) { return random_.below(n); };
    const opened::Form& form = opened::forms[draw(std::size(opened::forms))];
    const int64_t row = static_cast<int64_t>(dense.memory.size()) / dense.shape[0];
    const opened::Table table(dense.desc(), row, form, draw, [&](int64_t i) { return dense.memory.data() + i * row; });
    for (int32_t threads : {1, 3}) {
      Case run = c;
      run.options.threads = threads;
      const gth_tensor_desc p = table.desc(), i = run.problem.indices.desc(), o = run.problem.out.desc();
      Error error;
      const int32_t status = gth_gather_elements(nullptr, &p, &i, &o, &run.options, &error);
      expect("opened", run, answer, run.problem.out.memory, status, error);
    }
  }

  Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261122))};
  int64_t runs_ = 0, number_ = 0;
};

TEST_F(Elements, RandomCasesMatchTheOracle) {
  const int64_t wanted = oracle::random_cases(12000);
  for (; runs_ < wanted && !HasFailure(); ++number_) {
    Case c = make_case(random_);
    oracle::choose_padding(random_, &c.problem, &c.options);
    const Answer answer = oracle::solve_elements(c.problem);
    run_desc(c, answer);
    run_planned(c, answer);
    if (random_.chance(25)) run_handles(c);
    if (random_.chance(25)) run_opened(c, answer);
  }
  std::printf("elements: %lld runs of %lld cases\n", static_cast<long long>(runs_), static_cast<long long>(number_));
}

// ---- shapes

Array floats(Shape shape) {
  std::vector<float> values(static_cast<size_t>(count_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Array(f32, std::move(shape), values);
}

Bytes bytes_of(const std::vector<float>& values) {
  const char* first = reinterpret_cast<const char*>(values.data());
  return Bytes(first, first + values.size() * sizeof(float));
}

TEST(ElementsShapes, ElementsAreGatheredAlongEachAxis) {
  const Array params = floats({2, 3}), rows = indices64({2, 3}, {1, 0, 1, 0, 0, 1});
  const Array columns = indices64({2, 2}, {2, 0, 1, 1});
  const gth_options last = with_axis(-1);
  expect_gathered({elements, params.desc(), rows.desc()}, {2, 3}, bytes_of({3, 1, 5, 0, 1, 5}));
  expect_gathered({elements, params.desc(), columns.desc(), &last}, {2, 2}, bytes_of({2, 0, 4, 4}));
}

TEST(ElementsShapes, ExtentsFollowTheOption) {
  const Array params = floats({3, 4}), fewer = indices64({2, 2}, {2, 0, 1, 1}), one = indices64({1, 2}, {3, 0});
  const Array out = floats({2, 2});
  const gth_options equal = with_extents(0, 1), prefix = with_extents(GTH_EXTENTS_PREFIX, 1);
  const gth_options broadcast = with_extents(GTH_EXTENTS_BROADCAST, 1);
  expect_refused({elements, params.desc(), fewer.desc(), &equal}, out, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 0, -1, 2, 3});
  expect_gathered({elements, params.desc(), fewer.desc(), &prefix}, {2, 2}, bytes_of({2, 0, 5, 5}));
  expect_refused({elements, params.desc(), fewer.desc(), &broadcast}, out,
                 {GTH_E_SHAPE, GTH_OPERAND_INDICES, 0, -1, 2, 3});
  expect_gathered({elements, params.desc(), one.desc(), &broadcast}, {3, 2}, bytes_of({3, 0, 7, 4, 11, 8}));
  expect_gathered({elements, params.desc(), one.desc(), &prefix}, {1, 2}, bytes_of({3, 0}));
  const Array more = indices64({4, 1}, {0, 0, 0, 0});
  expect_refused({elements, params.desc(), more.desc(), &prefix}, floats({4, 1}),
                 {GTH_E_SHAPE, GTH_OPERAND_INDICES, 0, -1, 4, 3});
}

// In a shape query with broadcast, an extent of 1 and an open extent give the open one. Another extent and an open one
// give the other extent.
TEST(ElementsShapes, OpenExtentsAreBroadcast) {
  const gth_options broadcast = with_extents(GTH_EXTENTS_BROADCAST, 1);
  struct Row {
    int64_t params, indices, expected;
  };
  for (const Row& row : {Row{1, GTH_OPEN, GTH_OPEN}, Row{GTH_OPEN, 1, GTH_OPEN}, Row{3, GTH_OPEN, 3},
                         Row{GTH_OPEN, 3, 3}, Row{GTH_OPEN, GTH_OPEN, GTH_OPEN}, Row{3, 1, 3}, Row{1, 3, 3}}) {
    const int64_t p[] = {row.params, 4}, i[] = {row.indices, 2};
    gth_tensor_desc params = GTH_TENSOR_DESC_INIT, indices = GTH_TENSOR_DESC_INIT;
    params.dtype = GTH_DTYPE_FLOAT32;
    indices.dtype = GTH_DTYPE_INT64;
    params.ndim = indices.ndim = 2;
    params.shape = p;
    indices.shape = i;
    int32_t ndim = 0;
    int64_t shape[2];
    ASSERT_EQ(calls::gather_elements.infer(&params, &indices, &broadcast, 2, &ndim, shape, nullptr), GTH_OK);
    EXPECT_EQ(Shape(shape, shape + 2), (Shape{row.expected, 2})) << row.params << " and " << row.indices;
  }
}

TEST(ElementsShapes, DifferentRanksAreRejected) {
  const Array params = floats({3, 4}), line = indices64({2}, {0, 1}), scalar = floats({});
  const Array index = indices64({}, {0});
  expect_refused({elements, params.desc(), line.desc()}, floats({2}), {GTH_E_RANK, GTH_OPERAND_INDICES, -1, -1, 1, 2});
  expect_refused({elements, scalar.desc(), index.desc()}, floats({}), {GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, 0, 1});
  for (int32_t profile = 0; profile <= GTH_PROFILE_JAX_CLIP; ++profile) {
    const gth_options as = with_profile(profile);
    if (profile == GTH_PROFILE_TORCH) continue;
    expect_refused({elements, scalar.desc(), index.desc(), &as}, floats({}),
                   {GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, 0, 1});
  }
  const gth_options torch = with_profile(GTH_PROFILE_TORCH);
  expect_gathered({elements, scalar.desc(), index.desc(), &torch}, {}, bytes_of({0}));
  const Array one = indices64({3}, {0, 0, 0});
  expect_gathered({elements, scalar.desc(), one.desc(), &torch}, {3}, bytes_of({0, 0, 0}));
}

TEST(ElementsShapes, InvalidAttributesAreRejected) {
  const Array params = floats({3, 4}), indices = indices64({3, 4}, std::vector<int64_t>(12, 0));
  const gth_options batch = with_batch(1), axis = with_axis(2), low = with_axis(-3);
  const int32_t batch_field = offsetof(gth_options, batch_dims), axis_field = offsetof(gth_options, axis);
  expect_refused({elements, params.desc(), indices.desc(), &batch}, params,
                 {GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, 1, 0});
  expect_refused({elements, params.desc(), indices.desc(), &axis}, params,
                 {GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, 2, 2});
  expect_refused({elements, params.desc(), indices.desc(), &low}, params,
                 {GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, -3, 2});
  gth_options unknown = GTH_OPTIONS_INIT;
  unknown.extents = GTH_EXTENTS_BROADCAST + 1;
  expect_refused({elements, params.desc(), indices.desc(), &unknown}, params,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, extents), -1, 4, 3});
  gth_options reserved = GTH_OPTIONS_INIT;
  reserved.out_dtype = f32;
  expect_refused({elements, params.desc(), indices.desc(), &reserved}, params,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, out_dtype), -1, f32, 0});
}

// The smallest position is reported in any order of loops, because lines may run along the last dim or beside the axis.
TEST(ElementsErrors, SmallestPositionForAnyNumberOfThreads) {
  const int64_t rows = 300, columns = 40;
  const Array params = floats({rows, columns});
  for (const bool transposed : {false, true}) {
    std::vector<int64_t> values(static_cast<size_t>(rows * columns), 3);
    const Shape strides = transposed ? Shape{8, 8 * rows} : Shape{8 * columns, 8};
    const auto at = [&](int64_t row, int64_t column) -> int64_t& {
      return values[static_cast<size_t>((row * strides[0] + column * strides[1]) / 8)];
    };
    at(299, 0) = -7;
    at(120, 39) = 1 << 20;
    at(120, 38) = 301;
    Array memory(i64, {rows * columns}, values);
    gth_tensor_desc indices = memory.desc();
    const Shape shape{rows, columns};
    indices.ndim = 2;
    indices.shape = shape.data();
    indices.strides = strides.data();
    const Array out = floats({rows, columns});
    for (int32_t threads : {1, 2, 7}) {
      gth_options options = GTH_OPTIONS_INIT;
      options.threads = threads;
      expect_refused({elements, params.desc(), indices, &options}, out,
                     {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 120 * columns + 38, 301, rows});
    }
  }
}

// A repeated index has one position, which is that in indices.
TEST(ElementsErrors, RepeatedIndicesHaveOnePosition) {
  const Array params = floats({5, 4}), indices = indices64({1, 3}, {0, 1, 9});
  const gth_options options = with_extents(GTH_EXTENTS_BROADCAST, 1);
  expect_refused({elements, params.desc(), indices.desc(), &options}, floats({5, 3}),
                 {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 4});
}

TEST(ElementsStrings, StringsAreGathered) {
  const int64_t offsets[] = {0, 1, 3, 6, 6, 8, 9}, shape[] = {2, 3};
  gth_tensor *params = nullptr, *made = nullptr;
  Error error;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 2, shape, offsets, "abbcccddeF", 10, nullptr, nullptr, &params, &error),
            GTH_OK);
  const Array indices = indices64({1, 2}, {2, 0});
  const Tensor numbers(indices.desc());
  const gth_options options = with_extents(GTH_EXTENTS_BROADCAST, 1);
  ASSERT_EQ(calls::gather_elements.make(nullptr, params, numbers.get(), nullptr, &options, &made, &error), GTH_OK)
      << error.message;
  const int64_t* ends = nullptr;
  const void* bytes = nullptr;
  ASSERT_EQ(gth_tensor_strings(made, &ends, &bytes, &error), GTH_OK);
  EXPECT_EQ(Shape(ends, ends + 5), (Shape{0, 3, 4, 5, 5}));
  EXPECT_EQ(std::string(static_cast<const char*>(bytes), 5),
            "ccca"
            "e");
  EXPECT_EQ(gth_tensor_release(made), GTH_OK);
  EXPECT_EQ(gth_tensor_release(params), GTH_OK);
}

}  // namespace
