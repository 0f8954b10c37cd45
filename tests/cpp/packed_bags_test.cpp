#include "hostile.hpp"
#include "packed_cases.hpp"
#include "packed_opened.hpp"

// Compares gather_bags of packed rows with the oracle: random codecs, formats of bags, pools, weights and policies.
namespace {

using namespace packed;
using namespace bag_cases;
using hostile::Error;

// A request of gather_bags. The table of `bags` has only the dtype and the number of rows.
struct PackedCase {
  bag_cases::Case bags;
  Table table;
  Array out;
  int64_t inner = 1;  // packed rows of an id
  std::vector<char> expected;
  bool is_torch = false;

  int32_t out_dtype() const { return bags.options.out_dtype ? bags.options.out_dtype : table.dtype; }
};

class PackedBags : public ::testing::Test {
 protected:
  // ---- Drawing

  static void draw_form(PackedCase* c, const Sizes& sizes) {
    constexpr int32_t formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS,
                                   GTH_BAGS_DENSE};
    constexpr int32_t formats_of_torch[] = {GTH_BAGS_OFFSETS, GTH_BAGS_DENSE};
    bag_cases::Case& bags = c->bags;
    c->is_torch = chance(35);
    bags.format = c->is_torch ? pick(formats_of_torch) : pick(formats);
    bags.rows = sizes.rows, bags.bag_count = sizes.bags, bags.count = sizes.ids;
    constexpr int32_t pools_of_torch[] = {GTH_POOL_SUM, GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX};
    bags.pool = c->is_torch ? pick(pools_of_torch) : pick(all_pools);
    const bool adds = bags.pool != GTH_POOL_MAX && bags.pool != GTH_POOL_MIN;
    bags.has_weights = c->is_torch ? bags.pool == GTH_POOL_SUM && chance(50) : adds && chance(40);
  }

  static void draw_arrays(PackedCase* c) {
    bag_cases::Case& bags = c->bags;
    const bool is_dense = bags.format == GTH_BAGS_DENSE;
    Shape ids{bags.count};
    if (is_dense) {
      ids = {bags.bag_count, bags.bag_count ? bags.count / bags.bag_count : 3};
      bags.count = product(ids);
    }
    constexpr int32_t torch_indices[] = {GTH_DTYPE_INT32, GTH_DTYPE_INT64};
    int32_t dtype = c->is_torch ? pick(torch_indices) : pick(integers);
    if (bags.rows > 90 && item_of(dtype) < 4) dtype = GTH_DTYPE_INT64;
    bags.ids.make(dtype, ids, chance(60));
    bags.has_bags = !is_dense;
    const int64_t size = bags.format == GTH_BAGS_OFFSETS    ? bags.bag_count + 1
                         : bags.format == GTH_BAGS_SEGMENTS ? bags.count
                                                            : bags.bag_count;
    const bool is_long = bags.count > 100 || bags.bag_count > 100;
    if (bags.has_bags)
      bags.bags.make(c->is_torch ? dtype : is_long ? pick(wide_integers) : pick(integers), {size}, chance(60));
    if (bags.has_weights) bags.weights.make(chance(50) ? f32 : c->table.dtype, ids, chance(60));
    for (int64_t i = 0; i < product(ids) && bags.has_weights; ++i)
      draw_number(bags.weights.desc.dtype, bags.weights.at(i));
  }

  static void draw_all_options(PackedCase* c) {
    bag_cases::Case& bags = c->bags;
    bags.table.make(c->table.dtype, {bags.rows, 1}, true);
    draw_options(&bags);
    gth_options& options = bags.options;
    options.pool = bags.pool == GTH_POOL_SUM && chance(50) ? 0 : bags.pool;
    options.bag_format = bags.format;
    options.bag_count = bags.format == GTH_BAGS_SEGMENTS ? bags.bag_count : 0;
    const bool is_half = c->table.dtype != f32;
    options.out_dtype = is_half && chance(40) ? f32 : 0;
    if (c->is_torch) options.profile = GTH_PROFILE_TORCH;
    if (!c->is_torch && chance(30)) options.accumulate = static_cast<int32_t>(1 + below(2));
    if (c->is_torch && chance(70)) options.bounds = options.negative = options.empty = options.has_padding_index = 0;
    if (!options.has_padding_index) options.padding_index = 0;
  }

  static PackedCase draw_case(const Sizes& sizes, int64_t wanted, bool has_inner) {
    PackedCase c;
    draw_form(&c, sizes);
    if (has_inner) c.inner = 1 + below(3);
    Shape rows{c.bags.rows};
    if (has_inner) rows.push_back(c.inner);
    c.table = make_table(rows, wanted);
    draw_arrays(&c);
    draw_all_options(&c);
    Shape out = c.table.shape;
    out[0] = c.bags.bag_count;
    c.out = make_output(c.out_dtype(), out);
    draw_begin(&c.bags);
    if (c.bags.has_bags) write_bags(c.bags, c.bags.begin);
    draw_ids(&c.bags);
    expect_numbers(&c);
    return c;
  }

