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
  Scratch* scratch = nullptr;
  const int64_t bytes = call.scratch_bytes();
  if (const int code = bytes ? allocate_scratch(context, stream, bytes, is_captured, &scratch) : 0) {
    return fail_cuda(code, "bags", bytes, error);
  }
  if (scratch) call.set_scratch(scratch->data());
  const bool writes = !plan.is_empty && call.bags() > 0;
  if (writes) {
    call.add_rows();
    call.add_output();
  }
  context.launching.lock();
  int code = launch(call, writes, stream);
  context.launching.unlock();
  if (scratch && !is_captured) {
    const int freed = free_behind(context, stream, scratch);
    if (!code) code = freed;
  }
  return code ? fail_cuda(code, "bags", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
