#include "cpu/direct.hpp"

#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

using core::Direct;

bool overlap(const char* a, const Direct::Span& a_span, const char* b, const Direct::Span& b_span, int64_t more) {
  const uintptr_t a_at = reinterpret_cast<uintptr_t>(a), b_at = reinterpret_cast<uintptr_t>(b);
  const uintptr_t a_low = a_at + static_cast<uintptr_t>(a_span.low), b_low = b_at + static_cast<uintptr_t>(b_span.low);
  const uintptr_t a_high = a_at + static_cast<uintptr_t>(a_span.high + a_span.step * more);
  const uintptr_t b_high = b_at + static_cast<uintptr_t>(b_span.high + b_span.step * more);
  return a_low < b_high && b_low < a_high;
}

// The offset of the row that a tuple selects; false where it selects none.
template <class T>
bool resolve(const Direct& direct, const char* tuple, int64_t* offset) {
  *offset = direct.params_offset;
  for (int32_t c = 0; c < direct.components; ++c, tuple += direct.index_step) {
    const core::Component& component = direct.component[c];
    int64_t value = load_index<T>(tuple);
    if (direct.wraps && value < 0) value += component.size;
    // One comparison for both ends: what is negative is huge as an unsigned number.
    if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(component.size)) return false;
    *offset += value * component.stride;
  }
  return true;
}

template <class T>
bool resolve_all(const Direct& direct, const char* indices, int64_t tuples, int64_t* offsets) {
  for (int64_t i = 0; i < tuples; ++i) {
    if (!resolve<T>(direct, indices + i * direct.line_index, offsets + i)) return false;
  }
  return true;
}

// The number of tuples of a run; 0 where the run is none for a short form.
int64_t tuples_of(const Direct& direct, int64_t n) {
  if (direct.tuples > Direct::most_tuples) return 0;
  if (direct.largest_n == GTH_OPEN) return n == GTH_OPEN ? direct.tuples : 0;
  if (n < 1 || n > direct.largest_n || n > Direct::most_tuples) return 0;
  const int64_t tuples = direct.tuples * n;
  return tuples <= Direct::most_tuples ? tuples : 0;
}

}  // namespace

bool run_direct(const Direct& direct, CopyRows copy, const core::Pointers& pointers, int64_t n) {
#ifdef GATHER_TESTING
  return false;  // test builds send everything through the general machinery
#endif
  const int64_t tuples = tuples_of(direct, n);
  if (tuples == 0 || !pointers.params || !pointers.indices || !pointers.out) return false;
  const int64_t more = n == GTH_OPEN ? 0 : n - 1;
  if (overlap(pointers.out, direct.out, pointers.params, direct.params, more) ||
      overlap(pointers.out, direct.out, pointers.indices, direct.indices, more)) {
    return false;
  }
  int64_t offsets[Direct::most_tuples];
  const char* indices = pointers.indices + direct.indices_offset;
  const bool all = direct.is_int64 ? resolve_all<int64_t>(direct, indices, tuples, offsets)
                                   : resolve_all<int32_t>(direct, indices, tuples, offsets);
  if (!all) return false;
  copy(pointers.out + direct.out_offset, direct.line_out, pointers.params, offsets, tuples, direct.row);
  return true;
}

}  // namespace gather::cpu
