#include "hostile.hpp"
#include "limits.hpp"

// Each written operand overlaps each other operand by one byte, in every form of a call, with few and with many tuples.
// Adjacent operands are accepted.
namespace {

using namespace hostile;

constexpr int64_t spacing = 1 << 16;
constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

// An operand, whose place in the memory is a multiple of `spacing` at first.
struct Operand {
  int32_t name, dtype;
  Shape shape;
  enum class Use : uint8_t { read, written, unused } use = Use::read;
  int64_t at = 0;

  int64_t bytes() const { return count_of(shape) * gth_dtype_size(dtype); }
};
constexpr Operand::Use read = Operand::Use::read, written = Operand::Use::written, unused = Operand::Use::unused;

// The operands of a call in one memory. All ids are 0, and each bag has two of them.
struct Operands {
  std::vector<Operand> all;
  Bytes memory;

  explicit Operands(std::vector<Operand> given) : all(std::move(given)), memory((all.size() + 2) * spacing) {
    for (size_t i = 0; i < all.size(); ++i) all[i].at = static_cast<int64_t>(i + 1) * spacing;
  }

  void set_bags(int32_t format) {
    for (const Operand& each : all) {
      for (int64_t i = 0; each.name == GTH_OPERAND_BAGS && i < each.shape[0]; ++i) {
        const int64_t number = format == GTH_BAGS_SEGMENTS ? i / 2 : format == GTH_BAGS_LENGTHS ? 2 : 2 * i;
        std::memcpy(memory.data() + each.at + 8 * i, &number, sizeof number);
      }
    }
  }
};

// Descriptions of the operands. `offset` is the part of a place that is not in the data pointer.
class Descs {
 public:
  Descs(const Operands& on, int64_t offset) : on_(on) {
    for (size_t i = 0; i < on.all.size(); ++i) {
      const Operand& each = on.all[i];
      descs_[i] = describe(each.dtype, each.shape, on.memory.data() + each.at - offset);
      descs_[i].offset = offset;
    }
  }

  // Returns NULL if there is no such operand.
  const gth_tensor_desc* find(int32_t name) const {
    for (size_t i = 0; i < on_.all.size(); ++i) {
      if (on_.all[i].name == name) return &descs_[i];
    }
    return nullptr;
  }

  gth_request request(int32_t op, int32_t table, int32_t rows, const gth_options* options) const {
    gth_request request = GTH_REQUEST(op, find(table), find(GTH_OPERAND_INDICES), find(rows), options);
    request.bags = find(GTH_OPERAND_BAGS);
    request.weights = find(GTH_OPERAND_WEIGHTS);
    return request;
  }

