#include "cuda/bag_outputs.hpp"

#include <algorithm>

#include "cuda/bag_kernels.hpp"
#include "cuda/bag_step_kernels.hpp"
#include "cuda/column_launch.hpp"
#include "cuda/failure.hpp"
#include "cuda/scatter.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/scratch.hpp"
#include "cuda/sort.hpp"
#include "cuda/strided.hpp"

namespace gather::cuda {
namespace {

using core::BagOutputs;
using core::BagResult;
using core::Plan;
using core::Pointers;
using core::Request;

// Rows and bags have numbers of 32 bits.
constexpr int64_t most_numbered_rows = no_id - 1;

Pointers pointers_of(const Request& request) {
  const auto data = [](const gth_tensor_desc* desc) {
    return desc ? static_cast<char*>(const_cast<void*>(desc->data)) : nullptr;
  };
  Pointers pointers{};
  for (core::Role role : core::EachRole{request.roles}) pointers[role] = data(request[role]);
  return pointers;
}

int32_t check_number(int32_t operand, const char* what, int64_t number, int64_t most, const Error& error) {
  if (number <= most) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, operand, -1, -1, number, most},
                    "%s: on CUDA devices, gradients and positions of bags have at most %lld, not %lld", what,
                    static_cast<long long>(most), static_cast<long long>(number));
}

// What is zero before the first kernel of a call.
struct Zeroed {
  State state;
  uint64_t long_slices;
};

// One call.
class OutputsCall {
 public:
  OutputsCall(const Plan& plan, const Request& request, const BagOutputs& outputs, const Pointers& pointers,
              const Place& place)
      : plan_(plan),
        request_(request),
        outputs_(outputs),
        place_(place),
        call_(plan, pointers, GTH_OPEN, place_),
        item_(plan.item.bytes()) {
    for (int32_t d = 1; d < request.table->ndim; ++d) elements_ *= request.table->shape[d];
    if (elements_ > 0) call_.add_rows();  // NOLINT(clang-analyzer-optin.cplusplus.UninitializedObject)
  }
  OutputsCall(const OutputsCall&) = delete;
  OutputsCall& operator=(const OutputsCall&) = delete;

  int32_t check(const Error& error) const {
    int32_t status = check_number(GTH_OPERAND_PARAMS, "params: rows", rows(), most_numbered_rows, error);
    if (!status) status = check_number(GTH_OPERAND_BAGS, "bags", bags(), most_numbered_rows, error);
    return status ? status : check_number(GTH_OPERAND_INDICES, "indices", ids(), most_counted(), error);
  }

  bool sorts() const { return result() == BagResult::params || result() == BagResult::sparse; }
  int64_t ids() const { return call_.ids(); }

  // Distributes memory. Returns its size.
  int64_t distribute(char* memory, int64_t sort_bytes) {
    Distribution parts(memory);
    const int64_t out = bags() * elements_, unit = sizeof(double);
    char *sums = nullptr, *divisors = nullptr, *products = nullptr, *scales = nullptr, *sort = nullptr;
    Zeroed* zeroed = nullptr;
    parts.take(true, 1, &zeroed);
    parts.take(true, call_.scratch_bytes(), &sums);
    parts.take(divides(), bags() * unit, &divisors);
    parts.take(has_gradient() && copies_gradient(), out * item_, &job_.divided);
    parts.take(sorts() && is_extreme() && has_output(), out, &job_.winners);
    parts.take(result() == BagResult::positions && copies_result(), out, &job_.positions);
    parts.take(result() == BagResult::weights, ids() * unit, &products);
    parts.take(result() == BagResult::weights && copies_result(), ids() * unit, &job_.weight_gradients);
    for (uint32_t** keys : {&sort_.in.slices, &sort_.in.updates, &sort_.spare.slices, &sort_.spare.updates,
                            &job_.bag_of, &job_.sorted_bags}) {
      parts.take(sorts(), ids(), keys);
    }
    parts.take(sorts(), sort_bytes, &sort);
    parts.take(sorts() && has_scales(), ids() * unit, &scales);
    parts.take(result() == BagResult::sparse, int64_t{sum_runs}, &heads_);
    parts.take(sorts(), ids() / least_long, &long_slices_.firsts);
    if (!memory) return parts.size();
    place_.state = &zeroed->state;
    long_slices_.count = &zeroed->long_slices;
    call_.set_scratch(sums);
    call_.use_state();
    static_cast<PoolJob&>(job_) = call_.job();
    job_.numbers = call_.number_type();
    job_.item = item_;
    job_.divisors = divisors;
    job_.products = products;
    job_.scales = scales;
    sort_.scratch = sort;
    sort_.scratch_bytes = sort_bytes;
    return parts.size();
  }

