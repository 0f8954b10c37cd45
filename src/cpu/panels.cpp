#include "cpu/panels.hpp"

#include "core/base/noinline.hpp"
#include "cpu/move.hpp"

namespace gather::cpu {
namespace {

// With more, a call would not fit in the 64 KiB of stack that the header promises.
constexpr int64_t scratch_bytes = 13 * 1024;

// Returns the number of rows of the table that tuples select from, or 0 if they are too many.
int64_t table_rows(const core::Plan& plan) {
  int64_t rows = 1;
  for (int32_t c = 0; c < plan.components; ++c) {
    if (plan.component[c].size > scratch_bytes) return 0;
    rows *= plan.component[c].size;
    if (rows > scratch_bytes) return 0;
  }
  return rows;
}

// Returns the number of rows of a slice in a panel.
int64_t panel_rows(const Job& job) {
  const int64_t rows = table_rows(job.plan);
  return rows == 0 ? 0 : std::min(contiguous_rows(job), scratch_bytes / rows / job.plan.row.in);
}

// Panels of a table on the stack. A panel is a part of each slice.
class Panels {
 public:
  Panels(const Job& job, const char* table, int64_t first, int64_t last)
      : job_(job),
        table_(table),
        first_(first),
        last_(last),
        rows_(table_rows(job.plan)),
        row_(job.plan.row.in),
        most_(panel_rows(job)) {}

  // Copies the slices [first, last), panel by panel. Returns false if an index is invalid.
  bool move() {
    const SizedLoop& inner = job_.last_inner();
    const bool ends_with_loop = contiguous_rows(job_) == inner.extent;
    bool all = true;
    for_each_row(job_, job_.inner_count - 1, [&](int64_t from, int64_t to) {
      for (int64_t at = 0; at < inner.extent && all;) {
        if (packed_ == 0) begin_ = to + at * row_;
        const int64_t count = std::min(most_ - packed_, inner.extent - at);
        pack(from + wrapping_multiply(at, inner.table), count);
        at += count;
        if (packed_ == most_ || (ends_with_loop && at == inner.extent)) all = flush();
      }
    });
    return all && (packed_ == 0 || flush());
  }

 private:
  // Appends rows of the innermost loop, which begin at an offset in the table, to the panel of each slice. Inlined, its
  // offsets would use stack while flush() needs it.
  GATHER_NOINLINE void pack(int64_t from, int64_t count) {
    const core::Plan& plan = job_.plan;
    int64_t offsets[block_tuples];
    for (int64_t first = 0; first < rows_; first += block_tuples) {
      const int64_t n = std::min(block_tuples, rows_ - first);
      for (int64_t i = 0; i < n; ++i) {
        int64_t rest = first + i;
        offsets[i] = 0;
        for (int32_t c = plan.components; c-- > 0; rest /= plan.component[c].size) {
          offsets[i] += rest % plan.component[c].size * plan.component[c].stride;
        }
      }
      char* const to = scratch_ + first * most_ * row_ + packed_ * row_;
      job_.kernels.move(
          {to, most_ * row_, moved(table_, from), offsets, n, row_, count, row_, job_.last_inner().table, 0});
    }
    packed_ += count;
  }

  // Gathers from the panel. Returns false if an index is invalid.
  bool flush() {
    core::Plan plan = job_.plan;
    plan.row.in = plan.row.out = packed_ * row_;
    plan.inner = 1;
    plan.end = plan.inner_begin;
    for (int32_t i = 0; i < plan.end; ++i) plan.loops[i].table = core::fixed(0);
    plan.offset = {};
    plan.reach.table = {0, 0, scratch_bytes, 0, false};
    int64_t stride = most_ * row_;
    for (int32_t c = plan.components; c-- > 0; stride *= plan.component[c].size) plan.component[c].stride = stride;
    packed_ = 0;
    const Kernels kernels = choose_kernels(plan);
    const Job panel(plan, core::pointers_of(scratch_, job_.indices, moved(job_.rows, begin_)), job_.n, kernels);
    return move_range(panel, scratch_, first_, last_, false);
  }

  const Job& job_;
  const char* const table_;
  const int64_t first_, last_, rows_, row_;
  const int64_t most_;  // rows of a slice in a panel
  int64_t packed_ = 0;  // rows of a slice that are packed
  int64_t begin_ = 0;   // the offset of the panel in the slices of the output
  alignas(64) char scratch_[scratch_bytes];
};

}  // namespace

bool has_panels(const Job& job) {
  // A panel of few rows is copied no faster than its rows, unless it is the whole slice of a call that moves many rows.
  constexpr int64_t min_reads = 2, min_tuples = 64, min_rows = 32, min_whole = 4, min_moved = 2048;
  const core::Plan& plan = job.plan;
  if (job.inner_count == 0 || plan.components == 0 || plan.split.count != 1 ||
      plan.item.kind != core::ItemKind::value || plan.packed.is_packed() || core::is_scatter(plan) || job.files) {
    return false;
  }
  const SizedLoop& line = job.copying.line;
  const int64_t rows = panel_rows(job);
  const bool is_whole = rows >= min_whole && rows == plan.inner && rows * std::min(line.extent, min_moved) >= min_moved;
  const bool is_long = rows >= min_rows || is_whole;
  return is_long && line.table == 0 && line.extent >= std::max(min_tuples, min_reads * table_rows(plan));
}

bool move_panels(const Job& job, int64_t first, int64_t last) {
  const int64_t extent = job.copying.line.extent;
  LineIterator lines(job.copying);
  lines.seek(first / extent);
  while (first < last) {
    const int64_t end = std::min(last, (first / extent + 1) * extent);
    if (!Panels(job, moved(job.table, lines.table()), first, end).move()) return false;
    first = end;
    lines.next();
  }
  return true;
}

}  // namespace gather::cpu
