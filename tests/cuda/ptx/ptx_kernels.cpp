#include "cuda/gather_kernels.hpp"

#include "cuda/bodies.hpp"
#include "host_block.hpp"
#include "ptx_launch.hpp"

// The kernels of gathers as nvcc compiled them.
namespace gather::cuda {

using ptx::launch;
using ptx::name_of;

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    using Kernel = decltype(k);
    const std::string number = "(gather::cuda::Copy)" + std::to_string(static_cast<int>(Kernel::copy));
    using Own = typename Kernel::Job;
    const std::string parameters = number + ", " + name_of<typename Kernel::Index>() + ", " + name_of<Own>();
    return launch(ptx::template_name<Own>("copy_kernel", parameters), blocks, block_threads, overlaps, stream,
                  Own{job});
  });
}

template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    const std::string parameters = name_of<typename decltype(k)::Index>() + ", " + name_of<Job>();
    return launch(ptx::template_name<Job>("validate_kernel", parameters), blocks, block_threads, false, stream, job);
  });
}

template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream) {
  return launch(ptx::template_name<Job>("report_first_kernel", name_of<Job>()), 1, 1, false, stream, job);
}

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream) {
  const std::string name = ptx::kernel_name<gth_error_record*, gth_error_record*>("take_kernel");
  return launch(name, 1, 1, false, stream, record, to);
}

int64_t most_counted() { return emulation::counted() > 0 ? emulation::counted() : largest_count; }

int load_kernels(Capacity* capacity) {
  *capacity = emulation::capacity();
  capacity->is_for_9_0 = emulation::lets_overlap();
  return emulation::enter_call();
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
