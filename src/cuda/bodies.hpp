#pragma once

#include "cuda/elements.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/record.hpp"
#include "cuda/words.hpp"

// Complete kernels. Block is a block of threads: that of the device, or that of the emulated device. A Block has
// index(), count(), threads()      number of this block, blocks in the grid, threads in a block
// any(f)                           returns true if f(thread) is true for a thread; contains a barrier
// finds(f)                         returns true if f(thread) returns a Finding for a thread; contains a barrier
// found()                          the one with the smallest position, after finds() has returned true
// each(f)                          calls f(thread) on each thread
// once(f)                          calls f() on one thread
// lets_next_begin()                allows the next kernel to start before this one ends
// waits_for_previous()             waits until the previous kernel has ended and its writes are visible
namespace gather::cuda {

// Returns the bytes that a thread stores at once.
GATHER_SHARED constexpr int width_of(Copy copy) {
  return makes_vectors(copy) ? static_cast<int>(vector_bytes) : 16 >> static_cast<int>(copy);
}

// Returns the bytes of an element. Precondition: is_elements(copy).
GATHER_SHARED constexpr int element_of(Copy copy) {
  return 4 >> (static_cast<int>(copy) - static_cast<int>(Copy::elements4));
}

// A thread waits at the gate before it stores. The gate returns whether the validating kernel has found no invalid
// index. Indices and rows are loaded before the wait, so the loads overlap with the validating kernel.
template <class Job, class Block>
class Gate {
 public:
  GATHER_KERNEL Gate(Block& block, const Job& job)
      : block_(block), job_(job), waits_(job.validation == Validation::in_front) {}

  GATHER_KERNEL bool lets_store() {
    if (waits_) {
      block_.waits_for_previous();
      waits_ = false;
      is_shut_ = load(&job_.state->is_refused) != 0;
    }
    return !is_shut_;
  }
  GATHER_KERNEL bool is_shut() const { return is_shut_; }
  GATHER_KERNEL void open() { is_shut_ = false; }

