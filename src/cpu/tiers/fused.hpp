#pragma once

#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/tuples.hpp"

// The fused kernels. They resolve a group of tuples and move its rows in one pass, so the offsets stay in the L1 cache.
// The rows of large tables are prefetched while earlier rows are moved. The templates serve gathers, and with IntoTable
// (fused_scatter.hpp) also scatters. Part of body.hpp.
namespace gather::cpu {
namespace {

// The number of tuples that are resolved at once. It is a multiple of the number of lanes in every tier.
constexpr int64_t group_tuples = 16;

// Returns the offsets of one vector of tuples, which begins with the i-th index. Precondition: K, the number of
// components, is a power of two. `count` is the number of vectors that this call adds up.
template <class T, int32_t K, int32_t count = K>
GATHER_INLINE Lanes::V add_products(const RulePattern& pattern, const char* tuples, int64_t i, Lanes::V* bad) {
  if constexpr (count > 1) {
    return Lanes::add_pairs(add_products<T, K, count / 2>(pattern, tuples, i, bad),
                            add_products<T, K, count / 2>(pattern, tuples, i + Lanes::count * count / 2, bad));
  } else {
    constexpr int32_t period = K > Lanes::count ? K : Lanes::count;
    const auto v = Lanes::template load<T>(tuples + i * int64_t{sizeof(T)});
    return product<Lanes, Outside::refused>(v, VectorRule<Lanes>(pattern, i % period), bad);
  }
}

template <class T, int32_t K>
__attribute__((noinline)) bool resolve_tuples(const RulePattern& pattern, const char* tuples, int64_t* offsets) {
  auto bad = Lanes::all(0);
#pragma GCC unroll 16
  for (int64_t i = 0; i < group_tuples; i += Lanes::count) {
    Lanes::store(offsets + i, add_products<T, K>(pattern, tuples, i * K, &bad));
  }
  return !Lanes::is_any_negative(bad);
}

// Resolves a group of dense tuples of several components. Returns false if an index is out of bounds. The offsets are
// then unspecified.
template <class T>
__attribute__((noinline)) bool resolve_tuples(const RulePattern& pattern, int32_t components, const char* tuples,
                                              int64_t* offsets) {
  if (components == 2) return resolve_tuples<T, 2>(pattern, tuples, offsets);
  if (components == 4) return resolve_tuples<T, 4>(pattern, tuples, offsets);
  alignas(64) int64_t products[group_tuples * Selection::max_components];
  auto bad = Lanes::all(0);
  const int64_t count = group_tuples * components, period = pattern.period * Lanes::count;  // divides count
  for (int64_t i = 0; i < count; i += period) {
    for (int64_t p = 0; p < period; p += Lanes::count) {
      const auto v = Lanes::template load<T>(tuples + (i + p) * int64_t{sizeof(T)});
      Lanes::store(products + i + p, product<Lanes, Outside::refused>(v, VectorRule<Lanes>(pattern, p), &bad));
    }
  }
  add_up(products, components, group_tuples, offsets);
  return !Lanes::is_any_negative(bad);
}

// The part of an offset that depends on the number of the tuple, not on its indices: j * table_step for the j-th tuple
// of a line, plus a multiple of next_table for the line. Merged lines have the length of one line. A long line is
// treated as merged lines of one group each.
class LineOffsets {
 public:
  static constexpr int64_t max_length = 128;

  LineOffsets(int64_t length, int64_t table_step, int64_t next_table)
      : length_(length),
        next_table_(next_table),
        lines_(group_tuples / length),
        rest_(group_tuples % length),
        is_used_(table_step != 0 || next_table != 0) {
    for (int64_t i = 0, j = 0, line_offset = 0; i < length + group_tuples; ++i) {
      steps_[i] = line_offset + j * table_step;
      if (++j < length) continue;
      j = 0;
      line_offset += next_table;
    }
  }

  // Sets the next group to begin with the i-th tuple.
  GATHER_INLINE void seek(int64_t i) {
    base_ = i / length_ * next_table_;
    from_ = i % length_;
  }
  // Adds to the offsets of the next group, and advances to the group after it.
  GATHER_INLINE void add_to(int64_t* offsets) {
    if (!is_used_) return;
    const auto base = Lanes::all(base_);
    for (int64_t i = 0; i < group_tuples; i += Lanes::count) {
      Lanes::store(offsets + i, Lanes::values(offsets + i) + Lanes::values(steps_ + from_ + i) + base);
    }
    base_ += lines_ * next_table_;
    from_ += rest_;
    if (from_ < length_) return;
    from_ -= length_;
    base_ += next_table_;
  }