  // Returns CUDA's error number.
  int launch(runtime::Stream stream) {
    stream_ = stream;
    int code = runtime::zero_async(place_.state, sizeof(Zeroed), stream);
    if (!code) code = call_.launch_checks(stream);
    if (!code && job_.divisors) code = step(BagStep::divisors, bags());
    if (!code && has_gradient()) code = find_gradient();
    if (code) return code;
    if (result() == BagResult::positions) return find_positions();
    return result() == BagResult::weights ? find_weights() : find_params();
  }

 private:
  BagResult result() const { return outputs_.result; }
  const gth_tensor_desc& target() const { return *outputs_.target; }
  const gth_tensor_desc& gradient() const { return *request_.rows; }
  int64_t rows() const { return request_.table->shape[0]; }
  int64_t bags() const { return call_.bags(); }
  bool has_output() const { return elements_ > 0 && bags() > 0; }
  bool has_gradient() const { return core::has_gradient(result()) && has_output(); }
  bool is_extreme() const { return core::is_extreme_pool(plan_.bags.pool); }
  bool is_complex() const { return plan_.reducing.number == core::Number::complex; }
  bool divides() const { return core::is_dividing_pool(plan_.bags.pool); }
  bool has_scales() const { return plan_.bags.has_weights || (divides() && !is_complex()); }
  bool copies_gradient() const { return !is_array(gradient(), item_) || (is_complex() && divides()); }
  bool copies_result() const { return !is_array(target(), gth_dtype_size(target().dtype)); }

  uint32_t blocks_of(int64_t threads) const { return call_.blocks_of(threads); }
  int step(BagStep which, int64_t threads) const {
    return threads ? launch_step(which, call_.number_type(), job_, blocks_of(threads), stream_) : 0;
  }
  int step_through_columns(BagStep which) const {
    return step(which, multiply_saturating(job_.count, job_.chunks * job_.lanes));
  }

  // Makes the gradient of the output dense.
  int find_gradient() {
    job_.gradient = first_byte(gradient());
    if (!job_.divided) return 0;
    job_.gradient = job_.divided;
    const gth_tensor_desc& from = gradient();
    const gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(from.dtype, from.ndim, from.shape, job_.divided);
    const int code = copy_tensor(from, array, nullptr, place_, stream_);
    if (code || !job_.divisors || !is_complex()) return code;
    return launch_divide_gradient(call_.number_type(), job_, blocks_of(bags() * elements_), stream_);
  }

  // Copies a dense result to the target.
  int copy_result(const void* dense) const {
    const gth_tensor_desc& to = target();
    const gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(to.dtype, to.ndim, to.shape, dense);
    return copy_tensor(array, to, job_.state, place_, stream_);
  }

  int find_positions() {
    if (!has_output()) return 0;
    const bool copies = job_.positions;
    if (!copies) job_.positions = reinterpret_cast<int64_t*>(first_byte(target()));
    const int code = step_through_columns(BagStep::winners);
    return code || !copies ? code : copy_result(job_.positions);
  }

  int find_weights() {
    if (ids() == 0) return 0;
    const bool copies = job_.weight_gradients;
    if (!copies) job_.weight_gradients = first_byte(target());
    int code = step(BagStep::products, ids());
    if (!code && divides()) code = step(BagStep::divided_products, bags());
    if (!code) code = step(BagStep::weights, ids());
    return code || !copies ? code : copy_result(job_.weight_gradients);
  }

  int find_params() {
    int code = job_.winners ? step_through_columns(BagStep::winners) : 0;
    if (!code) code = sort();
    if (!code && result() == BagResult::sparse) code = rank();
    return code || elements_ == 0 || target().shape[0] == 0 ? code : sum();
  }

  // Sorts the ids by their rows.
  int sort() {
    job_.keys = sort_.in;
    if (ids() == 0) return 0;
    int code = launch_id_keys(job_, blocks_of(ids()), stream_);
    const auto behind = static_cast<uint64_t>(rows());
    if (!code) code = sort_keys(&sort_, ids(), behind == 0 ? 1 : 64 - __builtin_clzll(behind), stream_);
    job_.keys = sort_.in;
    return code ? code : step(BagStep::scales, ids());
  }

  int rank() {
    const gth_tensor_desc& unique = *outputs_.unique;
    const int64_t stride = unique.strides ? unique.strides[0] : int64_t{sizeof(int64_t)};
    Alignment alignment;
    alignment.note(first_byte(unique));
    alignment.note(unique.shape[0], stride);
    const RankJob ranks{job_.keys,
                        sort_.spare.slices,
                        heads_,
                        ids(),
                        unique.shape[0],
                        static_cast<uint32_t>(rows()),
                        first_byte(unique),
                        stride,
                        alignment.value() >= int64_t{sizeof(int64_t)},
                        outputs_.count,
                        place_.state,
                        job_.state != nullptr,
                        place_.record,
                        place_.sequence};
    job_.state = place_.state;
    return launch_ranks(ranks, stream_);
  }

