#include "cpu/run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/noinline.hpp"
#include "cpu/block.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"
#include "cpu/scatter.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Copies rows if some tuples select none. Their rows are filled or left unchanged.
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

// Copies slices of several rows. The inner loops enclose the loop over tuples, so each pass copies one row for each
// tuple.
void copy_slices(const Job& job, char* out, const char* params, const int64_t* offsets, int64_t count,
                 Resolved resolved) {
  for_each_row(job, [&](int64_t from, int64_t to) {
    copy_rows(job, moved(out, to), moved(params, from), offsets, count, resolved);
  });
}

// The pointers of the j-th tuple of a line.
struct TuplePointers {
  const LineIterator& lines;
  int64_t j;
  const char* tuples;
  const char* table;
  char* rows;

  TuplePointers(const Job& job, const LineIterator& at, const char* base, int64_t tuple)
      : lines(at),
        j(tuple),
        tuples(moved(job.indices, at.indices() + wrapping_multiply(j, job.copying.line.indices))),
        table(moved(base, at.table() + wrapping_multiply(j, job.copying.line.table))),
        rows(moved(job.rows, at.rows() + wrapping_multiply(j, job.copying.line.rows))) {}
};

// Copies up to `most` tuples with the fused kernel: whole lines with equal distances, or the remaining tuples of one
// line. Returns the number of tuples that were copied.
int64_t copy_fused(const Job& job, const TuplePointers& at, int64_t most) {
  if (!job.kernels.fused_gather) return 0;
  const SizedLoop& line = job.copying.line;
  TupleRun run{at.tuples,
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
  if (run.n == line.extent && job.copying.outer_count > 0) {
    const SizedLoop& next = at.lines.innermost();
    run.lines = std::min(at.lines.run(), most / line.extent);
    run.next_tuples = next.indices;
    run.next_rows = next.rows;
    run.next_table = next.table;
  }
  return job.kernels.fused_gather(job.kernels.selection, run);
}

// Copies a block of the line. Returns the number of tuples that were copied, or 0 if an index is invalid.
int64_t copy_block(const Job& job, const TuplePointers& at, int64_t most, ResolvedBlock* block) {
  const int64_t count = std::min({block_tuples, job.copying.line.extent - at.j, most});
  if (!block->update(job, at.tuples, count)) return 0;
  copy_slices(job, at.rows, at.table, block->offsets, count, block->resolved);
  return count;
}

// Copies the slices [first, last) in the order of the rows. Returns false if an index is invalid.
bool copy_range(const Job& job, const char* params, int64_t first, int64_t last) {
  ResolvedBlock block;
  LineIterator lines(job.copying);
  const int64_t length = job.copying.line.extent;
  int64_t j = first % length;
  for (lines.seek(first / length); first < last;) {
    const TuplePointers at(job, lines, params, j);
    int64_t copied = copy_fused(job, at, last - first);
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

// Returns the offset of a batch of the table.
int64_t batch_offset(const Plan& plan, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = plan.batch_split_ndim; i-- > 0;) {
    offset += batch % plan.batch_split_extents[i] * plan.batch_split_strides[i];
    batch /= plan.batch_split_extents[i];
  }
  return offset;
}

// Copies the slices [first, last) if the tuples are split evenly between the batches of the table. Returns false if an
// index is invalid.
bool copy_split_range(const Job& job, int64_t first, int64_t last) {
  const int64_t batch_slices = job.slices / job.plan.batch_split;
  while (first < last) {
    const int64_t batch = first / batch_slices;
    const int64_t end = std::min(last, (batch + 1) * batch_slices);
    if (!copy_range(job, job.table + batch_offset(job.plan, batch), first, end)) return false;
    first = end;
  }
  return true;
}

bool copy_any_range(const Job& job, int64_t first, int64_t last) {
  return job.plan.batch_split > 1 ? copy_split_range(job, first, last) : copy_range(job, job.table, first, last);
}

// Copies the slices [first, last) in sections, from the last section to the first. The indices of the last section are
// still in the caches after their validation. If indices are larger than rows, this saves up to a tenth of the time.
bool copy_backwards(const Job& job, int64_t first, int64_t last) {
  constexpr int64_t section_slices = 1 << 15;
  for (; last - first > section_slices; last -= section_slices) {
    if (!copy_any_range(job, last - section_slices, last)) return false;
  }
  return copy_any_range(job, first, last);
}

// Copies all slices. Returns false if an index is invalid.
bool copy_all(const Job& job, bool is_validated, const Executor& executor) {
  std::atomic<bool> stopped{false};
  in_pieces(executor, job.slices, copied_bytes(job), [&](int64_t first, int64_t last) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const bool whole = is_validated ? copy_backwards(job, first, last) : copy_any_range(job, first, last);
    if (!whole) stopped.store(true, std::memory_order_relaxed);
  });
  return !stopped.load(std::memory_order_relaxed);
}

// The largest number of slices of a small run. The offsets of all its tuples fit on the stack. So each index is loaded
// once, and all of them are validated before the first row is written.
constexpr int64_t max_kept = 8 * block_tuples;

bool is_small(const Job& job) {
  return job.copying.outer_count == 0 && job.plan.batch_split == 1 && !job.plan.is_empty && job.slices <= max_kept &&
         copied_bytes(job) < parallel_bytes;
}

GATHER_NOINLINE int32_t run_small(const Job& job, const Error& error) {
  const SizedLoop& line = job.copying.line;
  int64_t offsets[max_kept];
  Resolved resolved[max_kept / block_tuples];
  for (int64_t first = 0, block = 0; first < job.slices; first += block_tuples, ++block) {
    const int64_t count = std::min(block_tuples, job.slices - first);
    const char* const tuples = moved(job.indices, wrapping_multiply(first, line.indices));
    BadTuple bad;
    resolved[block] = job.kernels.resolve(job.plan, tuples, line.indices, count, offsets + first, &bad);
    if (resolved[block] == Resolved::bad) {
      return fail_bad_tuple(job.plan, wrapping_multiply(first + bad.tuple, line.position), bad, error);
    }
  }
  for (int64_t first = 0, block = 0; first < job.slices; first += block_tuples, ++block) {
    copy_slices(job, moved(job.rows, wrapping_multiply(first, line.rows)),
                moved(job.table, wrapping_multiply(first, line.table)), offsets + first,
                std::min(block_tuples, job.slices - first), resolved[block]);
  }
  return GTH_OK;
}

// Returns true if one contiguous block is copied unchanged.
bool is_contiguous_copy(const Job& job) {
  const bool is_bytes = job.plan.item.kind == core::ItemKind::value;
  return job.plan.components == 0 && job.slices == 1 && job.plan.inner == 1 && is_bytes;
}

// Copies one contiguous block, in one piece for each thread. memcpy chooses non-temporal stores for large pieces
// itself.
void copy_contiguous(const Job& job, const Executor& executor) {
  const int64_t bytes = job.plan.row.out;
  const Pieces pieces = split(bytes, bytes < parallel_bytes ? 1 : thread_count(executor));
  for_each_piece(executor, pieces, [&](int64_t i) {
    const int64_t first = pieces.first(i);
    std::memcpy(job.rows + first, job.table + first, static_cast<size_t>(pieces.last(i) - first));
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
  if (core::is_scatter(plan))
    return has_output ? scatter(job, {}, executor, error) : validate_all(job, executor, error);
  if (is_contiguous_copy(job)) {
    copy_contiguous(job, executor);
    return GTH_OK;
  }
  if (is_small(job)) return run_small(job, error);
  // The copy also validates indices. It is the only validation if no caller sees a partly written output, or if the
  // caller permits one.
  const bool may_write_partly = output == core::Output::ours || plan.is_partial_on_error;
  const bool validates_first = !has_output || !may_write_partly || plan.bounds != GTH_BOUNDS_ERROR;
  if (validates_first) {
    const int32_t status = validate_all(job, executor, error);
    if (status || !has_output) return status;
  }
  if (copy_all(job, validates_first, executor)) return GTH_OK;
  if (!validates_first) {
    if (int32_t status = validate_all(job, executor, error)) return status;
  }
  return core::fail_index_race(error);
}

int32_t run_prepared(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, const Prepare& prepare,
                     const Executor& executor, const Error& error) {
  if (plan.tuples.at(GTH_OPEN) == 0) return prepare();
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  const Job job(plan, pointers, GTH_OPEN, kernels);
  if (!plan.is_empty) return scatter(job, prepare, executor, error);
  const int32_t status = plan.checks_when_empty ? validate_all(job, executor, error) : GTH_OK;
  return status ? status : prepare();
}

int32_t validate(const Plan& plan, const Kernels& kernels, const char* indices, int64_t n, const Executor& executor,
                 const Error& error) {
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  return validate_all(Job(plan, {nullptr, indices, nullptr}, n, kernels), executor, error);
}

}  // namespace gather::cpu
