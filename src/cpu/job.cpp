#include "cpu/job.hpp"

#include <algorithm>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "cpu/pieces.hpp"

namespace gather::cpu {
namespace {

void add(int64_t* to, int64_t steps, int64_t stride) {
  *to = static_cast<int64_t>(static_cast<uint64_t>(*to) + static_cast<uint64_t>(wrapping_multiply(steps, stride)));
}

// Returns true if one step of `outer` equals the whole range of `inner` in indices.
bool continues(const SizedLoop& outer, const SizedLoop& inner) {
  return outer.indices == wrapping_multiply(inner.extent, inner.indices) &&
         outer.position == wrapping_multiply(inner.extent, inner.position);
}

// From this number of tuples on, the line is long enough. A longer loop does not replace it.
constexpr int64_t long_line = 64;

// Up to this number of slices, a kernel runs the last inner loop of all slices for each step of the other inner loops.
constexpr int64_t few_slices = 16;

}  // namespace

Job::Job(const core::Plan& p, const core::Pointers& pointers, int64_t open_extent, const Kernels& chosen,
         FileRows* in_files)
    : plan(p),
      kernels(chosen),
      files(in_files),
      n(open_extent),
      table(moved(pointers.table, p.offset.table)),
      indices(moved(pointers.indices, p.offset.indices)),
      rows(moved(pointers.rows, p.offset.rows)),
      slices(p.slices.at(n)),
      inner_count(p.end - p.inner_begin) {
  if (p.packed.is_packed()) set_packed(pointers);
  copying.line = sized(p.loops[p.line], n);
  copying.outer_count = 0;
  for (int32_t i = 0; i < p.inner_begin; ++i) {
    if (i != p.line) copying.outer[copying.outer_count++] = sized(p.loops[i], n);
  }
  first_inner_ = copying.outer_count;
  for (int32_t i = 0; i < inner_count; ++i) copying.outer[first_inner_ + i] = sized(p.loops[p.inner_begin + i], n);
  if (slices <= few_slices) exchange_short_loop();
  build_validating_nest();
  join_short_loops();
  find_merged_lines();
}

void Job::leave_files(const core::Pointers& pointers) {
  files = nullptr;
  table = moved(pointers.table, plan.offset.table);
  if (plan.packed.is_packed()) set_packed(pointers);
}

void Job::set_packed(const core::Pointers& pointers) {
  packed_ = core::packed_rows_of(plan, pointers);
  table = nullptr;
}

// Joins the last two loops to one line if they have so few tuples that their set-up would take longest. The tuples of
// the new line have no constant distance in the table. The indices of the two loops are contiguous, or all lines of a
// gather have the same.
void Job::join_short_loops() {
  if (copying.outer_count < 2 || plan.split.count != 1 || slices == 0) return;
  SizedLoop& line = copying.line;
  const SizedLoop next = next_loop();
  const bool is_short = line.extent < long_line && next.extent < long_line && line.extent * next.extent < long_line;
  const bool is_one_row = line.extent == 1 || next.rows == wrapping_multiply(line.extent, line.rows);
  if (!is_short || !is_one_row) return;
  const bool repeats_all = next.indices == 0 && copying.outer[copying.outer_count - 2].indices == 0;
  runs_repeat = !continues(next, line) && repeats_all && !core::is_scatter(plan);
  is_joined = runs_repeat || continues(next, line);
  if (!is_joined) return;
  joined_ = {line.extent, line.table, next.extent, next.table};
  if (line.extent == 1) line.rows = next.rows;
  line.extent *= next.extent;
  line.table = 0;
  --copying.outer_count;
}

// Exchanges the last two loops inside slices if the last one is so short that its set-up would take longest.
void Job::exchange_short_loop() {
  constexpr int64_t short_loop = 8;
  if (inner_count < 2) return;
  SizedLoop* const end = copying.outer + first_inner_ + inner_count;
  SizedLoop &last = end[-1], &other = end[-2];
  if (last.extent < short_loop && last.extent < other.extent) std::swap(last, other);
}

Job Job::cut(int32_t loop, int64_t first, int64_t last) const {
  Job part = *this;
  SizedLoop& cut = part.copying.loop(loop);
  part.table = moved(table, wrapping_multiply(first, cut.table));
  part.indices = moved(indices, wrapping_multiply(first, cut.indices));
  part.rows = moved(rows, wrapping_multiply(first, cut.rows));
  part.slices = slices / cut.extent * (last - first);
  cut.extent = last - first;
  part.find_merged_lines();
  return part;
}

// Lines of a scatter repeat tuples only if each line writes other slices. Otherwise the updates of a slice would not
// stay in the order of their positions.
void Job::find_merged_lines() {
  repeats = lines_are_contiguous = false;
  merged_lines = 1;
  if (copying.outer_count == 0) return;
  const SizedLoop next = next_loop();
  repeats = next.indices == 0 && (next.table != 0 || !core::is_scatter(plan));
  lines_are_contiguous = next.indices == wrapping_multiply(copying.line.extent, copying.line.indices);
  merged_lines = lines_in(block_tuples);
}

int64_t Job::lines_in(int64_t tuples) const {
  const int64_t extent = copying.line.extent;
  const bool is_packed = !repeats && plan.components == 1 && extent <= max_packed && copying.outer_count > 0;
  return (lines_are_contiguous || is_packed) && extent > 0 && extent <= tuples / 2 ? tuples / extent : 1;
}

// Sorts the loops by position, which is the order of dense indices in memory. Then it merges contiguous loops. If the
// line is short, it is exchanged with the longest loop.
void Job::build_validating_nest() {
  SizedLoop* const loops = validating.outer;
  int32_t count = 0;
  distinct_tuples = 1;
  const auto add_loop = [&](const SizedLoop& loop) {
    if (loop.indices == 0 || loop.extent == 1) return;
    distinct_tuples *= loop.extent;
    int32_t at = count++;
    for (; at > 0 && loops[at - 1].position < loop.position; --at) loops[at] = loops[at - 1];
    loops[at] = loop;
  };
  for (int32_t i = 0; i < copying.outer_count; ++i) add_loop(copying.outer[i]);
  add_loop(copying.line);

  int32_t merged = 0;
  for (int32_t i = 0; i < count; ++i) {
    const SizedLoop loop = loops[i];
    if (merged > 0 && continues(loops[merged - 1], loop)) {
      loops[merged - 1].extent *= loop.extent;
      loops[merged - 1].indices = loop.indices;
      loops[merged - 1].position = loop.position;
    } else {
      loops[merged++] = loop;
    }
  }
  validating.outer_count = merged > 0 ? merged - 1 : 0;
  validating.line = merged > 0 ? loops[merged - 1] : SizedLoop{1, 0, 0, 0, 0};
  in_order = true;
  if (validating.line.extent >= long_line) return;
  SizedLoop* const longest =
      std::max_element(loops, loops + validating.outer_count,
                       [](const SizedLoop& a, const SizedLoop& b) { return a.extent < b.extent; });
  if (longest == loops + validating.outer_count || longest->extent <= validating.line.extent) return;
  std::swap(*longest, validating.line);
  in_order = false;
}

int64_t batch_offset(const core::Plan& plan, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = plan.split.ndim; i-- > 0;) {
    offset += batch % plan.split.extents[i] * plan.split.strides[i];
    batch /= plan.split.extents[i];
  }
  return offset;
}

