#include "cpu/judge.hpp"

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

// Offers the first bad one of the tuples [j, end) of the line on which `lines` stands, unless a smaller position is
// known. False: nothing behind it can win where positions grow along the walk.
bool judge_line(const Job& job, const Lines& lines, int64_t j, int64_t end, FirstBad* found) {
  const Steps& line = job.judging.line;
  int64_t offsets[block_tuples];
  while (j < end) {
    const int64_t position = lines.position() + steps_of(j, line.position);
    if (found->position.load(std::memory_order_relaxed) <= position) return false;
    const int64_t count = std::min(block_tuples, end - j);
    const char* tuples = moved(job.indices, lines.indices() + steps_of(j, line.indices));
    BadTuple bad;
    if (!job.kernels.inside(tuples, line.indices, count) &&
        job.kernels.resolve(job.plan, tuples, line.indices, count, offsets, &bad) == Resolved::bad) {
      found->offer(position + steps_of(bad.tuple, line.position), bad);
      return false;
    }
    j += count;
  }
  return true;
}

// Judges the tuples [first, last) as the nest for judging numbers them. The smallest position wins, which is the first one
// found only where positions grow along the walk.
void validate_range(const Job& job, int64_t first, int64_t last, FirstBad* found) {
  Lines lines(job.judging);
  const int64_t length = job.judging.line.extent;
  int64_t j = first % length;
  for (lines.seek(first / length); first < last; lines.next(), j = 0) {
    const int64_t end = std::min(length, j + last - first);
    if (!judge_line(job, lines, j, end, found) && job.in_order) return;
    first += end - j;
  }
}

// What judging is worth, in bytes.
int64_t judged_bytes(const Job& job) {
  int64_t bytes;
  const int64_t tuple = job.plan.components * core::index_bytes(job.plan.index);
  return core::multiply(job.judged, tuple, &bytes) ? bytes : INT64_MAX;
}

int32_t validate(const Job& job, const Executor& executor, const Error& error) {
  FirstBad found;
  in_pieces(executor, job.judged, judged_bytes(job),
            [&](int64_t first, int64_t last) { validate_range(job, first, last, &found); });
  const int64_t position = found.position.load(std::memory_order_relaxed);
  return position == INT64_MAX ? GTH_OK : fail_bad_tuple(job.plan, position, found.tuple, error);
}

// bounds = clamp and modulo have an answer for everything but an empty dim, which the first tuple meets as any other.
int32_t validate_first(const Job& job, const Error& error) {
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

int32_t judge_all(const Job& job, const Executor& executor, const Error& error) {
  switch (job.plan.bounds) {
    case GTH_BOUNDS_ERROR: return validate(job, executor, error);
    case GTH_BOUNDS_CLAMP:
    case GTH_BOUNDS_MODULO: return validate_first(job, error);
    default: return GTH_OK;  // fill and skip have an answer for every index
  }
}

}  // namespace gather::cpu
