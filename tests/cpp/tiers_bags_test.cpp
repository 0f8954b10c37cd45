#include <cmath>
#include <limits>
#include <type_traits>

#include "core/types/dtype.hpp"
#include "cpu/bag_rows.hpp"
#include "fused.hpp"
#include "scatter_oracle.hpp"
#include "tiers.hpp"

// The kernels of the tiers that pool bags, and the function for all numbers that they do not pool. They are compared with
// loops over numbers of the C++ language. Tables, ids and outputs end before inaccessible pages.
namespace {

using namespace tiers;
using gather::core::Number;

constexpr Pool pools[] = {Pool::sum, Pool::weighted_sum, Pool::max, Pool::min};

// A dtype as the language computes it. decode() and encode() convert halves.
template <class Stored_, class Value_, int32_t dtype_>
struct Type {
  using Stored = Stored_;
  using Value = Value_;
  static constexpr int32_t dtype = dtype_;
  static constexpr bool is_half = sizeof(Stored) != sizeof(Value);

  static Value decode(Stored stored) {
    if constexpr (is_half) return static_cast<Value>(oracle::format_of(dtype).decode(stored));
    if constexpr (!is_half) return stored;
  }
  static Stored encode(Value value) {
    if constexpr (is_half) return oracle::format_of(dtype).encode(double{value});
    if constexpr (!is_half) return value;
  }
};

template <class T>
bool is_nan(T value) {
  return value != value;
}

// Adds a row to the pooled value of an element.
template <class T>
T add_row(Pool pool, T sum, T row, T weight) {
  switch (pool) {
    case Pool::max: return is_nan(sum) || row <= sum ? sum : row;
    case Pool::min: return is_nan(sum) || row >= sum ? sum : row;
    case Pool::sum: weight = 1; break;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    using Wide = uint64_t;
    return static_cast<T>(static_cast<Wide>(sum) + static_cast<Wide>(weight) * static_cast<Wide>(row));
  } else {
    return add_product(sum, weight, row);
  }
}

template <class T>
T start(Pool pool) {
  using Limits = std::numeric_limits<T>;
  if (pool == Pool::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (pool == Pool::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return 0;
}

class TiersBags : public Tiers {
 protected:
  // Draws integers that are often equal, special values, or any bits.
  template <class Type>
  void draw_numbers(char* at, int64_t count) {
    using Stored = typename Type::Stored;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t bits = random_();
      Stored value;
      std::memcpy(&value, &bits, sizeof value);
      if constexpr (!std::is_integral_v<typename Type::Value>) {
        constexpr double specials[] = {0.0, -0.0, -1.0, INFINITY, -INFINITY, NAN, 1e-45};
        const double number = pick(40) == 0 ? pick(specials) : static_cast<double>(pick(20001) - 10000) / 37;
        value = Type::encode(static_cast<typename Type::Value>(number));
      }
      std::memcpy(at + i * int64_t{sizeof value}, &value, sizeof value);
    }
  }

  template <class T>
  static T load(const char* at, int64_t i) {
    T value;
    std::memcpy(&value, at + i * int64_t{sizeof value}, sizeof value);
    return value;
  }

  // Pools random bags of rows of `elements` numbers, as whole bags, or each as several parts.
  template <class Type>
  void check(Pool pool, int64_t elements, bool rounds_each, bool widens, bool in_parts) {
    using Stored = typename Type::Stored;
    using Value = typename Type::Value;
    constexpr auto item = int64_t{sizeof(Stored)};
    const int64_t rows =
        std::max<int64_t>(1, std::min<int64_t>(9, static_cast<int64_t>(table_.size()) / (elements * item)));
    const int64_t bags = 5, n = pick(30), out_item = widens ? int64_t{sizeof(Value)} : item;
    char* const table = table_.at(rows * elements * item, pick(2) == 0);
    draw_numbers<Type>(table, rows * elements);
    auto* const ids = reinterpret_cast<int64_t*>(ids_.at(n * 8, false));
    for (int64_t i = 0; i < n; ++i) ids[i] = pick(rows);
    std::vector<Value> weights, divisors;
    for (int64_t i = 0; i < n; ++i) weights.push_back(static_cast<Value>(pick(201) - 100) / 7);
    for (int64_t i = 0; i < bags; ++i) divisors.push_back(static_cast<Value>(i + 3));
    std::vector<int64_t> begin{0};
    for (int64_t i = 1; i < bags; ++i) begin.push_back(begin.back() + pick(n - begin.back() + 1));
    begin.push_back(n);
    const bool divides = !std::is_integral_v<Value> && pick(2) == 0;
    char* const out = out_.at(bags * elements * out_item, false);
    std::memset(out, 0x5a, static_cast<size_t>(bags * elements * out_item));
    const BagRows given{table,
                        rows,
                        elements * item,
                        elements,
                        ids,
                        n,
                        weights.data(),
                        begin.data(),
                        bags,
                        divides ? divisors.data() : nullptr,
                        out,
                        elements * out_item,
                        widens,
                        true,
                        true,
                        sums_};
    const Number number = gather::core::find_dtype(Type::dtype)->number;
    const Pooled pooled{number, item, rounds_each, pool};
    if (in_parts) {
      run_parts(pooled, given, item, out_item);
    } else {
      ASSERT_EQ(run(pooled, given), nullptr);
    }
    for (int64_t bag = 0; bag < bags; ++bag) {
      for (int64_t e = 0; e < elements; ++e) {
        Value sum = start<Value>(pool);
        for (int64_t k = begin[static_cast<size_t>(bag)]; k < begin[static_cast<size_t>(bag + 1)]; ++k) {
          const Value row = Type::decode(load<Stored>(table, ids[k] * elements + e));
          sum = add_row(pool, sum, row, weights[static_cast<size_t>(k)]);
          if (rounds_each) sum = Type::decode(Type::encode(sum));
        }
        if (divides) sum /= divisors[static_cast<size_t>(bag)];
        const Value found =
            widens ? load<Value>(out, bag * elements + e) : Type::decode(load<Stored>(out, bag * elements + e));
        const Value expected = widens ? sum : Type::decode(Type::encode(sum));
        if (is_nan(found) && is_nan(expected)) continue;
        ASSERT_EQ(std::memcmp(&found, &expected, sizeof found), 0) << "bag " << bag << ", element " << e;
      }
    }
  }

  // Pools bags with the kernel of the tier, or with the function for all numbers if there is none.
  const int64_t* run(const Pooled& pooled, const BagRows& given) const {
    const PoolBags kernel = tier_->choose_pooling ? tier_->choose_pooling(pooled, given.elements) : nullptr;
    return kernel ? kernel(given) : gather::cpu::pool_rows(pooled, *tier_, given, nullptr);
  }

  // Pools each bag in parts of its ids, and rows in two parts of their elements.
  void run_parts(const Pooled& pooled, const BagRows& given, int64_t item, int64_t out_item) {
    const int64_t cut = given.elements > 1 ? pick(given.elements - 1) + 1 : 1;
    for (int64_t first : {int64_t{0}, cut}) {
      for (int64_t bag = 0; bag < given.bags; ++bag) {
        BagRows part = given;
        part.table += first * item;
        part.elements = first == 0 ? cut : given.elements - cut;
        part.out += bag * given.out_stride + first * out_item;
        if (part.elements == 0) continue;
        part.bags = 1;
        if (given.divisors) part.divisors = static_cast<const char*>(given.divisors) + bag * (item < 4 ? 4 : item);
        int64_t range[] = {given.begin[bag], 0};
        part.begin = range;
        do {
          range[1] = range[0] + pick(given.begin[bag + 1] - range[0] + 1);
          part.is_last = range[1] == given.begin[bag + 1];
          ASSERT_EQ(run(pooled, part), nullptr);
          part.is_first = false;
          range[0] = range[1];
        } while (!part.is_last);
      }
    }
  }

  template <class Type>
  void check_all(bool has_extremes = true) {
    for (Pool pool : pools) {
      if (!has_extremes && (pool == Pool::max || pool == Pool::min)) continue;
      std::vector<int64_t> sizes{256, 300, 384};
      if (sizeof(typename Type::Value) <= 4) sizes.insert(sizes.end(), {255, 257, 512, 513, 768, 1000, 1024});
      for (int64_t elements = 1; elements <= 150; elements += elements < 40 ? 1 : 7) sizes.push_back(elements);
      for (int64_t elements : sizes) {
        for (int32_t way = 0; way < 8; ++way) {
          const bool rounds_each = way & 1, widens = way & 2, in_parts = way & 4;
          if ((rounds_each || widens) && !Type::is_half) continue;
          SCOPED_TRACE(std::string(gth_dtype_name(Type::dtype)) + ", pool " + std::to_string(static_cast<int>(pool)) +
                       ", elements " + std::to_string(elements) + ", way " + std::to_string(way));
          check<Type>(pool, elements, rounds_each, widens, in_parts);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  Guarded table_{4}, ids_{1}, out_{8};
  alignas(64) char sums_[pooled_sums_bytes];
};

TEST_P(TiersBags, Float32RowsOfEverySizeArePooledInOrder) { check_all<Type<float, float, GTH_DTYPE_FLOAT32>>(); }
TEST_P(TiersBags, Float64RowsOfEverySizeArePooledInOrder) { check_all<Type<double, double, GTH_DTYPE_FLOAT64>>(); }
TEST_P(TiersBags, Float16RowsOfEverySizeArePooledInFloat32) { check_all<Type<uint16_t, float, GTH_DTYPE_FLOAT16>>(); }
TEST_P(TiersBags, Bfloat16RowsOfEverySizeArePooledInFloat32) { check_all<Type<uint16_t, float, GTH_DTYPE_BFLOAT16>>(); }
TEST_P(TiersBags, IntegersOfEverySizeWrapAround) {
  check_all<Type<int8_t, int8_t, GTH_DTYPE_INT8>>();
  check_all<Type<int16_t, int16_t, GTH_DTYPE_INT16>>();
  check_all<Type<int32_t, int32_t, GTH_DTYPE_INT32>>();
  check_all<Type<int64_t, int64_t, GTH_DTYPE_INT64>>();
  check_all<Type<uint8_t, uint8_t, GTH_DTYPE_UINT8>>();
  check_all<Type<uint16_t, uint16_t, GTH_DTYPE_UINT16>>();
  check_all<Type<uint32_t, uint32_t, GTH_DTYPE_UINT32>>();
  check_all<Type<uint64_t, uint64_t, GTH_DTYPE_UINT64>>();
}

// The rows are beyond the prefetched ids, and have no memory.
TEST_P(TiersBags, FirstIdOutOfBoundsIsReported) {
  for (int64_t elements : {1, 5, 8, 64, 200}) {
    for (Pool pool : pools) {
      for (int64_t bad : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN + 1}) {
        std::vector<float> table(static_cast<size_t>(3 * elements)), out(static_cast<size_t>(2 * elements)),
            weights(40);
        std::vector<int64_t> ids(40, 1);
        ids[27] = ids[30] = bad;
        const int64_t begin[] = {0, 20, 40};
        const BagRows given{reinterpret_cast<char*>(table.data()),
                            3,
                            elements * 4,
                            elements,
                            ids.data(),
                            40,
                            weights.data(),
                            begin,
                            2,
                            nullptr,
                            reinterpret_cast<char*>(out.data()),
                            elements * 4,
                            false,
                            true,
                            true,
                            sums_};
        const Pooled pooled{Number::floating, 4, false, pool};
        EXPECT_EQ(run(pooled, given), ids.data() + 27);
        EXPECT_EQ(gather::cpu::pool_rows(pooled, *tier_, given, nullptr), ids.data() + 27);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TiersBags, ::testing::ValuesIn(built()), tier_name);

}  // namespace
