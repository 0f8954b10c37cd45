#pragma once

#include <limits>
#include <type_traits>

#include "cpu/tiers/scalar.hpp"
#include "cpu/tiers/weighted_rows.hpp"

// Pools the rows of bags. The elements of a row are divided into units of one or two vectors. The last unit overlaps the
// one before it. Each unit has its own sums, so the elements in both are computed twice with the same result. Rows are
// added in the order of their ids, so all kernels compute the same bits. A tier that includes this file has these
// kernels in addition to those of body.hpp.
namespace gather::cpu {
namespace {

// ---- Operations. `start` is the value without rows, and of() adds a row.

struct SumRows {
  static constexpr bool is_weighted = false, detects_nan = false;
  static constexpr float start = 0;
  template <class V>
  static GATHER_INLINE V of(V sum, V row, V) {
    return sum + row;
  }
};

struct SumWeighted : SumRows {
  static constexpr bool is_weighted = true;
  template <class V>
  static GATHER_INLINE V of(V sum, V row, V weight) {
    return MultiplyAdd::of(sum, row, weight);
  }
};

constexpr float infinity = std::numeric_limits<float>::infinity();

// The first of equal numbers remains. The result is the first NaN, if there is one.
struct MaxRows : SumRows {
  static constexpr float start = -infinity;
  template <class V>
  static GATHER_INLINE V of(V most, V row, V) {
    return Max::of(most, row);
  }
};

struct MinRows : SumRows {
  static constexpr float start = infinity;
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

template <class StoredKind, int64_t n>
struct Unit {
  using Kind = StoredKind;
  using Stored = typename Kind::Stored;
  using Value = typename Kind::Value;
  using V = Numbers<Value, n>;
  static constexpr int64_t width = n, bytes = n * int64_t{sizeof(Stored)};
  static constexpr bool gains_from_parts = sizeof(Stored) != sizeof(Value);
  V sums;

  static GATHER_INLINE V row(const char* at) { return Kind::template load<n>(at); }
  template <class Operation>
  static GATHER_INLINE Unit start() {
    return {everywhere<V>(Value{Operation::start})};
  }
  template <class Operation>
  GATHER_INLINE void add(const char* at, Value weight) {
    sums = Operation::of(sums, row(at), everywhere<V>(weight));
  }
  GATHER_INLINE void divide(Value divisor) { sums /= everywhere<V>(divisor); }
  GATHER_INLINE void store(char* at) const { Kind::template store<n>(at, sums); }
  GATHER_INLINE void store_wide(char* at) const { store_numbers(at, sums); }
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
  static constexpr bool gains_from_parts = false;
  V low, high;

  template <class Operation>
  static GATHER_INLINE BrainPairs start() {
    const V value = everywhere<V>(Operation::start);
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
  GATHER_INLINE void store(char* at) const {
    store_numbers(at, (BrainHalf::round<n>(high) & ~0xffff) | (BrainHalf::round<n>(low) >> 16 & 0xffff));
  }
  GATHER_INLINE void store_wide(char* at) const {
    for (int64_t i = 0; i < n; ++i) {
      store_numbers(at + 8 * i, low[i]);
      store_numbers(at + 8 * i + 4, high[i]);
    }
  }
};

// ---- Groups: some rows along all units. They pool rows of any size.

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

// A flag that is tested in each step of a loop. A compiler would otherwise make a copy of the loop for each value.
struct Tested {
  bool value;

