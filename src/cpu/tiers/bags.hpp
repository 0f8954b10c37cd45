#pragma once

#include <limits>
#include <type_traits>

#include "cpu/tiers/reduce.hpp"
#include "cpu/tiers/scalar.hpp"

// Pools the rows of bags. The elements of a row are divided into units of one or two vectors. The last unit overlaps the
// one before it. Each unit has its own sums, so the elements in both are computed twice with the same result. Rows are
// added in the order of their ids, so all kernels compute the same bits. Part of body.hpp.
namespace gather::cpu {
namespace {

// ---- Operations. `start` is the value without rows, and of() adds a row.

struct SumRows {
  static constexpr bool is_weighted = false, detects_nan = false;
  template <class T>
  static constexpr T start = 0;
  template <class V>
  static GATHER_INLINE V of(V sum, V row, V) {
    return static_cast<V>(sum + row);
  }
};

constexpr int64_t most_floats = Lanes::register_bytes / 4;

template <class V>
constexpr bool is_float32 = std::is_same_v<V, float> || std::is_same_v<V, Numbers<float, most_floats>>;

// float32 sums use one fused multiply-add for each row. The products of other numbers are rounded.
struct SumWeighted : SumRows {
  static constexpr bool is_weighted = true;
  template <class V>
  static GATHER_INLINE V of(V sum, V row, V weight) {
    if constexpr (is_float32<V>) {
      return Floats::multiply_add(weight, row, sum);
    } else {
      return static_cast<V>(sum + static_cast<V>(weight * row));
    }
  }
};

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? static_cast<T>(-std::numeric_limits<T>::infinity())
                                                          : std::numeric_limits<T>::lowest();
template <class T>
constexpr T highest =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

// The first of equal numbers remains. The result is the first NaN, if there is one.
struct MaxRows : SumRows {
  template <class T>
  static constexpr T start = lowest<T>;
  template <class V>
  static GATHER_INLINE V of(V most, V row, V) {
    return Max::of(most, row);
  }
};

struct MinRows : SumRows {
  template <class T>
  static constexpr T start = highest<T>;
  template <class V>
  static GATHER_INLINE V of(V least, V row, V) {
    return Min::of(least, row);
  }
};

// Does not add NaN. Columns that detect a NaN are computed again with `Exact`.
struct FastMax : MaxRows {
  static constexpr bool detects_nan = true;
  using Exact = MaxRows;
  template <class V>
  static GATHER_INLINE V of(V most, V row, V) {
    return Floats::larger(row, most);
  }
};

struct FastMin : MinRows {
  static constexpr bool detects_nan = true;
  using Exact = MinRows;
  template <class V>
  static GATHER_INLINE V of(V least, V row, V) {
    return Floats::smaller(row, least);
  }
};

// ---- Units: the sums of some successive elements

template <class V, class T>
GATHER_INLINE V everywhere(T value) {
  return static_cast<V>(value - V{});  // 0 is subtracted, because its sum with -0 is 0
}

// n elements. With `rounds_each`, each sum is rounded to the type in memory.
template <class Kind, int64_t n, bool rounds_each = false>
struct Unit {
  using Stored = typename Kind::Stored;
  using Value = typename Kind::Value;
  using V = Numbers<Value, n>;
  static constexpr int64_t width = n, bytes = n * int64_t{sizeof(Stored)};
  V sums;

  static GATHER_INLINE V row(const char* at) { return Kind::template load<n>(at); }
  template <class Operation>
  static GATHER_INLINE Unit start() {
    return {everywhere<V>(Operation::template start<Value>)};
  }
  template <class Operation>
  GATHER_INLINE void add(const char* at, Value weight) {
    sums = Operation::of(sums, row(at), everywhere<V>(weight));
    if constexpr (rounds_each) {
      char rounded[static_cast<size_t>(bytes)];
      Kind::template store<n>(rounded, sums);
      sums = row(rounded);
    }
  }
  // Integers are not divided.
  GATHER_INLINE void divide(Value divisor) {
    if constexpr (!std::is_integral_v<Value>) sums /= everywhere<V>(divisor);
  }
  GATHER_INLINE void store(char* at, bool widens) const {
    if (sizeof(Stored) != sizeof(Value) && widens) return store_numbers(at, sums);
    Kind::template store<n>(at, sums);
  }
};

// 2 * n bfloat16 numbers. The low and the high halves of a vector of 32-bit numbers are added separately, so that no
// number is moved to another lane.
template <int64_t n>
struct BrainPairs {
  using Stored = uint16_t;
  using Value = float;
  using V = Numbers<float, n>;
  using Bits = Numbers<int32_t, n>;
  static constexpr int64_t width = 2 * n, bytes = 4 * n;
  V low, high;

