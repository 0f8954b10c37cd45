#pragma once

#include "cuda/kernels.hpp"
#include "cuda/record.hpp"
#include "cuda/rows.hpp"

// Whole kernels, over a Block that is a block of threads: the device's own, or the tests' imitation. A Block has
//   index(), count(), threads()      this block, blocks in the grid, threads in a block
//   any(f)                           whether f(thread) is true for any thread; a barrier
//   smallest(f)                      of all f(thread), the Finding of the smallest position; a barrier
//   once(f)                          f() by one thread
//   lets_next_begin()                the kernel behind may be launched, before this one has ended
//   waits_for_previous()             until the kernel in front has ended, and what it wrote is there
//   finishes(shares)                 true in the block that comes here last, which then sees what the others wrote
namespace gather::cuda {

// Bytes that a thread stores at once.
GATHER_SHARED constexpr int width_of(Copy copy) {
  return copy == Copy::stream ? static_cast<int>(vector_bytes) : 16 >> static_cast<int>(copy);
}

template <Copy copy, class Index, class Job, class Block>
GATHER_KERNEL bool copy_thread(const Block& block, const Job& job, bool blank, uint32_t thread) {
  using Number = typename Index::Number;
  const Number number = static_cast<Number>(block.index()) * block.threads() + thread;
  const Number numbers = static_cast<Number>(block.count()) * block.threads();
  if constexpr (copy == Copy::stream) {
    return copy_stream<Index>(job, blank, number, numbers);
  } else {
    return copy_rows<width_of(copy), Index>(job, blank, number, numbers);
  }
}

// What a block adds to State::finished. A grid adds 2^32, whatever its number of blocks: the sum comes back to 0, and
// does so even where two grids that share it have overlapped.
GATHER_SHARED uint32_t share_of(uint32_t block, uint32_t blocks) {
  const uint32_t share = ~0u / blocks;
  return block < blocks - 1 ? share : 0u - share * (blocks - 1);
}

// What a block found out before it copied.
struct Judgement {
  bool bad;
  Finding finding;  // with Validation::inside
};

template <class Index, class Job, class Block>
GATHER_KERNEL Judgement judge(Block& block, const Job& job) {
  using Number = typename Index::Number;
  if (job.validation == Validation::none) return {false, {}};
  if (job.validation == Validation::in_front) {
    block.waits_for_previous();
    return {load(&job.state->worst) != 0, {}};
  }
  const Finding finding = block.smallest([&](uint32_t thread) {
    return find_bad<Index>(job, static_cast<Number>(thread), static_cast<Number>(block.threads()));
  });
  return {finding.position >= 0, finding};
}

// Accounts for the block; the last one tells the record, and leaves the state as the next call wants it.
template <class Job, class Block>
GATHER_KERNEL void conclude(Block& block, const Job& job, const Judgement& judged, bool raced) {
  State* state = job.state;
  const bool inside = job.validation == Validation::inside;
  block.once([&] {
    if (inside && judged.bad) add(&state->bad, 1);
    if (raced) add(&state->raced, 1);
  });
  if (!block.finishes(&state->finished)) return;
  block.once([&] {
    // Blocks that judge the same indices agree, unless another writer changes them meanwhile.
    const uint32_t bad = load(&state->bad);
    const bool all_bad = inside && bad == block.count();
    const bool some_raced = load(&state->raced) > 0 || (inside && bad > 0 && !all_bad);
    if (all_bad)
      note_failure(job.record, index_failure(job, judged.finding));
    else if (some_raced)
      note_failure(job.record, race_failure(job.sequence));
    state->bad = state->raced = 0;
    state->worst = 0;
  });
}

// Copies all rows, unless an index is bad under bounds = error; then it writes nothing, or zeros to an output of ours.
template <Copy copy, class Index, class Job, class Block>
GATHER_KERNEL void copy_body(Block& block, const Job& job) {
  const Judgement judged = judge<Index>(block, job);
  const bool idle = judged.bad && !job.zeroes;
  const bool raced =
      block.any([&](uint32_t thread) { return !idle && copy_thread<copy, Index>(block, job, judged.bad, thread); });
  if (job.validation != Validation::none) conclude(block, job, judged, raced);
}

// The failure that is the tuple at a position: it is looked at once more, and perhaps another writer has mended it.
template <class Index, class Job>
GATHER_SELDOM gth_error_record failure_at(const Job& job, int64_t position) {
  const char* tuple = locate_tuple(job, static_cast<typename Index::Number>(position));
  for (int32_t c = 0; c < components_of(job); ++c) {
    const int64_t value = Index::load(job, tuple + c * job.index_step);
    if (!is_good(job, job.component[c], value)) return index_failure(job, {position, value, c});
  }
  return race_failure(job.sequence);
}

// Judges all tuples of a call; the last block tells the record, and the copying kernel behind it.
template <class Index, class Job, class Block>
GATHER_KERNEL void validate_body(Block& block, const Job& job) {
  using Number = typename Index::Number;
  State* state = job.state;
  if (job.sets_skip) block.lets_next_begin();
  const Finding mine = block.smallest([&](uint32_t thread) {
    return find_bad<Index>(job, static_cast<Number>(block.index()) * block.threads() + thread,
                           static_cast<Number>(block.count()) * block.threads());
  });
  block.once([&] {
    if (mine.position >= 0) raise(&state->worst, ~static_cast<uint64_t>(mine.position));
  });
  if (!block.finishes(&state->finished)) return;
  block.once([&] {
    const uint64_t worst = load(&state->worst);
    if (worst) note_failure(job.record, failure_at<Index>(job, static_cast<int64_t>(~worst)));
    if (!job.sets_skip) state->worst = 0;
  });
}

// bounds = clamp and modulo have an answer for everything but an empty dim, which the first tuple meets as any other. An
// output of ours becomes zeros elsewhere.
template <class Job, class Block>
GATHER_KERNEL void report_first_body(Block& block, const Job& job) {
  block.once([&] {
    for (int32_t c = 0; c < job.components; ++c) {
      if (job.component[c].size != 0) continue;
      const int64_t value = AnyIndex<uint64_t>::load(job, job.indices + c * job.index_step);
      note_failure(job.record, index_failure(job, {0, value, c}));
      return;
    }
  });
}

// ---- from what the host decides to what was compiled

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
int visit_reading(Reading reading, Visit&& visit) {
  if constexpr (Job::is_direct) {
    if (reading == Reading::index4) return visit(IndexKernel<Index4>{});
    return visit(IndexKernel<Index8>{});
  } else {
    if constexpr (Job::most_loops == SmallJob::most_loops) {
      if (reading == Reading::any32) return visit(IndexKernel<AnyIndex<uint32_t>>{});
    }
    return visit(IndexKernel<AnyIndex<uint64_t>>{});
  }
}

// The kernels that count in 64 bits are few: what they have to do takes long.
template <class Job, class Index>
constexpr bool has_kernel(Copy copy) {
  if (sizeof(typename Index::Number) == 4) return true;
  const bool is_small = Job::most_loops == SmallJob::most_loops;
  return copy == Copy::rows16 || copy == Copy::rows4 || copy == Copy::rows1 || (is_small && copy == Copy::stream);
}

template <Copy copy, class Job, class Index, class Visit>
int visit_if_compiled(Visit&& visit) {
  if constexpr (has_kernel<Job, Index>(copy))
    return visit(CopyKernel<copy, Index>{});
  else
    return -1;  // the host does not ask for it
}

// Calls visit(CopyKernel<..>{}) for the kernel asked for.
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
      default: return visit_if_compiled<Copy::stream, Job, Index>(visit);
    }
  });
}

}  // namespace gather::cuda