  GATHER_INLINE operator bool() const {
    bool tested = value;
    asm("" : "+r"(tested));
    return tested;
  }
};

// One row of the output, or its sums so far.
template <class U>
struct PooledRow {
  int64_t elements;
  U* sums;
  char* out;
  const typename U::Value* divisor;  // NULL: the sums are not divided
};

// Writes the sums of a bag as float32. This is a separate function, because few outputs are wider than their tables.
template <class U>
__attribute__((noinline)) void write_wide(const BagRows& bags, int64_t bag, const U* sums) {
  const auto divisors = static_cast<const typename U::Value*>(bags.divisors);
  const int64_t last = (bags.elements - 1) / U::width;
  for (int64_t u = 0; u <= last; ++u) {
    U unit = sums[u];
    if (divisors) unit.divide(divisors[bag]);
    const int64_t first = u < last ? u * U::width : bags.elements - U::width;
    unit.store_wide(bags.out + bag * bags.out_stride + first * int64_t{sizeof(typename U::Value)});
  }
}

// Adds the n rows of a group from `begin` on to the sums of a bag, which begin with `start` if these rows are the first
// ones. The sums are written to the output or to memory.
template <class U, class Operation, int64_t n, class IsOutput>
void add_rows(const Group<typename U::Value>& group, int64_t begin, const PooledRow<U>& row, bool is_first,
              IsOutput is_output) {
  constexpr int64_t item = sizeof(typename U::Stored), lines = line_bytes / U::bytes;
  const U start = U::template start<Operation>();
  const U* const from = is_first ? &start : row.sums;
  const int64_t step = is_first ? 0 : 1;
  constexpr auto room = static_cast<size_t>(n + 1);
  const char *at[room], *next[room];
  typename U::Value weights[room];
  for (int64_t i = 0; i < n; ++i) {
    at[i] = group.at[begin + i], next[i] = group.next[begin + i], weights[i] = group.weights[begin + i];
  }
  const Tested divides{row.divisor != nullptr};
  const auto add_to = [&](int64_t u, int64_t first) __attribute__((always_inline)) {
    U unit = from[u * step];
    for (int64_t i = 0; i < n; ++i) unit.template add<Operation>(at[i] + first * item, weights[i]);
    if (is_output) {
      if (divides) unit.divide(*row.divisor);
      unit.store(row.out + first * item);
    } else {
      row.sums[u] = unit;
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

template <class U, class Operation>
GATHER_INLINE void add_group(const Group<typename U::Value>& group, const PooledRow<U>& row, bool is_first,
                             bool is_output) {
  const Tested tested{is_output};
  switch (group.n) {
    case 0: return add_rows<U, Operation, 0>(group, 0, row, is_first, tested);
    case 1: return add_rows<U, Operation, 1>(group, 0, row, is_first, tested);
    case 2: return add_rows<U, Operation, 2>(group, 0, row, is_first, tested);
    case 3:
      add_rows<U, Operation, 2>(group, 0, row, is_first, Tested{false});
      return add_rows<U, Operation, 1>(group, 2, row, false, tested);
    default: break;
  }
  // Most groups are full, so they have a loop for each place of the sums.
  if (is_output) return add_rows<U, Operation, group_rows>(group, 0, row, is_first, std::true_type{});
  add_rows<U, Operation, group_rows>(group, 0, row, is_first, std::false_type{});
}

// Returns the address of a row that is not read, so the number may be out of bounds.
GATHER_INLINE const char* row_at(const char* table, int64_t row, int64_t stride) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(table) +
                                       static_cast<uintptr_t>(row) * static_cast<uintptr_t>(stride));
}

GATHER_INLINE int64_t load_id(const int64_t* at) { return Scalar::load<int64_t>(reinterpret_cast<const char*>(at)); }

template <class U, class Operation>
const int64_t* pool_groups(const BagRows& given) {
  using Value = typename U::Value;
  const BagRows bags = given;
  const int64_t last = bags.readable - 1;
  const auto weights = static_cast<const Value*>(bags.weights);
  const auto divisors = static_cast<const Value*>(bags.divisors);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    const PooledRow<U> row{bags.elements, static_cast<U*>(bags.sums), bags.out + bag * bags.out_stride,
                           divisors ? divisors + bag : nullptr};
    const int64_t end = bags.begin[bag + 1];
    int64_t k = bags.begin[bag];
    for (bool is_first = bags.is_first;; is_first = false) {
      Group<Value> group;
      for (; k < end && group.n < group_rows; ++k, ++group.n) {
        const int64_t id = load_id(bags.ids + k);
        if (__builtin_expect(static_cast<uint64_t>(id) >= static_cast<uint64_t>(bags.rows), 0)) return bags.ids + k;
        const int64_t next = k + group_rows < last ? k + group_rows : last;
        group.at[group.n] = row_at(bags.table, id, bags.stride);
        group.next[group.n] = row_at(bags.table, bags.ids[next], bags.stride);
        group.weights[group.n] = Operation::is_weighted ? weights[k] : Value{};
      }
      add_group<U, Operation>(group, row, is_first, k == end && bags.is_last && !bags.widens);
      if (k == end) break;
    }
    if (bags.is_last && bags.widens) write_wide(given, bag, row.sums);
  }
  return nullptr;
}

// ---- Columns: the sums of a short row are in registers. The number of units is a constant, and all offsets but the
// last are too.

constexpr int32_t most_units = 16;

// The number of units whose sums fit the registers.
template <class U>
constexpr int32_t most_columns = U::width * 4 > Lanes::register_bytes ? most_units / 2 : most_units;

template <class V>
GATHER_INLINE bool is_any(V mask) {
  constexpr int64_t count = sizeof(V) / sizeof(int64_t);
  const auto wide = same_bits<Numbers<int64_t, count>>(mask);
  int64_t any = 0;
  for (int64_t i = 0; i < count; ++i) any |= wide[i];
  return any != 0;
}

// Keeps the sums of a part of a bag for the next part, or writes them as float32.
template <class U>
__attribute__((noinline)) void keep_sums(const BagRows& bags, int64_t bag, const U* sums, int32_t units) {
  if (bags.is_last) return write_wide(bags, bag, sums);
  for (int32_t u = 0; u < units; ++u) static_cast<U*>(bags.sums)[u] = sums[u];
}

// Pools one of the bags.
template <class U, class Operation>
__attribute__((noinline)) const int64_t* pool_again(const BagRows& bags, int64_t bag) {
  BagRows one = bags;
  one.begin += bag, one.bags = 1, one.out += bag * bags.out_stride;
  if (bags.divisors) one.divisors = static_cast<const typename U::Value*>(bags.divisors) + bag;
  return pool_groups<U, Operation>(one);
}

// The loops over ids read local variables only, because the compiler assumes that a store of a row may change the
// struct behind the reference. The other fields are read once for each bag, so that the loops have enough registers.
template <class U, class Operation, int32_t R>
const int64_t* pool_columns(const BagRows& bags) {
  using Value = typename U::Value;
  const int64_t stride = bags.stride, tail = (bags.elements - U::width) * int64_t{sizeof(typename U::Stored)};
  const auto rows = static_cast<uint64_t>(bags.rows);
  const char* const table = bags.table;
  const int64_t* const ids = bags.ids;
  const auto weights = static_cast<const Value*>(bags.weights);
  const bool is_rare = !bags.is_first || !bags.is_last || bags.widens || bags.divisors;
  const int64_t* const last_bag = bags.begin + bags.bags;
  char* out = bags.out;
  for (const int64_t* bag = bags.begin; bag < last_bag; ++bag, out += bags.out_stride) {
    const int64_t next = bag[1] + pooled_ahead <= bags.readable ? pooled_ahead : 0;
    U sums[static_cast<size_t>(R)];
    for (int32_t r = 0; r < R; ++r) sums[r] = U::template start<Operation>();
    if (Tested{is_rare} && !bags.is_first) {
      for (int32_t r = 0; r < R; ++r) sums[r] = static_cast<const U*>(bags.sums)[r];
    }
    [[maybe_unused]] Numbers<int32_t, most_floats> unordered{};
    const int64_t* const stop = ids + bag[1];
    for (const int64_t* k = ids + bag[0]; k < stop; ++k) {
      const int64_t id = load_id(k);
      if (__builtin_expect(static_cast<uint64_t>(id) >= rows, 0)) return k;
      const char* const fetched = row_at(table, k[next], stride);
      for (int64_t line = 0; line < R * U::bytes; line += line_bytes) fetch(fetched + line);
      const char *const at = row_at(table, id, stride), *const end_of_row = at + tail;
      const Value weight = Operation::is_weighted ? weights[k - ids] : Value{};
      if constexpr (Operation::detects_nan) {
        for (int32_t r = 0; r < R; r += 2) {
          const auto a = U::row(r < R - 1 ? at + r * U::bytes : end_of_row);
          const auto b = U::row(r + 1 < R - 1 ? at + (r + 1) * U::bytes : end_of_row);
          unordered |= Floats::either_nan(a, b);
        }
      }
      for (int32_t r = 0; r < R - 1; ++r) sums[r].template add<Operation>(at + r * U::bytes, weight);
      sums[R - 1].template add<Operation>(end_of_row, weight);
    }
    if constexpr (Operation::detects_nan) {
      if (is_any(unordered)) {
        if (const int64_t* bad = pool_again<U, typename Operation::Exact>(bags, bag - bags.begin)) return bad;
        continue;
      }
    }
    if (Tested{is_rare}) {
      if (!bags.is_last || bags.widens) {
        U kept[static_cast<size_t>(R)];
        for (int32_t r = 0; r < R; ++r) kept[r] = sums[r];
        keep_sums(bags, bag - bags.begin, kept, R);
        continue;
      }
      const Value divisor = bags.divisors ? static_cast<const Value*>(bags.divisors)[bag - bags.begin] : Value{1};
      for (int32_t r = 0; r < R; ++r) sums[r].divide(divisor);
    }
    for (int32_t r = 0; r < R - 1; ++r) sums[r].store(out + r * U::bytes);
    sums[R - 1].store(out + tail);
  }
  return nullptr;
}

// Pools rows as parts of as many elements as the largest columns have. On a Zen 3 this gains 1.15 to 1.2 for float16 rows
// of 256 and 384 numbers, and loses for longer ones and for other types.
template <class U>
constexpr int64_t part_elements = most_columns<U> * U::width;

template <class U, class Operation>
const int64_t* pool_parts(const BagRows& given) {
  using Stored = typename U::Stored;
  constexpr int64_t n = part_elements<U>;
  BagRows part = given;
  part.elements = n;
  for (int64_t first = 0; first < given.elements; first += n) {
    if (const int64_t* bad = pool_columns<U, Operation, most_columns<U>>(part)) return bad;
    part.table += n * int64_t{sizeof(Stored)};
    part.out += n * (given.widens ? int64_t{sizeof(typename U::Value)} : int64_t{sizeof(Stored)});
    part.sums = static_cast<U*>(part.sums) + most_columns<U>;
  }
  return nullptr;
}

// ---- Choice

// Rows of these numbers of units have columns. Other rows are pooled in groups, which is up to 1.7 times as slow for rows
// of few units. 13 units are 100 numbers of 2 or 4 bytes. Tables of float32 are so frequent that more units have columns.
template <class U>
constexpr bool has_columns(int32_t units) {
  return units <= 8 || units % 4 == 0 || (units == 13 && sizeof(typename U::Value) == 4) ||
         (units % 2 == 0 && sizeof(typename U::Stored) == 4);
}

// Returns NULL if there are no columns for this number of units.
template <class U, class Operation, int32_t R = most_columns<U>>
PoolBags choose_columns(int64_t units) {
  if constexpr (R == 0) {
    return nullptr;
  } else {
    if constexpr (has_columns<U>(R)) {
      if (units == R) return pool_columns<U, Operation, R>;
    }
    return choose_columns<U, Operation, R - 1>(units);
  }
}

// Returns true for the types that are added as they are stored.
template <class U>
constexpr bool has_narrow = sizeof(typename U::Stored) == sizeof(typename U::Value);

// Chooses the kernel for rows that are shorter than a vector. They have one or two units of n elements. On a Zen 3 this
// gains 2.7 to 6.7 for rows of 1 to 7 float32 numbers.
template <class Kind, int64_t n, class Operation>
PoolBags choose_narrow(int64_t elements) {
  using U = Unit<Kind, n>;
  if (elements > n) return pool_columns<U, Operation, 2>;
  if (elements == n) return pool_columns<U, Operation, 1>;
  if constexpr (n == 1)
    return nullptr;
  else
    return choose_narrow<Kind, n / 2, Operation>(elements);
}

// `Fast` pools columns.
template <class U, class Operation, class Fast = Operation>
PoolBags choose_units(int64_t elements) {
  if (elements < U::width) {
    if constexpr (has_narrow<U>) return choose_narrow<typename U::Kind, U::width / 2, Operation>(elements);
    return nullptr;
  }
  if constexpr (U::gains_from_parts) {
    constexpr int64_t n = part_elements<U>;
    if (elements == 2 * n || elements == 3 * n) return pool_parts<U, Operation>;
  }
  const PoolBags columns = choose_columns<U, Fast>((elements + U::width - 1) / U::width);
  return columns ? columns : pool_groups<U, Operation>;
}

template <class U>
PoolBags choose_sums(Pool pool, int64_t elements) {
  switch (pool) {
    case Pool::sum: return choose_units<U, SumRows>(elements);
    case Pool::weighted_sum: return choose_units<U, SumWeighted>(elements);
    default: return nullptr;
  }
}

PoolBags choose_floats(Pool pool, int64_t elements) {
  using U = Unit<Plain<float>, most_floats>;
  switch (pool) {
    case Pool::max: return choose_units<U, MaxRows, FastMax>(elements);
    case Pool::min: return choose_units<U, MinRows, FastMin>(elements);
    default: return choose_sums<U>(pool, elements);
  }
}

PoolBags choose_pooling(const Pooled& pooled, int64_t elements) {
  if (pooled.rounds_each) return nullptr;
  if (pooled.number == Number::brain_floating) return choose_sums<BrainPairs<most_floats>>(pooled.pool, elements);
  if (pooled.number != Number::floating) return nullptr;
  if (pooled.item == 2) return choose_sums<Unit<Half, most_floats>>(pooled.pool, elements);
  if (pooled.item == 4) return choose_floats(pooled.pool, elements);
  return choose_sums<Unit<Plain<double>, most_at_once<Plain<double>>>>(pooled.pool, elements);
}

}  // namespace
}  // namespace gather::cpu
