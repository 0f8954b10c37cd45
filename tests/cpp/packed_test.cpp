#include "hostile.hpp"
#include "packed_cases.hpp"
#include "packed_opened.hpp"
#include "random_gathers.hpp"

// Compares gathers of packed rows with the oracle: random codecs in every form of a call. A gather of row numbers tells
// which row each tuple selects, and the oracle of packed rows decodes it.
namespace {

using namespace packed;
using hostile::Error;
using oracle::Answer, oracle::Bytes, oracle::Problem;

constexpr int64_t filled_row = -1, unchanged_row = -2;

// A gather of packed rows. The params of the problem are the row numbers.
struct Case {
  oracle::gathers::Case gather;
  Table table;
  Array out;
  char fill[16] = {};

  const Problem& problem() const { return gather.problem; }
  int64_t values() const { return table.values(); }
};

class Packed : public ::testing::Test {
 protected:
  // ---- Drawing

  void draw_shapes(Case* c) {
    Problem& problem = c->gather.problem;
    do {
      problem = Problem();
      c->gather.open = -1;
      choose_shapes(random_, &c->gather);
    } while (problem.params.shape.size() > 3 || product(problem.params.shape) > 60);
  }

  // The options are those of a gather of the decoded dtype.
  void draw_options(Case* c) {
    Problem& problem = c->gather.problem;
    gth_options& options = c->gather.options;
    problem.params.dtype = c->table.dtype;
    choose_switches(random_, &problem, &options);
    choose_attributes(random_, &c->gather);
    if (options.axis < 0) options.axis -= 1;  // The packed dim is one more.
    std::memcpy(c->fill, problem.fill, sizeof c->fill);
    std::memcpy(problem.fill, &filled_row, sizeof filled_row);
    problem.params.dtype = problem.out.dtype = GTH_DTYPE_INT64;
    problem.params.item = problem.out.item = 8;
    problem.indices.dtype = oracle::index_dtypes[random_.below(8)];
    problem.indices.item = gth_dtype_size(problem.indices.dtype);
  }

  static void number_rows(oracle::Operand* x) {
    x->strides = oracle::dense_strides(x->shape, x->item);
    x->memory.resize(static_cast<size_t>(product(x->shape) * x->item));
    for (int64_t i = 0; i < product(x->shape); ++i) std::memcpy(x->memory.data() + i * 8, &i, 8);
  }

  static void prefill(oracle::Operand* x) {
    x->strides = oracle::dense_strides(x->shape, x->item);
    x->memory.resize(static_cast<size_t>(product(x->shape) * x->item));
    for (int64_t i = 0; i < product(x->shape); ++i) std::memcpy(x->memory.data() + i * 8, &unchanged_row, 8);
  }

  void finish(Case* c) {
    Problem& problem = c->gather.problem;
    problem.out.shape = output_shape(problem);
    number_rows(&problem.params);
    prefill(&problem.out);
    lay_out(random_, false, &problem.indices);
    if (problem.components > 0) fill_indices(random_, &problem, 70);
    choose_padding(random_, &problem, &c->gather.options);
    Shape shape = problem.out.shape;
    shape.push_back(c->values());
    c->out = make_output(c->table.dtype, shape);
  }

  Case draw_case() {
    Case c;
    draw_shapes(&c);
    const int64_t rows = std::max<int64_t>(1, product(c.problem().params.shape));
    c.table = make_table(c.problem().params.shape, rows > 8 ? below(300) + 1 : length_around());
    draw_options(&c);
    finish(&c);
    return c;
  }

  // ---- Expectations

  // Returns the memory of an output after the call. `rows` has the number of the row of each tuple and slice.
  static std::vector<char> expected_of(const Case& c, const gth_tensor_desc& params, const Bytes& rows,
                                       const Array& out) {
    Array result = out;
    const int64_t item = gth_dtype_size(c.table.dtype), values = c.values();
    for (int64_t i = 0; i * 8 < static_cast<int64_t>(rows.size()); ++i) {
      int64_t row;
      std::memcpy(&row, rows.data() + i * 8, 8);
      if (row == unchanged_row) continue;
      const std::vector<float> numbers = row >= 0 ? decode_row(params, row) : std::vector<float>();
      for (int64_t j = 0; j < values; ++j) {
        if (row >= 0) encode(c.table.dtype, numbers[static_cast<size_t>(j)], result.at(i * values + j));
        if (row < 0) std::memcpy(result.at(i * values + j), c.fill, static_cast<size_t>(item));
      }
    }
    return result.memory;
  }

