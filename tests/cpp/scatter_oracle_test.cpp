#include "hostile.hpp"
#include "random_scatters.hpp"

// Compares random scatters in every form with the oracle. GATHER_SEED changes the seed, GATHER_CASES the number of
// cases.
namespace {

using namespace oracle;
using namespace oracle::scatters;
using hostile::count_of;
using hostile::Error;

// Returns the case with its extent open, as a plan is created from it.
Case opened(const Case& from) {
  Case c = from;
  ScatterProblem& problem = c.problem;
  const size_t dim = static_cast<size_t>(c.open);
  problem.indices.shape[dim] = GTH_OPEN;
  if (problem.is_elements) {
    problem.out.shape[dim] = GTH_OPEN;
  } else if (problem.batch > 0) {
    problem.params.shape[0] = problem.out.shape[0] = GTH_OPEN;
  } else {
    problem.out.shape[static_cast<size_t>(problem.axis) + dim] = GTH_OPEN;
  }
  return c;
}

class ScatterOracle : public ::testing::Test {
 protected:
  void check(const char* form, const Case& c, const Bytes& found, int32_t status, const Error& error) {
    ++runs_;
    bool same = status == answer_.status && is_same_target(c.problem, answer_, found);
    if (status == GTH_E_INDEX) {
      same = same && error.operand == GTH_OPERAND_INDICES && error.position == answer_.position &&
             error.component == answer_.component && error.value == answer_.value && error.limit == answer_.limit &&
             error.flags == answer_.flags;
    }
    EXPECT_TRUE(same) << form << " of case " << number_ << " kind "
                      << (c.problem.is_elements ? "elements"
                          : c.problem.is_nd     ? "nd"
                                                : "axis")
                      << " batch " << c.problem.batch << " axis " << c.problem.axis << " K " << c.problem.components
                      << " dtype " << c.problem.params.dtype << " reduction " << c.problem.reduction << " float32 "
                      << c.problem.in_float32 << " float64 " << c.problem.in_float64 << " initial " << c.options.initial
                      << " bounds " << c.problem.bounds << " threads " << c.options.threads << "\n target"
                      << text(c.problem.params) << "\n indices" << text(c.problem.indices) << "\n updates"
                      << text(c.problem.out) << "\n expected " << answer_.status << " at " << answer_.position
                      << ", observed " << status << " at " << error.position << " " << (status ? error.message : "");
  }

  static std::string text(const Operand& x) {
    std::string result = x.dense ? " dense" : "";
    for (size_t d = 0; d < x.shape.size(); ++d) {
      result += " " + std::to_string(x.shape[d]) + ":" + std::to_string(x.strides[d]);
    }
    return result;
  }

  void run_desc(const Case& c) {
    for (int32_t threads : {1, 2, 7}) {
      Case run = c;
      run.options.threads = threads;
      const gth_tensor_desc t = run.problem.params.desc(), i = run.problem.indices.desc(), u = run.problem.out.desc();
      Error error;
      const int32_t status = op_of(c.problem).named(nullptr, &t, &i, &u, &run.options, &error);
      check("desc", run, run.problem.params.memory, status, error);
    }
  }

  void run_planned(const Case& c) {
    Case run = c;
    const Case planned = c.open >= 0 ? opened(c) : c;
    const gth_tensor_desc t = planned.problem.params.desc(), i = planned.problem.indices.desc();
    const gth_tensor_desc u = planned.problem.out.desc();
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(op_of(c.problem).plan(&t, &i, &u, &planned.options, plan.out(), &error), GTH_OK)
        << "case " << number_ << ": " << error.message;
    Operand &target = run.problem.params, &indices = run.problem.indices, &updates = run.problem.out;
    const int64_t n = c.open >= 0 ? indices.shape[static_cast<size_t>(c.open)] : GTH_OPEN;
    const int32_t status = calls::run_args(
        nullptr, plan.get(),
        calls::args(n, target.memory.data(), indices.memory.data(), updates.memory.data(),
                    static_cast<int64_t>(target.memory.size()), static_cast<int64_t>(indices.memory.size()),
                    static_cast<int64_t>(updates.memory.size())),
        &error);
    check("plan", run, target.memory, status, error);
  }