int64_t contiguous_rows(const Job& job) {
  int64_t bytes = job.plan.row.out;
  for (int32_t i = job.inner_count; i-- > 0; bytes *= job.inner(i).extent) {
    if (job.inner(i).rows != bytes) return i + 1 == job.inner_count ? 0 : job.last_inner().extent;
  }
  return job.plan.inner;
}

int64_t copied_bytes(const Job& job) {
  const int64_t overhead = core::reduces(job.plan) ? sum_overhead : row_overhead;
  int64_t bytes;
  const bool fits = core::multiply(job.slices, job.plan.inner * job.plan.row.out, &bytes) &&
                    core::add(bytes, std::min(job.slices, parallel_bytes) * overhead, &bytes);
  return fits ? bytes : INT64_MAX;
}

LineIterator::LineIterator(const Nest& nest) : nest_(nest), count_(nest.outer_count) { std::fill_n(at_, count_, 0); }

void LineIterator::move(const SizedLoop& loop, int64_t by) {
  add(&table_, by, loop.table);
  add(&indices_, by, loop.indices);
  add(&rows_, by, loop.rows);
  add(&position_, by, loop.position);
}

void LineIterator::seek(int64_t line) {
  for (int32_t i = count_; i-- > 0;) {
    const SizedLoop& loop = nest_.outer[i];
    const int64_t at = line % loop.extent;
    line /= loop.extent;
    move(loop, at - at_[i]);
    at_[i] = at;
  }
}

// Precondition: lines <= run().
void LineIterator::skip(int64_t lines) {
  for (int32_t i = count_; i-- > 0; lines = 1) {
    const SizedLoop& loop = nest_.outer[i];
    if ((at_[i] += lines) < loop.extent) return move(loop, lines);
    move(loop, lines - loop.extent);
    at_[i] = 0;
  }
}

}  // namespace gather::cpu