  // Compares memories of an output. Any NaN equals another.
  static bool are_same(const Array& out, std::vector<char> expected, const std::vector<char>& found) {
    const int64_t item = gth_dtype_size(out.desc.dtype);
    for (int64_t i = 0; i < product(out.shape); ++i) {
      const int64_t at = out.at(i) - out.memory.data();
      if (is_same(out.desc.dtype, expected.data() + at, found.data() + at))
        std::memcpy(expected.data() + at, found.data() + at, static_cast<size_t>(item));
    }
    return expected == found;
  }

  static std::string first_difference(const Array& out, const std::vector<char>& expected,
                                      const std::vector<char>& found) {
    for (int64_t i = 0; i < product(out.shape); ++i) {
      const int64_t at = out.at(i) - out.memory.data();
      if (is_same(out.desc.dtype, expected.data() + at, found.data() + at)) continue;
      const int64_t values = out.shape.back();
      return "number " + std::to_string(i % values) + " of row " + std::to_string(i / values) + " is " +
             std::to_string(decode(out.desc.dtype, found.data() + at)) + ", expected " +
             std::to_string(decode(out.desc.dtype, expected.data() + at));
    }
    return "bytes between the numbers differ";
  }

  void judge(const char* form, const Answer& answer, int32_t status, const Error& error, const Array& out,
             const std::vector<char>& expected) {
    ++runs_;
    ASSERT_STREQ(gth_status_name(status), gth_status_name(answer.status)) << form << ": " << error.message;
    if (status == GTH_E_INDEX) {
      EXPECT_EQ(error.operand, GTH_OPERAND_INDICES) << form;
      EXPECT_EQ(error.position, answer.position) << form;
      EXPECT_EQ(error.component, answer.component) << form;
      EXPECT_EQ(error.value, answer.value) << form;
      EXPECT_EQ(error.limit, answer.limit) << form;
      EXPECT_EQ(error.flags, answer.flags) << form;
    }
    EXPECT_TRUE(are_same(out, expected, out.memory)) << form << ": " << first_difference(out, expected, out.memory);
  }

  // ---- Forms

  gth_request request_of(const Case& c, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                         const gth_tensor_desc* out) const {
    return GTH_REQUEST(c.problem().is_nd ? GTH_OP_GATHER_ND : GTH_OP_GATHER, params, indices, out, &c.gather.options);
  }

  void run_into(Case* c, const Answer& answer, const std::vector<char>& expected, const std::vector<char>& before) {
    const Described described(c->table);
    const gth_tensor_desc indices = c->problem().indices.desc();
    for (const int32_t threads : {1, 3}) {
      c->gather.options.threads = threads;
      const gth_tensor_desc out = c->out.described();
      const gth_request request = request_of(*c, &described.params, &indices, &out);
      Error error;
      const int32_t status = gth_run_request(nullptr, &request, &error);
      judge(threads == 1 ? "run" : "threads", answer, status, error, c->out, expected);
      c->out.memory = before;
    }
  }

  void run_handles(Case* c, const Answer& answer, const std::vector<char>& expected, const std::vector<char>& before) {
    const Described described(c->table);
    const hostile::Tensor params(described.params), indices(c->problem().indices.desc()), out(c->out.described());
    ASSERT_TRUE(params && indices && out);
    const gth_tensor_desc named[] = {GTH_TENSOR_DESC_HANDLE(params.get()), GTH_TENSOR_DESC_HANDLE(indices.get()),
                                     GTH_TENSOR_DESC_HANDLE(out.get())};
    const gth_request request = request_of(*c, &named[0], &named[1], &named[2]);
    Error error;
    const int32_t status = gth_run_request(nullptr, &request, &error);
    judge("handles", answer, status, error, c->out, expected);
    c->out.memory = before;
  }

