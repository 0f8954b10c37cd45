#pragma once

#include "cpu/tiers/scalar.hpp"
#include "cpu/tiers/strided.hpp"
#include "cpu/tiers/tier.hpp"
#include "cpu/tiers/vectors.hpp"

// Validates tuples of indices and converts them to offsets. Part of body.hpp.
namespace gather::cpu {
namespace {

// The largest magnitude of an index whose remainder is computed in floating point. Below it, float64 is exact for the
// index, and the quotient is off by at most 1.
constexpr int64_t max_modulo_value = int64_t{1} << 50;

// The rule for the indices of one component.
struct IndexRule {
  int64_t wrap, limit, low, stride;
  double inverse;  // 1 / size if bounds = modulo, else 0

  IndexRule() = default;
  IndexRule(const Selection& selection, int32_t component)
      : wrap(selection.wraps ? selection.size[component] : 0),
        limit(selection.size[component] - 1),
        low(lowest(selection, limit)),
        stride(selection.stride[component]),
        inverse(selection.outside == Outside::modulo ? 1.0 / static_cast<double>(selection.size[component]) : 0) {}

 private:
  // Returns the least valid value. A uint64 index of 2^63 or more is loaded as a negative int64, and is out of bounds.
  static int64_t lowest(const Selection& selection, int64_t limit) {
    const bool is_uint64 = selection.type == IndexType::uint64;
    if (selection.outside == Outside::modulo) return is_uint64 ? 0 : -max_modulo_value;
    return is_uint64 ? limit : 0;
  }
};

// The rules for a stream of dense tuples, one for each lane. Component c of each tuple has rule c. The pattern of rules
// repeats after `period` vectors.
struct RulePattern {
  static constexpr int32_t max_rules = Selection::max_components * Lanes::count;

  RulePattern() = default;
  explicit RulePattern(const Selection& selection) { fill(selection); }

  __attribute__((noinline)) void fill(const Selection& selection) {
    period = selection.components;
    for (int32_t lanes = Lanes::count; lanes % 2 == 0 && period % 2 == 0; lanes /= 2) period /= 2;
    for (int32_t i = 0, c = 0; i < period * Lanes::count; ++i) {
      const IndexRule rule(selection, c);
      wrap[i] = rule.wrap;
      limit[i] = rule.limit;
      low[i] = rule.low;
      stride[i] = rule.stride;
      inverse[i] = rule.inverse;
      if (++c == selection.components) c = 0;
    }
  }

  int32_t period;
  int64_t wrap[max_rules], limit[max_rules], low[max_rules], stride[max_rules];
  double inverse[max_rules];
};

// The rules for one vector of indices: one rule for all lanes, or the rules of a pattern from the i-th on.
template <class L>
struct VectorRule {
  typename L::V wrap, limit, low, stride;
  typename L::D inverse;

