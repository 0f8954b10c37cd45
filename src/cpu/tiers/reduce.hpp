#pragma once

#include "cpu/tiers/numbers.hpp"

// Combines rows of a target with updates. Part of body.hpp.
namespace gather::cpu {
namespace {

using core::Number;

struct Add {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    return static_cast<V>(a + b);
  }
};

struct Mul {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    return static_cast<V>(a * b);
  }
};

// The result is NaN if either operand is NaN.
struct Max {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    return ((b <= a) | (a != a)) ? a : b;
  }
};

struct Min {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    return ((a <= b) | (a != a)) ? a : b;
  }
};

// Bytes are false if they are 0, and the written values are 0 and 1.
struct Or {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    const V no = V{}, yes = static_cast<V>(no + 1);
    return (a | b) != no ? yes : no;
  }
};

struct And {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    const V no = V{}, yes = static_cast<V>(no + 1);
    return ((a != no) & (b != no)) ? yes : no;
  }
};

// Multiplies complex numbers of two T. Each product is rounded before it is added, because tiers are compiled without
// contraction to fused multiply-add.
template <class T>
struct Complex {
  struct Stored {
    T real, imaginary;
  };
  using Value = Stored;

  template <int64_t n>
  static GATHER_INLINE Stored load(const char* at) {
    static_assert(n == 1, "there are no vectors of complex numbers");
    Stored stored;
    __builtin_memcpy(&stored, at, sizeof stored);
    return stored;
  }
  template <int64_t n>
  static GATHER_INLINE void store(char* at, Stored value) {
    store_numbers(at, value);
  }
};

struct MulComplex {
  template <class V>
  static GATHER_INLINE V of(V a, V b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

// Processes a row of `count` elements, n at a time. The last n overlap those before them, so they are computed first
// and stored last. Precondition: count >= n.
template <int64_t n, class Row>
GATHER_INLINE void for_elements(const Row& row, int64_t count, int64_t begin = 0) {
  const int64_t end = count - n;
  const auto last = row.template compute<n>(end);
  for (int64_t i = begin; i < end; i += n) row.template store<n>(i, row.template compute<n>(i));
  row.template store<n>(end, last);
}

// Processes a row whose stores are aligned from the element `begin` < n on. The first n elements overlap these. So they
// are computed before the others, and stored after them.
template <int64_t n, class Row>
GATHER_INLINE void for_aligned_elements(const Row& row, int64_t count, int64_t begin) {
  const auto first = row.template compute<n>(0);
  for_elements<n>(row, count, begin);
  row.template store<n>(0, first);
}

// The numbers of elements of a kind in the widest register and in one of 16 bytes.
template <class Kind>
constexpr int64_t most_at_once = Lanes::register_bytes / int64_t{sizeof(typename Kind::Value)};
template <class Kind>
constexpr int64_t few_at_once = 16 / int64_t{sizeof(typename Kind::Value)};

template <class Kind, class Operation>
struct ReduceRow {
  static constexpr int64_t item = sizeof(typename Kind::Stored);
  char* target;
  const char* update;

  template <int64_t n>
  GATHER_INLINE auto compute(int64_t i) const {
    return Operation::of(Kind::template load<n>(target + i * item), Kind::template load<n>(update + i * item));
  }
  template <int64_t n, class V>
  GATHER_INLINE void store(int64_t i, V values) const {
    Kind::template store<n>(target + i * item, values);
  }
};

// A row is exactly n elements, any number from n on, or so many that aligned stores are faster, because stores across
// cache lines take twice as long.
enum class Length { one, any, aligned };

template <class Kind, class Operation, int64_t n, Length length>
void reduce_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t count,
                 int64_t row) {
  using Row = ReduceRow<Kind, Operation>;
  const int64_t elements = length == Length::one ? n : row / Row::item;
  for (int64_t i = 0; i < count; ++i) {
    const Row each{target + offsets[i], updates + from[i]};
    if (length == Length::aligned) {
      const int64_t bytes = -static_cast<int64_t>(reinterpret_cast<intptr_t>(each.target)) & (n * Row::item - 1);
      for_aligned_elements<n>(each, elements, bytes / Row::item);
    } else {
      for_elements<n>(each, elements);
    }
  }
}

template <class Kind, class Operation, int64_t n>
WriteRows choose_rows_of(int64_t elements) {
  return elements == n ? reduce_rows<Kind, Operation, n, Length::one> : reduce_rows<Kind, Operation, n, Length::any>;
}

template <class Kind, class Operation>
WriteRows choose_rows(int64_t row) {
  const int64_t elements = row / int64_t{sizeof(typename Kind::Stored)};
  constexpr int64_t most = most_at_once<Kind>, few = few_at_once<Kind>, long_row = 800;
  if (row >= long_row) return reduce_rows<Kind, Operation, most, Length::aligned>;
  if (elements >= most) return choose_rows_of<Kind, Operation, most>(elements);
  return elements >= few ? choose_rows_of<Kind, Operation, few>(elements)
                         : choose_rows_of<Kind, Operation, 1>(elements);
}

template <class Kind>
WriteRows choose_sum_or_product(int32_t reduction, int64_t row) {
  return reduction == GTH_REDUCTION_ADD ? choose_rows<Kind, Add>(row) : choose_rows<Kind, Mul>(row);
}

template <class Kind>
WriteRows choose_extreme(int32_t reduction, int64_t row) {
  return reduction == GTH_REDUCTION_MAX ? choose_rows<Kind, Max>(row) : choose_rows<Kind, Min>(row);
}

bool is_extreme(int32_t reduction) { return reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN; }

template <class Kind>
WriteRows choose_floating(int32_t reduction, int64_t row) {
  return is_extreme(reduction) ? choose_extreme<Kind>(reduction, row) : choose_sum_or_product<Kind>(reduction, row);
}

// Sums and products of signed and unsigned integers have the same bits.
template <class Signed, class Unsigned>
WriteRows choose_integer(bool is_signed, int32_t reduction, int64_t row) {
  if (!is_extreme(reduction)) return choose_sum_or_product<Plain<Unsigned>>(reduction, row);
  return is_signed ? choose_extreme<Plain<Signed>>(reduction, row) : choose_extreme<Plain<Unsigned>>(reduction, row);
}

// Returns choose(Signed{}, Unsigned{}) for the integers of `item` bytes.
template <class Choose>
auto with_integers(int64_t item, const Choose& choose) {
  switch (item) {
    case 1: return choose(int8_t{}, uint8_t{});
    case 2: return choose(int16_t{}, uint16_t{});
    case 4: return choose(int32_t{}, uint32_t{});
    default: return choose(int64_t{}, uint64_t{});
  }
}

WriteRows choose_integer(bool is_signed, int64_t item, int32_t reduction, int64_t row) {
  return with_integers(item, [&](auto with_sign, auto without) {
    return choose_integer<decltype(with_sign), decltype(without)>(is_signed, reduction, row);
  });
}

WriteRows choose_boolean(int32_t reduction, int64_t row) {
  const bool is_or = reduction == GTH_REDUCTION_ADD || reduction == GTH_REDUCTION_MAX;
  return is_or ? choose_rows<Plain<uint8_t>, Or>(row) : choose_rows<Plain<uint8_t>, And>(row);
}

// A sum of complex numbers is two sums.
template <class T>
WriteRows choose_complex(int32_t reduction, int64_t row) {
  const int64_t numbers = row / (2 * int64_t{sizeof(T)});
  if (reduction != GTH_REDUCTION_ADD) return choose_rows_of<Complex<T>, MulComplex, 1>(numbers);
  return numbers == 1 ? choose_rows_of<Plain<T>, Add, 2>(2) : choose_rows<Plain<T>, Add>(row);
}

WriteRows choose_reduce(Number number, int64_t item, int32_t reduction, int64_t row) {
  switch (number) {
    case Number::boolean: return choose_boolean(reduction, row);
    case Number::signed_integer: return choose_integer(true, item, reduction, row);
    case Number::unsigned_integer: return choose_integer(false, item, reduction, row);
    case Number::brain_floating: return choose_floating<BrainHalf>(reduction, row);
    case Number::complex:
      return item == 8 ? choose_complex<float>(reduction, row) : choose_complex<double>(reduction, row);
    default: break;
  }
  if (item == 2) return choose_floating<Half>(reduction, row);
  return item == 4 ? choose_floating<Plain<float>>(reduction, row) : choose_floating<Plain<double>>(reduction, row);
}

// ---- accumulation in float32

template <class Kind>
struct LoadRow {
  const char* row;
  float* values;

