#include "cuda/bag_call.hpp"

#include <algorithm>

#include "cuda/alignment.hpp"
#include "cuda/bag_kernels.hpp"
#include "cuda/column_launch.hpp"

namespace gather::cuda {
namespace {

using core::moved;
using core::Plan;
using core::Pointers;

// The most bags of a call. Bags whose rows have no elements need no memory, so there may be any number of them.
constexpr int64_t most_bags = int64_t{1} << 36;

bool must_have_ids(const Plan& plan) { return plan.bags.empty == GTH_EMPTY_ERROR; }

// Returns true if bounds replaces each id by one that is valid.
bool is_total(const Plan& plan) { return core::is_total(core::outside_of(plan.bounds)) && plan.component[0].size > 0; }

// Returns true if an id may be invalid.
bool may_be_refused(const Plan& plan) {
  return plan.bounds != GTH_BOUNDS_FILL && plan.bounds != GTH_BOUNDS_SKIP && !is_total(plan);
}

// Returns the loop through the ids of a bag.
const core::Loop& id_loop(const Plan& plan) { return plan.loops[plan.inner_begin - 1]; }

IntegerLine line_of(const char* first, int64_t stride, core::IndexType type, const Alignment& alignment) {
  const int64_t bytes = core::index_bytes(type);
  return {first, stride, static_cast<uint8_t>(bytes), core::is_signed(type), alignment.value() % bytes == 0};
}

}  // namespace

BagsCall::BagsCall(const Plan& plan, const Pointers& pointers, int64_t n, const Place& place)
    : plan_(plan), bags_(plan.bags), pointers_(pointers), n_(n), place_(place) {
  loops_n_ = bags_.loops_n(n, pointers.ids);
  fill_bags();
  fill_ids();
  fill_bag_loops();
  fill_weights();
  use_state();
  job_.pool = bags_.pool;
  job_.sign_bits = sign_bits_of(plan_.reducing.number, plan_.item.bytes(), core::is_extreme_pool(bags_.pool));
  job_.rounds_each = bags_.rounds_each;
}

int32_t BagsCall::check_count(const Error& error) const {
  const bool visits_bags = must_have_ids(plan_) || (!is_dense() && bags_.format != GTH_BAGS_SEGMENTS);
  if (job_.count <= most_bags || !visits_bags) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_BAGS, -1, -1, job_.count, most_bags},
                    "bags: on CUDA devices, there are at most %lld bags, not %lld", static_cast<long long>(most_bags),
                    static_cast<long long>(job_.count));
}

int64_t BagsCall::scratch_bytes() const {
  if (bags_.format != GTH_BAGS_LENGTHS) return 0;
  return (job_.count + 1 + int64_t{sum_runs}) * int64_t{sizeof(uint64_t)};
}

void BagsCall::set_scratch(char* memory) {
  if (bags_.format != GTH_BAGS_LENGTHS) return;
  job_.sums = reinterpret_cast<uint64_t*>(memory);
  job_.begin = job_.sums + sum_runs;
}

void BagsCall::add_rows() {
  const int64_t item = plan_.item.bytes();
  job_.table = moved(pointers_.table, plan_.offset.table);
  repeat_element(plan_.fill, item, job_.fill);
  table_.note(job_.table);
  table_.note(plan_.row.in);
  table_.note(job_.rows.size, job_.rows.stride);
  job_.loops = plan_.end - plan_.inner_begin;
  for (int32_t i = 0; i < job_.loops; ++i) {
    const core::Loop& loop = plan_.loops[plan_.inner_begin + i];
    job_.loop[i] = {loop.extent.at(n_), loop.rows.at(n_), loop.table.at(n_)};
    table_.note(job_.loop[i].extent, job_.loop[i].updates);
  }
  job_.is_aligned = table_.value() >= item;
  fit_columns(plan_.row.in, plan_.inner, static_cast<int>(item), &job_);
}

void BagsCall::add_output() {
  job_.out = moved(pointers_.rows, plan_.offset.rows);
  job_.widens = bags_.widens;
  job_.replaces_empty = bags_.empty != core::start_if_empty;
  job_.zeroes = place_.owns_output;
  fill_numbers();
  Alignment out;
  out.note(job_.out);
  out.note(plan_.row.out);
  for (int32_t i = 0; i < job_.bag_loops; ++i) out.note(job_.bag_loop[i].extent, job_.bag_loop[i].out);
  for (int32_t i = 0; i < job_.loops; ++i) out.note(job_.loop[i].extent, job_.loop[i].target);
  job_.is_aligned &= out.value() >= (bags_.widens ? int64_t{sizeof(float)} : plan_.item.bytes());
  is_wide_ =
      core::sums_in_order(plan_.reducing.number) && table_.value() == vector_bytes && out.value() == vector_bytes;
  if (is_wide_) fit_columns(plan_.row.in, plan_.inner, static_cast<int>(vector_bytes), &job_);
}

int BagsCall::launch_checks(runtime::Stream stream) const {
  int code = job_.begin ? launch_sum_lengths(job_, stream) : 0;
  if (!code && checks_bags()) code = launch_check_bags(job_, blocks_of(positions_of(job_)), stream);
  if (!code && must_have_ids(plan_)) code = launch_find_empty(job_, blocks_of(job_.count), stream);
  return !code && validates_ids() ? launch_validation(stream) : code;
}

