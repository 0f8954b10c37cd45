#include "execution/bag_gradient.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <memory>
#include <new>

#include "core/base/moved.hpp"
#include "core/base/noinline.hpp"
#include "core/meaning/bag_meaning.hpp"
#include "core/os/memory.hpp"
#include "core/plan/lower.hpp"
#include "core/types/dtype.hpp"
#include "cpu/bag_gradient_steps.hpp"
#include "cpu/bag_kernels.hpp"
#include "execution/computation.hpp"
#include "execution/execute.hpp"
#include "execution/gradient.hpp"

namespace gather::execution {
namespace {

using core::Plan;
using core::Request;

// A call, and its plans. All operands but bags and ids have been validated. Plans are on the heap, because gather_bags
// needs most of the stack that a call may use.
struct Operands : core::Allocated, BagCall {
  explicit Operands(const BagCall& call) : BagCall(call) {}

  Plan plan;           // of the forward call, with a dense output
  mutable Plan inner;  // of a request of this call

  const gth_tensor_desc& gradient() const { return *request.rows; }
};

bool is_extreme(const Plan& plan) { return core::is_extreme_pool(plan.bags.pool); }

bool divides(const Plan& plan) { return core::is_dividing_pool(plan.bags.pool); }

bool is_complex(const Plan& plan) { return plan.reducing.number == core::Number::complex; }

// ---- Validation

// If the forward call has no weights, their gradient has the dtype of params.
int32_t check_weight_form(const Operands& on, const core::Meaning& meaning, const Error& error) {
  const int32_t pool = meaning.settings.bags.pool;
  if (pool > GTH_POOL_SQRTN || meaning.dtypes.table->number == core::Number::complex) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_WEIGHTS}, "weights: these params or this pool have none");
  }
  const gth_tensor_desc& indices = *on.request.indices;
  const int32_t dtype = on.request.weights ? on.request.weights->dtype : on.request.table->dtype;
  return check_form(*on.target, GTH_OPERAND_TARGET, dtype, indices.ndim, indices.shape, error);
}

int32_t check_forms(const Operands& on, const core::Meaning& meaning, const Error& error) {
  const BagResult result = on.result;
  const gth_tensor_desc& params = *on.request.table;
  if (result == BagResult::weights) return check_weight_form(on, meaning, error);
  if (result == BagResult::positions) {
    const core::Geometry& out = meaning.geometry;
    return check_form(*on.target, GTH_OPERAND_OUT, GTH_DTYPE_INT64, out.ndim, out.shape, error);
  }
  int64_t shape[GTH_MAX_NDIM];
  std::copy_n(params.shape, params.ndim, shape);
  if (result == BagResult::sparse) shape[0] = GTH_OPEN;
  const int32_t status = check_form(*on.target, GTH_OPERAND_TARGET, params.dtype, params.ndim, shape, error);
  if (status || result == BagResult::params) return status;
  return check_form(*on.unique, GTH_OPERAND_OUT, GTH_DTYPE_INT64, 1, on.target->shape, error);
}

// The gradient has the dtype of params, because a sum of wider numbers would be rounded twice.
int32_t check_out_dtype(const Request& request, const Error& error) {
  const int32_t dtype = core::rows_dtype_of(request);
  if (dtype == request.table->dtype) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, out_dtype), -1, dtype, 0},
                    "options: out_dtype is %s, which gradients do not have", core::dtype_name(dtype));
}

// Only the maximum and the minimum have positions.
int32_t check_extreme(const Request& request, const Error& error) {
  const int32_t pool = request.options ? request.options->pool : 0;
  if (core::is_extreme_pool(pool)) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, pool), -1, pool, GTH_POOL_MIN},
                    "options: pool must be max or min, because other pools have no positions");
}

