#pragma once

#include <type_traits>

#include "cpu/tiers/reduce.hpp"

// Adds weighted rows to sums. Part of body.hpp.
namespace gather::cpu {
namespace {

constexpr int64_t most_floats = Lanes::register_bytes / 4;

template <class V>
constexpr bool is_float32 =
    std::is_same_v<V, float> || std::is_same_v<V, Numbers<float, 4>> || std::is_same_v<V, Numbers<float, most_floats>>;

// float32 sums use one fused multiply-add for each row. The products of other numbers are rounded.
struct MultiplyAdd {
  template <class V>
  static GATHER_INLINE V of(V sum, V row, V weight) {
    if constexpr (std::is_same_v<V, Numbers<float, 2>>) {  // No instruction has vectors of this size.
      return V{Floats::multiply_add(weight[0], row[0], sum[0]), Floats::multiply_add(weight[1], row[1], sum[1])};
    } else if constexpr (is_float32<V>) {
      return Floats::multiply_add(weight, row, sum);
    } else {
      return static_cast<V>(sum + static_cast<V>(weight * row));
    }
  }
};

template <class V, class T>
GATHER_INLINE V everywhere(T value) {
  return static_cast<V>(value - V{});  // 0 is subtracted, because its sum with -0 is 0
}

template <class Kind>
struct WeightedRow {
  using Value = typename Kind::Value;
  static constexpr int64_t item = sizeof(typename Kind::Stored), sum_item = sizeof(Value);
  const char* row;
  Value weight;
  char* sums;

  template <int64_t n>
  GATHER_INLINE auto compute(int64_t i) const {
    using V = Numbers<Value, n>;
    const V sum = load_numbers<Value, n>(sums + i * sum_item), numbers = Kind::template load<n>(row + i * item);
    return MultiplyAdd::of(sum, numbers, everywhere<V>(weight));
  }
  template <int64_t n, class V>
  GATHER_INLINE void store(int64_t i, V numbers) const {
    store_numbers(sums + i * sum_item, numbers);
  }
};

template <class Kind>
void add_weighted(const char* row, int64_t n, const void* weight, void* sums) {
  const auto value = static_cast<const typename Kind::Value*>(weight);
  const WeightedRow<Kind> each{row, *value, static_cast<char*>(sums)};
  if (n >= most_at_once<Kind>) return for_elements<most_at_once<Kind>>(each, n);
  for_elements<1>(each, n);
}

AddWeighted choose_weighted(Number number, int64_t item) {
  switch (number) {
    case Number::floating: break;
    case Number::brain_floating: return add_weighted<BrainHalf>;
    default:
      return with_integers(item,
                           [](auto, auto without) -> AddWeighted { return add_weighted<Plain<decltype(without)>>; });
  }
  if (item == 2) return add_weighted<Half>;
  return item == 4 ? add_weighted<Plain<float>> : add_weighted<Plain<double>>;
}

}  // namespace
}  // namespace gather::cpu
