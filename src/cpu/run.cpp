#include "cpu/run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/noinline.hpp"
#include "cpu/block.hpp"
#include "cpu/job.hpp"
#include "cpu/judge.hpp"
#include "cpu/pieces.hpp"
#include "cpu/scatter.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Rows that some tuples do not select are filled or left alone.
void copy_some(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    char* to = out + i * job.copying.line.rows;
    if (offsets[i] != no_row) {
      job.kernels.copy(to, job.copying.line.rows, params, offsets + i, 1, job.plan.row.in);
    } else if (job.plan.bounds == GTH_BOUNDS_FILL) {
      job.kernels.fill(job.plan, to);
    }
  }
}

void copy_rows(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count,
               Resolved resolved) {
  if (resolved == Resolved::all) {
    job.kernels.copy(out, job.copying.line.rows, params, offsets, count, job.plan.row.in);
  } else {
    copy_some(job, out, params, offsets, count);
  }
}

// Slices that are not one row: the inner loops run outside the tuples, so that each pass copies one row a tuple.
void copy_slices(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count,
                 Resolved resolved) {
  for_each_row(job, [&](int64_t from, int64_t to) {
    copy_rows(job, moved(out, to), moved(params, from), offsets, count, resolved);
  });
}

// Where the copying walk stands: at the j-th tuple of a line.
struct Place {
  const Lines& lines;
  int64_t j;
  const char* tuples;
  const char* table;
  char* rows;

  Place(const Job& job, const Lines& at, const char* base, int64_t tuple)
      : lines(at),
        j(tuple),
        tuples(moved(job.indices, at.indices() + steps_of(j, job.copying.line.indices))),
        table(moved(base, at.table() + steps_of(j, job.copying.line.table))),
        rows(moved(job.rows, at.rows() + steps_of(j, job.copying.line.rows))) {}
};

// Takes up to `most` tuples in one go: whole lines that lie equal steps apart, or what is left of one. Returns how many.
int64_t take(const Job& job, const Place& at, int64_t most) {
  if (!job.kernels.take) return 0;
  const Steps& line = job.copying.line;
  Stretch stretch{at.tuples,
                  line.indices,
                  std::min(line.extent - at.j, most),
                  at.rows,
                  line.rows,
                  at.table,
                  job.plan.row.in,
                  1,
                  0,
                  0,
                  0};
  if (stretch.n == line.extent && job.copying.around_count > 0) {
    const Steps& next = at.lines.innermost();
    stretch.lines = std::min(at.lines.run(), most / line.extent);
    stretch.next_tuples = next.indices;
    stretch.next_out = next.rows;
    stretch.next_base = next.table;
  }
  return job.kernels.take(job.kernels.selection, stretch);
}

// Copies a block of the line. 0: an index is bad that was good when it was judged.
int64_t copy_block(const Job& job, const Place& at, int64_t most, ResolvedBlock* block) {
  const int64_t count = std::min({block_tuples, job.copying.line.extent - at.j, most});
  if (!block->update(job, at.tuples, count)) return 0;
  copy_slices(job, at.rows, at.table, block->offsets, count, block->resolved);
  return count;
}

// Slices [first, last) in output order. False: another thread has changed indices.
bool copy_range(const Job& job, const char* params, int64_t first, int64_t last) {
  ResolvedBlock block;
  Lines lines(job.copying);
  const int64_t length = job.copying.line.extent;
  int64_t j = first % length;
  for (lines.seek(first / length); first < last;) {
    const Place at(job, lines, params, j);
    int64_t copied = take(job, at, last - first);
    if (copied == 0) copied = copy_block(job, at, last - first, &block);
    if (copied == 0) return false;
    first += copied;
    j += copied;
    if (j < length) continue;
    lines.skip(j / length);
    j %= length;
  }
  return true;
}

int64_t dealt_offset(const Plan& plan, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = plan.batch_split_ndim; i-- > 0;) {
    offset += batch % plan.batch_split_extents[i] * plan.batch_split_strides[i];
    batch /= plan.batch_split_extents[i];
  }
  return offset;
}

// As copy_range where the tuples are dealt out to batches of params in equal shares.
bool copy_dealt_range(const Job& job, int64_t first, int64_t last) {
  const int64_t share = job.slices / job.plan.batch_split;
  while (first < last) {
    const int64_t batch = first / share;
    const int64_t end = std::min(last, (batch + 1) * share);
    if (!copy_range(job, job.table + dealt_offset(job.plan, batch), first, end)) return false;
    first = end;
  }
  return true;
}

bool copy_any_range(const Job& job, int64_t first, int64_t last) {
  return job.plan.batch_split > 1 ? copy_dealt_range(job, first, last) : copy_range(job, job.table, first, last);
}

// As copy_any_range, strip by strip from the end: of indices that have just been judged, the last are still in the caches.
// Where they are most of what is read, that is up to a tenth of the time.
bool copy_backwards(const Job& job, int64_t first, int64_t last) {
  constexpr int64_t strip = 1 << 15;
  for (; last - first > strip; last -= strip) {
    if (!copy_any_range(job, last - strip, last)) return false;
  }
  return copy_any_range(job, first, last);
}