// Checks the memory that a call uses. Max and min read params.
int32_t check_used(const Operands& on, const Error& error) {
  const Request& request = on.request;
  const bool reads_params = on.result == BagResult::weights || is_extreme(on.plan);
  Used used[] = {{reads_params ? request.table : nullptr, GTH_OPERAND_PARAMS},
                 {request.indices, GTH_OPERAND_INDICES},
                 {request.rows, GTH_OPERAND_UPDATES},
                 {request.bags, GTH_OPERAND_BAGS},
                 {request.weights, GTH_OPERAND_WEIGHTS},
                 {on.target, target_name(on.result), true},
                 {on.unique, GTH_OPERAND_OUT, true}};
  return check_memory(on.context, used, 7, error);
}

// Only a gather reads packed rows and tables in files.
int32_t check_plain(const Request& request, const Error& error) {
  const bool is_in_files = request.table->flags & core::tensor_in_files;
  if (!request.codec && !is_in_files) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS},
                    "params: %s have no gradients, and bags of them no positions",
                    is_in_files ? "rows in files" : "packed rows");
}

// Validates everything but bags and ids, and makes the plan of the forward call.
GATHER_NOINLINE int32_t validate(Operands* on, const Error& error) {
  int32_t status = check_plain(on->request, error);
  if (!status) status = (has_gradient(on->result) ? check_out_dtype : check_extreme)(on->request, error);
  if (status) return status;
  core::Meaning meaning;
  if ((status = core::resolve_bags_meaning(on->request, &meaning, error))) {
    return fail_updates(on->result, status, error);
  }
  if ((status = check_forms(*on, meaning, error))) return status;
  // The plan is one of a call that writes the rows. They are read here, and may have strides that a plan rejects.
  Request dense = on->request;
  dense.set(core::Role::rows, nullptr);
  status = core::lower(dense, &on->plan, error);
  return status ? status : check_used(*on, error);
}

// ---- Steps

// Runs a request of the library.
GATHER_NOINLINE int32_t run_inner(const Context& context, const Request& request, Plan* plan, const Error& error) {
  if (int32_t status = core::lower(request, plan, error)) return status;
  const core::Pointers pointers = pointers_of(request);
  return plan->operation->is_gradient() ? run_gradient(context, *plan, pointers, *request.table, error)
                                        : execute_once(context, *plan, pointers, Output::callers, error);
}

// The computation of one call. Its memory is released at the end.
class Computation {
 public:
  explicit Computation(const Operands& on) : on_(on), plan_(on.plan) {
    const gth_tensor_desc& params = *on.request.table;
    read_ = {plan_.bags.count.at(GTH_OPEN), plan_.bags.ids_of(GTH_OPEN, GTH_OPEN), nullptr, nullptr};
    std::copy_n(params.shape, params.ndim, row_shape_);
    row_shape_[0] = 1;
    const gth_tensor_desc slice = GTH_TENSOR_DESC_DENSE(params.dtype, params.ndim, row_shape_, nullptr);
    slice_bytes_ = count_bytes(slice);
  }

  int32_t run(const Error& error) {
    if (int32_t status = read(error)) return status;
    if (on_.result == BagResult::positions) return run_positions(error);
    row_shape_[0] = read_.bags;
    if (int32_t status = find_gradient(error)) return status;
    if (on_.result == BagResult::weights) return run_weights(error);
    int32_t status = GTH_OK;
    if (on_.result == BagResult::sparse || !is_extreme(plan_)) {
      if ((status = sort(error))) return status;
    }
    if (!plan_.is_empty) status = is_extreme(plan_) ? run_extreme(error) : run_sum(error);
    return status || on_.result == BagResult::params ? status : write_unique(error);
  }

 private:
  static gth_tensor_desc line(int32_t dtype, const int64_t* count, const void* data) {
    return GTH_TENSOR_DESC_DENSE(dtype, 1, count, data);
  }
  gth_tensor_desc rows(int32_t dtype, const void* data) const {
    return GTH_TENSOR_DESC_DENSE(dtype, on_.request.table->ndim, row_shape_, data);
  }
  gth_options options() const {
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = plan_.threads;
    options.accumulate = plan_.bags.rounds_each ? GTH_ACCUMULATE_DTYPE : GTH_ACCUMULATE_FLOAT32;
    return options;
  }
  Request request(int32_t op, const gth_tensor_desc* table, const gth_tensor_desc* indices, const gth_tensor_desc* rows,
                  const gth_options* options) const {
    return {core::by_role(table, indices, rows),
            &core::operation_of(op),
            core::Open::none,
            core::three_roles,
            options,
            GTH_DEVICE_CPU,
            0};
  }
  cpu::Executor executor() const { return executor_for(on_.context, plan_.threads); }