 private:
  int64_t length_, next_table_, lines_, rest_, base_, from_;
  bool is_used_;
  int64_t steps_[max_length + group_tuples];
};

// Reads dense tuples of 32-bit or 64-bit indices, a group at a time.
class TupleGroups {
 public:
  GATHER_INLINE explicit TupleGroups(const Selection& selection)
      : is_wide_(selection.type != IndexType::int32),
        components_(selection.components),
        tuple_bytes_(bytes_of_tuple(selection)),
        rule_(IndexRule(selection, 0)) {
    if (components_ > 1) pattern_.fill(selection);
  }

  static bool can_walk(const Selection& selection) {
    return is_dense(selection, selection.tuple_step) &&
           (selection.type == IndexType::int32 || index_bytes(selection.type) == 8);
  }

  static int64_t bytes_of_tuple(const Selection& selection) {
    return selection.components * (selection.type != IndexType::int32 ? 8 : 4);
  }

  // Sets the next group to begin with the i-th tuple of the line at `tuples`.
  GATHER_INLINE void seek(const char* tuples, int64_t i) { at_ = tuples + i * tuple_bytes_; }

  // Resolves the next group. Returns false if an index is out of bounds. The offsets are then unspecified.
  GATHER_INLINE bool resolve(LineOffsets* line_offsets, int64_t* offsets) {
    const bool all = components_ > 1 ? resolve_several(offsets)
                     : is_wide_      ? resolve_as<int64_t>(offsets)
                                     : resolve_as<int32_t>(offsets);
    at_ += group_tuples * tuple_bytes_;
    line_offsets->add_to(offsets);
    return all;
  }

 private:
  template <class T>
  GATHER_INLINE bool resolve_as(int64_t* offsets) const {
    auto bad = Lanes::all(0);
    for (int64_t i = 0; i < group_tuples; i += Lanes::count) {
      const auto v = Lanes::template load<T>(at_ + i * int64_t{sizeof(T)});
      Lanes::store(offsets + i, product<Lanes, Outside::refused>(v, rule_, &bad));
    }
    return !Lanes::is_any_negative(bad);
  }

  bool resolve_several(int64_t* offsets) const {
    return is_wide_ ? resolve_tuples<int64_t>(pattern_, components_, at_, offsets)
                    : resolve_tuples<int32_t>(pattern_, components_, at_, offsets);
  }

  const char* at_ = nullptr;
  bool is_wide_;
  int32_t components_;
  int64_t tuple_bytes_;
  VectorRule<Lanes> rule_;
  RulePattern pattern_;  // set if there are several components
};

// One line of a run, or several merged lines.
struct Line {
  const char* tuples;
  char* rows;
  const char* table;
  int64_t n, row_stride, row_bytes;

  GATHER_INLINE explicit Line(const TupleRun& run)
      : tuples(run.tuples),
        rows(run.rows),
        table(run.table),
        n(run.n),
        row_stride(run.row_stride),
        row_bytes(run.row_bytes) {}

  GATHER_INLINE void next(const TupleRun& run) {
    tuples += run.next_tuples;
    rows += run.next_rows;
    table += run.next_table;
  }

  // Returns the line of the run that follows this one by `lines` lines.
  Line after(const TupleRun& run, int64_t lines) const {
    Line line = *this;
    line.tuples += lines * run.next_tuples;
    line.rows += lines * run.next_rows;
    line.table += lines * run.next_table;
    line.n = run.n;
    return line;
  }
};

// Copies a group of rows to `out`. Calls before_row(i) before the i-th row is copied.
template <class RowCopy, class BeforeRow>
GATHER_INLINE void copy_group(RowKind<RowCopy>, char* out, const Line& line, const int64_t* offsets,
                              BeforeRow before_row) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < group_tuples; ++i, out += line.row_stride) {
    before_row(i);
    RowCopy::copy(out, line.table + offsets[i], line.row_bytes);
  }
}

template <class T, class BeforeRow>
GATHER_INLINE void copy_group(RowKind<Packed<T>>, char* out, const Line& line, const int64_t* offsets,
                              BeforeRow before_row) {
  using Each = Fixed<int64_t{sizeof(T)}>;
  if (line.row_stride != int64_t{sizeof(T)}) return copy_group(RowKind<Each>{}, out, line, offsets, before_row);
  for (int64_t i = 0; i < group_tuples; ++i) before_row(i);
#pragma GCC unroll 16
  for (int64_t i = 0; i < group_tuples; i += Packed<T>::count) {
    Packed<T>::copy_together(out + i * int64_t{sizeof(T)}, line.table, offsets + i);
  }
}

