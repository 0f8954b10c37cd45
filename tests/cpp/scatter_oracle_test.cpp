#include "scatter_oracle.hpp"
#include "hostile.hpp"
#include "random_operands.hpp"

// Compares random scatters in every form with the oracle. GATHER_SEED changes the seed, GATHER_CASES the number of
// cases.
namespace {

using namespace oracle;
using hostile::count_of;
using hostile::Error;

struct Case {
  ScatterProblem problem;
  gth_options options = GTH_OPTIONS_INIT;
  int64_t open = -1;  // open dim of indices in plans; it is 0 if it is also a dim of the target

  const calls::Operation& op() const {
    return problem.is_elements ? calls::scatter_elements : problem.is_nd ? calls::scatter_nd : calls::scatter;
  }
};

// Long dims are rare. With them, lines run along and beside each other, and across block borders.
int64_t extent_of(Random& random) { return random.chance(5) ? random.between(15, 300) : random.extent(); }

void choose_slices(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  const int64_t r = random.between(1, 4);
  problem.batch = random.chance(60) ? 0 : random.below(r);
  const int64_t tuple_dims = random.below(4);
  for (int64_t d = 0; d < r; ++d) problem.params.shape.push_back(extent_of(random));
  Shape& shape = problem.indices.shape;
  shape.assign(problem.params.shape.begin(), problem.params.shape.begin() + problem.batch);
  for (int64_t d = 0; d < tuple_dims; ++d) shape.push_back(extent_of(random));
  if (problem.is_nd) {
    problem.axis = problem.batch;
    problem.components = random.between(0, r - problem.batch);
    shape.push_back(problem.components);
  } else {
    problem.axis = random.between(problem.batch, r - 1);
  }
  problem.out.shape = output_shape(problem);
  c->options.batch_dims = problem.batch;
  c->options.has_axis = problem.is_nd ? 0 : 1;
  c->options.axis = problem.is_nd ? 0 : problem.axis;
  if (random.chance(50)) {
    if (problem.batch > 0)
      c->open = 0;
    else if (tuple_dims > 0)
      c->open = random.below(tuple_dims);
  }
}

void choose_pairs(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  const int64_t rank = random.between(1, 4);
  problem.axis = random.below(rank);
  problem.extents = static_cast<Extents>(random.between(1, 3));
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = extent_of(random), other = extent;
    if (d == problem.axis)
      other = extent_of(random);
    else if (problem.extents == Extents::prefix && random.chance(40))
      other = random.below(extent + 1);
    else if (problem.extents == Extents::broadcast && random.chance(30))
      (random.chance(50) ? extent : other) = 1;
    problem.params.shape.push_back(extent);
    problem.indices.shape.push_back(other);
  }
  problem.out.shape = elements_shape(problem);
  c->options.has_axis = 1;
  c->options.axis = problem.axis;
  c->options.extents = static_cast<int32_t>(problem.extents);
  if (random.chance(40)) c->open = problem.axis;
}

bool takes(int32_t dtype, int32_t reduction) { return !is_complex(dtype) || reduction <= GTH_REDUCTION_MUL; }

void choose_switches(Random& random, Case* c) {
  ScatterProblem& problem = c->problem;
  gth_options& options = c->options;
  problem.params.dtype = problem.out.dtype = dtypes[random.below(15)];
  problem.indices.dtype = index_dtypes[random.below(8)];
  problem.params.item = problem.out.item = gth_dtype_size(problem.params.dtype);
  problem.indices.item = gth_dtype_size(problem.indices.dtype);
  options.negative = static_cast<int32_t>(random.below(3));
  constexpr int32_t bounds[] = {0, GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_SKIP};
  options.bounds = bounds[random.below(5)];
  if (options.negative) problem.negative = options.negative;
  if (options.bounds) problem.bounds = options.bounds;
  do {
    options.reduction = static_cast<int32_t>(random.below(6));
  } while (!takes(problem.params.dtype, options.reduction));
  if (options.reduction) problem.reduction = options.reduction;
  options.accumulate = static_cast<int32_t>(random.below(3));
  problem.in_float32 = options.accumulate == GTH_ACCUMULATE_FLOAT32 && is_half(problem.params.dtype) &&
                       (options.reduction == GTH_REDUCTION_ADD || options.reduction == GTH_REDUCTION_MUL);
}

