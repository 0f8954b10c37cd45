#pragma once

#include "cpu/tiers/take.hpp"
#include "cpu/tiers/updates.hpp"

// Tuples resolved and updates written to the rows that they select, or added to them, in one go: taking with the arrows
// reversed, in the same order. Part of body.hpp.
namespace gather::cpu {
namespace {

// Rows that are moved from what lies in order to what tuples select.
template <class Row>
struct Onto {
  static GATHER_INLINE void copy(char* update, const char* selected, int64_t row) {
    Row::copy(const_cast<char*>(selected), update, row);  // a target, which may be written
  }
  static GATHER_INLINE void fetch_row(const char* selected, int64_t) { __builtin_prefetch(selected, 1); }
};

// A number that is added to another, both at any address.
template <class T>
struct Sum {
  static GATHER_INLINE void copy(char* to, const char* from, int64_t) {
    T number, addend;
    std::memcpy(&number, to, sizeof number);
    std::memcpy(&addend, from, sizeof addend);
    number += addend;
    std::memcpy(to, &number, sizeof number);
  }
};

// Longer rows are written no sooner in one go.
TakeRows choose_give(const Selection& selection, const Rows& rows) {
  if (!Groups::can_walk(selection)) return nullptr;
  switch (rows.bytes) {
    case 1: return take<Onto<Fixed<1>>, false>;
    case 2: return take<Onto<Fixed<2>>, false>;
    case 4: return take<Onto<Fixed<4>>, false>;
    case 8: return take<Onto<Fixed<8>>, false>;
    default: return nullptr;
  }
}

template <class T>
TakeRows choose_give_sum_of(const Rows& rows) {
  if (rows.bytes != int64_t{sizeof(T)}) return nullptr;
  return rows.is_far ? take<Onto<Sum<T>>, true> : take<Onto<Sum<T>>, false>;
}

TakeRows choose_give_sum(const Selection& selection, Addend addend, const Rows& rows) {
  if (!Groups::can_walk(selection)) return nullptr;
  switch (addend) {
    case Addend::integer32: return choose_give_sum_of<uint32_t>(rows);
    case Addend::integer64: return choose_give_sum_of<uint64_t>(rows);
    case Addend::float32: return choose_give_sum_of<float>(rows);
    case Addend::float64: return choose_give_sum_of<double>(rows);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace gather::cpu