  GATHER_INLINE explicit VectorRule(const IndexRule& rule)
      : wrap(L::all(rule.wrap)),
        limit(L::all(rule.limit)),
        low(L::all(rule.low)),
        stride(L::all(rule.stride)),
        inverse(rule.inverse - typename L::D{}) {}
  GATHER_INLINE VectorRule(const RulePattern& pattern, int64_t i)
      : wrap(L::values(pattern.wrap + i)),
        limit(L::values(pattern.limit + i)),
        low(L::values(pattern.low + i)),
        stride(L::values(pattern.stride + i)) {
    __builtin_memcpy(&inverse, pattern.inverse + i, sizeof inverse);
  }
};

// The sum of this constant and a number below 2^51 in magnitude is a float64 whose mantissa ends in that integer. So
// integers are converted to float64 and back without conversion instructions.
constexpr double integer_bias = 0x1.8p52;
constexpr int64_t integer_bias_bits = 0x4338000000000000;

template <class L>
GATHER_INLINE typename L::D to_double(typename L::V v) {
  return same_bits<typename L::D>(v + L::all(integer_bias_bits)) - integer_bias;
}

template <class L>
GATHER_INLINE typename L::V to_integer(typename L::D number) {
  return same_bits<typename L::V>(number + integer_bias) - L::all(integer_bias_bits);
}

// Returns the non-negative remainder of v / size. float64 is exact for every number here. The quotient is off by at
// most 1 in every rounding mode, so one correction in each direction is sufficient.
template <class L>
GATHER_INLINE typename L::V remainder(typename L::V v, const VectorRule<L>& rule) {
  const auto size = rule.limit + L::all(1);
  const auto number = to_double<L>(v);
  const auto quotient = (number * rule.inverse + integer_bias) - integer_bias;
  const auto result = L::wrap(to_integer<L>(number - quotient * to_double<L>(size)), size);
  return L::select(rule.limit - result, result - size, result);
}

// Returns the byte offset of the entry that an index selects. Sets the sign of *bad if the index is out of bounds. An
// index v is out of bounds if v or limit - v is negative, so the sign of (v | limit - v) is the result of both tests.
template <class L, Outside outside>
GATHER_INLINE typename L::V product(typename L::V v, const VectorRule<L>& rule, typename L::V* bad) {
  if (outside == Outside::modulo) {
    *bad |= (v - rule.low) | (L::all(max_modulo_value) - v);
    return L::times(remainder<L>(v, rule), rule.stride);
  }
  v = L::wrap(v, rule.wrap);
  if (outside == Outside::clamped) {
    v = L::select(v, rule.low, v);
    v = L::select(rule.limit - v, rule.limit, v);
    return L::times(v, rule.stride);
  }
  const typename L::V sign = v | (rule.limit - v);
  *bad |= sign;
  const typename L::V result = L::times(v, rule.stride);
  return outside == Outside::skipped ? L::select(sign, L::all(no_row), result) : result;
}

// Calls on_vector(L, indices, VectorRule<L>, i) for each vector of a stream of `count` indices. The lanes hold the
// indices from the i-th on. The indices after the last full vector follow one by one, with L = Scalar.
template <class T, class OnVector>
GATHER_INLINE void walk(const Selection& selection, const char* first, int64_t count, OnVector on_vector) {
  constexpr int64_t lanes = Lanes::count, bytes = sizeof(T);
  int64_t i = 0;
  if (selection.components == 1) {
    const IndexRule rule(selection, 0);
    const VectorRule<Lanes> vector_rule(rule);
#pragma GCC unroll 4
    for (; i + lanes <= count; i += lanes)
      on_vector(Lanes{}, Lanes::template load<T>(first + i * bytes), vector_rule, i);
    const VectorRule<Scalar> last(rule);
    for (; i < count; ++i) on_vector(Scalar{}, Scalar::template load<T>(first + i * bytes), last, i);
    return;
  }
  const RulePattern pattern(selection);
  if (pattern.period == 1) {
    const VectorRule<Lanes> vector_rule(pattern, 0);
    for (; i + lanes <= count; i += lanes)
      on_vector(Lanes{}, Lanes::template load<T>(first + i * bytes), vector_rule, i);
  } else {
    while (i + pattern.period * lanes <= count) {
      for (int64_t p = 0; p < pattern.period; ++p, i += lanes) {
        on_vector(Lanes{}, Lanes::template load<T>(first + i * bytes), VectorRule<Lanes>(pattern, p * lanes), i);
      }
    }
  }
  for (int64_t p = 0; i < count; ++i, ++p) {
    on_vector(Scalar{}, Scalar::template load<T>(first + i * bytes), VectorRule<Scalar>(pattern, p), i);
  }
}

// Records whether an index was out of bounds, in the vectors and in the scalars after them.
struct BadSigns {
  Lanes::V lanes = Lanes::all(0);
  Scalar::V scalar = 0;

