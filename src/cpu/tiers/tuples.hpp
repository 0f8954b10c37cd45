#pragma once

#include "cpu/tiers/one.hpp"
#include "cpu/tiers/tier.hpp"

// Tuples of indices, judged and turned into offsets. Part of body.hpp.
namespace gather::cpu {
namespace {

// Indices that are folded by floating point are nearer to 0: numbers that it holds exactly, and quotients that it finds.
constexpr int64_t foldable = int64_t{1} << 50;

// What one component of a tuple asks of an index.
struct Demand {
  int64_t wrap, limit, low, stride;
  double inverse;  // of the size, where indices are folded

  Demand() = default;
  Demand(const Selection& selection, int32_t component)
      : wrap(selection.wraps ? selection.size[component] : 0),
        limit(selection.size[component] - 1),
        low(lowest(selection, limit)),
        stride(selection.stride[component]),
        inverse(selection.outside == Outside::modulo ? 1.0 / static_cast<double>(selection.size[component]) : 0) {}

 private:
  // What looks negative under uint64 is huge.
  static int64_t lowest(const Selection& selection, int64_t limit) {
    const bool is_huge = selection.type == IndexType::uint64;
    if (selection.outside == Outside::modulo) return is_huge ? 0 : -foldable;
    return is_huge ? limit : 0;
  }
};

// What is asked of a stream of indices: of the first, what component 0 of a tuple asks, of the next, what component 1
// does, and so on, again and again. After `period` vectors it begins anew.
struct Pattern {
  static constexpr int32_t most = Selection::most_components * Lanes::count;

  Pattern() = default;
  explicit Pattern(const Selection& selection) { fill(selection); }

  __attribute__((noinline)) void fill(const Selection& selection) {
    period = selection.components;
    for (int32_t lanes = Lanes::count; lanes % 2 == 0 && period % 2 == 0; lanes /= 2) period /= 2;
    for (int32_t i = 0, c = 0; i < period * Lanes::count; ++i) {
      const Demand demand(selection, c);
      wrap[i] = demand.wrap;
      limit[i] = demand.limit;
      low[i] = demand.low;
      stride[i] = demand.stride;
      inverse[i] = demand.inverse;
      if (++c == selection.components) c = 0;
    }
  }

  int32_t period;
  int64_t wrap[most], limit[most], low[most], stride[most];
  double inverse[most];
};

// What is asked of a vector of indices: of all the same, or from the i-th of a pattern on.
template <class L>
struct Step {
  typename L::V wrap, limit, low, stride;
  typename L::D inverse;