constexpr auto no_action = [](int64_t) {};

// Resolves single tuples, component by component.
class SingleTuple {
 public:
  explicit SingleTuple(const Selection& selection)
      : is_wide_(selection.type != IndexType::int32),
        components_(selection.components),
        table_step_(selection.table_step) {
    for (int32_t c = 0; c < components_; ++c) rules_[c] = IndexRule(selection, c);
  }

  // Resolves the i-th tuple of the line at `tuples`. Returns false if it is out of bounds. The offset is then
  // unspecified.
  GATHER_INLINE bool resolve(const char* tuples, int64_t i, int64_t* offset) const {
    Scalar::V bad = 0;
    *offset = i * table_step_;
    for (int64_t c = 0, at = i * components_; c < components_; ++c, ++at) {
      const Scalar::V v = is_wide_ ? Scalar::load<int64_t>(tuples + at * 8) : Scalar::load<int32_t>(tuples + at * 4);
      *offset += product<Scalar, Outside::refused>(v, VectorRule<Scalar>(rules_[c]), &bad);
    }
    return bad >= 0;
  }

 private:
  bool is_wide_;
  int32_t components_;
  int64_t table_step_;
  IndexRule rules_[Selection::max_components];
};

// Moves the rows of `lines` lines one by one, beginning with the i-th tuple of the first line. It is used for lines of
// less than a group, and for the tuples after the last full group. Returns the number of rows that were moved.
template <class RowCopy>
__attribute__((noinline)) int64_t move_single_tuples(const Selection& selection, const TupleRun& run, Line line,
                                                     int64_t i, int64_t lines) {
  const SingleTuple single(selection);
  for (int64_t moved = -i;; i = 0, line.next(run)) {
    for (; i < line.n; ++i) {
      int64_t offset;
      if (!single.resolve(line.tuples, i, &offset)) return moved + i;
      RowCopy::copy(line.rows + i * line.row_stride, line.table + offset, line.row_bytes);
    }
    moved += line.n;
    if (--lines == 0) return moved;
  }
}

template <class RowCopy>
GATHER_INLINE int64_t move_groups(TupleGroups* groups, LineOffsets* line_offsets, const Line& line) {
  alignas(group_tuples * 8)
      int64_t offsets[group_tuples];  // aligned, because loads after stores are slow across a page border
  int64_t i = 0;
  line_offsets->seek(0);
  for (groups->seek(line.tuples, 0); i + group_tuples <= line.n; i += group_tuples) {
    if (!groups->resolve(line_offsets, offsets)) return i;
    copy_group(RowKind<RowCopy>{}, line.rows + i * line.row_stride, line, offsets, no_action);
  }
  return i;
}

// Moves the full groups of a line. Rows are prefetched up to 4 groups or 64 KiB ahead. Returns the number of rows that
// were moved.
template <class RowCopy>
GATHER_INLINE int64_t move_groups_prefetched(TupleGroups* groups, LineOffsets* line_offsets, const Line& line) {
  constexpr int64_t max_ahead = 4, bytes_ahead = 64 * 1024, slots = 2 * max_ahead;
  alignas(group_tuples * 8) int64_t ring[slots * group_tuples];
  const int64_t wanted = bytes_ahead / (group_tuples * line.row_bytes);
  const int64_t ahead = wanted < 1 ? 1 : wanted > max_ahead ? max_ahead : wanted;
  const auto slot = [&](int64_t g) { return ring + (g & (slots - 1)) * group_tuples; };
  // always_inline: the compiler removes calls of a function that only prefetches, because it has no effect.
  const auto fetch = [&](const int64_t* offsets, int64_t i) __attribute__((always_inline)) {
    RowCopy::prefetch_row(line.table + offsets[i], line.row_bytes);
  };
  const int64_t whole = line.n / group_tuples;
  int64_t resolved = 0, copied = 0;
  line_offsets->seek(0);
  groups->seek(line.tuples, 0);
  for (bool ends = whole == 0; !ends || copied < resolved;) {
    const int64_t* next = slot(copied);  // is prefetched again if no group follows
    if (!ends) {
      int64_t* const offsets = slot(resolved);
      ends = !groups->resolve(line_offsets, offsets);
      if (!ends) {
        next = offsets;
        ends = ++resolved == whole;
      }
      if (!ends && resolved <= ahead) {
        for (int64_t i = 0; i < group_tuples; ++i) fetch(next, i);
        continue;
      }
    }
    if (copied == resolved) break;
    char* const out = line.rows + copied * group_tuples * line.row_stride;
    copy_group(RowKind<RowCopy>{}, out, line, slot(copied),
               [&](int64_t i) __attribute__((always_inline)) { fetch(next, i); });
    ++copied;
  }
  return copied * group_tuples;
}