  template <class Operation>
  static GATHER_INLINE BrainPairs start() {
    const V value = everywhere<V>(Operation::template start<float>);
    return {value, value};
  }
  template <class Operation>
  GATHER_INLINE void add(const char* at, float weight) {
    const V weights = everywhere<V>(weight);
    const Bits both = load_numbers<int32_t, n>(at);
    low = Operation::of(low, same_bits<V>(both << 16), weights);
    high = Operation::of(high, same_bits<V>(both & ~0xffff), weights);
  }
  GATHER_INLINE void divide(float divisor) {
    low /= everywhere<V>(divisor);
    high /= everywhere<V>(divisor);
  }
  GATHER_INLINE void store(char* at, bool widens) const {
    if (widens) {
      for (int64_t i = 0; i < n; ++i) {
        store_numbers(at + 8 * i, low[i]);
        store_numbers(at + 8 * i + 4, high[i]);
      }
      return;
    }
    store_numbers(at, (BrainHalf::round<n>(high) & ~0xffff) | (BrainHalf::round<n>(low) >> 16 & 0xffff));
  }
};

// ---- Groups: some rows along all units. They pool rows of any size, and parts of bags.

GATHER_INLINE void fetch(const char* at) { __builtin_prefetch(at, 0, 3); }

constexpr int64_t group_rows = 4, line_bytes = 64;

// The rows of a group.
template <class Value>
struct Group {
  int64_t n = 0;
  const char* at[group_rows];
  const char* next[group_rows];  // rows to prefetch
  Value weights[group_rows];
};

// One row of the output, or its sums so far.
template <class Value>
struct PooledRow {
  int64_t elements;
  void* sums;
  char* out;
  bool widens;
  const Value* divisor;  // NULL: the sums are not divided
};

// A flag that is tested in each step of a loop. A compiler would otherwise make a copy of the loop for each value, and
// few calls use these loops.
struct Tested {
  bool value;

  GATHER_INLINE operator bool() const {
    bool tested = value;
    asm("" : "+r"(tested));
    return tested;
  }
};

// Adds n rows to the sums: from `start` if it is the first group of a bag. Writes the output if it is the last one.
template <class U, class Operation, int64_t n, class First, class Last>
void add_group(const Group<typename U::Value>& group, PooledRow<typename U::Value> row, First is_first, Last is_last) {
  using Value = typename U::Value;
  constexpr int64_t item = sizeof(typename U::Stored), lines = line_bytes / U::bytes;
  const int64_t out_item = row.widens ? int64_t{sizeof(Value)} : item;
  const auto sums = static_cast<U*>(row.sums);
  constexpr auto room = static_cast<size_t>(n + 1);
  const char *at[room], *next[room];
  Value weights[room];
  for (int64_t i = 0; i < n; ++i) at[i] = group.at[i], next[i] = group.next[i], weights[i] = group.weights[i];
  const auto add_to = [&](int64_t u, int64_t first) __attribute__((always_inline)) {
    U unit = is_first ? U::template start<Operation>() : sums[u];
    for (int64_t i = 0; i < n; ++i) unit.template add<Operation>(at[i] + first * item, weights[i]);
    if (is_last) {
      if (row.divisor) unit.divide(*row.divisor);
      unit.store(row.out + first * out_item, row.widens);
    } else {
      sums[u] = unit;
    }
  };
  const int64_t last = (row.elements - 1) / U::width;
  int64_t u = 0;
  for (; u + lines <= last; u += lines) {
    for (int64_t i = 0; i < n; ++i) fetch(next[i] + u * U::bytes);
    for (int64_t j = 0; j < lines; ++j) add_to(u + j, (u + j) * U::width);
  }
  for (int64_t i = 0; i < n; ++i) fetch(next[i] + u * U::bytes);
  for (; u < last; ++u) add_to(u, u * U::width);
  add_to(last, row.elements - U::width);
}

// Most groups are full, so they have a loop for each position in the bag.
template <class U, class Operation>
GATHER_INLINE void add_full_group(const Group<typename U::Value>& group, const PooledRow<typename U::Value>& row,
                                  bool is_first, bool is_last) {
  constexpr std::true_type yes;
  constexpr std::false_type no;
  if (is_first && is_last) return add_group<U, Operation, group_rows>(group, row, yes, yes);
  if (is_first) return add_group<U, Operation, group_rows>(group, row, yes, no);
  if (is_last) return add_group<U, Operation, group_rows>(group, row, no, yes);
  add_group<U, Operation, group_rows>(group, row, no, no);
}

template <class U, class Operation, int64_t n>
GATHER_INLINE void add_any_group(const Group<typename U::Value>& group, const PooledRow<typename U::Value>& row,
                                 bool is_first, bool is_last) {
  if constexpr (n > 0) {
    if (group.n != n) return add_any_group<U, Operation, n - 1>(group, row, is_first, is_last);
  }
  if constexpr (n == group_rows) return add_full_group<U, Operation>(group, row, is_first, is_last);
  if constexpr (n < group_rows) add_group<U, Operation, n>(group, row, Tested{is_first}, Tested{is_last});
}

// Returns the address of a row that is not read, so the number may be out of bounds.
GATHER_INLINE const char* row_at(const char* table, int64_t row, int64_t stride) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(table) +
                                       static_cast<uintptr_t>(row) * static_cast<uintptr_t>(stride));
}