// False: an index is bad, or was good when it was judged and no longer is.
bool copy_all(const Job& job, bool is_judged, const Executor& executor) {
  std::atomic<bool> stopped{false};
  in_pieces(executor, job.slices, copied_bytes(job), [&](int64_t first, int64_t last) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const bool whole = is_judged ? copy_backwards(job, first, last) : copy_any_range(job, first, last);
    if (!whole) stopped.store(true, std::memory_order_relaxed);
  });
  return !stopped.load(std::memory_order_relaxed);
}

// A few blocks on one line, whose offsets all have room: each index is loaded once, judged before anything is written.
constexpr int64_t most_kept = 8 * block_tuples;

bool is_small(const Job& job) {
  return job.copying.around_count == 0 && job.plan.batch_split == 1 && !job.plan.is_empty && job.slices <= most_kept &&
         copied_bytes(job) < parallel_bytes;
}

GATHER_NOINLINE int32_t run_small(const Job& job, const Error& error) {
  const Steps& line = job.copying.line;
  int64_t offsets[most_kept];
  Resolved resolved[most_kept / block_tuples];
  for (int64_t first = 0, block = 0; first < job.slices; first += block_tuples, ++block) {
    const int64_t count = std::min(block_tuples, job.slices - first);
    const char* const tuples = moved(job.indices, steps_of(first, line.indices));
    BadTuple bad;
    resolved[block] = job.kernels.resolve(job.plan, tuples, line.indices, count, offsets + first, &bad);
    if (resolved[block] == Resolved::bad) {
      return fail_bad_tuple(job.plan, steps_of(first + bad.tuple, line.position), bad, error);
    }
  }
  for (int64_t first = 0, block = 0; first < job.slices; first += block_tuples, ++block) {
    copy_slices(job, moved(job.rows, steps_of(first, line.rows)), moved(job.table, steps_of(first, line.table)),
                offsets + first, std::min(block_tuples, job.slices - first), resolved[block]);
  }
  return GTH_OK;
}

// All of params as it lies.
bool is_stretch(const Job& job) {
  const bool is_bytes = job.plan.item.kind == core::ItemKind::value;
  return job.plan.components == 0 && job.slices == 1 && job.plan.inner == 1 && is_bytes;
}

// A share for each thread: of large ones memcpy knows best how to get past the caches.
void copy_stretch(const Job& job, const Executor& executor) {
  const int64_t bytes = job.plan.row.out;
  const Pieces shares = split(bytes, bytes < parallel_bytes ? 1 : thread_count(executor));
  for_each_piece(executor, shares, [&](int64_t i) {
    const int64_t first = shares.first(i);
    std::memcpy(job.rows + first, job.table + first, static_cast<size_t>(shares.last(i) - first));
  });
}

int32_t fail_empty(const Plan& plan, const Error& error) {
  return core::fail_empty_params(error, core::roles_of(plan.direction).table, plan.refused_dim);
}

}  // namespace

int32_t run(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n, core::Output output,
            const Executor& executor, const Error& error) {
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  const bool has_output = !plan.is_empty;
  if (!has_output && !plan.checks_when_empty) return GTH_OK;
  const Job job(plan, pointers, n, kernels);
  if (core::is_scatter(plan)) return has_output ? scatter(job, {}, executor, error) : judge_all(job, executor, error);
  if (is_stretch(job)) {
    copy_stretch(job, executor);
    return GTH_OK;
  }
  if (is_small(job)) return run_small(job, error);
  // Indices that copying judges need not be read twice where nobody sees what was copied before a bad one.
  const bool judges_first = !has_output || output == core::Output::callers || plan.bounds != GTH_BOUNDS_ERROR;
  if (judges_first) {
    const int32_t status = judge_all(job, executor, error);
    if (status || !has_output) return status;
  }
  if (copy_all(job, judges_first, executor)) return GTH_OK;
  if (!judges_first) {
    if (int32_t status = judge_all(job, executor, error)) return status;
  }
  return core::fail_index_race(error);
}

int32_t run_prepared(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, const Prepare& prepare,
                     const Executor& executor, const Error& error) {
  if (plan.tuples.at(GTH_OPEN) == 0) return prepare();
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  const Job job(plan, pointers, GTH_OPEN, kernels);
  if (!plan.is_empty) return scatter(job, prepare, executor, error);
  const int32_t status = plan.checks_when_empty ? judge_all(job, executor, error) : GTH_OK;
  return status ? status : prepare();
}

int32_t judge(const Plan& plan, const Kernels& kernels, const char* indices, int64_t n, const Executor& executor,
              const Error& error) {
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  return judge_all(Job(plan, {nullptr, indices, nullptr}, n, kernels), executor, error);
}

}  // namespace gather::cpu
