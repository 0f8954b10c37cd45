#include "cpu/job.hpp"

#include <algorithm>
#include <utility>

#include "core/base/checked.hpp"
#include "cpu/pieces.hpp"

namespace gather::cpu {
namespace {

Steps fill_in(const core::Loop& loop, int64_t n) {
  return {loop.extent.at(n), loop.table.at(n), loop.indices.at(n), loop.rows.at(n), loop.position.at(n)};
}

void add(int64_t* to, int64_t steps, int64_t stride) {
  *to = static_cast<int64_t>(static_cast<uint64_t>(*to) + static_cast<uint64_t>(steps_of(steps, stride)));
}

// Whether walking `outer` around `inner` reads on where one round of `inner` ends.
bool continues(const Steps& outer, const Steps& inner) {
  return outer.indices == steps_of(inner.extent, inner.indices) &&
         outer.position == steps_of(inner.extent, inner.position);
}

// A line of so many tuples is worth walking, however long another one were.
constexpr int64_t long_line = 64;

}  // namespace

Job::Job(const core::Plan& p, const core::Pointers& pointers, int64_t n, const Kernels& chosen)
    : plan(p),
      kernels(chosen),
      table(moved(pointers.table, p.table_offset)),
      indices(moved(pointers.indices, p.indices_offset)),
      rows(moved(pointers.rows, p.rows_offset)),
      slices(p.slices.at(n)),
      inner_count(p.end - p.inner_begin) {
  copying.line = fill_in(p.loops[p.line], n);
  copying.around_count = 0;
  for (int32_t i = 0; i < p.inner_begin; ++i) {
    if (i != p.line) copying.around[copying.around_count++] = fill_in(p.loops[i], n);
  }
  for (int32_t i = 0; i < inner_count; ++i) inner[i] = fill_in(p.loops[p.inner_begin + i], n);
  find_judging();
}

Job Job::cut(int32_t loop, int64_t first, int64_t last) const {
  Job part = *this;
  Steps& cut = part.copying.loop(loop);
  part.table = moved(table, steps_of(first, cut.table));
  part.indices = moved(indices, steps_of(first, cut.indices));
  part.rows = moved(rows, steps_of(first, cut.rows));
  part.slices = slices / cut.extent * (last - first);
  cut.extent = last - first;
  return part;
}

// In the order of positions, which is that of dense indices in memory.
void Job::find_judging() {
  Steps* const loops = judging.around;
  int32_t count = 0;
  judged = 1;
  const auto add_loop = [&](const Steps& loop) {
    if (loop.indices == 0 || loop.extent == 1) return;
    judged *= loop.extent;
    int32_t at = count++;
    for (; at > 0 && loops[at - 1].position < loop.position; --at) loops[at] = loops[at - 1];
    loops[at] = loop;
  };
  for (int32_t i = 0; i < copying.around_count; ++i) add_loop(copying.around[i]);
  add_loop(copying.line);

  int32_t merged = 0;
  for (int32_t i = 0; i < count; ++i) {
    const Steps loop = loops[i];
    if (merged > 0 && continues(loops[merged - 1], loop)) {
      loops[merged - 1].extent *= loop.extent;
      loops[merged - 1].indices = loop.indices;
      loops[merged - 1].position = loop.position;
    } else {
      loops[merged++] = loop;
    }
  }
  judging.around_count = merged > 0 ? merged - 1 : 0;
  judging.line = merged > 0 ? loops[merged - 1] : Steps{1, 0, 0, 0, 0};
  in_order = true;
  if (judging.line.extent >= long_line) return;
  Steps* const longest = std::max_element(loops, loops + judging.around_count,
                                          [](const Steps& a, const Steps& b) { return a.extent < b.extent; });
  if (longest == loops + judging.around_count || longest->extent <= judging.line.extent) return;
  std::swap(*longest, judging.line);
  in_order = false;
}

int64_t copied_bytes(const Job& job) {
  int64_t bytes;
  const bool fits = core::multiply(job.slices, job.plan.inner * job.plan.row.out, &bytes) &&
                    core::add(bytes, std::min(job.slices, parallel_bytes) * row_overhead, &bytes);
  return fits ? bytes : INT64_MAX;
}

Lines::Lines(const Nest& nest) : nest_(nest), count_(nest.around_count) { std::fill_n(at_, count_, 0); }

void Lines::move(const Steps& loop, int64_t by) {
  add(&table_, by, loop.table);
  add(&indices_, by, loop.indices);
  add(&rows_, by, loop.rows);
  add(&position_, by, loop.position);
}

void Lines::seek(int64_t line) {
  for (int32_t i = count_; i-- > 0;) {
    const Steps& loop = nest_.around[i];
    const int64_t at = line % loop.extent;
    line /= loop.extent;
    move(loop, at - at_[i]);
    at_[i] = at;
  }
}

// No more than run().
void Lines::skip(int64_t lines) {
  for (int32_t i = count_; i-- > 0; lines = 1) {
    const Steps& loop = nest_.around[i];
    if ((at_[i] += lines) < loop.extent) return move(loop, lines);
    move(loop, lines - loop.extent);
    at_[i] = 0;
  }
}

}  // namespace gather::cpu
