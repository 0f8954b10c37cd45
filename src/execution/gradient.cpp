#include "execution/gradient.hpp"

#include <cstring>

#include "core/base/noinline.hpp"
#include "core/plan/layout.hpp"
#include "cpu/job.hpp"
#include "cpu/run_plan.hpp"
#include "execution/copy.hpp"
#include "execution/execute.hpp"

namespace gather::execution {
namespace {

// Writes zeros to all elements of a validated tensor with any strides.
GATHER_NOINLINE int32_t write_zeros(const Context& context, const gth_tensor_desc& out, const Error& error) {
  const int64_t bytes = count_bytes(out);
  if (bytes == 0) return GTH_OK;
  if (core::is_dense(out)) {
    std::memset(cpu::moved(static_cast<char*>(const_cast<void*>(out.data)), out.offset), 0, static_cast<size_t>(bytes));
    return GTH_OK;
  }
  static const char zeros[16] = {};
  static const int64_t strides[GTH_MAX_NDIM] = {};
  gth_tensor_desc source = GTH_TENSOR_DESC_INIT;
  source.dtype = out.dtype;
  source.ndim = out.ndim;
  source.shape = out.shape;
  source.strides = strides;
  source.data = zeros;
  source.extent = sizeof zeros;
  return run_copy(context, source, out, error);
}

}  // namespace

int32_t run_gradient(const Context& context, const core::Plan& plan, const core::Pointers& pointers,
                     const gth_tensor_desc& target, const Error& error) {
  if (context.cuda) return cuda::run_gradient(*context.cuda, plan, pointers, target, error);
  auto write = [&] { return write_zeros(context, target, error); };
  const auto call = [](void* body) { return (*static_cast<decltype(write)*>(body))(); };
  return cpu::run_scatter(plan, cpu::choose_kernels(plan), pointers, {call, &write},
                          executor_for(context, plan.threads), error);
}

}  // namespace gather::execution
