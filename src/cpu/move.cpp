#include "cpu/move.hpp"

#include "core/base/checked.hpp"
#include "core/base/noinline.hpp"
#include "cpu/file_rows.hpp"

namespace gather::cpu {
namespace {

// Returns the number of rows by which rows of a table that exceeds the caches are prefetched.
int64_t rows_ahead(int64_t row) {
  constexpr int64_t max_ahead = 64, max_bytes_ahead = 64 * 1024;
  return std::min(std::max(max_bytes_ahead / row, int64_t{1}), max_ahead);
}

// Returns true if the innermost loop of a slice runs inside the loop over tuples: there are few tuples, the rows of the
// slice are closer to each other than those of successive tuples, or table and row fit the L2 and L1 caches. Rows
// whose distance is a multiple of 512 bytes compete for the same places in the caches, so their limit is lower.
bool moves_slice_first(const Job& job, int64_t tuples) {
  constexpr int64_t few_tuples = 24, few_aliased = 16, aliased = 512, min_rows = 8, max_rows = 256,
                    cached_bytes = 1 << 20;
  const SizedLoop& inner = job.last_inner();
  if (tuples <= (inner.table % aliased == 0 ? few_aliased : few_tuples)) return true;
  if (inner.extent < min_rows || job.plan.components == 0) return false;
  if (core::magnitude(inner.table) < core::magnitude(job.plan.component[0].stride)) return true;
  return inner.extent <= max_rows && job.plan.reach.table.high - job.plan.reach.table.low <= cached_bytes;
}

// Moves one slice of at least two loops. The kernel runs the last two, with an offset for each step of the outer one.
GATHER_NOINLINE void move_one_slice(const Job& job, const RowBlock& block) {
  if (*block.offsets == no_row) return;
  const SizedLoop *const inner = &job.last_inner(), *const outer = inner - 1;
  int64_t offsets[block_tuples];
  for_each_row(job, job.inner_count - 2, [&](int64_t table, int64_t rows) {
    for (int64_t first = 0; first < outer->extent; first += block_tuples) {
      const int64_t n = std::min(block_tuples, outer->extent - first);
      for (int64_t i = 0; i < n; ++i) offsets[i] = *block.offsets + wrapping_multiply(first + i, outer->table);
      job.move({moved(block.rows, rows + wrapping_multiply(first, outer->rows)), outer->rows, moved(block.table, table),
                offsets, n, block.row_bytes, inner->extent, inner->rows, inner->table, 0, 0, block.packed});
    }
  });
}

// Calls the kernel for each step of the first `count` loops inside a slice.
void move_in_steps(const Job& job, int32_t count, const RowBlock& block) {
  if (count == 0) return job.move(block);  // a copy of the block would take as long as several rows
  for_each_row(job, count, [&](int64_t table, int64_t rows) {
    RowBlock part = block;
    part.rows = moved(block.rows, rows);
    part.table = moved(block.table, table);
    job.move(part);
  });
}

// Moves the first rows of all slices, then the second ones, and so on. All lines have the same offsets.
void move_row_by_row(const Job& job, const RowBlock& block) { move_in_steps(job, job.inner_count, block); }

// From about 80 rows on, the kernels of single slices are faster.
constexpr int64_t few_rows = 64;

// Returns true if lines repeat the offsets of few rows, and the rows of a line are contiguous in the output.
bool has_few_rows(const Job& job, const RowBlock& block) {
  constexpr int64_t min_lines = 4;
  const int64_t rows = job.plan.inner;
  return job.inner_count > 0 && block.lines >= min_lines && rows <= few_rows && block.n * rows <= few_rows &&
         contiguous_rows(job) == rows && (block.n == 1 || block.row_stride == rows * block.row_bytes);
}

// Moves lines of few rows in one call of the kernel. A call for each line would take as long as twenty elements.
GATHER_NOINLINE void move_lines_of_few_rows(const Job& job, const RowBlock& block) {
  int64_t offsets[few_rows], count = 0;
  for (int64_t i = 0; i < block.n; ++i) {
    for_each_row(job, [&](int64_t table, int64_t) { offsets[count++] = block.offsets[i] + table; });
  }
  RowBlock rows = block;
  rows.row_stride = block.row_bytes;
  rows.offsets = offsets;
  rows.n = count;
  rows.ahead = 0;
  job.move(rows);
}

// Moves the slices of one line.
void move_slices(const Job& job, const RowBlock& block) {
  if (job.inner_count == 0) return job.move(block);
  if (block.n == 1 && job.inner_count > 1) return move_one_slice(job, block);
  if (!moves_slice_first(job, block.n)) return move_row_by_row(job, block);
  const SizedLoop& inner = job.last_inner();
  RowBlock part = block;
  part.lines = inner.extent;
  part.next_rows = inner.rows;
  part.next_table = inner.table;
  part.ahead = 0;
  move_in_steps(job, job.inner_count - 1, part);
}

void fill_slice(const Job& job, char* slice) {
  for_each_row(job, [&](int64_t, int64_t rows) { job.kernels.fill(job.plan, moved(slice, rows)); });
}

// Moves slices of a table in files if some tuples select none. All rows of the block are requested together.
GATHER_NOINLINE void move_some_from_files(const Job& job, const RowBlock& block) {
  move_slices(job, block);
  const bool fills = job.plan.bounds != GTH_BOUNDS_SKIP && job.files->writes();
  for (int64_t i = 0; i < block.n && fills; ++i) {
    if (block.offsets[i] == no_row) fill_slice(job, moved(block.rows, i * block.row_stride));
  }
}

// Moves slices if some tuples select none. The rows of these tuples are filled or left unchanged.
void move_some(const Job& job, const RowBlock& block) {
  if (job.files) return move_some_from_files(job, block);
  const bool fills = !core::is_scatter(job.plan) && job.plan.bounds != GTH_BOUNDS_SKIP;
  RowBlock part = block;
  for (int64_t i = 0; i < block.n;) {
    part.offsets = block.offsets + i;
    part.rows = moved(block.rows, i * block.row_stride);
    if (*part.offsets == no_row) {
      if (fills) fill_slice(job, part.rows);
      ++i;
      continue;
    }
    const int64_t* const end = std::find(part.offsets, block.offsets + block.n, no_row);
    part.n = end - part.offsets;
    move_slices(job, part);
    i = end - block.offsets;
  }
}

// Moves the slices of lines one line after the other. Changes the block, because a copy of it would take as long as
// several rows.
void move_each_line(const Job& job, bool all, RowBlock* block) {
  const int64_t lines = block->lines, next_offsets = block->next_offsets;
  block->lines = 1;
  block->next_offsets = 0;
  for (int64_t l = 0; l < lines; ++l) {
    all ? move_slices(job, *block) : move_some(job, *block);
    block->rows = moved(block->rows, block->next_rows);
    block->table = moved(block->table, block->next_table);
    block->offsets += next_offsets;
  }
}

// Returns true if the slices of successive lines are closer to each other than the rows of a slice.
bool lines_are_closer(const Job& job) {
  return core::magnitude(job.next_loop().table) < core::magnitude(job.last_inner().table);
}

}  // namespace

// Returns true if tuples have an offset each that includes the distance of their line, instead of one kernel call for
// each line. This is slower for copies in lines of less than 16 tuples, and, if there is a fused kernel, for sums in lines
// of at least 128 tuples and for copies of contiguous lines.
bool has_own_offsets(const Job& job, bool prefetches) {
  constexpr int64_t short_line = 16, short_sums = 128;
  const int64_t extent = job.copying.line.extent;
  const bool adds = core::reduces(job.plan);
  const bool gains = adds ? !job.kernels.fused || extent < short_sums
                          : extent >= short_line && !(job.kernels.fused && job.lines_are_contiguous);
  const Runs runs = job.table_runs();
  return gains && runs.step == 0 && runs.next == 0 && job.next_loop().table != 0 && job.inner_count == 0 && !prefetches;
}

void move_block(const Job& job, const BlockResolver& resolver, const TupleBlock& block, const char* table, char* rows,
                bool prefetches) {
  const SizedLoop &line = job.copying.line, next = job.next_loop();
  const bool all = resolver.resolved() == Resolved::all;
  RowBlock part{rows,       line.rows, table, resolver.offsets(), block.n, job.plan.row.in, block.lines, next.rows,
                next.table, 0,         0,     job.packed()};
  if (!block.repeats) {
    part.next_offsets = block.n;
    if (resolver.has_steps()) part.next_table = 0;  // the offsets include the distance of a line in the table
  }
  const bool moves_lines = block.repeats || (block.lines > 1 && resolver.has_own_offsets());
  if (all && job.inner_count == 0 && moves_lines) return job.move(part);
  if (all && block.repeats && lines_are_closer(job)) return move_row_by_row(job, part);
  if (all && block.repeats && has_few_rows(job, part)) return move_lines_of_few_rows(job, part);
  if (prefetches) part.ahead = rows_ahead(part.row_bytes);
  if (!block.repeats && part.next_table == 0 && next.rows == wrapping_multiply(block.n, line.rows)) {
    part.n = block.tuples();  // the rows of all lines are one line
    part.lines = 1;
  }
  move_each_line(job, all, &part);
}

namespace {

// Additions of float16 and bfloat16 have the longest latency, so only they gain if long lines are added alternately.
bool is_sum_of_halves(const core::Plan& plan) { return plan.row.out == 2 && core::is_floating(plan.reducing.number); }

// Moves slices in the order of the rows.
class Mover {
 public:
  Mover(const Job& job, bool prefetches)
      : job_(job), resolver_(job, has_own_offsets(job, prefetches)), lines_(job.copying), prefetches_(prefetches) {
    if (prefetches || job.repeats) capacity_ = max_resolved;  // A loop that prefetches waits for memory at its end.
    max_lines_ = resolver_.has_own_offsets() ? job.lines_in(max_resolved) : job.merged_lines;
    takes_turns_ = resolver_.has_own_offsets() && is_sum_of_halves(job.plan) && !job.repeats && max_lines_ < turns;
  }

