#pragma once

#include "cuda/elements.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/record.hpp"
#include "cuda/words.hpp"

// Complete kernels. Block is a block of threads: that of the device, or that of the emulated device. A Block has
// index(), count(), threads()      number of this block, blocks in the grid, threads in a block
// any(f)                           returns true if f(thread) is true for a thread; contains a barrier
// smallest(f)                      returns the Finding of f(thread) with the smallest position; contains a barrier
// once(f)                          calls f() on one thread
// lets_next_begin()                allows the next kernel to start before this one ends
// waits_for_previous()             waits until the previous kernel has ended and its writes are visible
// finishes(shares)                 returns true in the last block that calls it, which sees the writes of all others
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
      is_shut_ = load(&job_.state->worst) != 0;
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
    else
      raced = copy_rows<width_of(copy), Index>(job, blank, number, numbers, gate);
    if (!gate.is_shut()) return raced;
    if (!job.zeroes) return false;
    blank = true;
    gate.open();
  }
}

// Returns what a block adds to State::finished. The blocks of a grid add 2^32 in total, so the sum returns to 0. This
// also holds for two overlapping grids that share the counter.
GATHER_SHARED uint32_t share_of(uint32_t block, uint32_t blocks) {
  const uint32_t share = ~0u / blocks;
  return block < blocks - 1 ? share : 0u - share * (blocks - 1);
}

// The result of validation in a block, before the block copies.
struct Validated {
  bool bad;
  Finding finding;  // for Validation::inside
};

template <class Index, class Job, class Block>
GATHER_KERNEL Validated validate_inside(Block& block, const Job& job) {
  if (job.validation != Validation::inside) return {false, {}};
  const Finding finding =
      block.smallest([&](uint32_t thread) { return find_bad<Job::is_direct, Index>(job, thread, block.threads()); });
  return {finding.position >= 0, finding};
}

// Accounts for the block. The last block of the call writes the error record and resets the state for the next call.
template <class Job, class Block>
GATHER_KERNEL void conclude(Block& block, const Job& job, const Validated& validated, bool raced) {
  State* state = job.state;
  const bool inside = job.validation == Validation::inside;
  if (!inside) block.waits_for_previous();  // because the previous kernel uses the state until it ends
  block.once([&] {
    if (inside && validated.bad) add(&state->bad, 1);
    if (raced) add(&state->raced, 1);
  });
  if (job.has_next || !block.finishes(&state->finished)) return;
  block.once([&] {
    // Blocks that validate the same indices find the same result, unless another writer changes the indices meanwhile.
    const uint32_t bad = load(&state->bad);
    const bool all_bad = inside && bad == block.count();
    const bool some_raced = load(&state->raced) > 0 || (inside && bad > 0 && !all_bad);
    if (all_bad)
      note_failure(job.record, index_failure(job, validated.finding));
    else if (some_raced)
      note_failure(job.record, race_failure(job.sequence));
    state->bad = state->raced = 0;
    state->worst = 0;
  });
}

// Copies all rows. If bounds is error and an index is invalid, it writes nothing, or zeros to an output that the
// library owns.
template <Copy copy, class Index, class Job, class Block>
GATHER_KERNEL void copy_body(Block& block, const Job& job) {
  const Validated validated = validate_inside<Index>(block, job);
  const bool idle = validated.bad && !job.zeroes;
  const bool raced =
      block.any([&](uint32_t thread) { return !idle && copy_thread<copy, Index>(block, job, validated.bad, thread); });
  if (job.validation != Validation::none) conclude(block, job, validated, raced);
}

// Returns the failure for an invalid tuple. It loads the tuple again, and reports a race if the tuple is valid now.
template <class Index, class Job>
GATHER_SELDOM gth_error_record failure_of(const Job& job, uint32_t tuple) {
  const char* at = locate_tuple(job, tuple);
  for (int32_t c = 0; c < components_of(job); ++c) {
    const int64_t value = Index::load(job, at + c * job.index_step);
    if (!is_good(job, job.component[c], value)) return index_failure(job, {position_of(job, tuple), value, c});
  }
  return race_failure(job.sequence);
}