GATHER_INLINE int64_t load_id(const int64_t* at) { return Scalar::load<int64_t>(reinterpret_cast<const char*>(at)); }

// Pools the bags, or a part of one bag, with up to `most` rows in a group.
template <class U, class Operation, int64_t most = group_rows>
const int64_t* pool_groups(const BagRows& given) {
  using Value = typename U::Value;
  const BagRows bags = given;
  const int64_t last = bags.readable - 1;
  const auto weights = static_cast<const Value*>(bags.weights);
  const auto divisors = static_cast<const Value*>(bags.divisors);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    const PooledRow<Value> row{bags.elements, bags.sums, bags.out + bag * bags.out_stride, bags.widens,
                               divisors ? divisors + bag : nullptr};
    const int64_t end = bags.begin[bag + 1];
    bool is_first = bags.is_first, is_last = false;
    for (int64_t k = bags.begin[bag]; !is_last; is_first = false) {
      Group<Value> group;
      for (; k < end && group.n < most; ++k) {
        const int64_t id = load_id(bags.ids + k);
        if (id == bags.left_out) continue;
        if (__builtin_expect(static_cast<uint64_t>(id) >= static_cast<uint64_t>(bags.rows), 0)) return bags.ids + k;
        const int64_t next = k + most < last ? k + most : last;
        group.at[group.n] = row_at(bags.table, id, bags.stride);
        group.next[group.n] = row_at(bags.table, bags.ids[next], bags.stride);
        if constexpr (Operation::is_weighted) {
          group.weights[group.n] = weights[k];
        } else {
          group.weights[group.n] = Value{};
        }
        ++group.n;
      }
      is_last = k == end;
      add_any_group<U, Operation, most>(group, row, is_first, is_last && bags.is_last);
    }
  }
  return nullptr;
}

// ---- Columns: the sums of a short row are in registers. The number of units is a constant, and all offsets but the
// last are too.

constexpr int32_t most_units = 16;

// The number of units whose sums fit the registers.
template <class U>
constexpr int32_t most_columns = U::width * 4 > Lanes::register_bytes ? most_units / 2 : most_units;

// A row that changes no sum, in place of a row that is left out.
template <class U, class Operation>
struct Neutral {
  using Stored = typename U::Stored;
  static constexpr int64_t count = most_units * U::width;
  Stored values[static_cast<size_t>(count)];

  constexpr Neutral() : values{} {
    for (Stored& value : values) {
      if constexpr (std::is_integral_v<Stored>) {
        value = 0x8000;  // -0
      } else {
        value = Operation::template start<Stored> == 0 ? static_cast<Stored>(-0.0) : Operation::template start<Stored>;
      }
    }
  }
};
template <class U, class Operation>
constexpr Neutral<U, Operation> neutral{};