  void run_into(const Case& c) {
    Case run = c;
    const hostile::Tensor target(run.problem.params.desc()), indices(run.problem.indices.desc());
    const hostile::Tensor updates(run.problem.out.desc());
    ASSERT_TRUE(target && indices && updates);
    Error error;
    const int32_t status =
        op_of(c.problem).run(nullptr, target.get(), indices.get(), updates.get(), &run.options, &error);
    check("into", run, run.problem.params.memory, status, error);
  }

  // Scatters into a new tensor. The oracle uses a dense target with the same elements. The given target must not
  // change.
  void run_functional(const Case& c) {
    Case run = c;
    Operand& dense = run.problem.params;
    const size_t item = static_cast<size_t>(dense.item);
    Bytes elements;
    for_each_element(c.problem.params, [&](int64_t at, const Shape&) {
      elements.insert(elements.end(), c.problem.params.memory.begin() + at,
                      c.problem.params.memory.begin() + at + static_cast<int64_t>(item));
    });
    dense.strides = dense_strides(dense.shape, dense.item);
    dense.offset = 0;
    dense.memory = elements;
    answer_ = solve_scatter(run.problem);
    gth_tensor_desc given = c.problem.params.desc();
    given.flags = GTH_TENSOR_READONLY;
    const Bytes before = c.problem.params.memory;
    const hostile::Tensor target(given), indices(c.problem.indices.desc()), updates(c.problem.out.desc());
    hostile::Tensor made;
    Error error;
    const int32_t status =
        op_of(c.problem).make(nullptr, target.get(), indices.get(), updates.get(), &c.options, made.out(), &error);
    EXPECT_EQ(static_cast<bool>(made), status == GTH_OK);
    if (made && !elements.empty()) std::memcpy(elements.data(), made.desc().data, elements.size());
    check("functional", run, elements, status, error);
    EXPECT_TRUE(c.problem.params.memory == before) << "the given target was written";
  }

  void run_shape(const Case& c) {
    const gth_tensor_desc t = c.problem.params.desc(), i = c.problem.indices.desc();
    int64_t shape[GTH_MAX_NDIM];
    int32_t ndim = -1;
    ASSERT_EQ(op_of(c.problem).infer(&t, &i, &c.options, GTH_MAX_NDIM, &ndim, shape, nullptr), GTH_OK);
    EXPECT_EQ(Shape(shape, shape + ndim), c.problem.out.shape);
  }

  Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261122))};
  ScatterAnswer answer_;
  int64_t runs_ = 0, number_ = 0;
};

TEST_F(ScatterOracle, RandomScattersMatchTheOracle) {
  const int64_t wanted = random_cases(20000);
  for (; runs_ < wanted && !HasFailure(); ++number_) {
    Case c = make_case(random_);
    oracle::scatters::choose_rare_switches(random_, &c);
    answer_ = solve_scatter(c.problem);
    run_desc(c);
    run_planned(c);
    run_into(c);
    run_shape(c);
    if (random_.chance(40)) run_functional(c);
  }
  std::printf("scatter oracle: %lld runs of %lld scatters\n", static_cast<long long>(runs_),
              static_cast<long long>(number_));
}

TEST_F(ScatterOracle, SizesAtTheBordersOfBlocksMatchTheOracle) {
  for (const int64_t wanted = random_cases(20000) / 10; number_ < wanted && !HasFailure(); ++number_) {
    Case c = make_border(random_);
    choose_rare_switches(random_, &c);
    answer_ = solve_scatter(c.problem);
    run_desc(c);
    run_planned(c);
  }
}

TEST_F(ScatterOracle, SumsOfLongLinesMatchTheOracle) {
  for (const int64_t wanted = random_cases(6000) / 10; number_ < wanted && !HasFailure(); ++number_) {
    const Case c = make_long_sums(random_);
    answer_ = solve_scatter(c.problem);
    run_desc(c);
    run_planned(c);
  }
}

}  // namespace
