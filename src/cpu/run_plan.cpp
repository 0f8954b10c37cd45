#include "cpu/run_plan.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/noinline.hpp"
#include "core/os/os.hpp"
#include "cpu/file_rows.hpp"
#include "cpu/job.hpp"
#include "cpu/move.hpp"
#include "cpu/one_block.hpp"
#include "cpu/panels.hpp"
#include "cpu/pieces.hpp"
#include "cpu/run_bags.hpp"
#include "cpu/scatter.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Copies the slices [first, last) if the tuples are split evenly between the batches of the table. Returns false if an
// index is invalid.
bool copy_split_range(const Job& job, int64_t first, int64_t last) {
  const int64_t batch_slices = job.slices / job.plan.split.count;
  while (first < last) {
    const int64_t batch = first / batch_slices;
    const int64_t end = std::min(last, (batch + 1) * batch_slices);
    if (!move_range(job, moved(job.table, batch_offset(job.plan, batch)), first, end, job.kernels.prefetches))
      return false;
    first = end;
  }
  return true;
}

bool copy_in_place(const Job& job, int64_t first, int64_t last) {
  return job.plan.split.count > 1 ? copy_split_range(job, first, last)
                                  : move_range(job, job.table, first, last, job.kernels.prefetches);
}

bool copy_any_range(const Job& job, int64_t first, int64_t last) {
  return has_panels(job) ? move_panels(job, first, last) : copy_in_place(job, first, last);
}

// Cuts the slices into pieces for all threads. A packable job gets at most one piece for each thread, because each
// piece packs the table again.
Pieces cut_slices(const Job& job, const Executor& executor) {
  const Pieces pieces = cut(executor, job.slices, copied_bytes(job));
  if (pieces.count == 1 || !has_panels(job)) return pieces;
  return split(job.slices, std::min<int64_t>(pieces.count, thread_count(executor)));
}

// Calls copy(first, last) for each piece until it returns false, which means that an index is invalid.
template <class Copy>
bool copy_pieces(const Pieces& pieces, const Executor& executor, Copy&& copy) {
  std::atomic<bool> stopped{false};
  for_each_piece(executor, pieces, [&](int64_t i) {
    if (stopped.load(std::memory_order_relaxed)) return;
    if (!copy(pieces.first(i), pieces.last(i))) stopped.store(true, std::memory_order_relaxed);
  });
  return !stopped.load(std::memory_order_relaxed);
}

// Copies all slices. Returns false if an index is invalid.
bool copy_all(const Job& job, const Executor& executor) {
  return copy_pieces(cut_slices(job, executor), executor,
                     [&](int64_t first, int64_t last) { return copy_any_range(job, first, last); });
}

// Returns true if one contiguous block is copied unchanged.
bool is_contiguous_copy(const Job& job) {
  const bool is_bytes = job.plan.item.kind == core::ItemKind::value && !job.plan.packed.is_packed();
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
  return core::fail_empty_table(error, plan.operation->name_of(core::Role::table), plan.refused_dim);
}

}  // namespace

int32_t run(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n, core::Output output,
            const Executor& executor, const Error& error) {
  if (core::has_bags(plan)) return run_bags(plan, kernels, pointers, n, executor, nullptr, error);
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  const bool has_output = !plan.is_empty;
  if (!reads_indices(plan)) return GTH_OK;
  const Job job(plan, pointers, n, kernels);
  if (core::is_scatter(plan))
    return has_output ? scatter(job, {}, executor, error) : validate_all(job, executor, error);
  if (is_contiguous_copy(job)) {
    copy_contiguous(job, executor);
    return GTH_OK;
  }
  if (has_output && is_one_block(job) && !has_panels(job)) return run_one_block(job, {}, error);
  // The copy also validates indices. It is the only validation if the library discards the output after an error,
  // or if the caller permits a partly written one.
  const bool may_write_partly = output == core::Output::ours || plan.is_partial_on_error;
  const bool validates_first = !has_output || !may_write_partly || plan.bounds != GTH_BOUNDS_ERROR;
  if (validates_first) {
    const int32_t status = validate_all(job, executor, error);
    if (status || !has_output) return status;
  }
  if (copy_all(job, executor)) return GTH_OK;
  return fail_write(job, validates_first, executor, error);
}