template <class V>
GATHER_INLINE bool is_any(V mask) {
  constexpr int64_t count = sizeof(V) / sizeof(int64_t);
  const auto wide = same_bits<Numbers<int64_t, count>>(mask);
  int64_t any = 0;
  for (int64_t i = 0; i < count; ++i) any |= wide[i];
  return any != 0;
}

template <class U, class Operation, int32_t R>
const int64_t* pool_columns(const BagRows& given) {
  using Value = typename U::Value;
  constexpr int64_t ahead = 16;
  // Local variables, because stores of rows might change what the reference is bound to.
  const BagRows bags = given;
  const int64_t stride = bags.stride, last = bags.elements - U::width;
  const int64_t tail = last * int64_t{sizeof(typename U::Stored)};
  const int64_t out_item = bags.widens ? int64_t{sizeof(Value)} : int64_t{sizeof(typename U::Stored)};
  const int64_t left_out = bags.left_out;
  const auto rows = static_cast<uint64_t>(bags.rows);
  const char* const table = bags.table;
  const auto weights = static_cast<const Value*>(bags.weights);
  const auto divisors = static_cast<const Value*>(bags.divisors);
  const auto none = reinterpret_cast<const char*>(neutral<U, Operation>.values);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    const int64_t begin = bags.begin[bag], end = bags.begin[bag + 1];
    const int64_t next = end + ahead <= bags.readable ? ahead : 0;
    U sums[static_cast<size_t>(R)];
    for (int32_t r = 0; r < R; ++r) sums[r] = U::template start<Operation>();
    [[maybe_unused]] Numbers<int32_t, most_floats> unordered{};
    const int64_t* const stop = bags.ids + end;
    for (const int64_t* k = bags.ids + begin; k < stop; ++k) {
      const int64_t id = load_id(k);
      const bool is_left_out = id == left_out;
      if (__builtin_expect(static_cast<uint64_t>(id) >= rows && !is_left_out, 0)) return k;
      const char* const fetched = row_at(table, k[next], stride);
      for (int64_t at = 0; at < R * U::bytes; at += 64) fetch(fetched + at);
      const char* const selected = row_at(table, id, stride);
      const char* const row = is_left_out ? none : selected;
      Value weight{};
      if constexpr (Operation::is_weighted) weight = is_left_out ? Value{1} : weights[k - bags.ids];
      const char* const end_of_row = is_left_out ? none : row + tail;
      if constexpr (Operation::detects_nan) {
        for (int32_t r = 0; r < R; r += 2) {
          const auto a = U::row(r < R - 1 ? row + r * U::bytes : end_of_row);
          const auto b = U::row(r + 1 < R - 1 ? row + (r + 1) * U::bytes : end_of_row);
          unordered |= Floats::either_nan(a, b);
        }
      }
      for (int32_t r = 0; r < R - 1; ++r) sums[r].template add<Operation>(row + r * U::bytes, weight);
      sums[R - 1].template add<Operation>(end_of_row, weight);
    }
    if constexpr (Operation::detects_nan) {
      if (is_any(unordered)) {
        BagRows one = bags;
        one.begin += bag, one.bags = 1, one.out += bag * bags.out_stride;
        if (divisors) one.divisors = divisors + bag;
        if (const int64_t* bad = pool_groups<U, typename Operation::Exact>(one)) return bad;
        continue;
      }
    }
    if (divisors) {
      for (int32_t r = 0; r < R; ++r) sums[r].divide(divisors[bag]);
    }
    char* const out = bags.out + bag * bags.out_stride;
    for (int32_t r = 0; r < R - 1; ++r) sums[r].store(out + r * U::width * out_item, bags.widens);
    sums[R - 1].store(out + last * out_item, bags.widens);
  }
  return nullptr;
}

// ---- Choice

// Rows of these numbers of units have columns. Other rows are pooled in groups, which is up to 1.7 times as slow for rows
// of few units. 13 units of float32 are 100 numbers.
constexpr bool has_columns(int32_t units) { return units <= 8 || units % 2 == 0 || units == 13; }

// Returns NULL if there are no columns for this number of units.
template <class U, class Operation, int32_t R = most_columns<U>>
PoolBags choose_columns(int64_t units) {
  if constexpr (R == 0) {
    return nullptr;
  } else {
    if constexpr (has_columns(R)) {
      if (units == R) return pool_columns<U, Operation, R>;
    }
    return choose_columns<U, Operation, R - 1>(units);
  }
}

