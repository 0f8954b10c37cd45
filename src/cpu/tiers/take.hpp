#pragma once

#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/tuples.hpp"

// Tuples resolved and their rows copied in one go, a few at a time: offsets are used while they are at hand, and the rows of
// large tables are fetched while those before them are copied. Part of body.hpp.
namespace gather::cpu {
namespace {

// So many tuples at a time: as many as the lanes of every tier divide.
constexpr int64_t group = 16;

// The offsets of tuples of K components, a power of two: as many as there are lanes, the first index of them the i-th.
template <class T, int32_t K, int32_t share = K>
GATHER_INLINE Lanes::V add_products(const Pattern& pattern, const char* tuples, int64_t i, Lanes::V* bad) {
  if constexpr (share > 1) {
    return Lanes::add_pairs(add_products<T, K, share / 2>(pattern, tuples, i, bad),
                            add_products<T, K, share / 2>(pattern, tuples, i + Lanes::count * share / 2, bad));
  } else {
    constexpr int32_t period = K > Lanes::count ? K : Lanes::count;
    const auto v = Lanes::template load<T>(tuples + i * int64_t{sizeof(T)});
    return product<Lanes, Outside::refused>(v, Step<Lanes>(pattern, i % period), bad);
  }
}

template <class T, int32_t K>
__attribute__((noinline)) bool resolve_tuples(const Pattern& pattern, const char* tuples, int64_t* offsets) {
  auto bad = Lanes::all(0);
#pragma GCC unroll 16
  for (int64_t i = 0; i < group; i += Lanes::count) {
    Lanes::store(offsets + i, add_products<T, K>(pattern, tuples, i * K, &bad));
  }
  return !Lanes::is_any_negative(bad);
}

// Bytes into params for a group of dense tuples of several components. False: one is outside, and they say nothing.
template <class T>
__attribute__((noinline)) bool resolve_tuples(const Pattern& pattern, int32_t components, const char* tuples,
                                              int64_t* offsets) {
  if (components == 2) return resolve_tuples<T, 2>(pattern, tuples, offsets);
  if (components == 4) return resolve_tuples<T, 4>(pattern, tuples, offsets);
  alignas(64) int64_t products[group * Selection::most_components];
  auto bad = Lanes::all(0);
  const int64_t count = group * components, period = pattern.period * Lanes::count;  // which divides count
  for (int64_t i = 0; i < count; i += period) {
    for (int64_t p = 0; p < period; p += Lanes::count) {
      const auto v = Lanes::template load<T>(tuples + (i + p) * int64_t{sizeof(T)});
      Lanes::store(products + i + p, product<Lanes, Outside::refused>(v, Step<Lanes>(pattern, p), &bad));
    }
  }
  add_up(products, components, group, offsets);
  return !Lanes::is_any_negative(bad);
}

// What rows lie further on by where their tuples are: in a line, from tuple to tuple equally far. At the end of a short line
// it goes on with the next, as if they were one; a long one is for it one of a group after the other.
class Along {
 public:
  static constexpr int64_t longest = 128;

  Along(int64_t length, int64_t row_step, int64_t next_base)
      : length_(length),
        next_base_(next_base),
        lines_(group / length),
        rest_(group % length),
        moves_(row_step != 0 || next_base != 0) {
    for (int64_t i = 0, j = 0, base = 0; i < length + group; ++i) {
      steps_[i] = base + j * row_step;
      if (++j < length) continue;
      j = 0;
      base += next_base;
    }
  }

  // Goes to the i-th tuple.
  GATHER_INLINE void seek(int64_t i) {
    base_ = i / length_ * next_base_;
    from_ = i % length_;
  }
  // Moves the offsets of the next group.
  GATHER_INLINE void move(int64_t* offsets) {
    if (!moves_) return;
    const auto base = Lanes::all(base_);
    for (int64_t i = 0; i < group; i += Lanes::count) {
      Lanes::store(offsets + i, Lanes::values(offsets + i) + Lanes::values(steps_ + from_ + i) + base);
    }
    base_ += lines_ * next_base_;
    from_ += rest_;
    if (from_ < length_) return;
    from_ -= length_;
    base_ += next_base_;
  }