int BagsCall::launch_pool(runtime::Stream stream) const {
  const int64_t threads = multiply_saturating(multiply_saturating(job_.count, job_.chunks), job_.lanes);
  return cuda::launch_pool(number_type(), is_wide_, job_, blocks_of(threads), stream);
}

bool BagsCall::checks_bags() const { return !is_dense() || must_have_ids(plan_); }

bool BagsCall::validates_ids() const {
  return job_.ids_count > 0 && core::reads_indices(plan_) && may_be_refused(plan_);
}

uint32_t BagsCall::blocks_of(int64_t threads) const { return cuda::blocks_of(threads, place_.multiprocessors); }

Numbers BagsCall::number_type() const {
  const bool is_half = core::is_floating(plan_.reducing.number) && plan_.item.bytes() == 2;
  return cuda::number_type(plan_.reducing.number, plan_.item.bytes(), is_half);
}

void BagsCall::fill_bags() {
  job_.format = bags_.format;
  job_.ends_early = bags_.ends_early;
  job_.count = bags_.count.at(n_);
  job_.ids_count = bags_.ids_of(n_, pointers_.ids);
  job_.length = bags_.length;
  const char* const numbers = moved(pointers_.bags, plan_.offset.bags);
  Alignment alignment;
  alignment.note(numbers);
  alignment.note(bags_.bags_stride);
  job_.numbers = line_of(numbers, bags_.bags_stride, bags_.type, alignment);
  job_.record = place_.record;
  job_.sequence = place_.sequence;
}

void BagsCall::fill_ids() {
  const char* const ids = moved(pointers_.indices, plan_.offset.indices);
  Alignment alignment;
  alignment.note(ids);
  for (int32_t i = 0; i < plan_.inner_begin; ++i) {
    alignment.note(plan_.loops[i].extent.at(loops_n_), plan_.loops[i].indices.at(loops_n_));
  }
  job_.ids = line_of(ids, id_loop(plan_).indices.at(loops_n_), plan_.index, alignment);
  job_.has_padding = plan_.has_padding;
  job_.padding = plan_.padding;
  job_.skips = plan_.bounds == GTH_BOUNDS_SKIP;
  job_.rows = {plan_.component[0].size, plan_.component[0].stride};
  job_.policy = core::policy_of(plan_.wraps, core::is_signed(plan_.index), plan_.bounds);
  job_.fills = plan_.bounds == GTH_BOUNDS_FILL;
  job_.refuses = may_be_refused(plan_);
}

void BagsCall::use_state() { job_.state = checks_bags() || validates_ids() ? place_.state : nullptr; }

void BagsCall::fill_bag_loops() {
  if (!is_dense()) {
    job_.bag_loops = 1;
    job_.bag_loop[0] = {job_.count, 0, 0, bags_.rows_at.stride};
    return;
  }
  job_.bag_loops = plan_.inner_begin - 1;
  for (int32_t i = 0; i < job_.bag_loops; ++i) {
    const core::Loop& loop = plan_.loops[i];
    job_.bag_loop[i] = {loop.extent.at(n_), loop.indices.at(n_), loop.table.at(n_), loop.rows.at(n_)};
  }
}

void BagsCall::fill_weights() {
  if (!bags_.has_weights) return;
  job_.weights = moved(pointers_.weights, plan_.offset.weights);
  job_.weight_stride = id_loop(plan_).table.at(loops_n_);
  job_.has_float32_weights = bags_.has_float32_weights;
  Alignment alignment;
  alignment.note(job_.weights);
  for (int32_t i = 0; i < plan_.inner_begin; ++i) {
    alignment.note(plan_.loops[i].extent.at(loops_n_), plan_.loops[i].table.at(loops_n_));
  }
  job_.weights_aligned = alignment.value() >= (bags_.has_float32_weights ? int64_t{sizeof(float)} : plan_.item.bytes());
}

void BagsCall::fill_numbers() {
  const int32_t reduction = bags_.pool == GTH_POOL_MAX   ? GTH_REDUCTION_MAX
                            : bags_.pool == GTH_POOL_MIN ? GTH_REDUCTION_MIN
                                                         : GTH_REDUCTION_ADD;
  const int64_t item = plan_.item.bytes(), part = std::min<int64_t>(item, sizeof(uint64_t));
  const uint64_t start = core::identity_of(plan_.reducing.number, part, reduction);
  repeat_element(&start, part, job_.start);
  if (bags_.empty == GTH_EMPTY_FILL) repeat_element(plan_.fill, item, job_.empty);
}

// The gather whose tuples are the ids.
int BagsCall::launch_validation(runtime::Stream stream) const {
  Plan ids = plan_;
  ids.bounds = GTH_BOUNDS_ERROR;  // Others refuse every index of an empty dim.
  ids.is_empty = ids.checks_when_empty = true;
  ids.end = ids.inner_begin;
  for (int32_t i = 0; i < ids.end; ++i) ids.loops[i].table = core::fixed(0);
  Launch launch;
  plan_launch(ids, pointers_, loops_n_, place_, &launch);
  return visit_form(launch, [&](auto job) {
    job.follows_bags = checks_bags();
    return launch_validating(launch, job, stream);
  });
}

}  // namespace gather::cuda