  // Moves the slices [first, last). Returns false if an index is invalid.
  bool move(const char* table, int64_t first, int64_t last) {
    const int64_t extent = job_.copying.line.extent;
    table_ = table;
    lines_.seek(first / extent);
    for (j_ = first % extent; first < last;) {
      const int64_t now = move_next(last - first);
      if (now == 0) return false;
      first += now;
      j_ += now;
      if (j_ < extent) continue;
      const int64_t lines = j_ == extent ? 1 : j_ / extent;  // most often 1, which saves the division
      lines_.skip(lines);
      j_ -= lines * extent;
    }
    return true;
  }

 private:
  // Moves up to `most` tuples from the current position on. Returns their number, or 0 if an index is invalid.
  int64_t move_next(int64_t most) {
    const SizedLoop& line = job_.copying.line;
    const int64_t first = job_.runs_repeat ? 0 : j_;
    const char* const tuples = moved(job_.indices, lines_.indices() + wrapping_multiply(first, line.indices));
    const char* const table = moved(table_, lines_.table() + wrapping_multiply(j_, line.table));
    char* const rows = moved(job_.rows, lines_.rows() + wrapping_multiply(j_, line.rows));
    if (job_.repeats && line.extent > max_resolved && j_ == 0 && most >= 2 * line.extent) {
      return move_repeated(tuples, table, rows, std::min(lines_.run(), most / line.extent));
    }
    if (takes_turns_ && j_ == 0) {
      const int64_t lines = std::min(lines_.run(), most / line.extent);
      if (lines >= turns) return move_in_turns(tuples, table, rows, lines);
    }
    const bool moves_lines = job_.files || (job_.repeats && line.extent <= max_resolved) || adds_in_turns();
    const int64_t fused = moves_lines ? 0 : move_fused(tuples, table, rows, most);
    if (fused > 0) return fused;
    const TupleBlock block = block_at(job_, lines_, j_, most, capacity_, max_lines_, job_.repeats);
    if (!resolver_.resolve(tuples, block)) return 0;
    move_block(job_, resolver_, block, table, rows, prefetches_);
    return block.tuples();
  }