  // Reads bags, ids and weights. If the result does not depend on the bags, there may be too many of them for `begin`.
  int32_t read(const Error& error) {
    const char* ids;
    const bool needs_bags = !plan_.is_empty && read_.ids > 0;
    int32_t status = allocate(read_.ids, &rows_, error);
    if (!status && needs_bags) status = allocate(read_.bags + 1, &begin_, error);
    if (!status) status = find_dense(on_.context, *on_.request.indices, false, &ids_room_, &ids, error);
    if (status) return status;
    read_.rows = rows_.data();
    read_.begin = needs_bags ? begin_.data() : nullptr;
    const gth_tensor_desc* const bags = on_.request.bags;
    const char* const numbers = bags ? core::moved(static_cast<const char*>(bags->data), plan_.offset.bags) : nullptr;
    if ((status = cpu::read_bags(plan_, numbers, ids, &read_, error))) return status;
    return find_factors(error);
  }

  // Finds the rows of the gradient that the bags need, and divides complex ones.
  int32_t find_gradient(const Error& error) {
    if (read_.bags == 0) return GTH_OK;
    const bool copies = is_complex(plan_) && divides(plan_);
    const int32_t status = find_dense(on_.context, on_.gradient(), copies, &gradient_room_, &gradient_, error);
    if (!status && copies) cpu::divide_rows(plan_, read_, slice_bytes_, gradient_room_.data());
    return status;
  }

  int32_t find_factors(const Error& error) {
    const int64_t bytes = cpu::sum_bytes(plan_);
    if (on_.request.weights) {
      const char* given;
      int32_t status = find_dense(on_.context, *on_.request.weights, false, &weights_given_, &given, error);
      if (!status) status = allocate(read_.ids, bytes, &weights_, error);
      if (status) return status;
      cpu::load_weights(plan_, given, read_.ids, weights_.data());
      factors_.weights = weights_.data();
    }
    if (!divides(plan_) || is_complex(plan_)) return GTH_OK;
    if (int32_t status = allocate(read_.bags, bytes, &divisors_, error)) return status;
    cpu::find_divisors(plan_, read_, factors_.weights, divisors_.data());
    factors_.divisors = divisors_.data();
    return GTH_OK;
  }

  // Sorts the ids by row. For a sparse result, rows are replaced by their ranks.
  int32_t sort(const Error& error) {
    const int64_t* const capacity = on_.target->shape;
    int32_t status =
        read_.ids > INT64_MAX / 4 ? fail_memory(INT64_MAX, error) : allocate(4 * read_.ids, &sorting_, error);
    if (status) return status;
    sorted_ = cpu::sort_ids(read_, sorting_.data());
    if (on_.result == BagResult::params) return GTH_OK;
    if ((status = allocate(sorted_.count, &unique_, error))) return status;
    unique_count_ = cpu::rank_rows(&sorted_, unique_.data());
    if (unique_count_ <= *capacity) return GTH_OK;
    return error.fail({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, *capacity, unique_count_},
                      "out: room for %" PRId64 " rows, needed are %" PRId64, *capacity, unique_count_);
  }

  // Returns the written rows. `shape` receives their shape.
  gth_tensor_desc written(int64_t* shape) const {
    gth_tensor_desc target = *on_.target;
    std::copy_n(target.shape, target.ndim, shape);
    if (on_.result == BagResult::sparse) shape[0] = unique_count_;
    target.shape = shape;
    return target;
  }

