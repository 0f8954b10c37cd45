#include <functional>
#include <numeric>
#include <string>

#include "core/plan/build.hpp"
#include "cpu/kernels.hpp"
#include "cpu/one_block.hpp"
#include "cpu/run_short.hpp"
#include "cpu/run_short_bags.hpp"
#include "cpu/tiers/choice.hpp"
#include "execution/copy.hpp"
#include "samples.hpp"

// Calls of dense tensors take the fast paths. A call that takes the general path returns the same bytes, so other tests
// do not detect it. The linker replaces the entries of the paths in the static library by functions that count. The
// library itself is the shipped one.
namespace {

using namespace hostile;

// The number of calls that completed each path since the last reset.
struct Paths {
  int32_t short_runs, dense_plans, general_plans, copies;
  int32_t fused;  // kernels with a fused form

  bool operator==(const Paths& other) const {
    return short_runs == other.short_runs && dense_plans == other.dense_plans && general_plans == other.general_plans &&
           copies == other.copies && fused == other.fused;
  }
};

Paths taken;
bool reused_indices;     // Lines of the last large gather had the same tuples, which were resolved once.
int64_t line_tuples;     // the number of tuples in a line of the last copy
int64_t merged_lines;    // the number of its lines that were resolved together
int32_t one_block_runs;  // runs of one block, which the general path takes for few rows
int32_t short_bag_runs;

std::ostream& operator<<(std::ostream& out, const Paths& paths) {
  return out << paths.short_runs << " short runs, " << paths.dense_plans << " dense plans, " << paths.general_plans
             << " general plans, " << paths.copies << " copies, " << paths.fused << " fused kernels";
}

}  // namespace