void fill_indices(Random& random, ScatterProblem* problem) {
  Operand& x = problem->indices;
  const bool tame = random.chance(60);
  for_each_element(x, [&](int64_t at, const Shape& where) {
    const int64_t component = problem->is_nd ? where.back() : 0;
    const int64_t size = problem->params.shape[static_cast<size_t>(problem->axis + component)];
    const int64_t value = tame && size ? random.below(size) : hostile_value(random, size, x.dtype);
    std::memcpy(x.memory.data() + at, &value, static_cast<size_t>(x.item));
  });
}

// Returns numbers whose sums and products are rounded, overflow, or are NaN.
double number(Random& random) {
  constexpr double rare[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 65504, 6e-8, -3e-5, 1e-40, 3e38, 1.0 / 3};
  if (random.chance(8)) return rare[random.below(11)];
  return random.chance(30) ? static_cast<double>(random.between(-9, 9))
                           : static_cast<double>(random.between(-4000, 4000)) / 64;
}

// Complex numbers have integer parts, because implementations round products of other numbers differently.
void fill_numbers(Random& random, Operand* x) {
  for_each_element(*x, [&](int64_t at, const Shape&) {
    char* to = x->memory.data() + at;
    if (is_float(x->dtype)) encode_float(x->dtype, number(random), to);
    if (!is_complex(x->dtype)) return;
    const bool narrow = x->dtype == GTH_DTYPE_COMPLEX64;
    for (int part = 0; part < 2; ++part) {
      const int64_t value = random.between(-3, 3);
      narrow ? write_as(to + part * 4, static_cast<float>(value)) : write_as(to + part * 8, static_cast<double>(value));
    }
  });
}

Case make_case(Random& random) {
  Case c;
  ScatterProblem& problem = c.problem;
  const int64_t kind = random.below(3);
  problem.is_nd = kind == 1;
  problem.is_elements = kind == 2;
  problem.is_elements ? choose_pairs(random, &c) : choose_slices(random, &c);
  choose_switches(random, &c);
  if (count_of(problem.out.shape) > 20000 || count_of(problem.params.shape) > 20000) return make_case(random);
  lay_out(random, true, &problem.params);
  lay_out(random, false, &problem.indices);
  lay_out(random, false, &problem.out);
  if (problem.components > 0) fill_indices(random, &problem);
  fill_numbers(random, &problem.params);
  fill_numbers(random, &problem.out);
  // Strides were generated for this extent. They are meaningless along a dim of 0 or 1.
  if (c.open >= 0 && problem.indices.shape[static_cast<size_t>(c.open)] < 2) c.open = -1;
  return c;
}

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
                      << c.problem.in_float32 << " bounds " << c.problem.bounds << " threads " << c.options.threads
                      << "\n target" << text(c.problem.params) << "\n indices" << text(c.problem.indices)
                      << "\n updates" << text(c.problem.out) << "\n expected " << answer_.status << " at "
                      << answer_.position << ", observed " << status << " at " << error.position << " "
                      << (status ? error.message : "");
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
      const int32_t status = c.op().named(nullptr, &t, &i, &u, &run.options, &error);
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
    ASSERT_EQ(c.op().plan(&t, &i, &u, &planned.options, plan.out(), &error), GTH_OK)
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
    const int32_t status = c.op().run(nullptr, target.get(), indices.get(), updates.get(), &run.options, &error);
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
        c.op().make(nullptr, target.get(), indices.get(), updates.get(), &c.options, made.out(), &error);
    EXPECT_EQ(static_cast<bool>(made), status == GTH_OK);
    if (made && !elements.empty()) std::memcpy(elements.data(), made.desc().data, elements.size());
    check("functional", run, elements, status, error);
    EXPECT_TRUE(c.problem.params.memory == before) << "the given target was written";
  }

  void run_shape(const Case& c) {
    const gth_tensor_desc t = c.problem.params.desc(), i = c.problem.indices.desc();
    int64_t shape[GTH_MAX_NDIM];
    int32_t ndim = -1;
    ASSERT_EQ(c.op().infer(&t, &i, &c.options, GTH_MAX_NDIM, &ndim, shape, nullptr), GTH_OK);
    EXPECT_EQ(Shape(shape, shape + ndim), c.problem.out.shape);
  }

  Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261122))};
  ScatterAnswer answer_;
  int64_t runs_ = 0, number_ = 0;
};

TEST_F(ScatterOracle, RandomScattersMatchTheOracle) {
  const int64_t wanted = random_cases(20000);
  for (; runs_ < wanted && !HasFailure(); ++number_) {
    const Case c = make_case(random_);
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

}  // namespace