  // Sums the rows of the gradient whose bags have read a row, as a bag of this row.
  int32_t run_sum(const Error& error) {
    const bool has_factors = factors_.weights || factors_.divisors;
    const int32_t dtype = on_.request.table->dtype;
    Numbers bag_of;
    Bytes scales;
    int32_t status = allocate(read_.ids, &bag_of, error);
    if (!status && has_factors) status = allocate(sorted_.count, cpu::sum_bytes(plan_), &scales, error);
    if (status) return status;
    cpu::replace_positions(plan_, read_, factors_, &sorted_, bag_of.data(), has_factors ? scales.data() : nullptr);
    int64_t shape[GTH_MAX_NDIM];
    const gth_tensor_desc target = written(shape), table = rows(dtype, gradient_);
    const bool is_half = cpu::sum_bytes(plan_) > cpu::part_bytes(plan_);
    const gth_tensor_desc indices = line(GTH_DTYPE_INT64, &sorted_.count, sorted_.positions),
                          bags = line(GTH_DTYPE_INT64, &sorted_.count, sorted_.rows),
                          weights = line(is_half ? GTH_DTYPE_FLOAT32 : dtype, &sorted_.count, scales.data());
    gth_options given = options();
    given.bag_format = GTH_BAGS_SEGMENTS;
    given.bag_count = shape[0];
    Request sum = request(GTH_OP_GATHER_BAGS, &table, &indices, &target, &given);
    sum.set(core::Role::bags, &bags);
    if (has_factors) sum.set(core::Role::weights, &weights);
    return run_inner(on_.context, sum, &on_.inner, error);
  }

  // Finds the id that has each element of the output, and adds the gradient at its row.
  int32_t run_extreme(const Error& error) {
    cpu::Slices slices;
    Numbers places, winners;
    int64_t count;
    if (!core::multiply(read_.bags, slice_bytes_ / plan_.item.bytes(), &count)) return fail_memory(INT64_MAX, error);
    int32_t status = find_slices(&slices, error);
    if (!status) status = allocate(count, &winners, error);
    if (!status && on_.result == BagResult::sparse) status = allocate(read_.ids, &places, error);
    if (status) return status;
    for (int64_t i = 0; i < sorted_.count; ++i) places[sorted_.positions[i]] = sorted_.rows[i];
    const bool is_sparse = on_.result == BagResult::sparse;
    cpu::find_winners(plan_, read_, slices, is_sparse ? places.data() : read_.rows, winners.data(), executor());
    int64_t shape[GTH_MAX_NDIM];
    const gth_tensor_desc target = written(shape), indices = rows(GTH_DTYPE_INT64, winners.data()),
                          updates = rows(on_.request.table->dtype, gradient_);
    gth_options given = options();
    given.has_axis = 1;
    given.bounds = GTH_BOUNDS_SKIP;
    return run_inner(on_.context, request(GTH_OP_GATHER_ELEMENTS_GRADIENT, &target, &indices, &updates, &given),
                     &on_.inner, error);
  }

