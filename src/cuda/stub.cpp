#include <cstddef>

#include "cuda/cuda.hpp"

// Builds without CUDA: there is no device and so no context on one. The other functions are never called.
namespace gather::cuda {
namespace {

int32_t fail_build(const Error& error) {
  return error.fail(
      {GTH_E_DEVICE, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, device), -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU},
      "options: this build has no CUDA");
}

}  // namespace

void describe_machine(gth_capability_info*) {}
bool has_device(int32_t) { return false; }
int32_t find_device_of(const void*, int32_t*, const Error& error) { return fail_build(error); }

int32_t create_context(const gth_context_options&, Context**, const Error& error) { return fail_build(error); }
void release_context(Context*) {}
void shut_down() {}
int32_t synchronize(Context&, const Error& error) { return fail_build(error); }
int32_t wait(Context&, CUstream_st*, const Error& error) { return fail_build(error); }
int32_t signal(Context&, CUstream_st*, const Error& error) { return fail_build(error); }
int32_t take_error(Context&, const Error& error) { return fail_build(error); }
int32_t enqueue_take_error(Context&, gth_error_record*, const Error& error) { return fail_build(error); }
int32_t run(Context&, const core::Plan&, const core::Pointers&, int64_t, bool, const Error& error) {
  return fail_build(error);
}
int32_t run_gradient(Context&, const core::Plan&, const core::Pointers&, const gth_tensor_desc&, const Error& error) {
  return fail_build(error);
}
int32_t run_bag_outputs(Context&, const core::Plan&, const core::Request&, const core::BagOutputs&,
                        const Error& error) {
  return fail_build(error);
}
int32_t run_scatter_positions(Context&, const core::Plan&, const core::Request&, const gth_tensor_desc&,
                              const Error& error) {
  return fail_build(error);
}
int32_t run_partition(Context&, const core::Plan&, const gth_tensor_desc&, const core::Shards&, const gth_parts&,
                      const Error& error) {
  return fail_build(error);
}
int32_t validate(Context&, const core::Plan&, const core::Pointers&, int64_t, const Error& error) {
  return fail_build(error);
}
int32_t check_not_capturing(Context&, const Error& error) { return fail_build(error); }
int32_t allocate(Context&, int64_t, void**, const Error& error) { return fail_build(error); }
void deallocate(Context&, void*) {}
int32_t zero(Context&, void*, int64_t, const Error& error) { return fail_build(error); }
int32_t copy_bytes(Context&, void*, const void*, int64_t, const Error& error) { return fail_build(error); }
Queue* queue_of(Context&) { return nullptr; }

void Queue::retire(Retired* retired) { retired->finish(retired); }
Queue::~Queue() {}  // NOLINT(modernize-use-equals-default): not empty with CUDA

}  // namespace gather::cuda
