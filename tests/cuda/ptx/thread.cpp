#include "thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../emulation/machine.hpp"
#include "count.hpp"
#include "poll.hpp"
#include "run.hpp"
#include "warp.hpp"

namespace ptx {

void violate(const char* what) { emulation::count_violation(what); }

char* Thread::global(uint64_t at, uint64_t bytes, bool writes, Order order) {
  char* address = reinterpret_cast<char*>(at);
  emulation::touch(address, bytes);
  // Memory of the caller is written by one thread per byte, or by other writers meanwhile.
  if (is_polled(at) && !poll(grid)) violate("a record that the host may find half written");
  const bool is_shared = emulation::is_of_library(address) || is_polled(at);
  if (is_shared && !grid->access(block, at, bytes, writes, order)) violate("a race of two blocks");
  if (emulation::reaches(address, bytes)) return address;
  violate("outside of all memory");
  std::abort();
}

void Shared::begin_block() {
  std::memset(bytes_, 0xcd, sizeof bytes_);
  ++epoch_;
}

// Returns true for an access by another thread since the last barrier, unless both accesses are atomic.
bool Shared::conflicts(const Touch& last, uint32_t thread, bool atomic) const {
  return last.epoch == epoch_ && last.thread != thread && !(last.atomic && atomic);
}

char* Shared::access(uint64_t at, uint64_t bytes, uint32_t thread, bool writes, bool atomic) {
  if (at % bytes != 0) violate("misaligned in shared memory");
  if (at > shared_bytes || bytes > shared_bytes - at) {
    violate("outside of shared memory");
    std::abort();
  }
  for (uint64_t i = at; i < at + bytes; ++i) {
    if (conflicts(writes_[i], thread, atomic)) violate("a race in shared memory");
    if (writes && conflicts(reads_[i], thread, atomic)) violate("a race in shared memory");
    (writes ? writes_ : reads_)[i] = {epoch_, thread, atomic};
  }
  return bytes_ + at;
}

namespace {

constexpr uint32_t warp_threads = 32;

bool is_counting = false;
struct Counted {
  std::string kernel;
  const Module* module;
  int64_t instructions;
};
std::vector<Counted> counted;  // one entry for each grid

// A block of threads and its execution.
class Block {
 public:
  void begin_grid(uint32_t blocks) { grid_.begin(blocks); }
  void end_grid() {
    if (!poll(&grid_)) violate("a record that the host may find half written");
  }
  void run(Run kernel, uint32_t block, uint32_t blocks, uint32_t threads, std::vector<char>* arguments) {
    prepare(block, blocks, threads, arguments);
    while (step(kernel)) pass_barrier();
    if (is_counting) count_warps();
  }

 private:
  void prepare(uint32_t block, uint32_t blocks, uint32_t threads, std::vector<char>* arguments) {
    shared_->begin_block();
    while (frames_.size() < threads) frames_.push_back(std::make_unique<Frame>());
    threads_.assign(threads, Thread{});
    order_.resize(threads);
    std::iota(order_.begin(), order_.end(), 0u);
    if (emulation::seed()) std::shuffle(order_.begin(), order_.end(), std::mt19937(emulation::seed() + block));
    for (uint32_t i = 0; i < threads; ++i) {
      threads_[i].thread = i;
      threads_[i].block = block;
      threads_[i].blocks = blocks;
      threads_[i].arguments = arguments->data();
      threads_[i].argument_bytes = arguments->size();
      threads_[i].shared = shared_.get();
      threads_[i].grid = &grid_;
      threads_[i].frame = frames_[i]->bytes;
    }
    paths_.assign(is_counting ? threads : 0, {});
    for (size_t i = 0; i < paths_.size(); ++i) threads_[i].path = &paths_[i];
  }

  void count_warps() {
    for (size_t warp = 0; warp < paths_.size(); warp += warp_threads) {
      const size_t size = std::min<size_t>(warp_threads, paths_.size() - warp);
      counted.back().instructions += Warp(*counted.back().module, paths_.data() + warp, size).count();
    }
  }