  GATHER_INLINE explicit Step(const Demand& demand)
      : wrap(L::all(demand.wrap)),
        limit(L::all(demand.limit)),
        low(L::all(demand.low)),
        stride(L::all(demand.stride)),
        inverse(demand.inverse - typename L::D{}) {}
  GATHER_INLINE Step(const Pattern& pattern, int64_t i)
      : wrap(L::values(pattern.wrap + i)),
        limit(L::values(pattern.limit + i)),
        low(L::values(pattern.low + i)),
        stride(L::values(pattern.stride + i)) {
    __builtin_memcpy(&inverse, pattern.inverse + i, sizeof inverse);
  }
};

template <class To, class From>
GATHER_INLINE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "of as many");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// Numbers within foldable turn into floating point and back beside a number whose last bit counts ones.
constexpr double ones = 0x1.8p52;
constexpr int64_t ones_bits = 0x4338000000000000;

template <class L>
GATHER_INLINE typename L::D to_double(typename L::V v) {
  return same_bits<typename L::D>(v + L::all(ones_bits)) - ones;
}

template <class L>
GATHER_INLINE typename L::V to_integer(typename L::D number) {
  return same_bits<typename L::V>(number + ones) - L::all(ones_bits);
}

// The rest of v / size. Every number here is an integer that floating point holds; however it rounds, the quotient is off by
// 1 at most.
template <class L>
GATHER_INLINE typename L::V fold(typename L::V v, const Step<L>& step) {
  const auto size = step.limit + L::all(1);
  const auto number = to_double<L>(v);
  const auto quotient = (number * step.inverse + ones) - ones;
  const auto rest = L::wrap(to_integer<L>(number - quotient * to_double<L>(size)), size);
  return L::select(step.limit - rest, rest - size, rest);
}

// Bytes into params. An index v is outside if v or limit - v is negative: the sign of (v | limit - v) says both.
template <class L, Outside outside>
GATHER_INLINE typename L::V product(typename L::V v, const Step<L>& step, typename L::V* bad) {
  if (outside == Outside::modulo) {
    *bad |= (v - step.low) | (L::all(foldable) - v);
    return L::times(fold<L>(v, step), step.stride);
  }
  v = L::wrap(v, step.wrap);
  if (outside == Outside::clamped) {
    v = L::select(v, step.low, v);
    v = L::select(step.limit - v, step.limit, v);
    return L::times(v, step.stride);
  }
  const typename L::V sign = v | (step.limit - v);
  *bad |= sign;
  const typename L::V result = L::times(v, step.stride);
  return outside == Outside::skipped ? L::select(sign, L::all(no_row), result) : result;
}

// Calls on_step(L, loaded indices, Step<L>, i) for a stream of `count` indices, the i-th and those after it in lanes.
template <class T, class OnStep>
GATHER_INLINE void walk(const Selection& selection, const char* first, int64_t count, OnStep on_step) {
  constexpr int64_t lanes = Lanes::count, bytes = sizeof(T);
  int64_t i = 0;
  if (selection.components == 1) {
    const Demand demand(selection, 0);
    const Step<Lanes> step(demand);
    for (; i + lanes <= count; i += lanes) on_step(Lanes{}, Lanes::template load<T>(first + i * bytes), step, i);
    const Step<One> last(demand);
    for (; i < count; ++i) on_step(One{}, One::template load<T>(first + i * bytes), last, i);
    return;
  }
  const Pattern pattern(selection);
  if (pattern.period == 1) {
    const Step<Lanes> step(pattern, 0);
    for (; i + lanes <= count; i += lanes) on_step(Lanes{}, Lanes::template load<T>(first + i * bytes), step, i);
  } else {
    while (i + pattern.period * lanes <= count) {
      for (int64_t p = 0; p < pattern.period; ++p, i += lanes) {
        on_step(Lanes{}, Lanes::template load<T>(first + i * bytes), Step<Lanes>(pattern, p * lanes), i);
      }
    }
  }
  for (int64_t p = 0; i < count; ++i, ++p) {
    on_step(One{}, One::template load<T>(first + i * bytes), Step<One>(pattern, p), i);
  }
}

// Whether anything was outside, in lanes and in what is left over.
struct Bad {
  Lanes::V lanes = Lanes::all(0);
  One::V rest = 0;

  GATHER_INLINE Lanes::V* of(Lanes) { return &lanes; }
  GATHER_INLINE One::V* of(One) { return &rest; }
  GATHER_INLINE bool is_set() const { return Lanes::is_any_negative(lanes) || rest < 0; }
};

// With w = wrap: v is in [-w, limit] where v + w is in [0, limit + w].
template <class T>
bool inside_as(const Selection& selection, const char* first, int64_t count) {
  Bad bad;
  walk<T>(selection, first, count, [&](auto lanes, auto v, const auto& step, int64_t) __attribute__((always_inline)) {
    v += step.wrap;
    *bad.of(lanes) |= v | (step.limit + step.wrap - v);
  });
  return !bad.is_set();
}

// Indices of 32 bits and fewer, so many more at a time. As numbers of 32 bits they wrap around as those of 64 would not: what
// was negative is in the upper half before, and what is inside in the lower one after.
template <class N, class T>
GATHER_INLINE typename N::V wrap_narrow(const Demand& demand, typename N::V v) {
  constexpr bool may_be_negative = static_cast<T>(-1) < T{0};
  return may_be_negative ? v + (v >> 31 & N::all(static_cast<int32_t>(demand.wrap))) : v;
}

template <class N, class T>
bool inside_narrow(const Selection& selection, const char* first, int64_t count) {
  const Demand demand(selection, 0);
  const auto limit = N::all(static_cast<int32_t>(demand.limit));
  auto bad = N::all(0);
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + N::count <= count; i += N::count) {
    const auto v = wrap_narrow<N, T>(demand, N::template load<T>(first + i * int64_t{sizeof(T)}));
    bad |= v | (limit - v);
  }
  return !N::is_any_negative(bad) && inside_as<T>(selection, first + i * int64_t{sizeof(T)}, count - i);
}

