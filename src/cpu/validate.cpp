#include "cpu/validate.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/base/checked.hpp"
#include "core/os/os.hpp"
#include "cpu/indices.hpp"
#include "cpu/pieces.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

struct FirstBad {
  std::atomic<int64_t> position{INT64_MAX};
  core::Lock lock;
  BadTuple tuple{};

  void offer(int64_t at, const BadTuple& bad) {
    const std::lock_guard<core::Lock> guard(lock);
    if (at >= position.load(std::memory_order_relaxed)) return;
    position.store(at, std::memory_order_relaxed);
    tuple = bad;
  }
};

// Validates the tuples [j, end) of the current line, and offers the first invalid one. Returns false if one is invalid,
// or if a smaller position has already been found. If positions increase, later tuples then need no validation.
bool validate_line(const Job& job, const LineIterator& lines, int64_t j, int64_t end, FirstBad* found) {
  const SizedLoop& line = job.validating.line;
  int64_t offsets[block_tuples];
  while (j < end) {
    const int64_t position = lines.position() + wrapping_multiply(j, line.position);
    if (found->position.load(std::memory_order_relaxed) <= position) return false;
    const int64_t count = std::min(block_tuples, end - j);
    const char* tuples = moved(job.indices, lines.indices() + wrapping_multiply(j, line.indices));
    BadTuple bad;
    if (!job.kernels.inside(tuples, line.indices, count) &&
        job.kernels.resolve(job.plan, tuples, line.indices, count, offsets, &bad) == Resolved::bad) {
      found->offer(position + wrapping_multiply(bad.tuple, line.position), bad);
      return false;
    }
    j += count;
  }
  return true;
}

// Validates the tuples [first, last) in the order of the validating nest, and offers the one with the smallest
// position.
void validate_range(const Job& job, int64_t first, int64_t last, FirstBad* found) {
  LineIterator lines(job.validating);
  const int64_t length = job.validating.line.extent;
  int64_t j = first % length;
  for (lines.seek(first / length); first < last; lines.next(), j = 0) {
    const int64_t end = std::min(length, j + last - first);
    if (!validate_line(job, lines, j, end, found) && job.in_order) return;
    first += end - j;
  }
}

// The tuples of a job in the order of memory, without their positions.
struct MemoryOrder {
  const char* first;
  Nest nest;

  explicit MemoryOrder(const Job& job) : first(job.indices) {
    const Nest& given = job.validating;
    SizedLoop* const loops = nest.outer;
    int32_t count = 0;
    for (int32_t i = 0; i <= given.outer_count; ++i) {
      SizedLoop loop = i < given.outer_count ? given.outer[i] : given.line;
      if (loop.indices < 0) {
        first = moved(first, wrapping_multiply(loop.extent - 1, loop.indices));
        loop.indices = wrapping_multiply(loop.indices, -1);
      }
      loops[count++] = loop;
    }
    std::sort(loops, loops + count, [](const SizedLoop& a, const SizedLoop& b) { return a.indices > b.indices; });
    int32_t merged = 0;
    for (int32_t i = 1; i < count; ++i) {
      if (loops[merged].indices == wrapping_multiply(loops[i].extent, loops[i].indices)) {
        loops[i].extent *= loops[merged].extent;
      } else {
        ++merged;
      }
      loops[merged] = loops[i];
    }
    nest.outer_count = merged;
    nest.line = loops[merged];
  }

  // Returns true if it is faster than the order of the positions: lines are contiguous and longer.
  bool is_faster(const Job& job) const {
    const SizedLoop& line = job.validating.line;
    const bool is_longer = nest.line.extent > line.extent || nest.line.indices != line.indices;
    return is_longer && nest.line.extent >= block_tuples &&
           nest.line.indices == job.plan.components * core::index_bytes(job.plan.index);
  }

  // Returns true if the tuples [begin, end) are inside. May return false if the fast test is not sufficient.
  bool is_inside(const Job& job, int64_t begin, int64_t end) const {
    LineIterator lines(nest);
    const int64_t length = nest.line.extent;
    int64_t j = begin % length;
    for (lines.seek(begin / length); begin < end; lines.next(), j = 0) {
      const int64_t count = std::min(length - j, end - begin);
      const char* const at = moved(first, lines.indices() + wrapping_multiply(j, nest.line.indices));
      if (!job.kernels.inside(at, nest.line.indices, count)) return false;
      begin += count;
    }
    return true;
  }
};

// Returns the cost of validation in bytes.
int64_t validation_bytes(const Job& job) {
  int64_t bytes;
  const int64_t tuple = job.plan.components * core::index_bytes(job.plan.index);
  return core::multiply(job.distinct_tuples, tuple, &bytes) ? bytes : INT64_MAX;
}

// Returns true if all tuples are inside and it is faster to test this in the order of memory.
bool are_inside(const Job& job, const Executor& executor) {
  if (job.distinct_tuples < block_tuples) return false;
  const MemoryOrder order(job);
  if (!order.is_faster(job)) return false;
  std::atomic<bool> all{true};
  in_pieces(executor, job.distinct_tuples, validation_bytes(job), [&](int64_t first, int64_t last) {
    if (!order.is_inside(job, first, last)) all.store(false, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

int32_t validate_tuples(const Job& job, const Executor& executor, const Error& error) {
  if (are_inside(job, executor)) return GTH_OK;
  FirstBad found;
  in_pieces(executor, job.distinct_tuples, validation_bytes(job),
            [&](int64_t first, int64_t last) { validate_range(job, first, last, &found); });
  const int64_t position = found.position.load(std::memory_order_relaxed);
  return position == INT64_MAX ? GTH_OK : fail_bad_tuple(job.plan, position, found.tuple, error);
}

// Validates one tuple. It is sufficient for bounds = clamp and modulo, because only an empty dim makes a tuple invalid,
// and it makes all of them invalid.
int32_t validate_one_tuple(const Job& job, const Error& error) {
  int64_t offset;
  BadTuple bad;
  if (job.kernels.resolve(job.plan, job.indices, 0, 1, &offset, &bad) != Resolved::bad) return GTH_OK;
  return fail_bad_tuple(job.plan, 0, bad, error);
}

}  // namespace

int32_t fail_bad_tuple(const Plan& plan, int64_t position, const BadTuple& bad, const Error& error) {
  uint32_t flags = plan.wraps ? GTH_ERROR_WRAP : 0;
  if (!core::is_signed(plan.index) && bad.value < 0) flags |= GTH_ERROR_UNSIGNED;
  return fail_index(error, {GTH_E_INDEX, GTH_OPERAND_INDICES, bad.component, position, bad.value,
                            plan.component[bad.component].size, flags});
}

int32_t validate_all(const Job& job, const Executor& executor, const Error& error) {
  switch (job.plan.bounds) {
    case GTH_BOUNDS_ERROR: return validate_tuples(job, executor, error);
    case GTH_BOUNDS_CLAMP:
    case GTH_BOUNDS_MODULO:
      // Padding is valid also if a dim is empty.
      return job.plan.has_padding ? validate_tuples(job, executor, error) : validate_one_tuple(job, error);
    default: return GTH_OK;  // With fill and skip, every index is valid.
  }
}

int32_t fail_write(const Job& job, bool was_validated, const Executor& executor, const Error& error) {
  if (!was_validated) {
    if (int32_t status = validate_all(job, executor, error)) return status;
  }
  return core::fail_index_race(error);
}

}  // namespace gather::cpu