template <class Kind, class Operation, bool rounds_each = false>
Pooling choose_groups(int64_t elements) {
  using Vector = Unit<Kind, most_at_once<Kind>, rounds_each>;
  const PoolBags groups = elements >= Vector::width ? pool_groups<Vector, Operation, 1>
                                                    : pool_groups<Unit<Kind, 1, rounds_each>, Operation, 1>;
  return {groups, groups};
}

// `Fast` pools columns. Rows of fewer elements than a unit are pooled in groups.
template <class Kind, class U, class Operation, class Fast = Operation>
Pooling choose_units(int64_t elements) {
  if (elements < U::width) return choose_groups<Kind, Operation>(elements);
  const PoolBags groups = pool_groups<U, Operation>;
  const PoolBags columns = choose_columns<U, Fast>((elements + U::width - 1) / U::width);
  return {columns ? columns : groups, groups};
}

bool is_sum(Pool pool) { return pool == Pool::sum || pool == Pool::weighted_sum; }

template <class Kind, class U>
Pooling choose_sums(Pool pool, int64_t elements) {
  return pool == Pool::sum ? choose_units<Kind, U, SumRows>(elements) : choose_units<Kind, U, SumWeighted>(elements);
}

template <class Kind, bool rounds_each = false>
Pooling choose_slow_sums(Pool pool, int64_t elements) {
  return pool == Pool::sum ? choose_groups<Kind, SumRows, rounds_each>(elements)
                           : choose_groups<Kind, SumWeighted, rounds_each>(elements);
}

template <class Kind>
Pooling choose_extremes(Pool pool, int64_t elements) {
  return pool == Pool::max ? choose_groups<Kind, MaxRows>(elements) : choose_groups<Kind, MinRows>(elements);
}

template <class Kind, class U>
Pooling choose_halves(const Pooled& pooled, int64_t elements) {
  if (!is_sum(pooled.pool)) return choose_extremes<Kind>(pooled.pool, elements);
  return pooled.rounds_each ? choose_slow_sums<Kind, true>(pooled.pool, elements)
                            : choose_sums<Kind, U>(pooled.pool, elements);
}

Pooling choose_floats(Pool pool, int64_t elements) {
  using Kind = Plain<float>;
  using U = Unit<Kind, most_floats>;
  if (is_sum(pool)) return choose_sums<Kind, U>(pool, elements);
  return pool == Pool::max ? choose_units<Kind, U, MaxRows, FastMax>(elements)
                           : choose_units<Kind, U, MinRows, FastMin>(elements);
}

Pooling choose_doubles(Pool pool, int64_t elements) {
  using Kind = Plain<double>;
  if (!is_sum(pool)) return choose_extremes<Kind>(pool, elements);
  return choose_sums<Kind, Unit<Kind, most_at_once<Kind>>>(pool, elements);
}

template <class Signed, class Unsigned>
Pooling choose_integers(const Pooled& pooled, int64_t elements) {
  if (is_sum(pooled.pool)) return choose_slow_sums<Plain<Unsigned>>(pooled.pool, elements);
  return pooled.number == Number::signed_integer ? choose_extremes<Plain<Signed>>(pooled.pool, elements)
                                                 : choose_extremes<Plain<Unsigned>>(pooled.pool, elements);
}

Pooling choose_integers(const Pooled& pooled, int64_t elements) {
  return with_integers(pooled.item, [&](auto with_sign, auto without) {
    return choose_integers<decltype(with_sign), decltype(without)>(pooled, elements);
  });
}

Pooling choose_pooling(const Pooled& pooled, int64_t elements) {
  switch (pooled.number) {
    case Number::signed_integer:
    case Number::unsigned_integer: return choose_integers(pooled, elements);
    case Number::brain_floating: return choose_halves<BrainHalf, BrainPairs<most_floats>>(pooled, elements);
    default: break;
  }
  if (pooled.item == 2) return choose_halves<Half, Unit<Half, most_floats>>(pooled, elements);
  return pooled.item == 4 ? choose_floats(pooled.pool, elements) : choose_doubles(pooled.pool, elements);
}

}  // namespace
}  // namespace gather::cpu
