#include "cpu/scatter.hpp"

#include <algorithm>

#include "cpu/accumulate.hpp"
#include "cpu/divide_sums.hpp"
#include "cpu/hot_rows.hpp"
#include "cpu/move.hpp"
#include "cpu/one_block.hpp"
#include "cpu/target.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::Error;

void prefetch_row(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 1);
  __builtin_prefetch(row + bytes - 1, 1);
}

// Combines updates with rows of the target, which are prefetched `ahead` rows earlier. Prefetching and combining
// alternate after `group` rows.
template <int64_t group, class Prefetch>
void reduce_in_groups(WriteRows update, char* target, const char* updates, const Updates& on, int64_t row,
                      int64_t ahead, Prefetch&& prefetch) {
  int64_t prefetched = 0;
  for (int64_t i = 0; i < on.count; i += group) {
    const int64_t wanted = std::min(i + group + ahead, on.count);
    for (; prefetched < wanted; ++prefetched) prefetch(target + on.offsets[prefetched]);
    update(target, on.offsets + i, updates, on.from + i, std::min(group, on.count - i), row);
  }
}

void reduce_prefetched(WriteRows update, char* target, const char* updates, const Updates& on, int64_t row) {
  constexpr int64_t max_ahead = 32, max_bytes_ahead = 16 * 1024;
  // Such a row usually fits in one cache line. Testing for a second line costs more than it saves.
  if (row < 64) {
    return reduce_in_groups<32>(update, target, updates, on, row, max_ahead,
                                [](const char* at) { __builtin_prefetch(at, 1); });
  }
  const int64_t ahead = std::min(std::max(max_bytes_ahead / row, int64_t{1}), max_ahead);
  reduce_in_groups<8>(update, target, updates, on, row, ahead, [row](const char* at) { prefetch_row(at, row); });
}

// The kernel of one scatter, and whether rows are prefetched before it combines them.
struct ScatterKernel {
  WriteRows update;
  bool prefetches;
};

// Hot rows are in the caches, so they need neither prefetching nor non-temporal stores.
ScatterKernel choose_scatter_kernel(const Job& job) {
  const Kernels& kernels = job.kernels;
  const bool expects_cold_rows = kernels.stream || kernels.prefetches;
  if (!expects_cold_rows || has_hot_rows(job)) return {kernels.update, false};
  return {kernels.stream ? kernels.stream : kernels.update, kernels.prefetches};
}

// Writes the identity of the reduction to the slices that updates select. Returns false if an index has become invalid
// after its validation.
bool start_part(const JobPart& part) {
  const Job& job = part.job;
  return for_updates_of(part, [&](const Updates& on) {
    for_each_row(job, [&](int64_t to, int64_t) {
      char* const target = moved(target_of(job), on.target + to);
      for (int64_t i = 0; i < on.count; ++i) job.kernels.fill(job.plan, moved(target, on.offsets[i]));
    });
  });
}

// Writes a part of the target. Returns false if an index has become invalid after its validation.
bool write_part(const JobPart& part, const ScatterKernel& kernel) {
  const Job& job = part.job;
  if (job.plan.reducing.starts_with_update && !start_part(part)) return false;
  if (job.kernels.move && part.has_all()) return move_range(job, job.table, 0, job.slices, kernel.prefetches);
  return for_updates_of(part, [&](const Updates& on) {
    for_each_row(job, [&](int64_t to, int64_t from) {
      char* const target = moved(target_of(job), on.target + to);
      const char* const updates = moved(job.rows, on.updates + from);
      if (kernel.prefetches) return reduce_prefetched(kernel.update, target, updates, on, job.plan.row.out);
      kernel.update(target, on.offsets, updates, on.from, on.count, job.plan.row.out);
    });
  });
}

// Writes all parts. If the tuples have not been validated, the writes validate them.
int32_t write_all(const Job& job, const BeforeWrite& before_write, bool is_validated, const Executor& executor,
                  const Error& error) {
  if (int32_t status = before_write()) return status;
  const ScatterKernel kernel = choose_scatter_kernel(job);
  const bool whole = for_each_part(job, executor, [&](const JobPart& part) { return write_part(part, kernel); });
  return whole ? GTH_OK : fail_write(job, is_validated, executor, error);
}

}  // namespace

int32_t scatter(const Job& job, const BeforeWrite& before_write, const Executor& executor, const Error& error) {
  const bool sorts = core::sorts_updates(job.plan);
  if (job.kernels.move && !sorts && !job.plan.reducing.starts_with_update && is_one_block(job))
    return run_one_block(job, before_write, error);
  // The writes also validate indices. They are the only validation if the caller permits a partly written target.
  const bool validates_first = !job.plan.is_partial_on_error || sorts;
  if (validates_first) {
    if (int32_t status = validate_all(job, executor, error)) return status;
  }
  if (core::is_widened(job.plan)) return accumulate(job, before_write, executor, error);
  auto write = [&] { return write_all(job, before_write, validates_first, executor, error); };
  if (!sorts) return write();
  return divide_sums(job, {[](void* sums) { return (*static_cast<decltype(write)*>(sums))(); }, &write}, executor,
                     error);
}

}  // namespace gather::cpu
