#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "cpu/executor.hpp"
#include "cpu/hot_rows.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"

// A *part* of the target of a scatter is what one thread writes. Parts do not overlap. So updates of one row are
// combined in the order of their positions, for any number of threads.
namespace gather::cpu {

// The offsets at which slices begin, in bytes from the first element of the target: [low, high].
struct ByteRange {
  int64_t low, high;

  bool contains(const ByteRange& other) const { return low <= other.low && other.high <= high; }
  bool overlaps(const ByteRange& other) const { return low <= other.high && other.low <= high; }
};

inline void widen(int64_t extent, int64_t stride, ByteRange* range) {
  if (extent > 1) (stride < 0 ? range->low : range->high) += (extent - 1) * stride;
}

// Returns the range of the slices of one line. The first element of the line has the offset 0.
inline ByteRange range_of_line(const Job& job) {
  ByteRange range{0, 0};
  const Runs runs = job.table_runs();
  widen(runs.extent, runs.step, &range);
  widen(runs.count, runs.next, &range);
  for (int32_t i = 0; i < job.plan.components; ++i) {
    widen(job.plan.component[i].size, job.plan.component[i].stride, &range);
  }
  return range;
}

inline ByteRange range_of(const Job& job) {
  ByteRange range = range_of_line(job);
  for (int32_t i = 0; i < job.copying.outer_count; ++i) {
    widen(job.copying.outer[i].extent, job.copying.outer[i].table, &range);
  }
  return range;
}

// The stripes of a target that belong to one part. The target is cut into stripes of 2^log2_bytes bytes, which are
// assigned to `count` parts round-robin.
struct Stripes {
  int32_t log2_bytes;
  int64_t count, index;

  bool contain(int64_t byte) const { return (byte >> log2_bytes) % count == index; }
};

// A part consists of the slices of the job that begin in the range and in the stripes.
struct JobPart {
  const Job& job;
  ByteRange range;
  Stripes stripes{0, 1, 0};

  // Returns true if this part contains all slices of the job.
  bool has_all() const { return stripes.count == 1 && range.contains(range_of(job)); }
};

// Limits for cutting a target into parts. A stripe is at least one page. Otherwise two cores would write the same cache
// lines, or the hardware prefetcher of one would load lines that another one writes. Each thread reads all indices.
// This takes longer than writing short rows, unless the target exceeds the caches. The more threads there are, the
// smaller is the target for which they are faster.
// Test builds use small limits.
#ifdef GATHER_TESTING
constexpr int64_t short_row = 0, cache_lines = 16;
constexpr int32_t min_stripe_log2 = 5;
#else
constexpr int64_t short_row = 64, cache_lines = 128;
constexpr int32_t min_stripe_log2 = 12;
#endif

class Parts {
 public:
  Parts(const Job& job, const Executor& executor) : job_(job), whole_(range_of(job)) {
    const int64_t threads = copied_bytes(job) < parallel_bytes ? 1 : thread_count(executor);
    if (threads == 1 || cut_loop(threads)) return;
    if (job.plan.row.out >= min_striped) {
      assign_stripes(threads);
    } else if (job.plan.row.out > short_row || is_worth_threads(threads)) {
      cut_ = Cut::range;
      pieces_ = split(slice_range_bytes(), threads);
    }
  }

  const Pieces& pieces() const { return pieces_; }

  // Calls body(JobPart) with the i-th part.
  template <class Body>
  bool with(int64_t i, Body&& body) const {
    switch (cut_) {
      case Cut::loop: return with_all_of(job_.cut(loop_, pieces_.first(i), pieces_.last(i)), body);
      case Cut::stripes: return body(JobPart{job_, whole_, {stripe_log2_, pieces_.count, i}});
      case Cut::range: return body(JobPart{job_, range_of_piece(i)});
      default: return body(JobPart{job_, whole_});
    }
  }

 private:
  enum class Cut : uint8_t { nothing, loop, stripes, range };