namespace {

// Copies rows of tables in files. All indices have been validated.
int32_t copy_files(Job* job, const Executor& executor, const Error& error) {
  FileRows& files = *job->files;
  if (files.are_brought()) {
    files.set_step(FileRows::Step::bring);
    copy_in_place(*job, 0, job->slices);
    files.set_step(FileRows::Step::move);
  }
  if (!files.has_failed()) {
    if (files.are_dense()) job->leave_files(files.dense_pointers());
    if (!copy_all(*job, executor)) return fail_write(*job, true, executor, error);
  }
  return files.has_failed() ? files.fail(*job, error) : GTH_OK;
}

GATHER_NOINLINE int32_t run_tuples_of_files(const Plan& plan, const Kernels& kernels, int64_t n,
                                            const Executor& executor, FileRows* files, const Error& error) {
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  if (!reads_indices(plan)) return GTH_OK;
  Job job(plan, files->pointers(), n, kernels, files);
  const int32_t status = validate_all(job, executor, error);
  return status || plan.is_empty ? status : copy_files(&job, executor, error);
}

}  // namespace

int32_t run_files(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                  const Executor& executor, const Error& error) {
  const core::Uncancelled uncancelled;
  FileRows files(plan, pointers);
  const core::Span written = core::span_of(plan, core::Role::rows, n, pointers.ids);
  if (files.overlap(moved(pointers.rows, written.low), moved(pointers.rows, written.high))) {
    const int32_t out = plan.operation->name_of(core::Role::rows);
    return error.fail({GTH_E_ALIAS, out, -1, -1, GTH_OPERAND_FILE, 0}, "%s: shares memory with a segment of %s",
                      core::operand_name(out), core::operand_name(plan.operation->name_of(core::Role::table)));
  }
  if (core::has_bags(plan)) return run_bags(plan, kernels, files.pointers(), n, executor, &files, error);
  return run_tuples_of_files(plan, kernels, n, executor, &files, error);
}

void request_rows(const Plan& plan, const core::Pointers& pointers) {
  if (plan.tuples.at(GTH_OPEN) == 0 || plan.is_empty) return;
  const core::Uncancelled uncancelled;
  FileRows files(plan, pointers);
  files.set_step(FileRows::Step::request);
  const Kernels kernels = choose_kernels(plan);
  const Job job(plan, files.pointers(), GTH_OPEN, kernels, &files);
  copy_in_place(job, 0, job.slices);
}

// A packable job is not packed, because each call would pack the table again.
int32_t run_slices(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n, int64_t first,
                   int64_t last, const Executor& executor, const Error& error) {
  const Job job(plan, pointers, n, kernels);
  const int64_t bytes = copied_bytes(job) / job.slices * (last - first);
  const bool valid = copy_pieces(cut(executor, last - first, bytes), executor, [&](int64_t begin, int64_t end) {
    return copy_in_place(job, first + begin, first + end);
  });
  return valid ? GTH_OK : fail_write(job, false, executor, error);
}

int32_t run_scatter(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers,
                    const BeforeWrite& before_write, const Executor& executor, const Error& error) {
  if (plan.tuples.at(GTH_OPEN) == 0) return before_write();
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  const Job job(plan, pointers, GTH_OPEN, kernels);
  if (!plan.is_empty) return scatter(job, before_write, executor, error);
  const int32_t status = plan.checks_when_empty ? validate_all(job, executor, error) : GTH_OK;
  return status ? status : before_write();
}

int32_t validate(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                 const Executor& executor, const Error& error) {
  if (core::has_bags(plan)) return validate_bags(plan, kernels, pointers, n, executor, error);
  if (plan.tuples.at(n) == 0) return GTH_OK;
  if (plan.refused_dim >= 0) return fail_empty(plan, error);
  if (!reads_indices(plan)) return GTH_OK;
  return validate_all(Job(plan, pointers, n, kernels), executor, error);
}

}  // namespace gather::cpu
