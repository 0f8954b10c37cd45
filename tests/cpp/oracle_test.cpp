#include "oracle.hpp"

#include "hostile.hpp"
#include "opened.hpp"
#include "random_gathers.hpp"

// Compares random gathers in every form with the oracle. GATHER_SEED changes the seed, GATHER_CASES the number of
// cases.
namespace {

using namespace oracle;
using namespace oracle::gathers;
using hostile::Error;

// Returns the dim of the output that corresponds to the open dim of indices.
size_t open_in_out(const Case& c) {
  return static_cast<size_t>(c.open < c.problem.batch ? c.open : c.problem.axis + c.open - c.problem.batch);
}

// Sets the open extent of the case. GTH_OPEN gives the request for a plan. Dense strides follow the extent.
void set_open(Case* c, int64_t n) {
  Problem& problem = c->problem;
  const bool is_batch = c->open < problem.batch;
  problem.indices.shape[static_cast<size_t>(c->open)] = n;
  if (is_batch) problem.params.shape[static_cast<size_t>(c->open)] = n;
  problem.out.shape[open_in_out(*c)] = n;
  for (Operand* x : {&problem.params, &problem.indices, &problem.out}) {
    if (x->dense) x->strides = dense_strides(x->shape, x->item);
  }
}

struct Forms {
  explicit Forms(const Problem& problem) : op(problem.is_nd ? hostile::nd : hostile::g) {}
  const hostile::Operation& op;
};

class Oracle : public ::testing::Test {
 protected:
  // Compares the status and output of a form with the oracle, and restores the output.
  void check(const char* form, Case* c, const Answer& answer, const Bytes& before, int32_t status, const Error& error) {
    ++cases_;
    bool same = status == answer.status && error.status == status && c->problem.out.memory == answer.memory;
    if (status == GTH_E_INDEX) {
      same = same && error.operand == GTH_OPERAND_INDICES && error.position == answer.position &&
             error.component == answer.component && error.value == answer.value && error.limit == answer.limit &&
             error.flags == answer.flags;
    }
    if (!same) report(form, *c, answer, status, error);
    c->problem.out.memory = before;
  }

  static std::string text(const Operand& x) {
    std::string result = x.dense ? "dense [" : "[";
    for (size_t d = 0; d < x.shape.size(); ++d) {
      result += std::to_string(x.shape[d]) + ":" + std::to_string(x.strides[d]) + " ";
    }
    return result + "] + " + std::to_string(x.offset) + " dtype " + std::to_string(x.dtype);
  }

  void report(const char* form, const Case& c, const Answer& answer, int32_t status, const Error& error) {
    ADD_FAILURE() << form << " of case " << number_ << (c.problem.is_nd ? " gather_nd" : " gather") << " batch "
                  << c.problem.batch << " axis " << c.problem.axis << " K " << c.problem.components << " negative "
                  << c.problem.negative << " bounds " << c.problem.bounds << " threads " << c.options.threads
                  << "\n params " << text(c.problem.params) << "\n indices " << text(c.problem.indices) << "\n out "
                  << text(c.problem.out) << "\n expected status " << answer.status << " position " << answer.position
                  << " component " << answer.component << " value " << answer.value << " flags " << answer.flags
                  << "\n observed status " << status << " position " << error.position << " component "
                  << error.component << " value " << error.value << " flags " << error.flags << " " << error.message;
  }

  void run_desc(Case* c, const Answer& answer) {
    const Forms forms(c->problem);
    const Bytes before = c->problem.out.memory;
    const gth_tensor_desc p = c->problem.params.desc(), i = c->problem.indices.desc(), o = c->problem.out.desc();
    for (int32_t threads : {1, 3}) {
      if (threads > 1 && !random_.chance(25)) continue;
      c->options.threads = threads;
      Error error;
      const int32_t status = forms.op.named(nullptr, &p, &i, &o, &c->options, &error);
      check("desc", c, answer, before, status, error);
    }
  }