// Moves the rows after the last full group, as one group that ends with the last row. Some rows are copied twice, which
// is faster than single rows if rows are packed. Returns false if nothing was copied: rows are not packed, or an index
// is out of bounds.
template <class RowCopy>
GATHER_INLINE bool move_last_group(RowKind<RowCopy>, TupleGroups*, LineOffsets*, const Line&) {
  return false;
}

template <class T>
GATHER_INLINE bool move_last_group(RowKind<Packed<T>>, TupleGroups* groups, LineOffsets* line_offsets,
                                   const Line& line) {
  alignas(group_tuples * 8) int64_t offsets[group_tuples];
  const int64_t first = line.n - group_tuples;
  line_offsets->seek(first);
  groups->seek(line.tuples, first);
  if (!groups->resolve(line_offsets, offsets)) return false;
  copy_group(RowKind<Packed<T>>{}, line.rows + first * line.row_stride, line, offsets, no_action);
  return true;
}

// Moves a line of at least one group. Returns the number of rows that were moved: all rows, the rows of all full
// groups, or fewer if an index is out of bounds.
template <class RowCopy, bool prefetches>
GATHER_INLINE int64_t move_line(TupleGroups* groups, LineOffsets* line_offsets, const Line& line) {
  const int64_t moved = prefetches ? move_groups_prefetched<RowCopy>(groups, line_offsets, line)
                                   : move_groups<RowCopy>(groups, line_offsets, line);
  const bool has_rest = moved < line.n && line.n - moved < group_tuples;
  return has_rest && move_last_group(RowKind<RowCopy>{}, groups, line_offsets, line) ? line.n : moved;
}

// Returns true if the lines of a run are short and contiguous, and there are enough of them to amortise LineOffsets.
// They are then processed as one line.
bool can_merge_lines(const Selection& selection, const TupleRun& run) {
  constexpr int64_t max_unmerged = 8;
  return run.lines > (run.n < group_tuples ? 1 : max_unmerged) && run.n < LineOffsets::max_length &&
         run.n * run.lines >= group_tuples && run.next_tuples == run.n * TupleGroups::bytes_of_tuple(selection) &&
         run.next_rows == run.n * run.row_stride;
}

template <class RowCopy, bool prefetches>
int64_t move_run(const Selection& selection, const TupleRun& run) {
  const bool merged = can_merge_lines(selection, run);
  Line line(run);
  if (merged) {
    line.n *= run.lines;
  } else if (line.n < group_tuples) {
    return move_single_tuples<RowCopy>(selection, run, line, 0, run.lines);
  }
  TupleGroups groups(selection);
  LineOffsets line_offsets(merged ? run.n : group_tuples, selection.table_step,
                           merged ? run.next_table : group_tuples * selection.table_step);
  for (int64_t moved = 0, left = merged ? 1 : run.lines;; line.next(run)) {
    int64_t now = move_line<RowCopy, prefetches>(&groups, &line_offsets, line);
    if (now < line.n && line.n - now < group_tuples) {
      const int64_t whole = merged ? now / run.n : 0;
      now += move_single_tuples<RowCopy>(selection, run, line.after(run, whole), now - whole * run.n,
                                         merged ? run.lines - whole : 1);
    }
    moved += now;
    if (now < line.n || --left == 0) return moved;
  }
}

int64_t move_run_streaming(const Selection& selection, const TupleRun& run) {
  if (!Streamed::can_write(run.rows, run.row_stride | run.next_rows, run.row_bytes))
    return move_run<Long, true>(selection, run);
  const int64_t moved = move_run<Streamed, true>(selection, run);
  Lanes::fence();
  return moved;
}

FusedKernel choose_fused_gather_of_memory(const Selection& selection, const RowTraits& rows) {
  if (!TupleGroups::can_walk(selection)) return nullptr;
  if (is_streamed(rows)) return move_run_streaming;
  return with_row(rows, [&](auto kind) -> FusedKernel {
    using RowCopy = typename decltype(kind)::type;
    return rows.exceeds_cache ? move_run<RowCopy, true> : move_run<RowCopy, false>;
  });
}

}  // namespace
}  // namespace gather::cpu