namespace gather {

#define WRAPPED(name) __asm__("__wrap_" name)
#define REAL(name) __asm__("__real_" name)

#define BUILD "_ZN6gather4core5buildERKNS0_7RequestERKNS0_7MeaningERKNS0_9PlacementEPNS0_4PlanE"
void real_build(const core::Request&, const core::Meaning&, const core::Placement&, core::Plan*) REAL(BUILD);
void wrapped_build(const core::Request&, const core::Meaning&, const core::Placement&, core::Plan*) WRAPPED(BUILD);
void wrapped_build(const core::Request& request, const core::Meaning& meaning, const core::Placement& placement,
                   core::Plan* plan) {
  ++taken.general_plans;
  real_build(request, meaning, placement, plan);
}

#define BUILD_DENSE "_ZN6gather4core11build_denseERKNS0_7RequestERKNS0_7MeaningEPNS0_4PlanE"
bool real_build_dense(const core::Request&, const core::Meaning&, core::Plan*) REAL(BUILD_DENSE);
bool wrapped_build_dense(const core::Request&, const core::Meaning&, core::Plan*) WRAPPED(BUILD_DENSE);
bool wrapped_build_dense(const core::Request& request, const core::Meaning& meaning, core::Plan* plan) {
  const bool is_built = real_build_dense(request, meaning, plan);
  taken.dense_plans += is_built;
  return is_built;
}

#define RUN_SHORT "_ZN6gather3cpu9run_shortERKNS_4core5ShortERKNS1_8PointersElPKNS1_7ExtentsE"
bool real_run_short(const core::Short&, const core::Pointers&, int64_t, const core::Extents*) REAL(RUN_SHORT);
bool wrapped_run_short(const core::Short&, const core::Pointers&, int64_t, const core::Extents*) WRAPPED(RUN_SHORT);
bool wrapped_run_short(const core::Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given) {
  const bool is_done = real_run_short(form, pointers, n, given);
  taken.short_runs += is_done;
  return is_done;
}

// clang-format off
#define RUN_SHORT_BAGS "_ZN6gather3cpu14run_short_bagsERKNS_4core9ShortBagsEPFPKlRKNS0_7BagRowsEERKNS1_8PointersElPKNS1_7ExtentsE"
// clang-format on
bool real_run_short_bags(const core::ShortBags&, cpu::PoolBags, const core::Pointers&, int64_t, const core::Extents*)
    REAL(RUN_SHORT_BAGS);
bool wrapped_run_short_bags(const core::ShortBags&, cpu::PoolBags, const core::Pointers&, int64_t, const core::Extents*)
    WRAPPED(RUN_SHORT_BAGS);
bool wrapped_run_short_bags(const core::ShortBags& form, cpu::PoolBags kernel, const core::Pointers& pointers,
                            int64_t n, const core::Extents* given) {
  const bool is_done = real_run_short_bags(form, kernel, pointers, n, given);
  short_bag_runs += is_done;
  return is_done;
}

#define RUN_COPY "_ZN6gather9execution8run_copyERKNS0_7ContextERK15gth_tensor_descS6_RKNS_4core5ErrorE"
int32_t real_run_copy(const execution::Context&, const gth_tensor_desc&, const gth_tensor_desc&, const core::Error&)
    REAL(RUN_COPY);
int32_t wrapped_run_copy(const execution::Context&, const gth_tensor_desc&, const gth_tensor_desc&, const core::Error&)
    WRAPPED(RUN_COPY);
int32_t wrapped_run_copy(const execution::Context& context, const gth_tensor_desc& source,
                         const gth_tensor_desc& destination, const core::Error& error) {
  ++taken.copies;
  return real_run_copy(context, source, destination, error);
}

#define CHOOSE_KERNELS "_ZN6gather3cpu14choose_kernelsERKNS_4core4PlanE"
cpu::Kernels real_choose_kernels(const core::Plan&) REAL(CHOOSE_KERNELS);
cpu::Kernels wrapped_choose_kernels(const core::Plan&) WRAPPED(CHOOSE_KERNELS);
cpu::Kernels wrapped_choose_kernels(const core::Plan& plan) {
  const cpu::Kernels kernels = real_choose_kernels(plan);
  taken.fused += kernels.fused || (kernels.move && kernels.update);
  return kernels;
}

#define RUN_ONE_BLOCK "_ZN6gather3cpu13run_one_blockERKNS0_3JobERKNS0_11BeforeWriteERKNS_4core5ErrorE"
int32_t real_run_one_block(const cpu::Job&, const cpu::BeforeWrite&, const core::Error&) REAL(RUN_ONE_BLOCK);
int32_t wrapped_run_one_block(const cpu::Job&, const cpu::BeforeWrite&, const core::Error&) WRAPPED(RUN_ONE_BLOCK);
int32_t wrapped_run_one_block(const cpu::Job& job, const cpu::BeforeWrite& before_write, const core::Error& error) {
  ++one_block_runs;
  return real_run_one_block(job, before_write, error);
}

#define MOVE_RANGE "_ZN6gather3cpu10move_rangeERKNS0_3JobEPKcllb"
bool real_move_range(const cpu::Job&, const char*, int64_t, int64_t, bool) REAL(MOVE_RANGE);
bool wrapped_move_range(const cpu::Job&, const char*, int64_t, int64_t, bool) WRAPPED(MOVE_RANGE);
bool wrapped_move_range(const cpu::Job& job, const char* table, int64_t first, int64_t last, bool prefetches) {
  reused_indices = job.repeats;
  line_tuples = job.copying.line.extent;
  merged_lines = job.merged_lines;
  return real_move_range(job, table, first, last, prefetches);
}

}  // namespace gather

namespace {

bool is_elements(const Operation& op) { return op.number % 3 == 0; }

// The operands of an operation on `tuples` tuples, and copies of them with written strides.
struct Operands {
  Operands(const Operation& given, int64_t tuples) : op(given), table(i32, {400, 2}), rows(i32, {tuples, 2}) {
    const int32_t family = op.number % 3;
    std::vector<int64_t> values(static_cast<size_t>(family == 0 ? 2 * tuples : tuples));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i % 400);
    indices = std::make_unique<Array>(GTH_DTYPE_INT64,
                                      family == 0   ? Shape{tuples, 2}
                                      : family == 1 ? Shape{tuples}
                                                    : Shape{tuples, 1},
                                      values);
    options.extents = is_elements(op) ? GTH_EXTENTS_PREFIX : 0;
  }