  // Moves whole lines that repeat more tuples than are resolved at once.
  int64_t move_repeated(const char* tuples, const char* table, char* rows, int64_t lines) {
    const SizedLoop& line = job_.copying.line;
    for (int64_t j = 0; j < line.extent; j += max_resolved) {
      const TupleBlock block{lines, std::min(max_resolved, line.extent - j), true};
      if (!resolver_.resolve(moved(tuples, wrapping_multiply(j, line.indices)), block)) return 0;
      move_block(job_, resolver_, block, moved(table, wrapping_multiply(j, line.table)),
                 moved(rows, wrapping_multiply(j, line.rows)), prefetches_);
    }
    return lines * line.extent;
  }

  // Adds whole lines that are too long for blocks of several lines, alternately: a part of each line, then the next
  // part of each. The lines are far apart, as in the kernels. Returns the number of tuples, or 0 if an index is
  // invalid.
  int64_t move_in_turns(const char* tuples, const char* table, char* rows, int64_t lines) {
    const SizedLoop &line = job_.copying.line, next = job_.next_loop();
    const int64_t apart = lines / turns;
    const auto at = [](int64_t l, int64_t next_line, int64_t j, int64_t step) {
      return wrapping_multiply(l, next_line) + wrapping_multiply(j, step);
    };
    for (int64_t l = 0; l < apart; ++l) {
      for (int64_t j = 0; j < line.extent; j += block_tuples) {
        const int64_t n = std::min(block_tuples, line.extent - j),
                      next_indices = wrapping_multiply(apart, next.indices);
        if (!resolver_.resolve_lines(moved(tuples, at(l, next.indices, j, line.indices)), next_indices, turns, n))
          return 0;
        RowBlock part{moved(rows, at(l, next.rows, j, line.rows)),
                      line.rows,
                      moved(table, at(l, next.table, j, 0)),
                      resolver_.offsets(),
                      n,
                      job_.plan.row.in,
                      turns,
                      wrapping_multiply(apart, next.rows),
                      wrapping_multiply(apart, next.table),
                      0,
                      n,
                      job_.packed()};
        const bool all = resolver_.resolved() == Resolved::all;
        all ? job_.move(part) : move_each_line(job_, false, &part);
      }
    }
    return turns * apart * line.extent;
  }