  template <int64_t n>
  GATHER_INLINE auto compute(int64_t i) const {
    return Kind::template load<n>(row + 2 * i);
  }
  template <int64_t n, class V>
  GATHER_INLINE void store(int64_t i, V numbers) const {
    store_numbers(reinterpret_cast<char*>(values + i), numbers);
  }
};

template <class Kind, class Operation>
struct CombineRow : LoadRow<Kind> {
  template <int64_t n>
  GATHER_INLINE auto compute(int64_t i) const {
    const auto at = reinterpret_cast<const char*>(this->values + i);
    return Operation::of(load_numbers<float, n>(at), Kind::template load<n>(this->row + 2 * i));
  }
};

template <class Kind>
struct StoreRow {
  const float* values;
  char* row;

  template <int64_t n>
  GATHER_INLINE auto compute(int64_t i) const {
    return load_numbers<float, n>(reinterpret_cast<const char*>(values + i));
  }
  template <int64_t n, class V>
  GATHER_INLINE void store(int64_t i, V numbers) const {
    Kind::template store<n>(row + 2 * i, numbers);
  }
};

template <class Row>
GATHER_INLINE void for_floats(const Row& row, int64_t count) {
  constexpr int64_t most = most_at_once<Half>, few = few_at_once<Half>;
  if (count >= most) return for_elements<most>(row, count);
  if (count >= few) return for_elements<few>(row, count);
  for_elements<1>(row, count);
}

template <class Kind>
void load_row(const char* row, int64_t n, float* values) {
  for_floats(LoadRow<Kind>{row, values}, n);
}

template <class Kind, class Operation>
void combine_row(const char* row, int64_t n, float* values) {
  for_floats(CombineRow<Kind, Operation>{{row, values}}, n);
}

template <class Kind>
void store_row(const float* values, int64_t n, char* row) {
  for_floats(StoreRow<Kind>{values, row}, n);
}

template <class Kind>
Accumulate choose_accumulate_of(int32_t reduction) {
  const bool adds = reduction == GTH_REDUCTION_ADD;
  return {load_row<Kind>, adds ? combine_row<Kind, Add> : combine_row<Kind, Mul>, store_row<Kind>};
}

Accumulate choose_accumulate(Number number, int32_t reduction) {
  return number == Number::floating ? choose_accumulate_of<Half>(reduction)
                                    : choose_accumulate_of<BrainHalf>(reduction);
}

}  // namespace
}  // namespace gather::cpu