  void run_allocating(Case* c, const Answer& answer) {
    const hostile::Tensor params(c->problem.params.desc()), indices(c->problem.indices.desc());
    run_made(c, answer, params.get(), indices.get());
  }

  void run_made(Case* c, const Answer& answer, const gth_tensor* params, const gth_tensor* indices) {
    const Forms forms(c->problem);
    const Problem& problem = c->problem;
    hostile::Tensor made;
    Error error;
    const int32_t status = forms.op.make(nullptr, params, indices, nullptr, &c->options, made.out(), &error);
    Case dense = *c;  // the expected dense output, starting from zeros
    dense.problem.out.dense = true;
    dense.problem.out.offset = 0;
    dense.problem.out.strides = dense_strides(problem.out.shape, problem.out.item);
    const size_t size = static_cast<size_t>(hostile::count_of(problem.out.shape) * problem.out.item);
    dense.problem.out.memory.assign(size, 0);
    const Answer zeros = solve(dense.problem);
    if (!status && size) std::memcpy(dense.problem.out.memory.data(), made.desc().data, size);
    check("allocating", &dense, zeros, dense.problem.out.memory, status, error);
    EXPECT_EQ(status, answer.status);
  }

  void run_into(Case* c, const Answer& answer) {
    const Forms forms(c->problem);
    const Bytes before = c->problem.out.memory;
    const hostile::Tensor params(c->problem.params.desc()), indices(c->problem.indices.desc());
    const hostile::Tensor out(c->problem.out.desc());
    ASSERT_TRUE(params && indices && out);
    Error error;
    const int32_t status = forms.op.run(nullptr, params.get(), indices.get(), out.get(), &c->options, &error);
    check("into", c, answer, before, status, error);
  }

  // Runs a gather from a table in segments, by name, as a new tensor, twice in one call, and as a plan.
  void run_opened(Case* c, const Answer& answer) {
    const Problem& problem = c->problem;
    if (problem.params.shape.empty() || problem.params.shape[0] == 0) return;
    const Operand dense = densely(problem.params);
    const int64_t row = static_cast<int64_t>(dense.memory.size()) / dense.shape[0];
    const auto draw = [&](int64_t n) { return random_.between(0, n - 1); };
    const opened::Form& form = opened::forms[draw(std::size(opened::forms))];
    const opened::Table table(dense.desc(), row, form, draw, [&](int64_t i) { return dense.memory.data() + i * row; });
    const gth_tensor_desc p = table.desc(), i = problem.indices.desc(), o = problem.out.desc();
    const Bytes before = problem.out.memory;
    const Forms forms(problem);
    Error error;
    int32_t status = forms.op.named(nullptr, &p, &i, &o, &c->options, &error);
    check("opened", c, answer, before, status, error);
    hostile::Plan plan;
    ASSERT_EQ(forms.op.plan(table.get(), &i, &o, &c->options, plan.out(), &error), GTH_OK) << error.message;
    status = gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, problem.indices.memory.data(),
                          c->problem.out.memory.data(), &error);
    check("opened plan", c, answer, before, status, error);
    run_parts(c, plan.get(), GTH_OPEN, answer, true);
    const gth_request request = GTH_REQUEST(problem.is_nd ? GTH_OP_GATHER_ND : GTH_OP_GATHER, &p, &i, &o, &c->options);
    const gth_request* const requests[] = {&request};
    status = gth_run_many(nullptr, 1, requests, &error);
    check("opened of many", c, answer, before, status, error);
    const hostile::Tensor indices(i);
    run_made(c, answer, table.get(), indices.get());
  }

  // Returns a dense copy of an operand.
  static Operand densely(const Operand& x) {
    Operand dense = x;
    dense.dense = true;
    dense.offset = 0;
    dense.strides = dense_strides(x.shape, x.item);
    dense.memory.clear();
    for_each_element(x, [&](int64_t at, const Shape&) {
      dense.memory.insert(dense.memory.end(), x.memory.data() + at, x.memory.data() + at + x.item);
    });
    return dense;
  }