  // Finds the ids of the maxima or minima. Without any id, no bag has been read.
  int32_t run_positions(const Error& error) {
    const gth_tensor_desc& target = *on_.target;
    const int64_t all = count_elements(target);
    cpu::Slices slices;
    Numbers positions;
    int32_t status = find_slices(&slices, error);
    if (!status) status = allocate(all, &positions, error);
    if (status) return status;
    if (read_.bags == 0) std::fill_n(positions.data(), all, int64_t{-1});
    cpu::find_winners(plan_, read_, slices, nullptr, positions.data(), executor());
    const gth_tensor_desc source = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, target.ndim, target.shape, positions.data());
    return copy_elements(on_.context, source, target, error);
  }

  int32_t run_weights(const Error& error) {
    const gth_tensor_desc& target = *on_.target;
    const int64_t sum = cpu::sum_bytes(plan_), all = count_elements(target);
    cpu::Slices slices;
    Bytes sums, numbers;
    int32_t status = find_slices(&slices, error);
    if (!status) status = allocate(all, sum, &sums, error);
    if (!status) status = allocate(count_bytes(target), &numbers, error);
    if (status) return status;
    std::fill_n(sums.data(), all * sum, char{0});  // Ids behind the last bag have no gradient.
    cpu::write_weight_gradient(plan_, read_, slices, gradient_, factors_, sums.data(), executor());
    cpu::store_weights(plan_, sums.data(), all, numbers.data());
    const gth_tensor_desc source = GTH_TENSOR_DESC_DENSE(target.dtype, target.ndim, target.shape, numbers.data());
    return copy_elements(on_.context, source, target, error);
  }

  // Finds the slices that the ids select. They are copied if they are not contiguous.
  int32_t find_slices(cpu::Slices* out, const Error& error) {
    const gth_tensor_desc& params = *on_.request.table;
    gth_tensor_desc slice = params;
    slice.ndim = params.ndim - 1;
    ++slice.shape;
    if (slice.strides) ++slice.strides;
    const char* const first = static_cast<const char*>(params.data);
    *out = {first, params.strides ? params.strides[0] : slice_bytes_, false, nullptr, slice_bytes_};
    if (slice_bytes_ == 0 || read_.ids == 0) return GTH_OK;
    if (plan_.bounds == GTH_BOUNDS_FILL) {
      if (int32_t status = allocate(slice_bytes_, &filled_, error)) return status;
      const auto* const fill = reinterpret_cast<const char*>(plan_.fill);
      for (int64_t at = 0; at < slice_bytes_; ++at) filled_[at] = fill[at % plan_.item.bytes()];
      out->filled = filled_.data();
    }
    out->first = core::moved(first, params.offset);
    return core::is_dense(slice) ? GTH_OK : copy_slices(out, error);
  }

  int32_t copy_slices(cpu::Slices* out, const Error& error) {
    if (int32_t status = allocate(read_.ids, slice_bytes_, &slices_, error)) return status;
    *out = {slices_.data(), slice_bytes_, true, out->filled, slice_bytes_};
    const gth_tensor_desc& params = *on_.request.table;
    int64_t shape[GTH_MAX_NDIM];
    std::copy_n(params.shape, params.ndim, shape);
    shape[0] = read_.ids;
    const gth_tensor_desc indices = line(GTH_DTYPE_INT64, &read_.ids, read_.rows),
                          copies = GTH_TENSOR_DESC_DENSE(params.dtype, params.ndim, shape, slices_.data());
    gth_options given = GTH_OPTIONS_INIT;
    given.threads = plan_.threads;
    given.bounds = GTH_BOUNDS_SKIP;
    return run_inner(on_.context, request(GTH_OP_GATHER, &params, &indices, &copies, &given), &on_.inner, error);
  }

  int32_t write_unique(const Error& error) {
    gth_tensor_desc unique = *on_.unique;
    unique.shape = &unique_count_;
    const gth_tensor_desc source = line(GTH_DTYPE_INT64, &unique_count_, unique_.data());
    const int32_t status = copy_elements(on_.context, source, unique, error);
    if (!status) *on_.count = unique_count_;
    return status;
  }

  const Operands& on_;
  const Plan& plan_;
  int64_t row_shape_[GTH_MAX_NDIM];  // of the gradient, with one dim of bags
  int64_t slice_bytes_;
  cpu::ReadBags read_;
  cpu::Factors factors_{};
  cpu::SortedIds sorted_{};
  int64_t unique_count_ = 0;
  const char* gradient_ = nullptr;
  Numbers rows_, begin_, sorting_, unique_;
  Bytes ids_room_, weights_given_, weights_, divisors_, gradient_room_, filled_, slices_;
};

}  // namespace

int32_t fail_updates(BagResult result, int32_t status, const Error& error) {
  if (has_gradient(result)) error.rename_operand(GTH_OPERAND_OUT, GTH_OPERAND_UPDATES);
  return status;
}

int32_t run_bag_call(const BagCall& call, const Error& error) {
  const std::unique_ptr<Operands> on(new (std::nothrow) Operands(call));
  if (!on) return fail_memory(sizeof(Operands), error);
  if (int32_t status = validate(on.get(), error)) return status;
  const Context& context = call.context;
  if (context.cuda) return cuda::run_bag_outputs(*context.cuda, on->plan, call.request, call, error);
  return Computation(*on).run(error);
}

}  // namespace gather::execution
