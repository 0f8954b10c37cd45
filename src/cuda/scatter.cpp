#include "cuda/scatter.hpp"

#include <algorithm>

#include "cuda/atomic_scatter.hpp"
#include "cuda/failure.hpp"
#include "cuda/line_scatter.hpp"
#include "cuda/scatter_call.hpp"
#include "cuda/sorted_scatter.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Pointers;

// The plan of a gather of whole slices. Its job finds the slices of the target.
void keep_slices(const Plan& plan, int64_t n, Plan* out) {
  *out = plan;
  out->end = first_row_loop(plan, n);
  if (out->end == plan.inner_begin) out->inner = 1;
}

// A target with an empty dim has no elements to write.
int report_first(const Launch& launch, Context& context, runtime::Stream stream) {
  context.launching.lock();
  const int code = launch_report_first(launch.any, stream);
  context.launching.unlock();
  return code;
}

}  // namespace

int32_t first_row_loop(const Plan& plan, int64_t n) {
  const bool repeats = std::any_of(plan.loops + plan.inner_begin, plan.loops + plan.end, [n](const core::Loop& loop) {
    return loop.table.at(n) == 0 && loop.extent.at(n) > 1;
  });
  return repeats ? plan.end : plan.inner_begin;
}

int launch_validation(const ScatterCall& call) {
  const Launch& launch = call.launch;
  const int code = visit_form(launch, [&](const auto& job) {
    return job.validation == Validation::none ? 0 : launch_validating(launch, job, call.stream);
  });
  return code ? code : launch_clear_of(call);
}

int launch_clear_of(const ScatterCall& call) {
  if (!call.clear) return 0;
  StridedJob clear = *call.clear;
  clear.state = is_validated(call.plan) ? call.place.state : nullptr;
  return launch_strided(clear, blocks_of(clear.columns, call.place.multiprocessors), call.stream);
}

int32_t run_scatter(Context& context, runtime::Stream stream, const Plan& plan, const Pointers& pointers, int64_t n,
                    const Place& place, const StridedJob* clear, bool is_captured, const Error& error,
                    const Positions* positions) {
  Plan slices;
  keep_slices(plan, n, &slices);
  Place apart = place;
  apart.validates_in_front = true;
  Launch launch;
  plan_launch(slices, pointers, n, apart, &launch);
  if (launch.reports_first) {
    const int code = report_first(launch, context, stream);
    return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
  }
  const ScatterCall call{context, stream, plan, pointers, n, place, clear, launch, is_captured, positions};
  if (positions) return run_sorted(call, error);
  LineJob lines;
  if (make_lines(call, &lines)) return run_lines(call, lines, error);
  SmallJob elements;
  AtomicJob how;
  return make_atomic(call, &elements, &how) ? run_atomic(call, elements, how, error) : run_sorted(call, error);
}

int copy_tensor(const gth_tensor_desc& from, const gth_tensor_desc& to, const State* state, const Place& place,
                runtime::Stream stream) {
  StridedJob copy;
  make_copy(from, to, gth_dtype_size(to.dtype), &copy);
  copy.state = state;
  return launch_strided(copy, blocks_of(copy.columns, place.multiprocessors), stream);
}

int clear_tensor(const StridedJob& job, const Device& device, runtime::Stream stream) {
  return launch_strided(job, blocks_of(job.columns, device.multiprocessors()), stream);
}

}  // namespace gather::cuda
