#include "cpu/scatter.hpp"

#include <algorithm>

#include "cpu/accumulate.hpp"
#include "cpu/again.hpp"
#include "cpu/judge.hpp"
#include "cpu/target.hpp"

namespace gather::cpu {
namespace {

using core::Error;

void fetch_row(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 1);
  __builtin_prefetch(row + bytes - 1, 1);
}

// Each row of the target is fetched so many rows before it is combined that it has arrived by then. Fetching and combining
// take turns of `group` rows.
template <int64_t group, class Fetch>
void reduce_ahead(WriteRows update, char* target, const char* updates, const Updates& on, int64_t row, int64_t ahead,
                  Fetch&& fetch) {
  int64_t fetched = 0;
  for (int64_t i = 0; i < on.count; i += group) {
    const int64_t wanted = std::min(i + group + ahead, on.count);
    for (; fetched < wanted; ++fetched) fetch(target + on.offsets[fetched]);
    update(target, on.offsets + i, updates, on.from + i, std::min(group, on.count - i), row);
  }
}

void reduce_far(WriteRows update, char* target, const char* updates, const Updates& on, int64_t row) {
  constexpr int64_t most_ahead = 32, most_bytes_ahead = 16 * 1024;
  // Mostly in one line of a cache. Which of them are in two is not worth asking.
  if (row < 64) {
    return reduce_ahead<32>(update, target, updates, on, row, most_ahead,
                            [](const char* at) { __builtin_prefetch(at, 1); });
  }
  const int64_t ahead = std::min(std::max(most_bytes_ahead / row, int64_t{1}), most_ahead);
  reduce_ahead<8>(update, target, updates, on, row, ahead, [row](const char* at) { fetch_row(at, row); });
}

// What rows are combined with, and whether they are fetched before; where there is `give`, that does it all.
struct Way {
  WriteRows update;
  bool fetches;
  TakeRows give;
};

// Rows that come again and again are in the caches: there they stay, and nobody fetches them.
Way choose_way(const Job& job) {
  const Kernels& kernels = job.kernels;
  const bool asks = kernels.stream || kernels.fetches;
  if (!asks || comes_again(job)) return {kernels.update, false, kernels.give};
  return {kernels.stream ? kernels.stream : kernels.update, kernels.fetches, kernels.give_far};
}

// All updates of a job, in their order. False: an index is bad that was good when it was judged.
bool give_all(const Job& job, TakeRows give) {
  const Steps& line = job.copying.line;
  Lines lines(job.copying);
  int64_t left = job.slices / line.extent;
  for (int64_t now; left > 0; left -= now, lines.skip(now)) {
    now = std::min(left, lines.run());
    const Steps next = job.copying.around_count > 0 ? lines.innermost() : Steps{};
    const Stretch stretch{moved(job.indices, lines.indices()),
                          line.indices,
                          line.extent,
                          moved(job.rows, lines.rows()),
                          line.rows,
                          moved(job.table, lines.table()),
                          job.plan.row.out,
                          now,
                          next.indices,
                          next.rows,
                          next.table};
    if (give(job.kernels.selection, stretch) != line.extent * now) return false;
  }
  return true;
}

// False: an index is bad that was good when it was judged.
bool write_part(const Part& part, const Way& way) {
  const Job& job = part.job;
  if (way.give && part.has_all()) return give_all(job, way.give);
  return for_updates_of(part, [&](const Updates& on) {
    for_each_row(job, [&](int64_t to, int64_t from) {
      char* const target = moved(target_of(job), on.target + to);
      const char* const updates = moved(job.rows, on.updates + from);
      if (way.fetches) return reduce_far(way.update, target, updates, on, job.plan.row.out);
      way.update(target, on.offsets, updates, on.from, on.count, job.plan.row.out);
    });
  });
}

}  // namespace

int32_t scatter(const Job& job, const Prepare& prepare, const Executor& executor, const Error& error) {
  if (int32_t status = judge_all(job, executor, error)) return status;
  if (job.plan.in_float32) return accumulate(job, prepare, executor, error);
  if (int32_t status = prepare()) return status;
  const Way way = choose_way(job);
  const bool whole = for_each_part(job, executor, [&](const Part& part) { return write_part(part, way); });
  return whole ? GTH_OK : core::fail_index_race(error);
}

}  // namespace gather::cpu