  std::array<gth_tensor_desc, 3> descs(bool has_strides) const {
    std::array<gth_tensor_desc, 3> result{table.desc(), indices->desc(), rows.desc()};
    if (!has_strides) return result;
    result[0].strides = result[2].strides = table_strides;
    result[1].strides = is_elements(op) ? pair_strides : index_strides;
    return result;
  }

  static constexpr int32_t i32 = GTH_DTYPE_INT32;
  static constexpr int64_t table_strides[] = {8, 4}, pair_strides[] = {16, 8}, index_strides[] = {8, 8};
  const Operation op;
  const Array table, rows;
  std::unique_ptr<Array> indices;
  gth_options options = GTH_OPTIONS_INIT;
};

// The functions that run a request.
using Run = std::function<int32_t(const gth_request&)>;

struct Form {
  const char* name;
  // The form makes a plan first, has a short form, has a new tensor as its result, or takes several requests.
  bool is_plan, is_short, is_new, is_many;
  int32_t plans;  // how often the form builds a plan
  Run run;
};

const Form forms[] = {
    {"request", false, true, false, false, 1,
     [](const gth_request& r) { return gth_run_request(nullptr, &r, nullptr); }},
    {"run", false, true, false, false, 1,
     [](const gth_request& r) { return gth_run(nullptr, r.op, r.table, r.indices, r.rows, r.options, nullptr); }},
    {"many", false, true, false, true, 1,
     [](const gth_request& r) {
       const gth_request* const requests[] = {&r};
       return gth_run_many(nullptr, 1, requests, nullptr);
     }},
    {"plan", true, true, false, false, 1,
     [](const gth_request& r) {
       Plan made;
       const int32_t status = gth_plan_create(&r, made.out(), nullptr);
       if (status) return status;
       return gth_plan_run(nullptr, made.get(), GTH_OPEN, r.table->data, r.indices->data,
                           const_cast<void*>(r.rows->data), nullptr);  // A bound operand has no pointer.
     }},
    {"make", false, true, true, false, 1,
     [](const gth_request& r) {
       Tensor made;
       gth_request given = r;
       if (r.op <= GTH_OP_GATHER_ELEMENTS) given.rows = nullptr;
       return gth_make(nullptr, &given, made.out(), nullptr);
     }},
};

const Form& making = forms[std::size(forms) - 1];

Paths paths_of(const Form& form, const gth_request& request) {
  taken = {};
  EXPECT_EQ(form.run(request), GTH_OK) << form.name << " of operation " << request.op;
  return taken;
}

// Returns how often a form builds the plan of an operation. Many requests keep their plans from the validation, except
// those of gradients.
int32_t plans_of(const Form& form, const Operation& op) {
  return form.plans + (form.is_many && is_gradient(op) ? 1 : 0);
}

// Returns the paths of a call with dense tensors. Only gathers of at most 1,024 rows, and plans of scatters of as many,
// have a short form, and elements only if all extents are equal. Elements have no dense plan. A new target begins as a
// copy, which is a general plan. Sums of long lines of several elements have no kernel that moves rows.
Paths dense_paths(const Form& form, const Operation& op, bool is_small) {
  const bool is_short = is_small && form.is_short && (is_gather(op) || form.is_plan) && !is_elements(op);
  const int32_t plans = !is_short || form.is_plan ? plans_of(form, op) : 0;
  const bool is_general = is_elements(op);
  const bool copies_table = form.is_new && !is_gather(op) && !is_gradient(op);
  const bool is_fused = op.number <= GTH_OP_SCATTER_ELEMENTS || op.number == GTH_OP_GATHER_ELEMENTS_GRADIENT;
  return {is_short, is_general ? 0 : plans, (is_general ? plans : 0) + copies_table, 0, is_fused ? plans : 0};
}