  // ---- The oracle

  static void expect_numbers(PackedCase* c) {
    bag_cases::expect(&c->bags);  // for ids and bags that are invalid
    c->expected = expected_of(*c, c->table, c->out);
  }

  static std::vector<char> expected_of(const PackedCase& c, const Table& table, const Array& out) {
    Array result = out;
    const bag_cases::Case& bags = c.bags;
    if (bags.bad_id >= 0 || bags.empty_bag >= 0) return result.memory;
    const Described described(table);
    const float fill = decode(c.table.dtype, bags.options.fill_value);
    const int32_t rounds_to =
        bags.options.accumulate == GTH_ACCUMULATE_DTYPE && c.table.dtype != f32 ? c.table.dtype : 0;
    const Pooling pooling{bags.pool, bags.has_weights, c.is_torch, fill, rounds_to};
    const int64_t values = c.table.values();
    for (int64_t bag = 0; bag < bags.bag_count; ++bag) {
      const std::vector<Pooled> ids = ids_of(bags, bag);
      for (int64_t i = 0; i < c.inner; ++i) {
        std::vector<Pooled> rows = ids;
        for (Pooled& each : rows) each.row = each.row < 0 ? -1 : each.row * c.inner + i;
        for (int64_t j = 0; j < values; ++j) {
          float value = bags.options.empty == GTH_EMPTY_FILL ? fill : 0;
          if (!rows.empty()) value = pool(described.params, rows, pooling, j);
          encode(c.out_dtype(), value, result.at((bag * c.inner + i) * values + j));
        }
      }
    }
    return result.memory;
  }

  static std::vector<Pooled> ids_of(const bag_cases::Case& bags, int64_t bag) {
    std::vector<Pooled> found;
    for (int64_t k = bags.begin[static_cast<size_t>(bag)]; k < bags.begin[static_cast<size_t>(bag + 1)]; ++k) {
      const int64_t row = row_of(bags, bags.id[static_cast<size_t>(k)]);
      if (row == left_out) continue;
      found.push_back({row == filled ? -1 : row,
                       bags.has_weights ? packed::decode(bags.weights.desc.dtype, bags.weights.at(k)) : 1});
    }
    return found;
  }

  // ---- Forms

  void judge(const PackedCase& c, int32_t status, const Error& error, const Array& out,
             const std::vector<char>& expected, const char* form) {
    ++runs_;
    if (c.bags.empty_bag >= 0) {
      EXPECT_EQ(status, GTH_E_OFFSETS) << form << ": " << error.message;
      EXPECT_EQ(error.position, c.bags.empty_bag) << form;
    } else if (c.bags.bad_id >= 0) {
      EXPECT_EQ(status, GTH_E_INDEX) << form << ": " << error.message;
      EXPECT_EQ(error.operand, GTH_OPERAND_INDICES) << form;
      EXPECT_EQ(error.position, c.bags.bad_id) << form;
    } else {
      EXPECT_EQ(status, GTH_OK) << form << ": " << error.message;
    }
    std::vector<char> same = expected;
    for (int64_t i = 0; i < product(out.shape); ++i) {
      const int64_t at = out.at(i) - out.memory.data(), values = out.shape.back();
      const auto item = static_cast<size_t>(item_of(out.desc.dtype));
      if (is_same(out.desc.dtype, same.data() + at, out.memory.data() + at)) {
        std::memcpy(same.data() + at, out.memory.data() + at, item);
      } else {
        ADD_FAILURE() << form << ": number " << i % values << " of row " << i / values << " is "
                      << packed::decode(out.desc.dtype, out.memory.data() + at) << ", expected "
                      << packed::decode(out.desc.dtype, same.data() + at);
        return;
      }
    }
    EXPECT_TRUE(same == out.memory) << form << ": bytes between the numbers differ";
  }

  struct Operands {
    Described table;
    gth_tensor_desc ids, bags, weights, out;
    gth_request request = GTH_REQUEST_INIT;