  GATHER_INLINE Lanes::V* of(Lanes) { return &lanes; }
  GATHER_INLINE Scalar::V* of(Scalar) { return &scalar; }
  GATHER_INLINE bool is_set() const { return Lanes::is_any_negative(lanes) || scalar < 0; }
};

// Returns true if all indices are inside. With w = wrap: v is in [-w, limit] if v + w is in [0, limit + w].
template <class T>
bool inside_as(const Selection& selection, const char* first, int64_t count) {
  BadSigns bad;
  walk<T>(selection, first, count, [&](auto lanes, auto v, const auto& rule, int64_t) __attribute__((always_inline)) {
    v += rule.wrap;
    *bad.of(lanes) |= v | (rule.limit + rule.wrap - v);
  });
  return !bad.is_set();
}

// Adds the size to negative indices of at most 32 bits, in 32-bit lanes. The sum of a negative index and a size of at
// most 2^31 fits int32. A uint32 index of 2^31 or more is loaded as a negative int32, and is out of bounds.
template <class N, class T>
GATHER_INLINE typename N::V wrap_narrow(const IndexRule& rule, typename N::V v) {
  constexpr bool may_be_negative = static_cast<T>(-1) < T{0};
  return may_be_negative ? v + (v >> 31 & N::all(static_cast<int32_t>(rule.wrap))) : v;
}

template <class N, class T>
bool inside_narrow(const Selection& selection, const char* first, int64_t count) {
  const IndexRule rule(selection, 0);
  const auto limit = N::all(static_cast<int32_t>(rule.limit));
  auto bad = N::all(0);
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + N::count <= count; i += N::count) {
    const auto v = wrap_narrow<N, T>(rule, N::template load<T>(first + i * int64_t{sizeof(T)}));
    bad |= v | (limit - v);
  }
  return !N::is_any_negative(bad) && inside_as<T>(selection, first + i * int64_t{sizeof(T)}, count - i);
}

template <class T, Outside outside>
bool multiply_as(const Selection& selection, const char* first, int64_t count, int64_t* products) {
  BadSigns bad;
  walk<T>(selection, first, count, [&](auto lanes, auto v, const auto& rule, int64_t i) __attribute__((always_inline)) {
    lanes.store(products + i, product<decltype(lanes), outside>(v, rule, bad.of(lanes)));
  });
  return !bad.is_set();
}

// Returns true if all indices were inside.
template <class T>
bool multiply(const Selection& selection, Outside outside, const char* first, int64_t count, int64_t* products) {
  switch (outside) {
    case Outside::skipped: return multiply_as<T, Outside::skipped>(selection, first, count, products);
    case Outside::clamped: return multiply_as<T, Outside::clamped>(selection, first, count, products);
    case Outside::modulo: return multiply_as<T, Outside::modulo>(selection, first, count, products);
    default: return multiply_as<T, Outside::refused>(selection, first, count, products);
  }
}

// Calls on_type(T{}) with the type of the indices; uint64 is loaded as int64.
template <class OnType>
GATHER_INLINE auto with_type(IndexType type, OnType on_type) {
  switch (type) {
    case IndexType::int8: return on_type(int8_t{});
    case IndexType::int16: return on_type(int16_t{});
    case IndexType::int32: return on_type(int32_t{});
    case IndexType::uint8: return on_type(uint8_t{});
    case IndexType::uint16: return on_type(uint16_t{});
    case IndexType::uint32: return on_type(uint32_t{});
    default: return on_type(int64_t{});
  }
}

int64_t index_bytes(IndexType type) { return int64_t{1} << (static_cast<int32_t>(type) & 3); }

// Returns true if the indices of all tuples and components are contiguous.
bool is_dense(const Selection& selection, int64_t stride) {
  const int64_t bytes = index_bytes(selection.type);
  return stride == selection.components * bytes && (selection.components == 1 || selection.index_step == bytes);
}

// The numbers of products that are added up at once, and of indices that are packed at once. More would need more
// stack.
constexpr int64_t products_at_once = 512, packed_at_once = 256;

template <class T>
void pack_component(const char* from, int64_t stride, int64_t n, char* to, int64_t step) {
  if (step == int64_t{sizeof(T)} && copy_strided<T>(to, from, stride, n)) return;
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) store_numbers(to + i * step, load_numbers<T, 1>(from + i * stride));
}

// Copies tuples that are not contiguous to contiguous ones. Each index is loaded once: without the barrier the compiler
// might load it again instead of its copy.
void pack(const Selection& selection, const char* tuples, int64_t stride, int64_t n, char* to) {
  with_type(selection.type, [&](auto type) {
    constexpr int64_t bytes = sizeof(type);
    for (int32_t c = 0; c < selection.components; ++c) {
      pack_component<decltype(type)>(tuples + c * selection.index_step, stride, n, to + c * bytes,
                                     selection.components * bytes);
    }
  });
  asm volatile("" : : "r"(to) : "memory");
}

// Copies tuples to contiguous memory in blocks, and calls on_packed(copies, i, n) for each. The block has the n tuples
// from the i-th on. Returns false as soon as on_packed returns false.
template <class OnPacked>
GATHER_INLINE bool for_packed(const Selection& selection, const char* tuples, int64_t stride, int64_t n,
                              OnPacked on_packed) {
  alignas(64) char packed[packed_at_once * int64_t{sizeof(int64_t)}];
  const int64_t most = packed_at_once / selection.components;
  for (int64_t i = 0; i < n; i += most) {
    const int64_t now = n - i < most ? n - i : most;
    pack(selection, tuples + i * stride, stride, now, packed);
    if (!on_packed(packed, i, now)) return false;
  }
  return true;
}

// Uses 32-bit lanes if the tier has them and the indices fit.
template <class N, class T>
bool inside_type(const Selection& selection, const char* first, int64_t count) {
  if constexpr (N::count > 0 && sizeof(T) < 8) {
    if (selection.components == 1) return inside_narrow<N, T>(selection, first, count);
  }
  return inside_as<T>(selection, first, count);
}

