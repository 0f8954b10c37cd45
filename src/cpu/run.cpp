#include "cpu/run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "core/checked.hpp"
#include "core/spin_lock.hpp"
#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Work below this many bytes is not worth waking a thread for; a row counts as some bytes however small it is. Test
// builds cut everything into pieces.
#ifdef GATHER_TESTING
constexpr int64_t parallel_bytes = 1;
#else
constexpr int64_t parallel_bytes = 256 * 1024;
#endif
constexpr int64_t row_overhead = 16;
// More pieces than threads, so that a thread that was held up does not hold up the call.
constexpr int64_t pieces_per_thread = 4;

int32_t fail_bad_tuple(const Plan& plan, int64_t position, const BadTuple& bad, const Error& error) {
  uint32_t flags = plan.wraps ? GTH_ERROR_WRAP : 0;
  if (!core::is_signed(plan.index) && bad.value < 0) flags |= GTH_ERROR_UNSIGNED;
  return fail_index(error, {GTH_E_INDEX, GTH_OPERAND_INDICES, bad.component, position, bad.value,
                            plan.component[bad.component].size, flags});
}

// Cuts [0, count) into pieces of equal size and runs them; serially where `bytes` of work are not worth more.
template <class Body>
void in_pieces(const Executor& executor, int64_t count, int64_t bytes, Body&& body) {
  const int64_t threads = bytes < parallel_bytes ? 1 : thread_count(executor);
  if (threads <= 1) {
    body(int64_t{0}, count);
    return;
  }
  struct Pieces {
    Body& body;
    int64_t count, size;
  };
  const int64_t wanted = std::min(count, threads * pieces_per_thread);
  const int64_t size = (count - 1) / wanted + 1;
  Pieces pieces{body, count, size};
  parallel_for(
      executor, (count - 1) / size + 1,
      [](void* arg, int64_t i) {
        const Pieces& all = *static_cast<Pieces*>(arg);
        const int64_t first = i * all.size;
        all.body(first, first + std::min(all.size, all.count - first));
      },
      &pieces);
}

// ---- pass 1: every index is judged, the smallest bad tuple wins

struct FirstBad {
  std::atomic<int64_t> position{INT64_MAX};
  core::SpinLock lock;
  BadTuple tuple{};

  void offer(int64_t at, const BadTuple& bad) {
    const std::lock_guard<core::SpinLock> guard(lock);
    if (at >= position.load(std::memory_order_relaxed)) return;
    position.store(at, std::memory_order_relaxed);
    tuple = bad;
  }
};

void validate_range(const Job& job, int64_t first, int64_t last, FirstBad* found) {
  int64_t offsets[block_tuples];
  Lines lines(job, Lines::Walk::validating);
  const int64_t length = job.line.extent;
  int64_t line = first / length, j = first % length;
  for (lines.seek(line); first < last; lines.next(), ++line, j = 0) {
    for (; j < length && first < last;) {
      if (found->position.load(std::memory_order_relaxed) < first) return;
      const int64_t count = std::min({block_tuples, length - j, last - first});
      const char* tuples = job.indices + lines.index() + j * job.line.index;
      BadTuple bad;
      if (!are_inside(job.plan, tuples, job.line.index, count) &&
          resolve(job.plan, tuples, job.line.index, count, offsets, &bad) == Resolved::bad) {
        return found->offer(first + bad.tuple, bad);
      }
      j += count;
      first += count;
    }
  }
}

int32_t validate(const Job& job, const Executor& executor, const Error& error) {
  FirstBad found;
  const int64_t bytes = job.tuples * job.plan.components * core::index_bytes(job.plan.index);
  in_pieces(executor, job.tuples, bytes,
            [&](int64_t first, int64_t last) { validate_range(job, first, last, &found); });
  const int64_t position = found.position.load(std::memory_order_relaxed);
  return position == INT64_MAX ? GTH_OK : fail_bad_tuple(job.plan, position, found.tuple, error);
}

// bounds = clamp and modulo have an answer for everything but an empty dim, which the first tuple meets as any other.
int32_t validate_first(const Job& job, const Error& error) {
  int64_t offset;
  BadTuple bad;
  if (resolve(job.plan, job.indices, 0, 1, &offset, &bad) != Resolved::bad) return GTH_OK;
  return fail_bad_tuple(job.plan, 0, bad, error);
}

// ---- pass 2: rows are copied

void fill_row(const Plan& plan, char* out) {
  const uint64_t* fill = plan.fill;
  if ((fill[0] | fill[1]) == 0 || plan.item == 1) {
    std::memset(out, static_cast<int>(fill[0] & 0xff), static_cast<size_t>(plan.row));
    return;
  }
  for (int64_t at = 0; at < plan.row; at += plan.item) std::memcpy(out + at, fill, static_cast<size_t>(plan.item));
}

// Rows that some tuples do not select are filled or left alone.
void copy_some(const Plan& plan, CopyRows copy, char* out, int64_t stride, const char* params, const int64_t* offsets,
               int64_t count) {
  for (int64_t i = 0; i < count; ++i, out += stride) {
    if (offsets[i] != no_row) {
      copy(out, stride, params, offsets + i, 1, plan.row);
    } else if (plan.bounds == GTH_BOUNDS_FILL) {
      fill_row(plan, out);
    }
  }
}

void copy_rows(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count,
               Resolved resolved) {
  if (resolved == Resolved::all) {
    job.copy(out, job.line.out, params, offsets, count, job.plan.row);
  } else {
    copy_some(job.plan, job.copy, out, job.line.out, params, offsets, count);
  }
}