  template <class Body>
  static bool with_all_of(const Job& job, Body&& body) {
    return body(JobPart{job, range_of(job)});
  }

  // The last part ends with the target.
  ByteRange range_of_piece(int64_t i) const {
    const int64_t high = i + 1 == pieces_.count ? whole_.high : whole_.low + (pieces_.last(i) - 1);
    return {whole_.low + pieces_.first(i), high};
  }

  // Returns true if several threads are faster for short rows. Accumulation takes longer than reading indices.
  bool is_worth_threads(int64_t threads) const {
    return core::sorts_updates(job_.plan) ||
           (slice_range_bytes() >= multi_thread_bytes / threads && !has_hot_rows(job_));
  }

  // Returns the number of pieces into which a loop may be cut. It is 0 for a loop over a dim in which indices select,
  // because two of its steps may write the same element. Each piece writes at least the bytes of a stripe. In a large
  // target two cache lines are enough, because two threads then rarely write neighbouring lines at the same time.
  int64_t most_pieces(const SizedLoop& loop) const {
    const double bytes = static_cast<double>(loop.extent) * static_cast<double>(core::magnitude(loop.table));
    const int64_t least = slice_range_bytes() < large_target ? int64_t{1} << min_stripe_log2 : cache_lines;
    return static_cast<int64_t>(std::min(bytes / static_cast<double>(least), static_cast<double>(loop.extent)));
  }

  // Cuts the longest loop. The innermost one is cut into few parts, because each part repeats all outer loops. If the
  // kernel adds to several lines alternately, the number of lines of a part is a multiple of that number.
  bool cut_loop(int64_t threads) {
    const Nest& nest = job_.copying;
    int64_t longest = threads - 1;
    for (int32_t i = Nest::the_line; i < nest.outer_count; ++i) {
      if (nest.loop(i).extent <= longest || most_pieces(nest.loop(i)) < threads) continue;
      longest = nest.loop(i).extent;
      loop_ = i;
      cut_ = Cut::loop;
    }
    if (cut_ != Cut::loop) return false;
    const int64_t wanted = loop_ == Nest::the_line ? threads : threads * pieces_per_thread;
    const bool adds_lines = loop_ == nest.outer_count - 1 && core::reduces(job_.plan);
    const int64_t unit = adds_lines && longest >= threads * turns ? turns : 1;
    pieces_ = split(longest, std::min(wanted, most_pieces(nest.loop(loop_))), unit);
    return true;
  }

  // Round-robin assignment distributes hot rows over the threads.
  void assign_stripes(int64_t threads) {
    cut_ = Cut::stripes;
    stripe_log2_ = min_stripe_log2;
    while (stripe_log2_ < 62 && int64_t{1} << stripe_log2_ < job_.plan.row.out) ++stripe_log2_;
    pieces_ = {threads, 1, threads};
  }

  // Returns the number of bytes from the first to the last slice.
  int64_t slice_range_bytes() const {
    const uint64_t span = static_cast<uint64_t>(whole_.high) - static_cast<uint64_t>(whole_.low);
    return static_cast<int64_t>(std::min<uint64_t>(span, INT64_MAX - 1)) + 1;
  }

  const Job& job_;
  ByteRange whole_;
  Cut cut_ = Cut::nothing;
  int32_t loop_ = 0, stripe_log2_ = 0;
  Pieces pieces_{1, 1, 1};
};

// Calls body(JobPart) for each part of the target, in parallel. Returns false if a call returned false.
template <class Body>
bool for_each_part(const Job& job, const Executor& executor, Body&& body) {
  const Parts parts(job, executor);
  std::atomic<bool> stopped{false};
  for_each_piece(executor, parts.pieces(), [&](int64_t i) {
    if (!parts.with(i, body)) stopped.store(true, std::memory_order_relaxed);
  });
  return !stopped.load(std::memory_order_relaxed);
}

}  // namespace gather::cpu