bool has_form(const Operation& op, const Form& form) { return !form.is_plan || !is_gradient(op); }

// A call with strides written out takes the same path as one with NULL strides.
TEST(Paths, DenseCallsTakeTheFastPathInEveryForm) {
  for (const Operation& op : calls::every) {
    for (const int64_t tuples : {8, 300, 1024, 1025}) {
      const Operands operands(op, tuples);
      for (const Form& form : forms) {
        if (!has_form(op, form)) continue;
        for (const bool has_strides : {false, true}) {
          const auto descs = operands.descs(has_strides);
          for (int32_t handles = 0; handles < 8; ++handles) {
            const Mixed mixed(descs, handles);
            const gth_request request = mixed.request(op, &operands.options);
            EXPECT_EQ(paths_of(form, request), dense_paths(form, op, tuples <= 1024))
                << form.name << " of operation " << op.number << ", " << tuples << " tuples, handles " << handles
                << (has_strides ? ", with strides" : "");
          }
        }
      }
    }
  }
}

// The counters detect the general path: rows with a gap between them have no dense plan.
TEST(Paths, PaddedTablesTakeTheGeneralPath) {
  const int64_t padded[] = {16, 4};
  for (const Operation& op : calls::every) {
    const Operands operands(op, 2000);
    const Array wide(GTH_DTYPE_INT32, {400, 4});
    for (const Form& form : forms) {
      if (!has_form(op, form) || form.is_new) continue;  // A new table is dense.
      auto descs = operands.descs(false);
      descs[0].data = wide.data();
      descs[0].strides = padded;
      const gth_request request = GTH_REQUEST(op.number, &descs[0], &descs[1], &descs[2], &operands.options);
      const Paths found = paths_of(form, request);
      EXPECT_EQ(found.short_runs, 0) << form.name << " of operation " << op.number;
      EXPECT_EQ(found.general_plans, plans_of(form, op) + is_gradient(op))
          << form.name << " of operation " << op.number;
      EXPECT_EQ(found.copies, is_gradient(op) ? 1 : 0) << "The zeros of a gradient are a copy.";
    }
  }
}

// Returns how often a gather of n rows runs as one block. There are `gap` bytes after each row and each element.
int32_t one_block_runs_of(int64_t row, int64_t gap, int64_t n = 64) {
  const int64_t strides[] = {(row + 1) * (1 + gap), 1 + gap};
  const Array table(GTH_DTYPE_UINT8, {4, row + 1, 1 + gap}), rows(GTH_DTYPE_UINT8, {n, row});
  const Array indices = indices64({n}, std::vector<int64_t>(static_cast<size_t>(n), 3));
  const Shape shape{4, row};
  const gth_tensor_desc t = describe(GTH_DTYPE_UINT8, shape, table.data(), strides), i = indices.desc(),
                        r = rows.desc();
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, &r, nullptr);
  one_block_runs = 0;
  paths_of(forms[0], request);
  return one_block_runs;
}

// A row counts 16 bytes more than it has. Calls of 1 MiB or more are cut into pieces for threads.
TEST(Paths, CallsOfLessThan1MiBAreOneSpan) {
  constexpr int64_t limit = (int64_t{1} << 20) / 64 - 16;
  EXPECT_EQ(one_block_runs_of(limit - 1, 0), 1);
  EXPECT_EQ(one_block_runs_of(limit, 0), 0);
}

// Elements with gaps are first copied to a dense table, if rows have 32 elements.
TEST(Paths, LongRowsWithGapsAreNoSpan) {
  EXPECT_EQ(one_block_runs_of(31, 1), 1);
  EXPECT_EQ(one_block_runs_of(32, 1), 0);
}