    Operands(const PackedCase& c, const Array& rows)
        : table(c.table),
          ids(c.bags.ids.described()),
          bags(c.bags.bags.described()),
          weights(c.bags.weights.described()),
          out(rows.described()) {
      request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &table.params, &ids, &out, &c.bags.options);
      request.bags = c.bags.has_bags ? &bags : nullptr;
      request.weights = c.bags.has_weights ? &weights : nullptr;
    }
  };

  void run_into(PackedCase* c) {
    for (const int32_t threads : {1, 3}) {
      c->bags.options.threads = threads;
      Array out = c->out;
      const Operands operands(*c, out);
      Error error;
      const int32_t status = gth_run_request(nullptr, &operands.request, &error);
      judge(*c, status, error, out, c->expected, threads == 1 ? "run" : "threads");
    }
  }

  void run_new(const PackedCase& c) {
    const Operands operands(c, c.out);
    gth_request request = operands.request;
    request.rows = nullptr;
    Error error;
    gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
    int64_t shape[8];
    ASSERT_EQ(gth_infer(&request, &form, 8, shape, &error), GTH_OK) << error.message;
    EXPECT_EQ(form.dtype, c.out_dtype());
    EXPECT_EQ(Shape(shape, shape + form.ndim), c.out.shape);
    hostile::Tensor made;
    const int32_t status = gth_make(nullptr, &request, made.out(), &error);
    Array dense;
    dense.make(c.out_dtype(), c.out.shape, true);
    const std::vector<char> expected = expected_of(c, c.table, dense);
    const auto bytes = static_cast<size_t>(product(dense.shape) * item_of(c.out_dtype()));
    if (!status && bytes) std::memcpy(dense.memory.data(), made.desc().data, bytes);
    judge(c, status, error, dense, expected, "make");
  }

  void run_many(const PackedCase& c) {
    Array first = c.out, second = c.out;
    const Operands one(c, first), two(c, second);
    const gth_request* const both[] = {&one.request, &two.request};
    Error error;
    const int32_t status = gth_run_many(nullptr, 2, both, &error);
    judge(c, status, error, first, c.expected, "many");
    judge(c, status, error, second, c.expected, "second of many");
  }

  void run_planned(const PackedCase& c) {
    Array out = c.out;
    const Operands operands(c, out);
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(gth_plan_create(&operands.request, plan.out(), &error), GTH_OK) << error.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    ASSERT_EQ(gth_plan_extents(plan.get(), &args, &error), GTH_OK) << error.message;
    args.flags = GTH_ARGS_EXTENTS;
    args.table = operands.table.params.data;
    args.indices = operands.ids.data;
    args.rows = out.memory.data();
    args.bags = c.bags.has_bags ? operands.bags.data : nullptr;
    args.weights = c.bags.has_weights ? operands.weights.data : nullptr;
    gth_plan_args kept = args;
    kept.scales_extent = kept.zeros_extent = 0;
    judge(c, gth_plan_run_args(nullptr, plan.get(), &kept, &error), error, out, c.expected, "plan");
    judge_exchanged(c, plan.get(), args);
  }

  void judge_exchanged(const PackedCase& c, const gth_plan* plan, gth_plan_args args) {
    PackedCase other = c;
    for (Array* array : {&other.table.scales, &other.table.zeros}) {
      for (int64_t i = 0; i < product(array->shape) && !array->shape.empty(); ++i)
        draw_number(array->desc.dtype, array->at(i));
    }
    const Described described(other.table);
    args.scales = described.codec.scales ? described.scales.data : nullptr;
    args.zeros = described.codec.zeros ? described.zeros.data : nullptr;
    args.rows = other.out.memory.data();
    Error error;
    const std::vector<char> expected = expected_of(c, other.table, c.out);
    judge(c, gth_plan_run_args(nullptr, plan, &args, &error), error, other.out, expected, "exchanged scales");
  }

  // The number of bags is open, or that of ids.
  void run_open(const PackedCase& c, bool open_ids) {
    const bag_cases::Case& bags = c.bags;
    if (bags.format == GTH_BAGS_DENSE || bags.format == GTH_BAGS_SEGMENTS || bags.count == 0 || bags.bag_count == 0)
      return;
    const auto grows = [](const Array& array) { return !array.strides.empty() && array.strides[0] < 0; };
    if (grows(bags.ids) || grows(bags.bags) || grows(c.out) || (bags.has_weights && grows(bags.weights))) return;
    Array out = c.out;
    Operands operands(c, out);
    Shape ids = bags.ids.shape, borders = bags.bags.shape, rows = c.out.shape;
    (open_ids ? ids[0] : borders[0]) = GTH_OPEN;
    if (!open_ids) rows[0] = GTH_OPEN;
    operands.ids.shape = operands.weights.shape = ids.data();
    operands.bags.shape = borders.data();
    operands.out.shape = rows.data();
    hostile::Plan plan;
    Error error;
    ASSERT_EQ(gth_plan_create(&operands.request, plan.out(), &error), GTH_OK) << error.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    (open_ids ? args.ids : args.n) = open_ids ? bags.count : bags.bag_count;
    args.table = operands.table.params.data;
    args.indices = operands.ids.data;
    args.rows = out.memory.data();
    args.bags = operands.bags.data;
    args.weights = bags.has_weights ? operands.weights.data : nullptr;
    judge(c, gth_plan_run_args(nullptr, plan.get(), &args, &error), error, out, c.expected, "open plan");
  }

  void run_handles(const PackedCase& c) {
    Array out = c.out;
    Operands operands(c, out);
    const hostile::Tensor table(operands.table.params);
    ASSERT_TRUE(table);
    const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(table.get());
    operands.request.table = &named;
    Error error;
    const int32_t status = gth_run_request(nullptr, &operands.request, &error);
    judge(c, status, error, out, c.expected, "handle");
  }

  // Runs bags of rows in segments, as a request and as a plan.
  void run_opened(const PackedCase& c) {
    if (c.table.shape[0] == 0) return;
    const Opened table(c.table);
    const gth_tensor_desc params = table.desc();
    Array out = c.out;
    Operands operands(c, out);
    operands.request.table = &params;
    Error error;
    judge(c, gth_run_request(nullptr, &operands.request, &error), error, out, c.expected, "opened");
    Array planned = c.out;
    hostile::Plan plan;
    ASSERT_EQ(gth_plan_create(&operands.request, plan.out(), &error), GTH_OK) << error.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.indices = operands.ids.data;
    args.rows = planned.memory.data();
    args.bags = c.bags.has_bags ? operands.bags.data : nullptr;
    args.weights = c.bags.has_weights ? operands.weights.data : nullptr;
    judge(c, gth_plan_run_args(nullptr, plan.get(), &args, &error), error, planned, c.expected, "opened plan");
  }

  // Rows are in memory, but scales and zero points are in segments.
  void run_opened_parts(const PackedCase& c) {
    if (c.table.shape[0] == 0) return;
    const OpenedParts table(c.table);
    Array out = c.out;
    Operands operands(c, out);
    operands.request.table = &table.params();
    Error error;
    judge(c, gth_run_request(nullptr, &operands.request, &error), error, out, c.expected, "opened scales");
  }

  void run_case(PackedCase c) {
    SCOPED_TRACE("case " + std::to_string(number_++) + (c.is_torch ? " torch " : " ") + bag_cases::describe(c.bags) +
                 ", " + describe(c.table));
    run_into(&c);
    if (chance(30)) run_new(c);
    if (chance(30)) run_many(c);
    if (chance(30)) run_planned(c);
    if (chance(30)) run_open(c, chance(50));
    if (chance(20)) run_handles(c);
    if (chance(30)) run_opened(c);
    if (chance(10)) run_opened_parts(c);
  }

  void SetUp() override { engine.seed(static_cast<uint64_t>(environment::number("GATHER_SEED", 1))); }

  int64_t number_ = 0, runs_ = 0;
};