 private:
  Block& block_;
  const Job& job_;
  bool waits_, is_shut_ = false;
};

// Returns the number of a thread in the grid. Neighbouring warps are in different blocks, so that few warps use the
// whole device.
template <class Block>
GATHER_KERNEL uint32_t spread_number(const Block& block, uint32_t thread) {
  return (thread / warp_threads * block.count() + block.index()) * warp_threads + thread % warp_threads;
}

template <Copy copy, class Index, class Job, class Block>
GATHER_KERNEL bool copy_thread(Block& block, const Job& job, bool blank, uint32_t thread) {
  const uint32_t number = block.index() * block.threads() + thread, numbers = block.count() * block.threads();
  Gate<Job, Block> gate(block, job);
  for (;;) {
    bool raced;
    if constexpr (copy == Copy::unaligned)
      raced = copy_unaligned<Index>(job, blank, number, numbers, gate);
    else if constexpr (copy == Copy::words)
      raced = copy_words<Index>(job, blank, number, numbers, gate);
    else if constexpr (is_elements(copy))
      raced = copy_elements<element_of(copy), Index>(job, blank, number, numbers, gate);
    else if (Job::is_direct && job.is_few)
      raced = copy_few_rows<width_of(copy), Index>(job, blank, spread_number(block, thread), gate);
    else
      raced = copy_rows<width_of(copy), Index>(job, blank, number, numbers, gate);
    if (!gate.is_shut()) return raced;
    if (!job.zeroes) return false;
    blank = true;
    gate.open();
  }
}

// Returns the share of a block in a grid. The shares of all blocks sum to 2^32, so the sum in 32 bits returns to 0. This
// also holds for two overlapping grids that share a sum.
GATHER_SHARED uint32_t share_of(uint32_t block, uint32_t blocks) {
  const uint32_t share = ~0u / blocks;
  return block < blocks - 1 ? share : 0u - share * (blocks - 1);
}

// The blocks that found an invalid tuple before they copied, and while they copied, are counted in the lower half of
// State::finished.
constexpr uint64_t one_bad = 1, one_raced = uint64_t{1} << 16, all_found = (uint64_t{1} << 32) - 1;

// Returns what a block adds to State::finished. The upper half of the sum is 0 after the last block.
template <class Block>
GATHER_KERNEL uint64_t with_share(const Block& block, uint64_t found) {
  return uint64_t{share_of(block.index(), block.count())} << 32 | found;
}

GATHER_SHARED void clear_found(uint64_t* finished) {
  for (uint64_t seen = load(finished); !compare_exchange(finished, seen, seen & ~all_found); seen = load(finished)) {
  }
}

// Returns true if a block finds an invalid tuple before it copies.
template <class Index, class Job, class Block>
GATHER_KERNEL bool finds_inside(Block& block, const Job& job) {
  if (job.validation != Validation::inside) return false;
  return block.finds([&](uint32_t thread) { return find_bad<Job::is_direct, Index>(job, thread, block.threads()); });
}

// Reports the invalid indices that the blocks of a copying kernel have found. It writes at most one failure of a call.
template <class Job, class Block>
GATHER_KERNEL void conclude(Block& block, const Job& job, bool bad, bool raced) {
  State* const state = job.state;
  if (job.validation == Validation::in_front) {
    if (!raced) return;
    block.waits_for_previous();  // because the validating kernel initializes the count
    block.once([&] {
      if (add(&state->raced, 1) == 0) note_failure(job.record, race_failure(job.sequence));
    });
    return;
  }
  if (job.validation == Validation::behind) {
    if (raced) block.once([&] { raise(&state->worst, some_invalid); });
    return;
  }
  block.once([&] {
    const bool is_alone = block.count() == 1;  // a single block needs no state
    uint64_t found = (bad ? one_bad : 0) + (raced ? one_raced : 0);
    if (!is_alone) {
      const uint64_t own = with_share(block, found), sum = add(&state->finished, own) + own;
      if (sum > all_found) return;  // another block is the last one
      found = sum;
    }
    if (found == 0) return;
    // Blocks that validate the same indices find the same result, unless another writer changes the indices meanwhile.
    const bool are_all_bad = found == one_bad * block.count();
    note_failure(job.record, are_all_bad ? index_failure(job, block.found()) : race_failure(job.sequence));
    if (!is_alone) clear_found(&state->finished);
  });
}

// Copies all rows. If bounds is error and an index is invalid, it writes nothing, or zeros to an output that the
// library owns.
template <Copy copy, class Index, class Job, class Block>
GATHER_KERNEL void copy_body(Block& block, const Job& job) {
  const bool bad = finds_inside<Index>(block, job);
  const bool idle = bad && !job.zeroes;
  const bool raced =
      block.any([&](uint32_t thread) { return !idle && copy_thread<copy, Index>(block, job, bad, thread); });
  if (job.validation != Validation::none) conclude(block, job, bad, raced);
}

// Returns the failure for the first invalid tuple, ~worst. It loads the tuple again, and reports a race if the tuple is
// valid now, or if only the copying kernel has found one.
template <class Index, class Job>
GATHER_SELDOM gth_error_record failure_of(const Job& job, uint64_t worst) {
  if (worst == some_invalid) return race_failure(job.sequence);
  const uint32_t tuple = static_cast<uint32_t>(~worst);
  const char* at = locate_tuple(job, tuple);
  const bool is_padding = job.has_padding && pads<Index>(job, at);
  for (int32_t c = 0; !is_padding && c < components_of(job); ++c) {
    const int64_t value = Index::load(job, at + c * job.index_step);
    if (!is_good(job, job.component[c], value)) return index_failure(job, {position_of(job, tuple), value, c});
  }
  return race_failure(job.sequence);
}

// Ends a kernel that validates a call, or a part of one. The last block calls settle(worst) and resets the state.
// worst is ~position of the first finding, or 0.
template <class Block, class Settle>
GATHER_KERNEL void end_validation(Block& block, State* state, bool bad, Settle&& settle) {
  block.once([&] {
    if (bad) raise(&state->worst, ~static_cast<uint64_t>(block.found().position));
    const uint64_t own = with_share(block, 0);
    if (arrive(&state->finished, own) + own != 0) return;  // another block is the last one
    settle(load(&state->worst));
    state->raced = 0;
    state->worst = 0;
  });
}

// Returns true if a call reads the tuple. Ids behind those of all bags are not read.
template <class Job>
GATHER_SHARED bool is_read(const Job& job, uint32_t tuple) {
  return !job.follows_bags || static_cast<uint64_t>(position_of(job, tuple)) < load(&job.state->read_ids);
}

// Sets a dense output to zeros.
template <class Block>
GATHER_KERNEL void clear_output(Block& block, const JobHead& job) {
  const int64_t bytes = job.units * job.row, step = int64_t{block.count()} * block.threads();
  block.each([&](uint32_t thread) {
    for (int64_t at = int64_t{block.index()} * block.threads() + thread; at < bytes; at += step) {
      store_out<1>(job.out + at, 0, job.evicts_first);
    }
  });
}

// Validates all tuples of a call or of a piece. The last block writes the error record and the result for the copying
// kernels. Pieces run in the order of their tuples, so the first one that finds an invalid tuple reports it. Behind the
// copying kernel, it does this only if that kernel has met an invalid tuple.
template <class Index, class Job, class Block>
GATHER_KERNEL void validate_body(Block& block, const Job& job) {
  State* const state = job.state;
  block.lets_next_begin();
  const uint32_t threads = block.threads();
  if (job.validation == Validation::behind) {
    if (load(&state->worst) == 0) return;
    if (job.zeroes) clear_output(block, job);
  }
  const bool bad = block.finds([&](uint32_t thread) {
    return find_bad<true, Index>(job, block.index() * threads + thread, block.count() * threads);
  });
  end_validation(block, state, bad, [&](uint64_t worst) {
    const bool is_bad = worst && is_read(job, static_cast<uint32_t>(~worst));
    const bool was_refused = (job.first_tuple > 0 || job.follows_bags) && load(&state->is_refused);
    if (is_bad && !was_refused) note_failure(job.record, failure_of<Index>(job, worst));
    state->is_refused = is_bad || was_refused;
  });
}

// Returns the number of the first tuple that is not padding, or that of the tuples.
template <class Job>
GATHER_SHARED uint32_t first_of_tuples(const Job& job) {
  const uint32_t tuples = static_cast<uint32_t>(job.tuples < largest_count ? job.tuples : largest_count);
  uint32_t tuple = 0;
  while (job.has_padding && tuple < tuples && pads<AnyIndex>(job, locate_tuple(job, tuple))) ++tuple;
  return tuple;
}

// Reports the first tuple that is not padding. bounds = clamp and modulo accept every index unless the dim is empty, and
// then every tuple is invalid. Other kernels set an output that the library owns to zeros.
template <class Job, class Block>
GATHER_KERNEL void report_first_body(Block& block, const Job& job) {
  block.once([&] {
    const uint32_t tuple = first_of_tuples(job);
    if (int64_t{tuple} >= job.tuples) return;
    for (int32_t c = 0; c < job.components; ++c) {
      if (job.component[c].size != 0) continue;
      const int64_t value = AnyIndex::load(job, locate_tuple(job, tuple) + c * job.index_step);
      note_failure(job.record, index_failure(job, {position_of(job, tuple), value, c}));
      return;
    }
  });
}

// ---- from the decisions of the host to the compiled kernels

// A kernel for the jobs of a reading. `Job` is the type of its parameter.
template <Reading reading_, class Index_, class Job_>
struct ReadingKernel {
  static constexpr Reading reading = reading_;
  using Index = Index_;
  using Job = Job_;
};

template <Copy copy_, class Kernel>
struct CopyKernel : Kernel {
  static constexpr Copy copy = copy_;
};

// Calls visit(kernel) for the kernel that reads indices of any job of this type.
template <class Job, class Visit>
int visit_reading([[maybe_unused]] Reading reading, Visit&& visit) {
  if constexpr (Job::is_direct) {
    if (reading == Reading::index4) return visit(ReadingKernel<Reading::index4, Index4, Job>{});
    return visit(ReadingKernel<Reading::index8, Index8, Job>{});
  } else {
    return visit(ReadingKernel<Reading::any, AnyIndex, Job>{});
  }
}

// Calls visit(kernel) for the kernel that knows most of the job.
template <class Job, class Visit>
int visit_exact_reading(Reading reading, Visit&& visit) {
  if constexpr (std::is_same_v<Job, SmallJob>) {
    switch (reading) {
      case Reading::two_loops: return visit(ReadingKernel<Reading::two_loops, WordIndex, ExactJob<2, 1>>{});
      case Reading::three_loops: return visit(ReadingKernel<Reading::three_loops, WordIndex, ExactJob<3, 1>>{});
      case Reading::pairs: return visit(ReadingKernel<Reading::pairs, WordIndex, ExactJob<1, 2>>{});
      case Reading::triples: return visit(ReadingKernel<Reading::triples, WordIndex, ExactJob<1, 3>>{});
      case Reading::tuples: return visit(ReadingKernel<Reading::tuples, WordIndex, ExactJob<1, 0>>{});
      default: break;
    }
  }
  return visit_reading<Job>(reading, visit);
}

template <Copy copy, class Kernel, class Visit>
int visit_if_compiled(Visit&& visit) {
  if constexpr (has_kernel<typename Kernel::Job>(Kernel::reading, copy))
    return visit(CopyKernel<copy, Kernel>{});
  else
    return -1;  // the host never selects this kernel
}

// Calls visit(CopyKernel<..>{}) for the selected kernel.
template <class Job, class Visit>
int visit_copy(Copy copy, Reading reading, Visit&& visit) {
  return visit_exact_reading<Job>(reading, [&](auto kernel) {
    using Kernel = decltype(kernel);
    switch (copy) {
      case Copy::rows16: return visit_if_compiled<Copy::rows16, Kernel>(visit);
      case Copy::rows8: return visit_if_compiled<Copy::rows8, Kernel>(visit);
      case Copy::rows4: return visit_if_compiled<Copy::rows4, Kernel>(visit);
      case Copy::rows2: return visit_if_compiled<Copy::rows2, Kernel>(visit);
      case Copy::rows1: return visit_if_compiled<Copy::rows1, Kernel>(visit);
      case Copy::words: return visit_if_compiled<Copy::words, Kernel>(visit);
      case Copy::elements4: return visit_if_compiled<Copy::elements4, Kernel>(visit);
      case Copy::elements2: return visit_if_compiled<Copy::elements2, Kernel>(visit);
      case Copy::elements1: return visit_if_compiled<Copy::elements1, Kernel>(visit);
      default: return visit_if_compiled<Copy::unaligned, Kernel>(visit);
    }
  });
}

}  // namespace gather::cuda