  // Runs every thread to its next barrier. Returns false if all have ended.
  bool step(Run kernel) {
    for (const uint32_t i : order_) kernel(threads_[i]);
    for (size_t warp = 0; warp < threads_.size(); warp += warp_threads) {
      while (exchange(warp)) {
        for (size_t i = warp; i < warp + warp_threads; ++i) kernel(threads_[i]);
      }
    }
    for (const Thread& thread : threads_) {
      if (thread.waits_at == threads_[0].waits_at && thread.waits_for == threads_[0].waits_for) continue;
      violate("a barrier that not all threads come to");
      std::abort();
    }
    return threads_[0].waits_for == Waits::block;
  }

  // Exchanges values between the threads of a warp. Returns false if no thread requests one.
  bool exchange(size_t warp) {
    const Thread* first = &threads_[warp];
    const size_t end = std::min(warp + warp_threads, threads_.size());
    bool wanted = false;
    for (size_t i = warp; i < end; ++i) wanted |= threads_[i].waits_for == Waits::warp;
    if (!wanted) return false;
    for (size_t i = warp; i < end; ++i) {
      const Thread& thread = threads_[i];
      if (end == warp + warp_threads && thread.waits_at == first->waits_at && thread.members == ~0u) continue;
      violate("an exchange that not all threads of the warp come to");
      std::abort();
    }
    for (uint32_t lane = 0; lane < warp_threads; ++lane) {
      Thread& thread = threads_[warp + lane];
      const uint32_t fixed = thread.segments >> 8 & 31, last = (lane & fixed) | (thread.segments & 31 & ~fixed);
      const uint32_t from = (lane & fixed) | (thread.asks & ~fixed & 31);
      thread.gets = threads_[warp + (from <= last ? from : lane)].offers;
    }
    return true;
  }

  void pass_barrier() {
    bool any = false;
    for (const Thread& thread : threads_) any |= thread.votes;
    for (Thread& thread : threads_) thread.verdict = any;
    shared_->pass_barrier();
  }

  struct Frame {
    alignas(16) char bytes[frame_bytes];
  };
  Grid grid_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> order_;
  std::vector<std::vector<int>> paths_;
};

const Module* const modules[] = {&gather_kernels, &scatter_kernels, &bag_kernels, &bag_step_kernels,
                                 &partition_kernels};

// Calls visit(module, kernel) until it returns true.
template <class Visit>
void for_kernels(Visit&& visit) {
  for (const Module* module : modules) {
    for (int i = 0; i < module->kernel_count; ++i) {
      if (visit(*module, module->kernels[i])) return;
    }
  }
}

Counted begin_count(Run run) {
  Counted result{};
  for_kernels([&](const Module& module, const Kernel& kernel) {
    if (kernel.run != run) return false;
    result = {kernel.name, &module, 0};
    return true;
  });
  return result;
}

}  // namespace

Run find_kernel(const std::string& name) {
  Run found = nullptr;
  for_kernels([&](const Module&, const Kernel& kernel) {
    if (kernel.name == name) found = kernel.run;
    return found != nullptr;
  });
  return found;
}

void run_grid(Run run, uint32_t blocks, uint32_t threads, std::vector<char> arguments) {
  // One lock for all host threads. Blocks are large, and the emulated machine runs one kernel at a time anyway.
  static std::recursive_mutex lock;
  // A grid runs inside the next one, at the point where that waits for it.
  static Block* const blocks_of[] = {new Block, new Block};
  static int depth = 0;
  const std::lock_guard<std::recursive_mutex> guard(lock);
  Block& block = *blocks_of[depth++];
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  if (emulation::seed()) std::shuffle(order.begin(), order.end(), std::mt19937(emulation::seed()));
  block.begin_grid(blocks);
  if (is_counting) counted.push_back(begin_count(run));
  for (const uint32_t index : order) block.run(run, index, blocks, threads, &arguments);
  block.end_grid();
  --depth;
}

void Thread::wait_for_previous() { emulation::run_previous(); }

}  // namespace ptx

void gth_ptx_count(void) {
  ptx::is_counting = true;
  ptx::counted.clear();
}

int64_t gth_ptx_counted(const char* kernel) {
  ptx::is_counting = false;
  int64_t sum = 0;
  for (const ptx::Counted& each : ptx::counted)
    sum += each.kernel.find(kernel) == std::string::npos ? 0 : each.instructions;
  return sum;
}
