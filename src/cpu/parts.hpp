#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "cpu/again.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"

// The target of a scatter, cut into parts of which each is written by one thread, so that updates of one row are combined in
// one order, whatever the number of threads.
namespace gather::cpu {

// Where the first rows of slices lie, in bytes from the target's first element on: [low, high].
struct Range {
  int64_t low, high;

  bool holds(const Range& other) const { return low <= other.low && other.high <= high; }
  bool meets(const Range& other) const { return low <= other.high && other.low <= high; }
};

inline void widen(int64_t extent, int64_t stride, Range* range) {
  if (extent > 1) (stride < 0 ? range->low : range->high) += (extent - 1) * stride;
}

// Where the slices of a line lie that begins at 0.
inline Range range_of_line(const Job& job) {
  Range range{0, 0};
  widen(job.copying.line.extent, job.copying.line.table, &range);
  for (int32_t i = 0; i < job.plan.components; ++i) {
    widen(job.plan.component[i].size, job.plan.component[i].stride, &range);
  }
  return range;
}

inline Range range_of(const Job& job) {
  Range range = range_of_line(job);
  for (int32_t i = 0; i < job.copying.around_count; ++i) {
    widen(job.copying.around[i].extent, job.copying.around[i].table, &range);
  }
  return range;
}

// A target in stripes of so many bytes, as a logarithm, that are dealt out in turn.
struct Stripes {
  int32_t size;
  int64_t of, number;

  bool have(int64_t byte) const { return (byte >> size) % of == number; }
};

// What one thread writes: the slices of the job that begin in the range, and in its stripes of it.
struct Part {
  const Job& job;
  Range range;
  Stripes stripes{0, 1, 0};

  // Whether nobody else writes slices of the job.
  bool has_all() const { return stripes.of == 1 && range.holds(range_of(job)); }
};

// How rows are given to threads. Threads share no page: what a processor fetches ahead for one, another would wait for. And
// each looks at all indices, which takes longer than short rows do, but for targets that are far; the more threads, the sooner
// it is worth it. Test builds do everything at once.
#ifdef GATHER_TESTING
constexpr int64_t least_striped = 16, short_row = 0, far_for_one = 1;
constexpr int32_t least_stripe = 5;
#else
constexpr int64_t least_striped = 2048, short_row = 64, far_for_one = 12 << 20;
constexpr int32_t least_stripe = 12;
#endif

class Parts {
 public:
  Parts(const Job& job, const Executor& executor) : job_(job), whole_(range_of(job)) {
    const int64_t threads = copied_bytes(job) < parallel_bytes ? 1 : thread_count(executor);
    if (threads == 1 || cut_loop(threads)) return;
    if (job.plan.row.out >= least_striped) {
      deal_stripes(threads);
    } else if (job.plan.row.out > short_row || is_far_for(threads)) {
      cut_ = Cut::range;
      pieces_ = split(slices_apart(), threads);
    }
  }

  const Pieces& pieces() const { return pieces_; }

  // body(Part) of the i-th piece.
  template <class Body>
  bool with(int64_t i, Body&& body) const {
    switch (cut_) {
      case Cut::loop: return with_all_of(job_.cut(loop_, pieces_.first(i), pieces_.last(i)), body);
      case Cut::stripes: return body(Part{job_, whole_, {stripe_, pieces_.number, i}});
      case Cut::range: return body(Part{job_, range_of_piece(i)});
      default: return body(Part{job_, whole_});
    }
  }

 private:
  enum class Cut : uint8_t { nothing, loop, stripes, range };

  template <class Body>
  static bool with_all_of(const Job& job, Body&& body) {
    return body(Part{job, range_of(job)});
  }

  // The last one ends where the target does.
  Range range_of_piece(int64_t i) const {
    const int64_t high = i + 1 == pieces_.number ? whole_.high : whole_.low + (pieces_.last(i) - 1);
    return {whole_.low + pieces_.first(i), high};
  }

  // What is accumulated takes longer than looking at indices.
  bool is_far_for(int64_t threads) const {
    return job_.plan.in_float32 || (slices_apart() >= far_for_one / threads && !comes_again(job_));
  }

  // Steps along a dim of the target that no index selects from: what they write differs, whatever indices say. A line is
  // cut into few parts, because each walks along all of its lines.
  bool cut_loop(int64_t threads) {
    const Nest& nest = job_.copying;
    int64_t longest = threads - 1;
    for (int32_t i = Nest::the_line; i < nest.around_count; ++i) {
      if (nest.loop(i).table == 0 || nest.loop(i).extent <= longest) continue;
      longest = nest.loop(i).extent;
      loop_ = i;
      cut_ = Cut::loop;
    }
    if (cut_ != Cut::loop) return false;
    pieces_ = split(longest, loop_ == Nest::the_line ? threads : std::min(longest, threads * pieces_per_thread));
    return true;
  }

  // In turn, so that no thread waits for the one that has all of the rows which most updates go to.
  void deal_stripes(int64_t threads) {
    cut_ = Cut::stripes;
    for (stripe_ = least_stripe; stripe_ < 62 && int64_t{1} << stripe_ < job_.plan.row.out;) ++stripe_;
    pieces_ = {threads, 1, threads};
  }

  // The bytes that slices may begin at.
  int64_t slices_apart() const {
    const uint64_t span = static_cast<uint64_t>(whole_.high) - static_cast<uint64_t>(whole_.low);
    return static_cast<int64_t>(std::min<uint64_t>(span, INT64_MAX - 1)) + 1;
  }

  const Job& job_;
  Range whole_;
  Cut cut_ = Cut::nothing;
  int32_t loop_ = 0, stripe_ = 0;
  Pieces pieces_{1, 1, 1};
};

// Calls body(Part) for each part of the target, threads side by side. False: for one of them it was.
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