 private:
  int64_t length_, next_base_, lines_, rest_, base_, from_;
  bool moves_;
  int64_t steps_[longest + group];
};

// Walks along dense tuples of indices of 32 or 64 bits, a group at a time.
class Groups {
 public:
  GATHER_INLINE explicit Groups(const Selection& selection)
      : is_wide_(selection.type != IndexType::int32),
        components_(selection.components),
        tuple_bytes_(bytes_of_tuple(selection)),
        step_(Demand(selection, 0)) {
    if (components_ > 1) pattern_.fill(selection);
  }

  static bool can_walk(const Selection& selection) {
    return is_dense(selection, selection.tuple_step) &&
           (selection.type == IndexType::int32 || index_bytes(selection.type) == 8);
  }

  static int64_t bytes_of_tuple(const Selection& selection) {
    return selection.components * (selection.type != IndexType::int32 ? 8 : 4);
  }

  // Goes to the i-th tuple of a line that begins at `tuples`.
  GATHER_INLINE void seek(const char* tuples, int64_t i) { at_ = tuples + i * tuple_bytes_; }

  // False: one is outside, and the offsets say nothing.
  GATHER_INLINE bool resolve(Along* along, int64_t* offsets) {
    const bool all = components_ > 1 ? resolve_several(offsets)
                     : is_wide_      ? resolve_as<int64_t>(offsets)
                                     : resolve_as<int32_t>(offsets);
    at_ += group * tuple_bytes_;
    along->move(offsets);
    return all;
  }

 private:
  template <class T>
  GATHER_INLINE bool resolve_as(int64_t* offsets) const {
    auto bad = Lanes::all(0);
    for (int64_t i = 0; i < group; i += Lanes::count) {
      const auto v = Lanes::template load<T>(at_ + i * int64_t{sizeof(T)});
      Lanes::store(offsets + i, product<Lanes, Outside::refused>(v, step_, &bad));
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
  Step<Lanes> step_;
  Pattern pattern_;  // of several components
};

// A line of a stretch.
struct Line {
  const char* tuples;
  char* out;
  const char* base;
  int64_t n, out_step, row;

  GATHER_INLINE explicit Line(const Stretch& stretch)
      : tuples(stretch.tuples),
        out(stretch.out),
        base(stretch.base),
        n(stretch.n),
        out_step(stretch.out_step),
        row(stretch.row) {}

  GATHER_INLINE void next(const Stretch& stretch) {
    tuples += stretch.next_tuples;
    out += stretch.next_out;
    base += stretch.next_base;
  }

  // A line of the stretch, so many behind this one.
  Line moved(const Stretch& stretch, int64_t lines) const {
    Line line = *this;
    line.tuples += lines * stretch.next_tuples;
    line.out += lines * stretch.next_out;
    line.base += lines * stretch.next_base;
    line.n = stretch.n;
    return line;
  }
};

// Copies a group of rows to `out`. `beside` is done beside each.
template <class Row, class Beside>
GATHER_INLINE void copy_group(Kind<Row>, char* out, const Line& on, const int64_t* offsets, Beside beside) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < group; ++i, out += on.out_step) {
    beside(i);
    Row::copy(out, on.base + offsets[i], on.row);
  }
}

template <class T, class Beside>
GATHER_INLINE void copy_group(Kind<Packed<T>>, char* out, const Line& on, const int64_t* offsets, Beside beside) {
  using Each = Fixed<int64_t{sizeof(T)}>;
  if (on.out_step != int64_t{sizeof(T)}) return copy_group(Kind<Each>{}, out, on, offsets, beside);
  for (int64_t i = 0; i < group; ++i) beside(i);
#pragma GCC unroll 16
  for (int64_t i = 0; i < group; i += Packed<T>::count) {
    Packed<T>::copy_together(out + i * int64_t{sizeof(T)}, on.base, offsets + i);
  }
}

constexpr auto nothing_beside = [](int64_t) {};

// Where a single tuple points, one component after the other.
class Single {
 public:
  explicit Single(const Selection& selection)
      : is_wide_(selection.type != IndexType::int32), components_(selection.components), row_step_(selection.row_step) {
    for (int32_t c = 0; c < components_; ++c) demands_[c] = Demand(selection, c);
  }

