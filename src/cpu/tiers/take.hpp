#pragma once

#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/tuples.hpp"

// Tuples resolved and their rows copied in one go, a few at a time: offsets are used while they are at hand, and the rows of
// large tables are fetched while those before them are copied. Part of body.hpp.
namespace gather::cpu {
namespace {

// So many tuples at a time: as many as the lanes of every tier divide.
constexpr int64_t group = 16;

// Walks along dense indices of 32 or 64 bits, a group at a time.
class Groups {
 public:
  GATHER_INLINE Groups(const Selection& selection, const Stretch& on)
      : at_(on.tuples),
        is_wide_(selection.width != Width::int32),
        step_(Demand(selection, 0)),
        along_by_(Lanes::all(Lanes::count * selection.row_step)) {
    int64_t first[Lanes::count];
    for (int64_t i = 0; i < Lanes::count; ++i) first[i] = i * selection.row_step;
    along_ = Lanes::values(first);
  }

  static bool can_walk(const Selection& selection) {
    return selection.components == 1 && is_dense(selection, selection.tuple_step) &&
           (selection.width == Width::int32 || index_bytes(selection.width) == 8);
  }

  // False: one is outside, and the offsets say nothing.
  GATHER_INLINE bool resolve(int64_t* offsets) {
    return is_wide_ ? resolve_as<int64_t>(offsets) : resolve_as<int32_t>(offsets);
  }

 private:
  template <class T>
  GATHER_INLINE bool resolve_as(int64_t* offsets) {
    auto bad = Lanes::all(0);
    for (int64_t i = 0; i < group; i += Lanes::count) {
      const auto v = Lanes::template load<T>(at_ + i * int64_t{sizeof(T)});
      Lanes::store(offsets + i, product<Lanes, Outside::refused>(v, step_, &bad) + along_);
      along_ += along_by_;
    }
    at_ += group * int64_t{sizeof(T)};
    return !Lanes::is_any_negative(bad);
  }

  const char* at_;
  bool is_wide_;
  Step<Lanes> step_;
  Lanes::V along_, along_by_;
};

// Copies a group of rows. `fetch` tells what is to be done beside each.
template <class Row, class Beside>
GATHER_INLINE void copy_group(Kind<Row>, char* out, const Stretch& on, const int64_t* offsets, Beside beside) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < group; ++i, out += on.out_step) {
    beside(i);
    Row::copy(out, on.base + offsets[i], on.row);
  }
}

template <class T, class Beside>
GATHER_INLINE void copy_group(Kind<Packed<T>>, char* out, const Stretch& on, const int64_t* offsets, Beside beside) {
  using Each = Fixed<int64_t{sizeof(T)}>;
  if (on.out_step != int64_t{sizeof(T)}) return copy_group(Kind<Each>{}, out, on, offsets, beside);
  for (int64_t i = 0; i < group; ++i) beside(i);
#pragma GCC unroll 16
  for (int64_t i = 0; i < group; i += Packed<T>::count) {
    Packed<T>::copy_together(out + i * int64_t{sizeof(T)}, on.base, offsets + i);
  }
}

template <class Row>
int64_t take_near(const Selection& selection, const Stretch& stretch) {
  const Stretch on = stretch;  // which no row that is written can change
  Groups groups(selection, on);
  int64_t i = 0;
  alignas(group * 8) int64_t offsets[group];
  for (; i + group <= on.n && groups.resolve(offsets); i += group) {
    copy_group(Kind<Row>{}, on.out + i * on.out_step, on, offsets, [](int64_t) {});
  }
  return i;
}

// Each row is fetched so many groups before it is copied that it has arrived by then.
template <class Row>
int64_t take_far(const Selection& selection, const Stretch& stretch) {
  constexpr int64_t most_ahead = 4, bytes_ahead = 64 * 1024, slots = 2 * most_ahead;
  const Stretch on = stretch;
  const int64_t wanted = bytes_ahead / (group * on.row);
  const int64_t ahead = wanted < 1 ? 1 : wanted > most_ahead ? most_ahead : wanted;
  Groups groups(selection, on);
  alignas(group * 8) int64_t ring[slots * group];
  const auto slot = [&](int64_t g) { return ring + (g & (slots - 1)) * group; };
  // Inlined, or the compiler takes a function that only fetches for one that does nothing.
  const auto fetch = [&](const int64_t* offsets, int64_t i)
                         __attribute__((always_inline)) { Row::fetch_row(on.base + offsets[i], on.row); };
  const auto copy = [&](int64_t g, auto beside) __attribute__((always_inline)) {
    copy_group(Kind<Row>{}, on.out + g * group * on.out_step, on, slot(g), beside);
  };
  const int64_t whole = on.n / group;
  int64_t resolved = 0, copied = 0;
  for (; resolved < whole && groups.resolve(slot(resolved)); ++resolved) {
    const int64_t* const next = slot(resolved);
    if (resolved < ahead) {
      for (int64_t i = 0; i < group; ++i) fetch(next, i);
    } else {
      copy(copied++, [&](int64_t i) __attribute__((always_inline)) { fetch(next, i); });
    }
  }
  while (copied < resolved) copy(copied++, [](int64_t) {});
  return resolved * group;
}

int64_t take_flooding(const Selection& selection, const Stretch& on) {
  if (!Streamed::can_write(on.out, on.out_step, on.row)) return take_far<Long>(selection, on);
  const int64_t taken = take_far<Streamed>(selection, on);
  Lanes::fence();
  return taken;
}

TakeRows choose_take(const Selection& selection, const Rows& rows) {
  if (!Groups::can_walk(selection)) return nullptr;
  if (is_streamed(rows)) return take_flooding;
  return with_row(rows, [&](auto kind) -> TakeRows {
    using Row = typename decltype(kind)::type;
    return rows.is_far ? take_far<Row> : take_near<Row>;
  });
}

}  // namespace
}  // namespace gather::cpu