// Shorter rows are copied first if they have 4 elements and all rows of the output have 2,048.
TEST(Paths, ManyRowsWithGapsAreNoSpan) {
  EXPECT_EQ(one_block_runs_of(3, 1, 1000), 1);
  EXPECT_EQ(one_block_runs_of(4, 1, 511), 1);
  EXPECT_EQ(one_block_runs_of(4, 1, 512), 0);
}

// An extent of 1 may have any stride.
TEST(Paths, StridesOfExtentsOfOneAreIgnored) {
  const Array table(GTH_DTYPE_INT32, {4, 1, 2}), rows(GTH_DTYPE_INT32, {2000, 1, 2});
  const Array indices = indices64({2000}, std::vector<int64_t>(2000, 3));
  const int64_t strides[] = {8, 12345, 4};
  gth_tensor_desc t = table.desc(), r = rows.desc();
  const gth_tensor_desc i = indices.desc();
  t.strides = r.strides = strides;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, &r, nullptr);
  EXPECT_EQ(paths_of(forms[0], request), dense_paths(forms[0], calls::gather, false));
}

// Elements of tensors with equal extents have a short form along every axis, except in a plan of several dims.
TEST(Paths, ElementsTakeTheShortForm) {
  const Array table(GTH_DTYPE_INT32, {4, 5, 6}), rows(GTH_DTYPE_INT32, {4, 5, 6});
  const Array indices = indices64({4, 5, 6}, std::vector<int64_t>(120, 3));
  const gth_tensor_desc t = table.desc(), i = indices.desc(), r = rows.desc();
  for (int64_t axis = -3; axis < 3; ++axis) {
    const gth_options options = with_axis(axis);
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER_ELEMENTS, &t, &i, &r, &options);
    for (const Form& form : forms) {
      EXPECT_EQ(paths_of(form, request).short_runs, form.is_short && !form.is_plan) << form.name << " axis " << axis;
    }
  }
}

// Returns whether a gather of rows of 64 bytes along an axis resolves its indices once for all lines.
bool reuses_indices(const Shape& shape, int64_t axis, int64_t batch_dims, const Shape& indices_shape) {
  const int64_t count = std::accumulate(indices_shape.begin(), indices_shape.end(), int64_t{1}, std::multiplies<>());
  const Array table(GTH_DTYPE_INT32, shape);
  const Array indices = indices64(indices_shape, std::vector<int64_t>(static_cast<size_t>(count), 3));
  const gth_tensor_desc t = table.desc(), i = indices.desc();
  gth_options options = with_axis(axis);
  options.batch_dims = batch_dims;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, nullptr, &options);
  reused_indices = false;
  paths_of(making, request);
  return reused_indices;
}

TEST(Paths, IndicesOfSeveralLinesAreResolvedOnce) {
  EXPECT_TRUE(reuses_indices({100, 20, 16}, 1, 0, {500}));
  EXPECT_FALSE(reuses_indices({100, 20, 16}, 1, 1, {100, 500}));
  EXPECT_FALSE(reuses_indices({20, 16}, 0, 0, {50000}));
}

// Returns how many lines of 20 indices a gather of elements resolves together.
int64_t merged_lines_of(const int64_t* index_strides) {
  const Array table(GTH_DTYPE_INT32, {4000, 25}), memory(GTH_DTYPE_INT64, {4000, 24});
  std::memset(memory.data(), 0, 4000 * 24 * sizeof(int64_t));
  const Shape shape{4000, 20};
  gth_tensor_desc t = table.desc(), i = describe(GTH_DTYPE_INT64, shape, memory.data());
  i.strides = index_strides;
  const gth_options options = with_axis(1);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER_ELEMENTS, &t, &i, nullptr, &options);
  merged_lines = 0;
  paths_of(making, request);
  return merged_lines;
}

TEST(Paths, ShortLinesAreResolvedTogether) {
  const int64_t with_gaps[] = {24 * 8, 8};
  EXPECT_GE(merged_lines_of(nullptr), 8);
  EXPECT_GE(merged_lines_of(with_gaps), 8);
}