// Slices that are not one row: the inner loops run outside the tuples, so that each pass copies one row a tuple.
void copy_slices(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count,
                 Resolved resolved) {
  if (job.inner_count == 0) return copy_rows(job, out, params, offsets, count, resolved);
  int64_t at[GTH_MAX_NDIM];
  std::fill_n(at, job.inner_count, 0);
  for (;;) {
    copy_rows(job, out, params, offsets, count, resolved);
    int32_t i = job.inner_count;
    for (;;) {
      if (i-- == 0) return;
      const Steps& loop = job.inner[i];
      const bool carries = ++at[i] == loop.extent;
      const int64_t by = carries ? 1 - loop.extent : 1;
      params += loop.params * by;
      out += loop.out * by;
      if (!carries) break;
      at[i] = 0;
    }
  }
}

// A block of resolved tuples, kept as long as the outer loops repeat it.
struct ResolvedBlock {
  const char* tuples = nullptr;
  int64_t count = 0;
  Resolved resolved = Resolved::all;
  int64_t offsets[block_tuples];

  // False: an index is bad that was good in pass 1.
  bool update(const Job& job, const char* new_tuples, int64_t new_count) {
    if (tuples == new_tuples && count == new_count) return true;
    BadTuple bad;
    resolved = resolve(job.plan, new_tuples, job.line.index, new_count, offsets, &bad);
    tuples = new_tuples;
    count = new_count;
    return resolved != Resolved::bad;
  }
};

// Slices [first, last) in output order. False: another thread has changed indices.
bool copy_range(const Job& job, const char* params, int64_t first, int64_t last) {
  ResolvedBlock block;
  Lines lines(job, Lines::Walk::copying);
  const int64_t length = job.line.extent;
  int64_t j = first % length;
  for (lines.seek(first / length); first < last; lines.next(), j = 0) {
    while (j < length && first < last) {
      const int64_t count = std::min({block_tuples, length - j, last - first});
      if (!block.update(job, job.indices + lines.index() + j * job.line.index, count)) return false;
      copy_slices(job, job.out + lines.out() + j * job.line.out, params + lines.params(), block.offsets, count,
                  block.resolved);
      j += count;
      first += count;
    }
  }
  return true;
}

int64_t dealt_offset(const Plan& plan, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = plan.dealt_ndim; i-- > 0;) {
    offset += batch % plan.dealt_extents[i] * plan.dealt_strides[i];
    batch /= plan.dealt_extents[i];
  }
  return offset;
}

// As copy_range where the tuples are dealt out to batches of params in equal shares.
bool copy_dealt_range(const Job& job, int64_t first, int64_t last) {
  const int64_t share = job.tuples / job.plan.dealt;
  while (first < last) {
    const int64_t batch = first / share;
    const int64_t end = std::min(last, (batch + 1) * share);
    if (!copy_range(job, job.params + dealt_offset(job.plan, batch), first, end)) return false;
    first = end;
  }
  return true;
}

// What copying is worth; no more than enough to be worth all threads.
int64_t copied_bytes(const Plan& plan, int64_t slices) {
  int64_t bytes;
  const bool fits = core::multiply(slices, plan.inner * plan.row, &bytes) &&
                    core::add(bytes, std::min(slices, parallel_bytes) * row_overhead, &bytes);
  return fits ? bytes : INT64_MAX;
}

int32_t copy_all(const Job& job, const Executor& executor, const Error& error) {
  std::atomic<bool> raced{false};
  in_pieces(executor, job.slices, copied_bytes(job.plan, job.slices), [&](int64_t first, int64_t last) {
    if (raced.load(std::memory_order_relaxed)) return;
    const bool whole =
        job.plan.dealt > 1 ? copy_dealt_range(job, first, last) : copy_range(job, job.params, first, last);
    if (!whole) raced.store(true, std::memory_order_relaxed);
  });
  return raced.load(std::memory_order_relaxed) ? core::fail_index_race(error) : GTH_OK;
}

// One block on one line: each index is loaded once, so one pass judges and copies.
bool is_small(const Plan& plan, int64_t tuples, int64_t slices) {
  return plan.line == 0 && plan.dealt == 1 && !plan.is_empty && tuples <= block_tuples &&
         copied_bytes(plan, slices) < parallel_bytes;
}

int32_t run_small(const Job& job, const Error& error) {
  int64_t offsets[block_tuples];
  BadTuple bad;
  const Resolved resolved = resolve(job.plan, job.indices, job.line.index, job.tuples, offsets, &bad);
  if (resolved == Resolved::bad) return fail_bad_tuple(job.plan, bad.tuple, bad, error);
  copy_slices(job, job.out, job.params, offsets, job.tuples, resolved);
  return GTH_OK;
}

}  // namespace

int32_t run(const Plan& plan, const core::Pointers& pointers, int64_t n, const Executor& executor, const Error& error) {
  return run_with(plan, pointers, n, executor, choose_copy(plan.row), error);
}

int32_t run_with(const Plan& plan, const core::Pointers& pointers, int64_t n, const Executor& executor, CopyRows copy,
                 const Error& error) {
  const int64_t tuples = plan.tuples.at(n);
  if (tuples == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return core::fail_empty_params(error, plan.refused_dim);
  const bool has_output = !plan.is_empty;
  if (!has_output && !plan.checks_when_empty) return GTH_OK;
  const Job job(plan, pointers, n, copy);
  if (is_small(plan, job.tuples, job.slices)) return run_small(job, error);
  int32_t status = GTH_OK;
  if (plan.bounds == GTH_BOUNDS_ERROR) {
    status = validate(job, executor, error);
  } else if (plan.bounds == GTH_BOUNDS_CLAMP || plan.bounds == GTH_BOUNDS_MODULO) {
    status = validate_first(job, error);
  }
  if (status || !has_output) return status;
  return copy_all(job, executor, error);
}

}  // namespace gather::cpu
