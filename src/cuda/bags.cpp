#include "cuda/bags.hpp"

#include "cuda/bag_call.hpp"
#include "cuda/failure.hpp"
#include "cuda/scratch.hpp"

namespace gather::cuda {
namespace {

int launch(const BagsCall& call, bool writes, runtime::Stream stream) {
  const int code = call.launch_checks(stream);
  return !code && writes ? call.launch_pool(stream) : code;
}

}  // namespace

int32_t run_bags(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Pointers& pointers,
                 int64_t n, const Place& place, bool is_captured, const Error& error) {
  BagsCall call(plan, pointers, n, place);
  if (int32_t status = call.check_count(error)) return status;
  const bool writes = !plan.is_empty && call.bags() > 0;
  if (writes) {
    call.add_rows();
    call.add_output();
  }
  const auto run = [&](char* scratch) {
    if (scratch) call.set_scratch(scratch);
    context.launching.lock();
    const int code = launch(call, writes, stream);
    context.launching.unlock();
    return code;
  };
  const int64_t bytes = call.scratch_bytes();
  if (bytes) return run_in_scratch(context, stream, bytes, is_captured, "bags", error, run);
  const int code = run(nullptr);
  return code ? fail_cuda(code, "bags", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