  // The i-th of a line that begins at `tuples`. False: it is outside, and the offset says nothing.
  GATHER_INLINE bool resolve(const char* tuples, int64_t i, int64_t* offset) const {
    One::V bad = 0;
    *offset = i * row_step_;
    for (int64_t c = 0, at = i * components_; c < components_; ++c, ++at) {
      const One::V v = is_wide_ ? One::load<int64_t>(tuples + at * 8) : One::load<int32_t>(tuples + at * 4);
      *offset += product<One, Outside::refused>(v, Step<One>(demands_[c]), &bad);
    }
    return bad >= 0;
  }

 private:
  bool is_wide_;
  int32_t components_;
  int64_t row_step_;
  Demand demands_[Selection::most_components];
};

// The tuples of so many lines one by one, of the first from the i-th on: what is left behind whole groups, and lines of less
// than a group. Returns how many are copied.
template <class Row>
__attribute__((noinline)) int64_t take_few(const Selection& selection, const Stretch& stretch, Line on, int64_t i,
                                           int64_t lines) {
  const Single single(selection);
  for (int64_t taken = -i;; i = 0, on.next(stretch)) {
    for (; i < on.n; ++i) {
      int64_t offset;
      if (!single.resolve(on.tuples, i, &offset)) return taken + i;
      Row::copy(on.out + i * on.out_step, on.base + offset, on.row);
    }
    taken += on.n;
    if (--lines == 0) return taken;
  }
}

template <class Row>
GATHER_INLINE int64_t take_near(Groups* groups, Along* along, const Line& on) {
  alignas(group * 8) int64_t offsets[group];  // across a border of pages, what was stored is slow to load
  int64_t i = 0;
  along->seek(0);
  for (groups->seek(on.tuples, 0); i + group <= on.n; i += group) {
    if (!groups->resolve(along, offsets)) return i;
    copy_group(Kind<Row>{}, on.out + i * on.out_step, on, offsets, nothing_beside);
  }
  return i;
}

// Rows that follow one another closely, as sorted indices select them: processors see that and fetch them unasked. Of packed
// rows that is up to a fifth of the time, of longer ones nothing.
template <class Row>
GATHER_INLINE bool follow_closely(Kind<Row>, const int64_t*) {
  return false;
}

template <class T>
GATHER_INLINE bool follow_closely(Kind<Packed<T>>, const int64_t* offsets) {
  constexpr int64_t close = 1024;
  const int64_t distance = offsets[group - 1] - offsets[0];
  return -close <= distance && distance <= close;
}

// Each row is fetched so many groups before it is copied that it has arrived by then.
template <class Row>
GATHER_INLINE int64_t take_far(Groups* groups, Along* along, const Line& on) {
  constexpr int64_t most_ahead = 4, bytes_ahead = 64 * 1024, slots = 2 * most_ahead;
  alignas(group * 8) int64_t ring[slots * group];
  const int64_t wanted = bytes_ahead / (group * on.row);
  const int64_t ahead = wanted < 1 ? 1 : wanted > most_ahead ? most_ahead : wanted;
  const auto slot = [&](int64_t g) { return ring + (g & (slots - 1)) * group; };
  // Inlined, or the compiler takes a function that only fetches for one that does nothing.
  const auto fetch = [&](const int64_t* offsets, int64_t i)
                         __attribute__((always_inline)) { Row::fetch_row(on.base + offsets[i], on.row); };
  const int64_t whole = on.n / group;
  int64_t resolved = 0, copied = 0;
  along->seek(0);
  groups->seek(on.tuples, 0);
  for (bool ends = whole == 0; !ends || copied < resolved;) {
    const int64_t* next = slot(copied);  // where there is nothing else to fetch
    if (!ends) {
      int64_t* const offsets = slot(resolved);
      ends = !groups->resolve(along, offsets);
      if (!ends) {
        next = offsets;
        ends = ++resolved == whole;
      }
      if (!ends && resolved <= ahead) {
        for (int64_t i = 0; i < group; ++i) fetch(next, i);
        continue;
      }
    }
    if (copied == resolved) break;
    char* const out = on.out + copied * group * on.out_step;
    if (follow_closely(Kind<Row>{}, next)) {
      copy_group(Kind<Row>{}, out, on, slot(copied), nothing_beside);
    } else {
      copy_group(Kind<Row>{}, out, on, slot(copied), [&](int64_t i) __attribute__((always_inline)) { fetch(next, i); });
    }
    ++copied;
  }
  return copied * group;
}

// What is left behind whole groups, with rows before it that are copied once more: where they are small, that is less than
// to take them one by one. False: one of these tuples is bad by now, and nothing is copied.
template <class Row>
GATHER_INLINE bool take_rest(Kind<Row>, Groups*, Along*, const Line&) {
  return false;
}

template <class T>
GATHER_INLINE bool take_rest(Kind<Packed<T>>, Groups* groups, Along* along, const Line& on) {
  alignas(group * 8) int64_t offsets[group];
  const int64_t first = on.n - group;
  along->seek(first);
  groups->seek(on.tuples, first);
  if (!groups->resolve(along, offsets)) return false;
  copy_group(Kind<Packed<T>>{}, on.out + first * on.out_step, on, offsets, nothing_beside);
  return true;
}

// A line of at least a group. Returns how many are copied: all, unless one is bad, or as many as are whole groups.
template <class Row, bool is_far>
GATHER_INLINE int64_t take_line(Groups* groups, Along* along, const Line& on) {
  const int64_t taken = is_far ? take_far<Row>(groups, along, on) : take_near<Row>(groups, along, on);
  const bool has_rest = taken < on.n && on.n - taken < group;
  return has_rest && take_rest(Kind<Row>{}, groups, along, on) ? on.n : taken;
}

// Whether lines are short, each goes on where the one before it ends, and it is worth preparing to walk them as one: of a
// few that have a group each it is not.
bool winds(const Selection& selection, const Stretch& stretch) {
  constexpr int64_t few = 8;
  return stretch.lines > (stretch.n < group ? 1 : few) && stretch.n < Along::longest &&
         stretch.n * stretch.lines >= group && stretch.next_tuples == stretch.n * Groups::bytes_of_tuple(selection) &&
         stretch.next_out == stretch.n * stretch.out_step;
}

template <class Row, bool is_far>
int64_t take(const Selection& selection, const Stretch& stretch) {
  const bool is_wound = winds(selection, stretch);
  Line line(stretch);
  if (is_wound) {
    line.n *= stretch.lines;
  } else if (line.n < group) {
    return take_few<Row>(selection, stretch, line, 0, stretch.lines);
  }
  Groups groups(selection);
  Along along(is_wound ? stretch.n : group, selection.row_step,
              is_wound ? stretch.next_base : group * selection.row_step);
  for (int64_t taken = 0, left = is_wound ? 1 : stretch.lines;; line.next(stretch)) {
    int64_t now = take_line<Row, is_far>(&groups, &along, line);
    if (now < line.n && line.n - now < group) {
      const int64_t whole = is_wound ? now / stretch.n : 0;
      now += take_few<Row>(selection, stretch, line.moved(stretch, whole), now - whole * stretch.n,
                           is_wound ? stretch.lines - whole : 1);
    }
    taken += now;
    if (now < line.n || --left == 0) return taken;
  }
}

int64_t take_flooding(const Selection& selection, const Stretch& on) {
  if (!Streamed::can_write(on.out, on.out_step | on.next_out, on.row)) return take<Long, true>(selection, on);
  const int64_t taken = take<Streamed, true>(selection, on);
  Lanes::fence();
  return taken;
}

TakeRows choose_take_of_memory(const Selection& selection, const Rows& rows) {
  if (!Groups::can_walk(selection)) return nullptr;
  if (is_streamed(rows)) return take_flooding;
  return with_row(rows, [&](auto kind) -> TakeRows {
    using Row = typename decltype(kind)::type;
    return rows.is_far ? take<Row, true> : take<Row, false>;
  });
}

}  // namespace
}  // namespace gather::cpu