TEST_F(PackedBags, RandomBagsMatchTheOracle) {
  const int64_t wanted = random_cases(4000);
  while (runs_ < wanted && !HasFailure()) {
    Sizes sizes = draw_sizes(false);
    sizes.ids = std::min<int64_t>(sizes.ids, 60);
    run_case(draw_case(sizes, sizes.ids > 12 ? 1 + below(70) : length_around(), chance(25)));
  }
  std::printf("packed bags: %lld runs of %lld requests\n", static_cast<long long>(runs_),
              static_cast<long long>(number_));
}

TEST_F(PackedBags, SizesAtTheBordersOfBlocksMatchTheOracle) {
  const int64_t wanted = random_cases(4000) / 20;
  while (runs_ < wanted && !HasFailure()) {
    const Sizes sizes = draw_border(chance(50) ? Border::ids : Border::bags);
    run_case(draw_case({std::min<int64_t>(sizes.rows, 300), sizes.bags, sizes.ids, {}}, 1 + below(20), false));
  }
}

// Bags of as many rows as a step has at most, and one more or less. Some rows are so long that a step has fewer of them,
// and some so short that their bytes do not limit it.
TEST_F(PackedBags, SizesAtTheBordersOfStepsMatchTheOracle) {
  constexpr int64_t numbers[] = {1,
                                 limits::chunk_numbers,
                                 2 * limits::chunk_numbers,
                                 4 * limits::chunk_numbers,
                                 limits::bag_step_bytes / limits::step_rows,
                                 2 * limits::bag_step_bytes / limits::step_rows};
  constexpr int64_t ids[] = {4, limits::step_rows / 2, limits::step_rows, 2 * limits::step_rows};
  const int64_t wanted = random_cases(4000) / 20;
  while (runs_ < wanted && !HasFailure()) {
    const int64_t bags = 1 + below(3), count = std::max<int64_t>(1, pick(ids) + below(3) - 1);
    const int64_t values = std::max<int64_t>(1, pick(numbers) + below(3) - 1);
    run_case(draw_case({100, bags, bags * count, {}}, values, false));
  }
}

}  // namespace