  // Scales and zeros are tensor handles.
  void run_part_handles(Case* c, const Answer& answer, const std::vector<char>& expected,
                        const std::vector<char>& before) {
    Described described(c->table);
    const gth_tensor_desc indices = c->problem().indices.desc(), out = c->out.described();
    const hostile::Tensor scales(described.scales), zeros(described.zeros);
    const gth_tensor_desc named[] = {GTH_TENSOR_DESC_HANDLE(scales.get()), GTH_TENSOR_DESC_HANDLE(zeros.get())};
    if (described.codec.scales) described.codec.scales = &named[0];
    if (described.codec.zeros) described.codec.zeros = &named[1];
    const gth_request request = request_of(*c, &described.params, &indices, &out);
    Error error;
    const int32_t status = gth_run_request(nullptr, &request, &error);
    judge("handles of scales", answer, status, error, c->out, expected);
    c->out.memory = before;
  }

  void run_new(const Case& c, const Answer& answer) {
    const Described described(c.table);
    const gth_tensor_desc indices = c.problem().indices.desc();
    const gth_request request = request_of(c, &described.params, &indices, nullptr);
    Error error;
    gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
    int64_t shape[GTH_MAX_NDIM];
    ASSERT_EQ(gth_infer(&request, &form, GTH_MAX_NDIM, shape, &error), GTH_OK) << error.message;
    EXPECT_EQ(Shape(shape, shape + form.ndim), c.out.shape);
    EXPECT_EQ(form.dtype, c.table.dtype);
    hostile::Tensor made;
    const int32_t status = gth_make(nullptr, &request, made.out(), &error);
    Array dense;
    dense.make(c.table.dtype, c.out.shape, true);
    std::fill(dense.memory.begin(), dense.memory.end(), '\0');
    const std::vector<char> expected =
        answer.status ? dense.memory : expected_of(c, described.params, answer.memory, dense);
    const auto bytes = static_cast<size_t>(product(dense.shape) * gth_dtype_size(c.table.dtype));
    if (!status && bytes) std::memcpy(dense.memory.data(), made.desc().data, bytes);
    judge("make", answer, status, error, dense, expected);
  }

  // Runs a gather of rows in segments, as a request, in a call of several, and as a plan.
  void run_opened(Case* c, const Answer& answer, const std::vector<char>& expected, const std::vector<char>& before) {
    if (c->table.shape[0] == 0) return;
    const Opened table(c->table);
    const gth_tensor_desc params = table.desc(), indices = c->problem().indices.desc(), out = c->out.described();
    const gth_request request = request_of(*c, &params, &indices, &out);
    Error error;
    judge("opened", answer, gth_run_request(nullptr, &request, &error), error, c->out, expected);
    c->out.memory = before;
    const gth_request* const requests[] = {&request};
    judge("opened in many", answer, gth_run_many(nullptr, 1, requests, &error), error, c->out, expected);
    c->out.memory = before;
    hostile::Plan plan;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
    const int32_t status = gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, c->problem().indices.memory.data(),
                                        c->out.memory.data(), &error);
    judge("opened plan", answer, status, error, c->out, expected);
    c->out.memory = before;
  }

  // Rows are in memory, but scales and zero points are in segments.
  void run_opened_parts(Case* c, const Answer& answer, const std::vector<char>& expected,
                        const std::vector<char>& before) {
    if (c->table.shape[0] == 0) return;
    const OpenedParts table(c->table);
    const gth_tensor_desc indices = c->problem().indices.desc(), out = c->out.described();
    const gth_request request = request_of(*c, &table.params(), &indices, &out);
    Error error;
    judge("opened scales", answer, gth_run_request(nullptr, &request, &error), error, c->out, expected);
    c->out.memory = before;
  }

