#include "host_launch.hpp"

// The kernels of gathers, run block by block.
namespace gather::cuda {

using emulation::Block;
using emulation::launch;

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    using Kernel = decltype(k);
    const typename Kernel::Job of_kernel{job};
    return launch(
        blocks, block_threads, stream,
        [of_kernel](Block& block) { copy_body<Kernel::copy, typename Kernel::Index>(block, of_kernel); }, overlaps);
  });
}

template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    using Index = typename decltype(k)::Index;
    return launch(blocks, block_threads, stream, [job](Block& block) { validate_body<Index>(block, job); });
  });
}

template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream) {
  return launch(1, 1, stream, [job](Block& block) { report_first_body(block, job); });
}

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream) {
  return launch(1, 1, stream, [=](Block&) { take_record(record, to); });
}

int64_t most_counted() { return emulation::counted() > 0 ? emulation::counted() : largest_count; }

int load_kernels(Capacity* capacity) {
  *capacity = emulation::capacity();
  capacity->is_for_9_0 = emulation::lets_overlap();
  return emulation::enter_call();
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