 private:
  const Operands& on_;
  gth_tensor_desc descs_[7];
};

// Calls run(offset, &error) with each written operand at each place beside or above another one.
template <class Run>
void check_pairs(Operands* on, Run&& run) {
  for (Operand& moving : on->all) {
    const int64_t place = moving.at;
    for (const Operand& other : on->all) {
      if (&moving == &other || moving.use != written) continue;
      for (const bool is_above : {false, true}) {
        for (const int64_t shared : {int64_t{0}, int64_t{1}, std::min(moving.bytes(), other.bytes())}) {
          for (const int64_t offset : {0, 24}) {
            moving.at = is_above ? other.at + other.bytes() - shared : other.at - moving.bytes() + shared;
            Error error;
            const int32_t status = run(offset, &error);
            const std::string text = std::string(is_above ? "above " : "below ") + std::to_string(other.name) + ", " +
                                     std::to_string(shared) + " bytes, written " + std::to_string(moving.name);
            const Facts alias{GTH_E_ALIAS, moving.name, -1, -1, other.name, 0};
            if (shared && other.use == written) {  // Either may be reported.
              EXPECT_EQ(status, GTH_E_ALIAS) << text;
            } else {
              expect_facts(status, error, shared && other.use != unused ? alias : Facts{GTH_OK}, text.c_str());
            }
          }
        }
      }
    }
    moving.at = place;
  }
}

enum class Form : uint8_t { request, named, many, plan, plan_many };

int32_t run_plan(const gth_request& request, bool as_many, gth_error* error) {
  gth_plan* plan = nullptr;
  if (const int32_t status = gth_plan_create(&request, &plan, error)) return status;
  const auto data = [](const gth_tensor_desc* desc) { return desc ? desc->data : nullptr; };
  gth_plan_args args = calls::args(GTH_OPEN, data(request.table), data(request.indices), data(request.rows));
  args.bags = data(request.bags);
  args.weights = data(request.weights);
  const gth_plan* const plans[] = {plan};
  const gth_plan_args* const all[] = {&args};
  const int32_t status =
      as_many ? gth_plan_run_many(nullptr, 1, plans, all, error) : gth_plan_run_args(nullptr, plan, &args, error);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
  return status;
}

int32_t run(Form form, const gth_request& r, gth_error* error) {
  const gth_request* const all[] = {&r};
  switch (form) {
    case Form::request: return gth_run_request(nullptr, &r, error);
    case Form::many: return gth_run_many(nullptr, 1, all, error);
    case Form::plan: return run_plan(r, false, error);
    case Form::plan_many: return run_plan(r, true, error);
    default: break;
  }
  if (r.op == GTH_OP_GATHER_BAGS) {
    return gth_gather_bags(nullptr, r.table, r.indices, r.bags, r.weights, r.rows, r.options, error);
  }
  return calls::every[r.op - 1].named(nullptr, r.table, r.indices, r.rows, r.options, error);
}

// Runs every form of an operation.
void check_forms(Operands* on, int32_t op, const gth_options& options) {
  const bool is_gradient = op >= GTH_OP_GATHER_GRADIENT && op <= GTH_OP_GATHER_ELEMENTS_GRADIENT;
  const bool scatters = op >= GTH_OP_SCATTER && op <= GTH_OP_GATHER_ELEMENTS_GRADIENT;
  for (const Form form : {Form::request, Form::named, Form::many, Form::plan, Form::plan_many}) {
    if (is_gradient && form >= Form::plan) continue;
    SCOPED_TRACE("operation " + std::to_string(op) + ", form " + std::to_string(static_cast<int>(form)));
    check_pairs(on, [&](int64_t offset, gth_error* error) {
      const Descs descs(*on, offset);
      const gth_request request = descs.request(op, scatters ? GTH_OPERAND_TARGET : GTH_OPERAND_PARAMS,
                                                scatters ? GTH_OPERAND_UPDATES : GTH_OPERAND_OUT, &options);
      const int32_t status = run(form, request, error);
      error->item = -1;  // It is 0 in calls of many.
      return status;
    });
  }
}

TEST(Alias, OverlapOfEachPairOfOperandsIsRejectedByEveryForm) {
  for (const int64_t n : {int64_t{3}, limits::min_kernel_tuples, limits::short_tuples + 1}) {
    for (const calls::Operation& op : calls::every) {
      const bool is_nd = op.number % 3 == 2, is_elements = op.number % 3 == 0;
      const bool gathers = op.number <= GTH_OP_GATHER_ELEMENTS;
      const Shape table = is_elements ? Shape{4} : Shape{4, 2}, rows = is_elements ? Shape{n} : Shape{n, 2};
      Operands on({{gathers ? GTH_OPERAND_PARAMS : GTH_OPERAND_TARGET, f32, table, gathers ? read : written},
                   {GTH_OPERAND_INDICES, i64, is_nd ? Shape{n, 1} : Shape{n}},
                   {gathers ? GTH_OPERAND_OUT : GTH_OPERAND_UPDATES, f32, rows, gathers ? written : read}});
      for (const int32_t reduction : {0, GTH_REDUCTION_ADD, GTH_REDUCTION_MEAN}) {
        const bool reduces = op.number >= GTH_OP_SCATTER && op.number < GTH_OP_GATHER_GRADIENT;
        if (reduces || reduction == 0) check_forms(&on, op.number, reducing(reduction));
      }
    }
    if (HasFailure()) return;
  }
}

constexpr int32_t formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS, GTH_BAGS_DENSE};

// Returns the operands that all requests of bags have.
std::vector<Operand> bags_of(int64_t bags, int32_t format, bool has_weights) {
  const Shape ids = format == GTH_BAGS_DENSE ? Shape{bags, 2} : Shape{2 * bags};
  const int64_t numbers = format == GTH_BAGS_OFFSETS ? bags + 1 : format == GTH_BAGS_SEGMENTS ? 2 * bags : bags;
  std::vector<Operand> all{{GTH_OPERAND_PARAMS, f32, {4, 2}}, {GTH_OPERAND_INDICES, i64, ids}};
  if (format != GTH_BAGS_DENSE) all.push_back({GTH_OPERAND_BAGS, i64, {numbers}});
  if (has_weights) all.push_back({GTH_OPERAND_WEIGHTS, f32, ids});
  return all;
}

