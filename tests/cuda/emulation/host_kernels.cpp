#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "machine.hpp"

#define GATHER_TOUCH(address, bytes) emulation::touch(address, bytes)
#include "cuda/bodies.hpp"
#include "cuda/gather_kernels.hpp"
#include "host_block.hpp"

// Runs the bodies of the kernels block by block.
namespace gather::cuda {
namespace {

// A block in which a test can change data between validation and copy.
class Block : public emulation::HostBlock {
 public:
  using HostBlock::HostBlock;

  template <class F>
  bool any(F&& f) {
    emulation::before_copying(index());
    return HostBlock::any(f);
  }
  void waits_for_previous() { emulation::run_previous(); }
};

// Blocks run in any order. The last one is the one that runs last.
template <class Body>
int launch(uint32_t blocks, uint32_t threads, CUstream_st* stream, Body body, bool overlaps = false) {
  if (const int code = emulation::enter_call()) return code;
  std::this_thread::yield();  // lets another thread run between two kernels of a call
  return emulation::enqueue(
      stream,
      [=] {
        emulation::count_launch();
        std::vector<uint32_t> order(blocks);
        std::iota(order.begin(), order.end(), 0u);
        if (emulation::seed()) std::shuffle(order.begin(), order.end(), std::mt19937(emulation::seed()));
        for (const uint32_t index : order) {
          Block block(index, blocks, threads);
          body(block);
        }
      },
      overlaps);
}

}  // namespace

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    using Kernel = decltype(k);
    return launch(
        blocks, block_threads, stream,
        [job](Block& block) { copy_body<Kernel::copy, typename Kernel::Index>(block, job); }, overlaps);
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
  capacity->overlaps_grids = emulation::lets_overlap();
  return emulation::enter_call();
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