// The index of the axis and that of the last dim are read together. No constant distance separates their elements.
TEST(Paths, ShortLoopsAreOneLine) {
  const Array table(GTH_DTYPE_INT32, {4000, 3, 2}), indices(GTH_DTYPE_INT64, {4000, 5, 2});
  std::memset(indices.data(), 0, 4000 * 5 * 2 * sizeof(int64_t));
  const gth_tensor_desc t = table.desc(), i = indices.desc();
  const gth_options options = with_axis(1);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER_ELEMENTS, &t, &i, nullptr, &options);
  line_tuples = 0;
  paths_of(making, request);
  EXPECT_EQ(line_tuples, 5 * 2);
  EXPECT_GE(merged_lines, 8);
}

// Lines of at most 8 tuples with rows of several elements are added by a kernel that moves rows.
TEST(Paths, SumsOfShortLinesMoveRows) {
  for (const int64_t n : {1, 8, 9}) {
    const Array table(GTH_DTYPE_INT32, {50, 20, 3}), rows(GTH_DTYPE_INT32, {50, n, 3});
    const Array indices = indices64({n}, std::vector<int64_t>(static_cast<size_t>(n), 3));
    const gth_tensor_desc t = table.desc(), i = indices.desc(), r = rows.desc();
    gth_options options = with_axis(1);
    options.reduction = GTH_REDUCTION_ADD;
    const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &r, &options);
    EXPECT_EQ(paths_of(forms[0], request).fused, n <= 8) << n;
  }
}

// A request of three bags, one of them empty. Row i of the table has the numbers 8 * i to 8 * i + 7.
struct FewBags {
  const Array table{GTH_DTYPE_FLOAT32, {9, 8}}, out{GTH_DTYPE_FLOAT32, {3, 8}};
  const Array numbers = indices64({4}, {0, 2, 2, 3}), ids = indices64({3}, {2, 1, 3});
  gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc(), b = numbers.desc();
  gth_options options = GTH_OPTIONS_INIT;

  FewBags() {
    for (int32_t k = 0; k < 9 * 8; ++k) reinterpret_cast<float*>(table.data())[k] = static_cast<float>(k);
  }
};

// Runs a request and its plan. Returns how many of the two took the short form. `expected` has the first number of each
// bag. The others are larger by `step`.
int32_t short_runs_of(const FewBags& few, const std::vector<float>& expected, float step) {
  const auto check = [&] {
    const auto* out = reinterpret_cast<const float*>(few.out.data());
    for (size_t k = 0; k < 24; ++k) {
      const float first = expected[k / 8];
      EXPECT_EQ(out[k], first == 0 ? 0 : first + step * static_cast<float>(k % 8)) << k;
    }
    std::memset(few.out.data(), 1, 24 * sizeof(float));
  };
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &few.t, &few.i, &few.o, &few.options);
  request.bags = &few.b;
  short_bag_runs = 0;
  EXPECT_EQ(gth_run_request(nullptr, &request, nullptr), GTH_OK);
  check();
  Plan plan;
  EXPECT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.table = few.t.data, args.indices = few.i.data, args.bags = few.b.data, args.rows = few.o.data;
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, nullptr), GTH_OK);
  check();
  return short_bag_runs;
}

TEST(Paths, FewPlainBagsHaveAShortForm) {
  const int32_t both = gather::cpu::tier().choose_pooling ? 2 : 0;  // Not every tier has kernels of bags.
  FewBags few;
  few.options.pool = GTH_POOL_MEAN;
  EXPECT_EQ(short_runs_of(few, {12, 0, 24}, 1), both);
  few.options.pool = GTH_POOL_MAX;  // An empty bag has no maximum.
  EXPECT_EQ(short_runs_of(few, {16, 0, 24}, 1), 0);
  few.options = GTH_OPTIONS_INIT;
  few.options.has_padding_index = 1;
  few.options.padding_index = 2;
  EXPECT_EQ(short_runs_of(few, {8, 0, 24}, 1), 0);
}

}  // namespace