  void run_many(Case* c, const Answer& answer, const std::vector<char>& expected, const std::vector<char>& before) {
    const Described described(c->table), same(c->table);
    Array other = c->out;
    const gth_tensor_desc indices = c->problem().indices.desc(), out = c->out.described(), second = other.described();
    const gth_request requests[] = {request_of(*c, &described.params, &indices, &out),
                                    request_of(*c, &same.params, &indices, &second)};
    const gth_request* const both[] = {&requests[0], &requests[1]};
    Error error;
    const int32_t status = gth_run_many(nullptr, 2, both, &error);
    judge("many", answer, status, error, c->out, expected);
    judge("second of many", answer, status, error, other, expected);
    c->out.memory = before;
  }

  void run_parts(Case* c, const gth_plan* plan, const Answer& answer, const std::vector<char>& expected,
                 const std::vector<char>& before) {
    int64_t parts = 0;
    Error error;
    ASSERT_EQ(gth_plan_parts(plan, GTH_OPEN, &parts, &error), GTH_OK) << error.message;
    if (answer.status) return;
    const auto run = [&](int64_t first, int64_t last) {
      return gth_plan_run_parts(nullptr, plan, GTH_OPEN, first, last, c->table.memory.data(),
                                c->problem().indices.memory.data(), c->out.memory.data(), &error);
    };
    const int64_t half = random_.between(0, parts);
    int32_t status = run(half, parts);
    if (!status) status = run(0, half);
    judge("parts", answer, status, error, c->out, expected);
    c->out.memory = before;
  }

  void run_planned(Case* c, const Answer& answer, const std::vector<char>& expected, const std::vector<char>& before) {
    const Described described(c->table);
    const gth_tensor_desc indices = c->problem().indices.desc(), out = c->out.described();
    const gth_request request = request_of(*c, &described.params, &indices, &out);
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
    const int32_t status = gth_plan_run(nullptr, plan.get(), GTH_OPEN, c->table.memory.data(),
                                        c->problem().indices.memory.data(), c->out.memory.data(), &error);
    judge("plan", answer, status, error, c->out, expected);
    c->out.memory = before;
    run_parts(c, plan.get(), answer, expected, before);
    const gth_plan_args args = calls::args(GTH_OPEN, nullptr, c->problem().indices.memory.data(), nullptr);
    judge("check", answer, gth_plan_check(nullptr, plan.get(), &args, &error), error, c->out, before);
    gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
    int64_t shape[GTH_MAX_NDIM];
    ASSERT_EQ(gth_plan_infer(plan.get(), GTH_OPEN, &form, GTH_MAX_NDIM, shape, &error), GTH_OK) << error.message;
    EXPECT_EQ(Shape(shape, shape + form.ndim), c->out.shape);
    EXPECT_EQ(form.dtype, c->table.dtype);
    if (answer.status == GTH_OK) run_exchanged(c, plan.get(), answer, expected, before);
  }

  // Runs a plan with other scales and zeros, with their extents, and then with those that it keeps.
  void run_exchanged(Case* c, const gth_plan* plan, const Answer& answer, const std::vector<char>& expected,
                     const std::vector<char>& before) {
    Table other = c->table;
    for (Array* array : {&other.scales, &other.zeros}) {
      if (array->shape.empty()) continue;
      for (int64_t i = 0; i < product(array->shape); ++i) draw_number(array->desc.dtype, array->at(i));
    }
    const Described described(other);
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    Error error;
    ASSERT_EQ(gth_plan_extents(plan, &args, &error), GTH_OK) << error.message;
    EXPECT_LE(args.table_extent, static_cast<int64_t>(c->table.memory.size()));
    EXPECT_LE(args.scales_extent, described.codec.scales ? described.scales.extent : 0);
    EXPECT_LE(args.zeros_extent, described.codec.zeros ? described.zeros.extent : 0);
    args.flags = GTH_ARGS_EXTENTS;
    args.table = c->table.memory.data();
    args.indices = c->problem().indices.memory.data();
    args.rows = c->out.memory.data();
    args.scales = described.codec.scales ? described.scales.data : nullptr;
    args.zeros = described.codec.zeros ? described.zeros.data : nullptr;
    const std::vector<char> exchanged = expected_of(*c, described.params, answer.memory, c->out);
    judge("exchanged scales", answer, gth_plan_run_args(nullptr, plan, &args, &error), error, c->out, exchanged);
    c->out.memory = before;
    args.rows = c->out.memory.data();
    const gth_plan* const plans[] = {plan};
    const gth_plan_args* const all[] = {&args};
    judge("exchanged in many", answer, gth_plan_run_many(nullptr, 1, plans, all, &error), error, c->out, exchanged);
    c->out.memory = before;
    args.rows = c->out.memory.data();
    args.scales = args.zeros = nullptr;
    args.scales_extent = args.zeros_extent = 0;
    judge("kept scales", answer, gth_plan_run_args(nullptr, plan, &args, &error), error, c->out, expected);
    c->out.memory = before;
  }

