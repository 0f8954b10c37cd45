#include "cpu/scatter.hpp"

#include <atomic>

#include "cpu/accumulate.hpp"
#include "cpu/judge.hpp"
#include "cpu/target.hpp"

namespace gather::cpu {
namespace {

using core::Error;

// False: an index is bad that was good when it was judged.
bool write_part(const Job& job, const Part& part) {
  return for_updates_of(job, part.range, [&](const Updates& on) {
    for_each_row(job, [&](int64_t to, int64_t from) {
      char* const target = moved(target_of(job), on.target + to + part.column);
      const char* const updates = moved(job.out, on.updates + from + part.column);
      job.kernels.reduce(target, on.offsets, updates, on.from, on.count, part.bytes);
    });
  });
}

bool write_all(const Job& job, const Executor& executor) {
  const Parts parts(job, executor, LongRows::cut);
  std::atomic<bool> stopped{false};
  for_each_piece(executor, parts.pieces(), [&](int64_t i) {
    if (!write_part(job, parts[i])) stopped.store(true, std::memory_order_relaxed);
  });
  return !stopped.load(std::memory_order_relaxed);
}

}  // namespace

int32_t scatter(const Job& job, const Executor& executor, const Error& error) {
  if (int32_t status = judge_all(job, executor, error)) return status;
  if (job.plan.in_float32) return accumulate(job, executor, error);
  return write_all(job, executor) ? GTH_OK : core::fail_index_race(error);
}

}  // namespace gather::cpu