bool inside_dense(const Selection& selection, const char* first, int64_t count) {
  return with_type(selection.type,
                   [&](auto type) { return inside_type<Narrow, decltype(type)>(selection, first, count); });
}

bool inside(const Selection& selection, const char* tuples, int64_t stride, int64_t n) {
  const int32_t components = selection.components;
  if (is_dense(selection, stride)) return inside_dense(selection, tuples, n * components);
  return for_packed(selection, tuples, stride, n, [&](const char* packed, int64_t, int64_t now) {
    return inside_dense(selection, packed, now * components);
  });
}

// Returns the sums of `components` products each, one sum for each lane. Precondition: components is a power of two.
template <int32_t components>
GATHER_INLINE Lanes::V sums(const int64_t* products) {
  if constexpr (components == 1) {
    return Lanes::values(products);
  } else {
    constexpr int32_t half = components / 2;
    return Lanes::add_pairs(sums<half>(products), sums<half>(products + Lanes::count * half));
  }
}

template <int32_t components>
void add_up(const int64_t* products, int64_t n, int64_t* offsets) {
  constexpr bool has_pairs = Lanes::count > 1 && (components & (components - 1)) == 0;
  if constexpr (has_pairs) {
    const int64_t rest = n % Lanes::count;
    for (const int64_t* const last = offsets + (n - rest); offsets != last; offsets += Lanes::count) {
      Lanes::store(offsets, sums<components>(products));
      products += Lanes::count * components;
    }
    n = rest;
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t sum = products[i * components];
    for (int32_t c = 1; c < components; ++c) sum += products[i * components + c];
    offsets[i] = sum;
  }
}

void add_up(const int64_t* products, int32_t components, int64_t n, int64_t* offsets) {
  switch (components) {
    case 1: return add_up<1>(products, n, offsets);
    case 2: return add_up<2>(products, n, offsets);
    case 3: return add_up<3>(products, n, offsets);
    case 4: return add_up<4>(products, n, offsets);
    case 5: return add_up<5>(products, n, offsets);
    case 6: return add_up<6>(products, n, offsets);
    case 7: return add_up<7>(products, n, offsets);
    default: return add_up<8>(products, n, offsets);
  }
}

// Returns the rule for indices that are probably inside. If they all are, bounds = modulo needs no remainder.
Outside likely_outside(const Selection& selection, const char* first, int64_t count) {
  const bool is_modulo = selection.outside == Outside::modulo;
  return is_modulo && inside_dense(selection, first, count) ? Outside::refused : selection.outside;
}

bool multiply_dense(const Selection& selection, const char* first, int64_t count, int64_t* products) {
  const Outside outside = likely_outside(selection, first, count);
  return with_type(selection.type,
                   [&](auto type) { return multiply<decltype(type)>(selection, outside, first, count, products); });
}

// Returns true if all indices were inside. `at_once` is the number of products that are added up at once.
template <int64_t at_once>
__attribute__((noinline)) bool add_products(const Selection& selection, const char* tuples, int64_t n,
                                            int64_t* offsets) {
  const int32_t components = selection.components;
  int64_t products[size_t{at_once}];
  const int64_t most = at_once / components, tuple = components * index_bytes(selection.type);
  bool all = true;
  for (int64_t i = 0; i < n; i += most) {
    const int64_t now = n - i < most ? n - i : most;
    all &= multiply_dense(selection, tuples + i * tuple, now * components, products);
    add_up(products, components, now, offsets + i);
  }
  return all;
}

template <int64_t at_once>
bool resolve_dense(const Selection& selection, const char* tuples, int64_t n, int64_t* offsets) {
  return selection.components == 1 ? multiply_dense(selection, tuples, n, offsets)
                                   : add_products<at_once>(selection, tuples, n, offsets);
}

Resolved resolve(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* offsets) {
  bool all = true;
  if (is_dense(selection, stride)) {
    all = resolve_dense<products_at_once>(selection, tuples, n, offsets);
  } else {
    for_packed(selection, tuples, stride, n, [&](const char* packed, int64_t i, int64_t now) {
      all &= resolve_dense<packed_at_once>(selection, packed, now, offsets + i);
      return true;
    });
  }
  if (!all && (selection.outside != Outside::skipped || selection.components > 1)) return Resolved::bad;
  return all ? Resolved::all : Resolved::some;
}

}  // namespace
}  // namespace gather::cpu