// Validates all tuples of a call or of a piece. The last block writes the error record and the result for the copying
// kernels.
template <class Index, class Job, class Block>
GATHER_KERNEL void validate_body(Block& block, const Job& job) {
  State* state = job.state;
  if (job.sets_skip) block.lets_next_begin();
  const uint32_t threads = block.threads();
  const Finding mine = block.smallest([&](uint32_t thread) {
    return find_bad<true, Index>(job, block.index() * threads + thread, block.count() * threads);
  });
  block.once([&] {
    if (mine.position >= 0) raise(&state->worst, ~static_cast<uint64_t>(job.first_tuple + mine.position));
  });
  if (!block.finishes(&state->finished)) return;
  block.once([&] {
    const uint64_t worst = load(&state->worst);
    const int64_t tuple = static_cast<int64_t>(~worst) - job.first_tuple;
    // Earlier pieces have smaller positions, and have already reported their failures.
    if (worst && tuple >= 0) note_failure(job.record, failure_of<Index>(job, static_cast<uint32_t>(tuple)));
    if (!job.sets_skip) state->worst = 0;
  });
}

// Reports the first tuple. bounds = clamp and modulo accept every index unless the dim is empty, and then every tuple
// is invalid. Other kernels set an output that the library owns to zeros.
template <class Job, class Block>
GATHER_KERNEL void report_first_body(Block& block, const Job& job) {
  block.once([&] {
    for (int32_t c = 0; c < job.components; ++c) {
      if (job.component[c].size != 0) continue;
      const int64_t value = AnyIndex::load(job, job.indices + c * job.index_step);
      note_failure(job.record, index_failure(job, {0, value, c}));
      return;
    }
  });
}

// ---- from the decisions of the host to the compiled kernels

template <Copy copy_, class Index_>
struct CopyKernel {
  static constexpr Copy copy = copy_;
  using Index = Index_;
};

template <class Index_>
struct IndexKernel {
  using Index = Index_;
};

template <class Job, class Visit>
int visit_reading([[maybe_unused]] Reading reading, Visit&& visit) {
  if constexpr (Job::is_direct) {
    if (reading == Reading::index4) return visit(IndexKernel<Index4>{});
    return visit(IndexKernel<Index8>{});
  } else {
    return visit(IndexKernel<AnyIndex>{});
  }
}

// Jobs of any form are rare and slow to decode, so they have few kernels.
template <class Job>
constexpr bool has_kernel(Copy copy) {
  const bool is_any = Job::most_loops > SmallJob::most_loops;
  return !is_any || copy == Copy::rows16 || copy == Copy::rows4 || copy == Copy::rows1;
}

template <Copy copy, class Job, class Index, class Visit>
int visit_if_compiled(Visit&& visit) {
  if constexpr (has_kernel<Job>(copy))
    return visit(CopyKernel<copy, Index>{});
  else
    return -1;  // the host never selects this kernel
}

// Calls visit(CopyKernel<..>{}) for the selected kernel.
template <class Job, class Visit>
int visit_copy(Copy copy, Reading reading, Visit&& visit) {
  return visit_reading<Job>(reading, [&](auto kernel) {
    using Index = typename decltype(kernel)::Index;
    switch (copy) {
      case Copy::rows16: return visit_if_compiled<Copy::rows16, Job, Index>(visit);
      case Copy::rows8: return visit_if_compiled<Copy::rows8, Job, Index>(visit);
      case Copy::rows4: return visit_if_compiled<Copy::rows4, Job, Index>(visit);
      case Copy::rows2: return visit_if_compiled<Copy::rows2, Job, Index>(visit);
      case Copy::rows1: return visit_if_compiled<Copy::rows1, Job, Index>(visit);
      case Copy::words: return visit_if_compiled<Copy::words, Job, Index>(visit);
      case Copy::elements4: return visit_if_compiled<Copy::elements4, Job, Index>(visit);
      case Copy::elements2: return visit_if_compiled<Copy::elements2, Job, Index>(visit);
      case Copy::elements1: return visit_if_compiled<Copy::elements1, Job, Index>(visit);
      default: return visit_if_compiled<Copy::unaligned, Job, Index>(visit);
    }
  });
}

}  // namespace gather::cuda