  // Runs a plan in two parts, the second one first. A part with an invalid index reports the error of the run, and may
  // have written slices.
  void run_parts(Case* c, const gth_plan* plan, int64_t n, const Answer& answer, bool is_bound = false) {
    Bytes& memory = c->problem.out.memory;
    const Bytes before = memory;
    int64_t parts = 0;
    Error error;
    ASSERT_EQ(gth_plan_parts(plan, n, &parts, &error), GTH_OK) << error.message;
    const auto run = [&](int64_t first, int64_t last) {
      return gth_plan_run_parts(nullptr, plan, n, first, last, is_bound ? nullptr : c->problem.params.memory.data(),
                                c->problem.indices.memory.data(), memory.data(), &error);
    };
    const int64_t half = random_.between(0, parts);
    int32_t status = run(half, parts);
    if (!status) status = run(0, half);
    if (status) memory = answer.memory;
    check("parts", c, answer, before, status, error);
  }

  // Runs one plan with several open extents.
  void run_planned(Case* c) {
    const Forms forms(c->problem);
    Case open = *c;
    if (c->open >= 0) set_open(&open, GTH_OPEN);
    const gth_tensor_desc p = open.problem.params.desc(), i = open.problem.indices.desc();
    const gth_tensor_desc o = open.problem.out.desc();
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(forms.op.plan(&p, &i, &o, &open.options, plan.out(), &error), GTH_OK)
        << "case " << number_ << ": " << error.message;
    for (int64_t n : {longest, int64_t{0}, random_.between(1, longest)}) {
      if (c->open >= 0) set_open(c, n);
      const Answer answer = solve(c->problem);
      const Bytes before = c->problem.out.memory;
      const int32_t status =
          gth_plan_run(nullptr, plan.get(), c->open >= 0 ? n : GTH_OPEN, c->problem.params.memory.data(),
                       c->problem.indices.memory.data(), c->problem.out.memory.data(), &error);
      check("plan", c, answer, before, status, error);
      run_parts(c, plan.get(), c->open >= 0 ? n : GTH_OPEN, answer);
      if (c->open < 0) return;
    }
  }

  void run_case(Case c) {
    Problem& problem = c.problem;
    if (c.open >= 0) problem.indices.shape[static_cast<size_t>(c.open)] = longest;
    if (c.open >= 0 && c.open < problem.batch) problem.params.shape[static_cast<size_t>(c.open)] = longest;
    problem.out.shape = output_shape(problem);
    lay_out(random_, false, &problem.params);
    lay_out(random_, false, &problem.indices);
    lay_out(random_, true, &problem.out);
    if (problem.components > 0) fill_indices(random_, &problem);
    oracle::choose_padding(random_, &problem, &c.options);
    const Answer answer = solve(problem);
    run_desc(&c, answer);
    if (random_.chance(25)) run_allocating(&c, answer);
    if (random_.chance(25)) run_into(&c, answer);
    if (random_.chance(25)) run_opened(&c, answer);
    run_planned(&c);
  }

  Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20240817))};
  int64_t cases_ = 0, number_ = 0;
};

TEST_F(Oracle, RandomGathersMatchTheOracle) {
  const int64_t wanted = random_cases(220000);
  for (; cases_ < wanted && !HasFatalFailure() && !HasNonfatalFailure(); ++number_) run_case(make_case(random_));
  std::printf("oracle: %lld runs of %lld gathers\n", static_cast<long long>(cases_), static_cast<long long>(number_));
}

TEST_F(Oracle, SizesAtTheBordersOfBlocksMatchTheOracle) {
  const int64_t wanted = random_cases(220000) / 100;
  for (; cases_ < wanted && !HasFailure(); ++number_) run_case(make_border(random_));
}

}  // namespace