  // Returns true if kernels add to several lines alternately.
  bool adds_in_turns() const { return resolver_.has_own_offsets() && core::reduces(job_.plan) && max_lines_ >= turns; }

  // Moves tuples of one line, or of several lines that are contiguous, with a kernel that resolves them. Returns their
  // number. It is 0 if there is no such kernel, if there are too few tuples, or if one of the first indices is invalid.
  int64_t move_fused(const char* tuples, const char* table, char* rows, int64_t most) {
    constexpr int64_t min_looked_up = 64;  // amortises loading the table into registers
    const Kernels& kernels = job_.kernels;
    const SizedLoop& line = job_.copying.line;
    int64_t n = std::min(line.extent - j_, most);
    if (kernels.look_up && n >= min_looked_up) return kernels.look_up(kernels.selection, tuples, table, rows, n);
    if (!kernels.fused) return 0;
    TupleBlock block{1, n, false, j_};
    if (resolver_.has_steps()) {
      const int64_t max_lines = job_.lines_are_contiguous ? max_lines_ : 1;
      block = block_at(job_, lines_, j_, most, block_tuples, max_lines, false);
      if (block.lines > 1 && job_.next_loop().rows != wrapping_multiply(block.n, line.rows)) return 0;
      n = block.tuples();
    }
    return kernels.fused(kernels.selection, tuples, line.indices, resolver_.steps(block),
                         {rows, line.rows, table, nullptr, n, job_.plan.row.in, 1, 0, 0, rows_ahead(job_.plan.row.in)});
  }

  const Job& job_;
  BlockResolver resolver_;
  LineIterator lines_;
  const bool prefetches_;
  const char* table_ = nullptr;
  int64_t capacity_ = block_tuples, max_lines_;
  bool takes_turns_;  // sums of long lines are computed alternately
  int64_t j_ = 0;     // the number of the next tuple in its line
};

}  // namespace

bool move_range(const Job& job, const char* table, int64_t first, int64_t last, bool prefetches) {
  return Mover(job, prefetches).move(table, first, last);
}

}  // namespace gather::cpu