gth_options options_of(int64_t bags, int32_t format, int32_t pool) {
  gth_options options = GTH_OPTIONS_INIT;
  options.bag_format = format;
  options.bag_count = format == GTH_BAGS_SEGMENTS ? bags : 0;
  options.pool = pool;
  return options;
}

TEST(Alias, OverlapOfEachPairOfOperandsOfBagsIsRejectedByEveryForm) {
  for (const int64_t bags : {int64_t{3}, limits::short_bag_ids}) {
    for (const int32_t format : formats) {
      for (const bool has_weights : {false, true}) {
        std::vector<Operand> all = bags_of(bags, format, has_weights);
        all.push_back({GTH_OPERAND_OUT, f32, {bags, 2}, written});
        Operands on(std::move(all));
        on.set_bags(format);
        check_forms(&on, GTH_OP_GATHER_BAGS, options_of(bags, format, GTH_POOL_MEAN));
      }
    }
    if (HasFailure()) return;
  }
}

enum class Gradient : uint8_t { of_params, sparse, of_weights, positions };

int32_t run_gradient(Gradient kind, const Descs& descs, const gth_options& options, gth_error* error) {
  const gth_request request = descs.request(GTH_OP_GATHER_BAGS, GTH_OPERAND_PARAMS, GTH_OPERAND_UPDATES, &options);
  const gth_tensor_desc* const target = descs.find(GTH_OPERAND_TARGET);
  int64_t count = 0;
  switch (kind) {
    case Gradient::of_params: return gth_gather_bags_gradient(nullptr, &request, target, error);
    case Gradient::of_weights: return gth_gather_bags_weight_gradient(nullptr, &request, target, error);
    case Gradient::positions: return gth_gather_bags_positions(nullptr, &request, descs.find(GTH_OPERAND_OUT), error);
    default:
      return gth_gather_bags_sparse_gradient(nullptr, &request, descs.find(GTH_OPERAND_OUT), target, &count, error);
  }
}

TEST(Alias, OverlapOfEachPairOfOperandsOfGradientsOfBagsIsRejected) {
  constexpr int64_t bags = 3;
  for (const int32_t format : formats) {
    for (const int32_t pool : {GTH_POOL_MEAN, GTH_POOL_MAX}) {
      for (const Gradient kind : {Gradient::of_params, Gradient::sparse, Gradient::of_weights}) {
        const bool is_extreme = pool == GTH_POOL_MAX;
        if (is_extreme && kind == Gradient::of_weights) continue;
        SCOPED_TRACE("format " + std::to_string(format) + ", pool " + std::to_string(pool) + ", gradient " +
                     std::to_string(static_cast<int>(kind)));
        std::vector<Operand> all = bags_of(bags, format, !is_extreme);
        if (!is_extreme && kind != Gradient::of_weights) all[0].use = unused;
        all.push_back({GTH_OPERAND_UPDATES, f32, {bags, 2}});
        all.push_back({GTH_OPERAND_TARGET, f32, kind == Gradient::of_weights ? all[1].shape : Shape{4, 2}, written});
        if (kind == Gradient::sparse) all.push_back({GTH_OPERAND_OUT, i64, {4}, written});
        Operands on(std::move(all));
        on.set_bags(format);
        const gth_options options = options_of(bags, format, pool);
        check_pairs(&on, [&](int64_t offset, gth_error* error) {
          return run_gradient(kind, Descs(on, offset), options, error);
        });
      }
    }
  }
}

TEST(Alias, OverlapOfEachPairOfOperandsOfPositionsOfBagsIsRejected) {
  constexpr int64_t bags = 3;
  for (const int32_t format : formats) {
    SCOPED_TRACE("format " + std::to_string(format));
    std::vector<Operand> all = bags_of(bags, format, false);
    all.push_back({GTH_OPERAND_OUT, i64, {bags, 2}, written});
    Operands on(std::move(all));
    on.set_bags(format);
    const gth_options options = options_of(bags, format, GTH_POOL_MIN);
    check_pairs(&on, [&](int64_t offset, gth_error* error) {
      return run_gradient(Gradient::positions, Descs(on, offset), options, error);
    });
  }
}

}  // namespace