template <class T, Outside outside>
bool multiply_as(const Selection& selection, const char* first, int64_t count, int64_t* products) {
  Bad bad;
  walk<T>(selection, first, count, [&](auto lanes, auto v, const auto& step, int64_t i) __attribute__((always_inline)) {
    lanes.store(products + i, product<decltype(lanes), outside>(v, step, bad.of(lanes)));
  });
  return !bad.is_set();
}

// Returns whether all were inside.
template <class T>
bool multiply(const Selection& selection, const char* first, int64_t count, int64_t* products) {
  switch (selection.outside) {
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

// Whether tuples and components lie one after the other.
bool is_dense(const Selection& selection, int64_t stride) {
  const int64_t bytes = index_bytes(selection.type);
  return stride == selection.components * bytes && (selection.components == 1 || selection.index_step == bytes);
}

// What is worked on at a time where a stream is not read or not written in place.
constexpr int64_t chunk = 512;

// Tuples with gaps, without them.
void pack(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* values) {
  with_type(selection.type, [&](auto type) {
    for (int64_t i = 0; i < n; ++i) {
      for (int32_t c = 0; c < selection.components; ++c) {
        *values++ = One::load<decltype(type)>(tuples + i * stride + c * selection.index_step);
      }
    }
  });
}

// As many at a time as registers hold.
template <class N, class T>
bool inside_type(const Selection& selection, const char* first, int64_t count) {
  if constexpr (N::count > 0 && sizeof(T) < 8) {
    if (selection.components == 1) return inside_narrow<N, T>(selection, first, count);
  }
  return inside_as<T>(selection, first, count);
}

bool inside_dense(const Selection& selection, IndexType index_type, const char* first, int64_t count) {
  return with_type(index_type, [&](auto type) { return inside_type<Narrow, decltype(type)>(selection, first, count); });
}

bool inside(const Selection& selection, const char* tuples, int64_t stride, int64_t n) {
  if (is_dense(selection, stride)) return inside_dense(selection, selection.type, tuples, n * selection.components);
  int64_t values[chunk];
  const int64_t step = chunk / selection.components;
  for (int64_t i = 0; i < n; i += step) {
    const int64_t now = n - i < step ? n - i : step;
    pack(selection, tuples + i * stride, stride, now, values);
    const char* packed = reinterpret_cast<const char*>(values);
    if (!inside_dense(selection, IndexType::int64, packed, now * selection.components)) return false;
  }
  return true;
}

// The sums of so many products each, a power of two: as many as there are lanes.
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

void add_row_steps(int64_t step, int64_t n, int64_t* offsets) {
  for (int64_t i = 0; i < n; ++i) {
    if (offsets[i] != no_row) offsets[i] += i * step;
  }
}

bool multiply_dense(const Selection& selection, IndexType index_type, const char* first, int64_t count,
                    int64_t* products) {
  return with_type(index_type, [&](auto type) { return multiply<decltype(type)>(selection, first, count, products); });
}

Resolved resolve(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* offsets) {
  const int32_t components = selection.components;
  const bool dense = is_dense(selection, stride);
  bool all = true;
  if (dense && components == 1) {
    all = multiply_dense(selection, selection.type, tuples, n, offsets);
  } else {
    int64_t products[chunk];
    const int64_t step = chunk / components;
    for (int64_t i = 0; i < n; i += step) {
      const int64_t now = n - i < step ? n - i : step;
      const char* first = tuples + i * stride;
      if (!dense) {
        pack(selection, first, stride, now, products);  // each product takes its index's place
        first = reinterpret_cast<const char*>(products);
      }
      const IndexType index_type = dense ? selection.type : IndexType::int64;
      all &= multiply_dense(selection, index_type, first, now * components, products);
      add_up(products, components, now, offsets + i);
    }
  }
  if (!all && (selection.outside != Outside::skipped || components > 1)) return Resolved::bad;
  if (selection.row_step != 0) add_row_steps(selection.row_step, n, offsets);
  return all ? Resolved::all : Resolved::some;
}

}  // namespace
}  // namespace gather::cpu