  // Adds the gradients of bags to the rows that they have read, as updates of a scatter.
  int sum() const {
    int code = result() == BagResult::params ? clear() : 0;
    if (code || ids() == 0) return code;
    WonJob job{};
    const bool is_wide = make_sum(&job);
    const int64_t threads = multiply_saturating(multiply_saturating(ids(), job.chunks), int64_t{job.lanes});
    const uint32_t blocks = blocks_of(threads), long_blocks = static_cast<uint32_t>(place_.multiprocessors);
    if (is_extreme()) return launch_won(call_.number_type(), job, blocks, stream_);
    code = launch_combine(call_.number_type(), is_wide, job, blocks, stream_);
    if (code || ids() < least_long) return code;
    return launch_combine_long(call_.number_type(), is_wide, job, long_blocks, stream_);
  }

  int clear() const {
    StridedJob clear;
    make_clear(target(), item_, &clear);
    clear.state = job_.state;
    return launch_strided(clear, blocks_of(clear.columns), stream_);
  }

  // Returns true if columns are vectors.
  bool make_sum(WonJob* job) const {
    const gth_tensor_desc& to = target();
    const bool is_sparse = result() == BagResult::sparse;
    StridedJob slice;
    make_copy(dense_slice_of(to), slice_of(to), item_, &slice);
    job->keys = {is_sparse ? sort_.spare.slices : job_.keys.slices, job_.sorted_bags};
    job->ids = job_.keys.updates;
    job->winners = job_.winners;
    job->long_slices = long_slices_;
    job->count = static_cast<uint32_t>(ids());
    job->slices = is_sparse ? no_id : static_cast<uint64_t>(rows());
    job->target = slice.target;
    job->updates = job_.gradient;
    job->slice_bytes = to.strides ? to.strides[0] : elements_ * item_;
    job->update_bytes = elements_ * item_;
    job->loops = slice.loops;
    std::copy_n(slice.loop, slice.loops, job->loop);
    job->reduction = GTH_REDUCTION_ADD;
    job->starts_with_update = true;
    job->scales = job_.scales;
    job->rounds_each = plan_.bags.rounds_each;
    job->state = job_.state;
    return choose_columns(slice, job);
  }

  // The first slices of the target and of the dense gradient.
  static gth_tensor_desc slice_of(const gth_tensor_desc& tensor) {
    gth_tensor_desc slice = tensor;
    --slice.ndim;
    ++slice.shape;
    if (slice.strides) ++slice.strides;
    return slice;
  }

  gth_tensor_desc dense_slice_of(const gth_tensor_desc& tensor) const {
    return GTH_TENSOR_DESC_DENSE(tensor.dtype, tensor.ndim - 1, tensor.shape + 1, job_.gradient);
  }

  bool choose_columns(const StridedJob& slice, CombineJob* job) const {
    const int64_t row = slice.vectors * slice.bytes;
    Alignment common;
    common.note(slice.from);
    common.note(slice.target);
    common.note(row | elements_ * item_);
    common.note(target().shape[0], job->slice_bytes);
    for (int32_t i = 0; i < job->loops; ++i) common.note(job->loop[i].target | job->loop[i].updates);
    job->is_aligned = common.value() >= item_;
    const bool is_wide = !is_extreme() && has_long_vectors(call_.number_type()) && common.value() == vector_bytes;
    fit_columns(row, elements_ * item_ / row, static_cast<int>(is_wide ? vector_bytes : item_), job);
    return is_wide;
  }

  const Plan& plan_;
  const Request& request_;
  const BagOutputs& outputs_;
  Place place_;
  BagsCall call_;
  int64_t item_, elements_ = 1;
  BagStepsJob job_{};
  SortRoom sort_{};
  LongSlices long_slices_{};
  uint64_t* heads_ = nullptr;
  runtime::Stream stream_ = nullptr;
};

}  // namespace

int32_t run_bag_outputs(Context& context, runtime::Stream stream, const Plan& plan, const Request& request,
                        const BagOutputs& outputs, const Place& place, bool is_captured, const Error& error) {
  const Pointers pointers = pointers_of(request);
  OutputsCall call(plan, request, outputs, pointers, place);
  if (int32_t status = call.check(error)) return status;
  int64_t sort_bytes = 0;
  const int code = call.sorts() ? sort_scratch(call.ids(), &sort_bytes) : 0;
  if (code) return fail_cuda(code, "bags", 0, error);
  const int64_t bytes = call.distribute(nullptr, sort_bytes);
  return run_in_scratch(context, stream, bytes, is_captured, "bags", error, [&](char* memory) {
    call.distribute(memory, sort_bytes);
    return call.launch(stream);
  });
}

}  // namespace gather::cuda