  // Runs a plan whose number of tuples is open.
  void run_open(Case* c) {
    const Problem& problem = c->problem();
    const auto begin = static_cast<size_t>(problem.batch);
    if (problem.tuple_end() <= problem.batch || !problem.indices.dense || problem.indices.offset) return;
    if (oracle::has_none(problem.out.shape) || oracle::has_none(problem.indices.shape)) return;
    const Described described(c->table);
    Shape indices_shape = problem.indices.shape;
    indices_shape[begin] = GTH_OPEN;
    gth_tensor_desc indices = problem.indices.desc();
    indices.shape = indices_shape.data();
    gth_request request = request_of(*c, &described.params, &indices, nullptr);
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
    for (const int64_t n : {problem.indices.shape[begin], int64_t{1}, int64_t{0}}) {
      Case shorter = *c;
      shorter.gather.problem.indices.shape[begin] = n;
      if (n != problem.indices.shape[begin] && problem.batch > 0) continue;  // Other indices are at other places.
      shorter.gather.problem.indices.strides =
          oracle::dense_strides(shorter.problem().indices.shape, problem.indices.item);
      shorter.gather.problem.out.shape = output_shape(shorter.problem());
      prefill(&shorter.gather.problem.out);
      Shape shape = shorter.problem().out.shape;
      shape.push_back(c->values());
      shorter.out.make(c->table.dtype, shape, true);
      const Answer answer = solve(shorter.problem());
      const std::vector<char> expected =
          answer.status ? shorter.out.memory : expected_of(shorter, described.params, answer.memory, shorter.out);
      const int32_t status = gth_plan_run(nullptr, plan.get(), n, c->table.memory.data(), problem.indices.memory.data(),
                                          shorter.out.memory.data(), &error);
      judge("open plan", answer, status, error, shorter.out, expected);
    }
  }

  void run_case(Case c) {
    SCOPED_TRACE("case " + std::to_string(number_) + (c.problem().is_nd ? " nd" : "") + " batch " +
                 std::to_string(c.problem().batch) + " axis " + std::to_string(c.problem().axis) + " K " +
                 std::to_string(c.problem().components) + " bounds " + std::to_string(c.problem().bounds) + ", " +
                 describe(c.table));
    const Described described(c.table);
    const Answer answer = solve(c.problem());
    const std::vector<char> before = c.out.memory;
    const std::vector<char> expected = answer.status ? before : expected_of(c, described.params, answer.memory, c.out);
    run_into(&c, answer, expected, before);
    if (chance(25)) run_handles(&c, answer, expected, before);
    if (chance(25) && c.table.codec.structure == GTH_CODEC_BLOCKS) run_part_handles(&c, answer, expected, before);
    if (chance(25)) run_opened(&c, answer, expected, before);
    if (chance(10)) run_opened_parts(&c, answer, expected, before);
    if (chance(25)) run_new(c, answer);
    if (chance(25)) run_many(&c, answer, expected, before);
    if (chance(40)) run_planned(&c, answer, expected, before);
    if (chance(40)) run_open(&c);
  }

  oracle::Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261129))};
  int64_t number_ = 0, runs_ = 0;
};

TEST_F(Packed, RandomGathersMatchTheOracle) {
  const int64_t wanted = oracle::random_cases(6000);
  engine.seed(static_cast<uint64_t>(environment::number("GATHER_SEED", 1)));
  for (; runs_ < wanted && !HasFailure(); ++number_) run_case(draw_case());
  std::printf("packed: %lld runs of %lld gathers\n", static_cast<long long>(runs_), static_cast<long long>(number_));
}

}  // namespace
