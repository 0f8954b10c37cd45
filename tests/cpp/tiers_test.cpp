#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "cpu/indices.hpp"
#include "cpu/kernels.hpp"
#include "cpu/tiers/choice.hpp"
#include "guarded.hpp"

// Every tier that this processor runs or has emulated, beside the plain functions: the same offsets for the same tuples, the same rows for
// the same offsets, and nothing read or written that is not theirs.
namespace gather::cpu {
extern const Tier emulated_avx512_tier;
}

namespace {

using gather::core::IndexKind;
using gather::core::Plan;
using namespace gather::cpu;
using hostile::Guarded;

constexpr int64_t all_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 256};
constexpr int64_t sizes[] = {1, 2, 3, 100, 127, 128, 129, 255, 256, 32767, 65536, INT32_MAX, int64_t{1} << 31};
constexpr int64_t strides[] = {0, 1, -1, 4, -12, 4096, INT32_MAX, INT32_MIN};

// Beside GTH_TIER_*.
constexpr uint32_t emulated_avx512 = 1u << 31;

const Tier* tier_of([[maybe_unused]] uint32_t bit) {
#ifdef GATHER_EMULATED_AVX512
  if (bit == emulated_avx512) return &emulated_avx512_tier;
#endif
  return find_tier(bit);
}

class Tiers : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    tier_ = tier_of(GetParam());
    if (!tier_) GTEST_SKIP() << "this processor does not run the tier";
  }

  int64_t pick(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  template <class T, size_t n>
  T pick(const T (&from)[n]) {
    return from[random_() % n];
  }

  // Numbers whose sums depend on their order, and integers that wrap around.
  template <class T>
  void draw(Guarded* memory) {
    for (size_t at = 0; at < memory->size(); at += sizeof(T)) {
      const T value = std::is_integral<T>::value
                          ? static_cast<T>(random_())
                          : static_cast<T>(static_cast<double>(pick(2000) - 1000) * (pick(3) == 0 ? 1e7 : 0.1));
      std::memcpy(memory->first() + at, &value, sizeof value);
    }
  }

  const Tier* tier_ = nullptr;
  std::mt19937_64 random_{7};
};

std::vector<uint32_t> built() {
  std::vector<uint32_t> bits;
  for (uint32_t bit : {GTH_TIER_PORTABLE, GTH_TIER_AVX2, GTH_TIER_AVX512, GTH_TIER_NEON}) {
    if (built_tiers() & bit) bits.push_back(bit);
  }
#ifdef GATHER_EMULATED_AVX512
  bits.push_back(emulated_avx512);
#endif
  return bits;
}

std::string tier_name(const ::testing::TestParamInfo<uint32_t>& info) {
  switch (info.param) {
    case GTH_TIER_PORTABLE: return "portable";
    case GTH_TIER_AVX2: return "avx2";
    case GTH_TIER_AVX512: return "avx512";
    case emulated_avx512: return "avx512_emulated";
    default: return "neon";
  }
}

// ---- tuples

enum class Values { inside, negative, one_outside, many_outside };

// Tuples in memory, as a plan and a run would describe them.
struct Tuples {
  Plan plan{};
  int64_t stride, n, first_to_end;
};

bool fits(IndexKind kind, int64_t value) {
  const int64_t bits = 8 * gather::core::index_bytes(kind);
  if (bits == 64) return true;
  if (gather::core::is_signed(kind)) return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
  return value >= 0 && value < int64_t{1} << bits;
}

class TiersTuples : public Tiers {
 protected:
  Tuples make(int32_t kind, int32_t components, int32_t bounds) {
    Tuples tuples;
    Plan& plan = tuples.plan;
    plan.index = static_cast<IndexKind>(kind);
    plan.components = components;
    plan.bounds = bounds;
    plan.wraps = pick(2) == 1;
    const int64_t bytes = gather::core::index_bytes(plan.index);
    for (int32_t c = 0; c < components; ++c) plan.component[c] = {pick(sizes), pick(strides)};
    tuples.n = pick(all_counts);
    plan.index_step = bytes;
    tuples.stride = components * bytes;
    if (pick(3) == 0) {  // with gaps, which need not be multiples of an index
      plan.index_step += pick(5);
      tuples.stride = components * plan.index_step + pick(5);
    }
    tuples.first_to_end = (tuples.n - 1) * tuples.stride + (components - 1) * plan.index_step + bytes;
    return tuples;
  }

  int64_t good(const Plan& plan, int64_t size) {
    for (;;) {
      const int64_t value = pick(4) == 0 ? size - 1 : pick(size);
      if (fits(plan.index, value)) return value;
      if (fits(plan.index, 0) && size > 1) return 0;
    }
  }

  int64_t value(const Plan& plan, int64_t size, Values values, bool is_chosen) {
    const int64_t edges[] = {size,
                             size + 1,
                             -1,
                             -size,
                             -size - 1,
                             INT64_MIN,
                             INT64_MIN + 1,
                             INT64_MAX,
                             INT32_MAX,
                             INT32_MIN,
                             INT64_MIN + size,
                             int64_t{1} << 32,
                             -(int64_t{1} << 32)};
    if (is_chosen) {
      const int64_t edge = pick(edges);
      if (fits(plan.index, edge)) return edge;
    }
    const int64_t inside = good(plan, size);
    const bool turns = values == Values::negative && plan.wraps && plan.index != IndexKind::uint64 && pick(2) == 1;
    return turns && fits(plan.index, inside - size) ? inside - size : inside;
  }

  void fill(const Tuples& tuples, Values values, char* first) {
    const int64_t bytes = gather::core::index_bytes(tuples.plan.index);
    const int64_t chosen_tuple = pick(tuples.n), chosen_component = pick(int64_t{tuples.plan.components});
    for (int64_t i = 0; i < tuples.n; ++i) {
      for (int32_t c = 0; c < tuples.plan.components; ++c) {
        const bool is_chosen = values == Values::many_outside
                                   ? pick(3) == 0
                                   : values == Values::one_outside && i == chosen_tuple && c == chosen_component;
        const int64_t number = value(tuples.plan, tuples.plan.component[c].size, values, is_chosen);
        std::memcpy(first + i * tuples.stride + c * tuples.plan.index_step, &number, static_cast<size_t>(bytes));
      }
    }
  }

  // A tier answers for tuples that are all inside, and for clamp and one component with fill or skip always.
  void check(const Tuples& tuples, const char* first) {
    const Plan& plan = tuples.plan;
    Selection selection;
    ASSERT_TRUE(describe_selection(plan, &selection));
    int64_t expected[block_tuples], offsets[block_tuples + 2];
    std::fill_n(offsets, block_tuples + 2, 77);
    BadTuple bad;
    const Resolved plain = gather::cpu::resolve(plan, first, tuples.stride, tuples.n, expected, &bad);
    const Resolved quick = tier_->resolve(selection, first, tuples.stride, tuples.n, offsets + 1);
    ASSERT_EQ(offsets[0], 77);
    ASSERT_EQ(offsets[tuples.n + 1], 77);
    if (plan.bounds == GTH_BOUNDS_MODULO || (plain == Resolved::some && plan.components > 1)) {
      if (quick == Resolved::bad) return;
    }
    ASSERT_EQ(static_cast<int>(quick), static_cast<int>(plain));
    if (plain == Resolved::bad) return;
    for (int64_t i = 0; i < tuples.n; ++i) ASSERT_EQ(offsets[i + 1], expected[i]) << i;
    ++resolved_;
  }

  void check_inside(Tuples tuples, const char* first) {
    tuples.plan.bounds = GTH_BOUNDS_ERROR;
    Selection selection;
    ASSERT_TRUE(describe_selection(tuples.plan, &selection));
    int64_t offsets[block_tuples];
    BadTuple bad;
    const Resolved plain = gather::cpu::resolve(tuples.plan, first, tuples.stride, tuples.n, offsets, &bad);
    ASSERT_EQ(tier_->inside(selection, first, tuples.stride, tuples.n), plain == Resolved::all);
    ++(plain == Resolved::all ? good_ : bad_);
  }

  Guarded indices_{20};
  int64_t resolved_ = 0, good_ = 0, bad_ = 0;
};

TEST_P(TiersTuples, AsThePlainFunctions) {
  for (int32_t kind = 0; kind < 8; ++kind) {
    for (int32_t components = 1; components <= Selection::most_components; ++components) {
      for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
        for (Values values : {Values::inside, Values::negative, Values::one_outside, Values::many_outside}) {
          for (int repeat = 0; repeat < 24; ++repeat) {
            const Tuples tuples = make(kind, components, bounds);
            char* first = indices_.at(tuples.first_to_end, repeat % 2 == 0);
            fill(tuples, values, first);
            SCOPED_TRACE("kind " + std::to_string(kind) + ", components " + std::to_string(components) + ", bounds " +
                         std::to_string(bounds) + ", values " + std::to_string(static_cast<int>(values)) + ", n " +
                         std::to_string(tuples.n) + ", stride " + std::to_string(tuples.stride));
            check(tuples, first);
            check_inside(tuples, first);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(resolved_, 10000);
  EXPECT_GT(good_, 10000);
  EXPECT_GT(bad_, 5000);
}

// Under modulo a tier answers for every index nearer to 0 than foldable, however floating point rounds, and for others
// rightly or not at all.
TEST_P(TiersTuples, Modulo) {
  constexpr int64_t foldable = int64_t{1} << 50;
  constexpr int64_t edges[] = {foldable, -foldable, foldable + 1, -foldable - 1, INT64_MAX, INT64_MIN};
  int64_t near = 0, far = 0;
  for (int rounding : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    for (int repeat = 0; repeat < 8000 && !HasFatalFailure(); ++repeat) {
      const Tuples tuples = make(repeat % 8, 1 + repeat / 8 % Selection::most_components, GTH_BOUNDS_MODULO);
      const Plan& plan = tuples.plan;
      char* first = indices_.at(tuples.first_to_end, repeat % 2 == 0);
      bool is_near = true;
      for (int64_t i = 0; i < tuples.n; ++i) {
        for (int32_t c = 0; c < plan.components; ++c) {
          const int64_t size = plan.component[c].size;
          const int64_t most = repeat % 3 == 0 ? foldable : pick(2) == 0 ? 3 * size : INT32_MAX;
          const int64_t multiple = size * pick(most / size + 1) + pick(3) - 1;
          int64_t number = pick(3) == 0 ? multiple : pick(most);
          if (pick(2) == 0) number = -number;
          if (repeat % 5 == 0 && pick(tuples.n) == 0) number = pick(edges);
          if (!fits(plan.index, number) && gather::core::index_bytes(plan.index) < 8) number &= 127;
          is_near &= number <= foldable && number >= (plan.index == IndexKind::uint64 ? 0 : -foldable);
          std::memcpy(first + i * tuples.stride + c * plan.index_step, &number,
                      static_cast<size_t>(gather::core::index_bytes(plan.index)));
        }
      }
      Selection selection;
      ASSERT_TRUE(describe_selection(plan, &selection));
      int64_t expected[block_tuples], offsets[block_tuples];
      BadTuple bad;
      ASSERT_EQ(gather::cpu::resolve(plan, first, tuples.stride, tuples.n, expected, &bad), Resolved::all);
      const Resolved quick = tier_->resolve(selection, first, tuples.stride, tuples.n, offsets);
      ++(quick == Resolved::bad ? far : near);
      if (quick == Resolved::bad) {
        ASSERT_FALSE(is_near);
        continue;
      }
      for (int64_t i = 0; i < tuples.n; ++i) ASSERT_EQ(offsets[i], expected[i]) << i;
    }
  }
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(near, 20000);
  EXPECT_GT(far, 500);
}

// The rows of gather_elements lie a step further on for each next tuple.
TEST_P(TiersTuples, RowSteps) {
  for (int32_t kind = 0; kind < 8; ++kind) {
    for (int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_CLAMP}) {
      for (int repeat = 0; repeat < 100; ++repeat) {
        const Tuples tuples = make(kind, 1, bounds);
        char* first = indices_.at(tuples.first_to_end, repeat % 2 == 0);
        fill(tuples, bounds == GTH_BOUNDS_ERROR ? Values::negative : Values::many_outside, first);
        Selection selection;
        ASSERT_TRUE(describe_selection(tuples.plan, &selection));
        int64_t expected[block_tuples], offsets[block_tuples];
        BadTuple bad;
        const Resolved plain = gather::cpu::resolve(tuples.plan, first, tuples.stride, tuples.n, expected, &bad);
        selection.row_step = pick(strides);
        ASSERT_EQ(tier_->resolve(selection, first, tuples.stride, tuples.n, offsets), plain);
        for (int64_t i = 0; i < tuples.n; ++i) {
          ASSERT_EQ(offsets[i], expected[i] == no_row ? no_row : expected[i] + i * selection.row_step);
        }
      }
    }
  }
}

// While another thread turns one index from good to bad and back, an offset is that of a good index or none.
TEST_P(TiersTuples, NothingIsReadTwice) {
  for (int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
    Plan plan{};
    plan.index = IndexKind::int64;
    plan.components = 1;
    plan.bounds = bounds;
    plan.wraps = true;
    plan.index_step = 8;
    plan.component[0] = {1000, 16};
    Selection selection;
    ASSERT_TRUE(describe_selection(plan, &selection));
    alignas(64) volatile int64_t indices[32] = {};
    std::atomic<bool> ends{false};
    std::thread other([&] {
      while (!ends) {
        for (int i = 0; i < 1000; ++i) indices[17] = 5, indices[17] = -3, indices[17] = INT64_MAX / 2;
      }
    });
    int64_t offsets[block_tuples];
    for (int repeat = 0; repeat < 20000; ++repeat) {
      const char* first = reinterpret_cast<const char*>(const_cast<const int64_t*>(indices));
      if (tier_->resolve(selection, first, 8, 32, offsets) == Resolved::bad) continue;
      const int64_t offset = offsets[17];
      const bool is_outside = offset == (bounds == GTH_BOUNDS_SKIP ? no_row : 999 * 16) && bounds != GTH_BOUNDS_ERROR &&
                              bounds != GTH_BOUNDS_MODULO;
      EXPECT_TRUE(offset == 0 || offset == 5 * 16 || offset == 997 * 16 || is_outside) << offset;
    }
    ends = true;
    other.join();
  }
}

// ---- rows

class TiersRows : public Tiers {
 protected:
  TiersRows() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(PROT_READ);
  }

  void check(const Rows& rows, int64_t n, int64_t gap, int64_t shift, bool low) {
    const int64_t stride = rows.bytes + gap, bytes = (n - 1) * stride + rows.bytes + shift;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* all = out_.at(bytes, low);
    std::memset(all, '#', static_cast<size_t>(bytes));
    char* out = low ? all + shift : all;
    const int64_t size = static_cast<int64_t>(table_.size());
    int64_t offsets[block_tuples];
    for (int64_t i = 0; i < n; ++i) offsets[i] = pick(size - rows.bytes + 1);
    offsets[pick(n)] = 0;
    offsets[pick(n)] = size - rows.bytes;
    const int64_t middle = size / 2;  // offsets may be negative
    for (int64_t i = 0; i < n; ++i) offsets[i] -= middle;
    tier_->choose_copy(rows)(out, stride, table_.first() + middle, offsets, n, rows.bytes);
    for (int64_t i = 0; i < n; ++i) {
      const char* row = table_.first() + middle + offsets[i];
      ASSERT_EQ(std::memcmp(out + i * stride, row, static_cast<size_t>(rows.bytes)), 0) << i;
      if (i + 1 == n) break;
      for (int64_t at = rows.bytes; at < stride; ++at) ASSERT_EQ(out[i * stride + at], '#') << i;
    }
    const char* rest = low ? all : out + (n - 1) * stride + rows.bytes;
    for (int64_t at = 0; at < shift; ++at) ASSERT_EQ(rest[at], '#') << at;
  }

  void check_all(int64_t bytes, std::initializer_list<int64_t> counts) {
    for (bool is_far : {false, true}) {
      for (bool is_flooding : {false, true}) {
        for (int64_t n : counts) {
          for (bool low : {false, true}) {
            SCOPED_TRACE("row " + std::to_string(bytes) + ", n " + std::to_string(n) + (is_far ? ", far" : "") +
                         (is_flooding ? ", flooding" : ""));
            check({bytes, is_far, is_flooding}, n, pick(3) == 0 ? pick(70) : 0, pick(3) == 0 ? pick(64) : 0, low);
            check({bytes, is_far, is_flooding}, n, 64 * pick(2), 0, low);  // where stores past the caches are possible
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }

  Guarded table_{4}, out_{400};
};

TEST_P(TiersRows, EverySize) {
  for (int64_t bytes = 1; bytes <= 700 && !HasFatalFailure(); ++bytes) {
    check_all(bytes, {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 34, 64, 65});
  }
}

TEST_P(TiersRows, WholeBlocks) {
  for (int64_t bytes :
       {1, 2, 3, 4, 7, 8, 12, 16, 24, 32, 48, 64, 65, 127, 128, 129, 192, 256, 1024, 2048, 4096, 4100}) {
    check_all(bytes, {255, 256});
  }
}

// ---- rows of updates

template <class T>
void add_number(char* at, const char* update) {
  T a, b;
  std::memcpy(&a, at, sizeof a);
  std::memcpy(&b, update, sizeof b);
  a = static_cast<T>(a + b);
  std::memcpy(at, &a, sizeof a);
}

class TiersUpdates : public Tiers {
 protected:
  // n updates of rows that are drawn out of `among` of them, at multiples of so many bytes; the first and the last of the
  // target are among them.
  void place(int64_t row, int64_t n, int64_t among, int64_t alignment) {
    const int64_t spare = static_cast<int64_t>(target_.size()) - row;
    std::vector<int64_t> at(static_cast<size_t>(among));
    for (int64_t& each : at) each = pick(spare / alignment + 1) * alignment;
    at.front() = 0;
    at.back() = spare / alignment * alignment;
    for (int64_t i = 0; i < n; ++i) {
      offsets_[i] = at[static_cast<size_t>(pick(among))];
      from_[i] = pick(spare / alignment + 1) * alignment;
    }
    offsets_[pick(n)] = from_[pick(n)] = at.back();
    offsets_[0] = from_[0] = 0;
  }

  // combine(at, update) is what becomes of a row.
  template <class Combine>
  void check(WriteRows update, int64_t row, int64_t n, Combine&& combine) {
    std::vector<char> expected(target_.first(), target_.first() + target_.size());
    for (int64_t i = 0; i < n; ++i) combine(expected.data() + offsets_[i], updates_.first() + from_[i]);
    update(target_.first(), offsets_, updates_.first(), from_, n, row);
    ASSERT_EQ(std::memcmp(target_.first(), expected.data(), expected.size()), 0) << "rows of " << row << ", " << n;
  }

  template <class T>
  void check_sum(Addend addend, int64_t row, int64_t n) {
    const WriteRows sum = tier_->choose_sum(addend, row);
    if (!sum) {
      ASSERT_LT(row, 16);
      return;
    }
    check(sum, row, n, [row](char* at, const char* update) {
      for (int64_t i = 0; i < row; i += int64_t{sizeof(T)}) add_number<T>(at + i, update + i);
    });
  }

  template <class T>
  void check_sums(Addend addend) {
    for (int64_t row = sizeof(T); row <= 300; row += int64_t{sizeof(T)}) {
      draw<T>(&target_);
      draw<T>(&updates_);
      for (int64_t n : {1, 2, 17, 256}) {
        // What would be read as a number elsewhere might be one of the many that are none.
        place(row, n, 1 + pick(20), std::is_integral<T>::value ? 1 : int64_t{sizeof(T)});
        check_sum<T>(addend, row, n);
        if (HasFatalFailure()) return;
      }
    }
  }

  Guarded target_{2}, updates_{2};
  int64_t offsets_[block_tuples], from_[block_tuples];
};

TEST_P(TiersUpdates, AreWrittenInTheirOrder) {
  draw<uint64_t>(&target_);
  draw<uint64_t>(&updates_);
  for (int64_t row = 1; row <= 700 && !HasFatalFailure(); ++row) {
    for (bool is_flooding : {false, true}) {
      for (int64_t n : {1, 2, 17, 256}) {
        place(row, n, 1 + pick(20), pick(2) == 0 ? 64 : 1);
        check(tier_->choose_write({row, false, is_flooding}), row, n,
              [row](char* at, const char* update) { std::memcpy(at, update, static_cast<size_t>(row)); });
      }
    }
  }
}

TEST_P(TiersUpdates, AreAddedInTheirOrder) {
  check_sums<uint8_t>(Addend::integer8);
  check_sums<uint16_t>(Addend::integer16);
  check_sums<uint32_t>(Addend::integer32);
  check_sums<uint64_t>(Addend::integer64);
  check_sums<float>(Addend::float32);
  check_sums<double>(Addend::float64);
}

// ---- tuples and their rows in one go

class TiersTake : public Tiers {
 protected:
  TiersTake() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(PROT_READ);
  }

  // Dims of rows a step apart, so that those of the last tuple's still lie in the table.
  Selection select(Width width, int64_t row, int64_t n, int32_t components = 1, int64_t lines = 1) {
    Selection selection{};
    selection.width = width;
    selection.components = components;
    selection.wraps = width != Width::uint64 && pick(2) == 1;
    selection.index_step = gather::core::index_bytes(static_cast<IndexKind>(width));
    selection.tuple_step = components * selection.index_step;
    const int64_t spare = static_cast<int64_t>(table_.size()) - row;
    selection.row_step = pick(2) * pick(spare / (4 * n) + 1);
    next_base_ = pick(2) * pick(spare / (4 * lines) + 1);
    if (most_rows_) selection.row_step = next_base_ = 0;
    const int64_t share = (spare - n * selection.row_step - lines * next_base_) / components;
    for (int32_t c = 0; c < components; ++c) {
      selection.stride[c] = 1 + pick(row);
      selection.size[c] = most_rows_ ? 1 + pick(most_rows_) : 1 + share / selection.stride[c];
    }
    return selection;
  }

  void store(const Selection& selection, int64_t i, int32_t c, int64_t value) {
    char* const at = indices_.first() + i * selection.tuple_step + c * selection.index_step;
    std::memcpy(at, &value, static_cast<size_t>(selection.index_step));
  }

  // A tuple that is inside. Returns what it selects.
  int64_t store_inside(const Selection& selection, int64_t i) {
    int64_t offset = 0;
    for (int32_t c = 0; c < selection.components; ++c) {
      const int64_t size = selection.size[c], index = pick(8) == 0 ? size - 1 : pick(size);
      const bool turns = selection.wraps && fits(static_cast<IndexKind>(selection.width), -1) && pick(2) == 1;
      store(selection, i, c, turns ? index - size : index);
      offset += index * selection.stride[c];
    }
    return offset;
  }

  int64_t outside(const Selection& selection, int32_t c) {
    const int64_t size = selection.size[c];
    return pick(2) ? size : selection.wraps ? -size - 1 : selection.width == Width::uint64 ? INT64_MIN : -1;
  }

  // As many as there are before the first that is outside, or some fewer; those copied, and nothing else written.
  void check(Width width, const Rows& rows, int64_t n, int64_t lines, int64_t gap, bool has_bad,
             int32_t components = 1) {
    const int64_t all = n * lines;
    Selection selection = select(width, rows.bytes, n, components, lines);
    const TakeRows take = tier_->choose_take(selection, rows);
    ASSERT_NE(take, nullptr);
    std::vector<int64_t> offsets(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; ++i) offsets[static_cast<size_t>(i)] = store_inside(selection, i);
    const int64_t bad = has_bad ? pick(all) : all;
    const auto bad_component = static_cast<int32_t>(pick(components));
    if (has_bad) store(selection, bad, bad_component, outside(selection, bad_component));

    const int64_t stride = rows.bytes + gap, next_out = n * stride + 64 * pick(2);
    const int64_t bytes = (lines - 1) * next_out + (n - 1) * stride + rows.bytes;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* out = out_.at(bytes, pick(2) == 0);
    std::memset(out, '#', static_cast<size_t>(bytes));
    std::string expected(out, static_cast<size_t>(bytes));
    const int64_t taken = take(selection, {indices_.first(), selection.tuple_step, n, out, stride, table_.first(),
                                           rows.bytes, lines, n * selection.tuple_step, next_out, next_base_});
    if (has_bad) {
      ASSERT_LE(taken, bad);
      ASSERT_GT(taken, bad - group);
    } else {
      ASSERT_EQ(taken, all);
    }
    for (int64_t i = 0; i < taken; ++i) {
      const char* row =
          table_.first() + offsets[static_cast<size_t>(i)] + i % n * selection.row_step + i / n * next_base_;
      std::memcpy(expected.data() + i / n * next_out + i % n * stride, row, static_cast<size_t>(rows.bytes));
    }
    ASSERT_EQ(std::memcmp(out, expected.data(), expected.size()), 0);
  }

  static constexpr int64_t group = 16;
  int64_t next_base_ = 0;  // bytes that what a line selects lies further on than what the one before does
  int64_t most_rows_ = 0;  // of the table; 0: as many as there is memory for
  Guarded table_{8}, indices_{5}, out_{600};
};

TEST_P(TiersTake, EverySize) {
  for (int64_t bytes = 1; bytes <= 700; bytes += bytes < 140 ? 1 : 29) {
    for (Width width : {Width::int32, Width::int64, Width::uint64}) {
      for (int64_t n : {1, 2, 3, 7, 15, 16, 17, 33, 63, 64, 79, 80, 81, 97, 255, 300}) {
        for (bool is_far : {false, true}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("row " + std::to_string(bytes) + ", n " + std::to_string(n) + ", width " +
                         std::to_string(static_cast<int>(width)) + (is_far ? ", far" : ""));
            const int64_t gap = pick(3) == 0 ? 64 * pick(2) + pick(2) : 0;
            const int64_t lines = n < 16 ? 1 + pick(60) : n < 128 ? 1 + pick(12) : 1;
            check(width, {bytes, is_far, pick(2) == 0}, n, lines, gap, has_bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(TiersTake, LongRows) {
  for (int64_t bytes : {1024, 2048, 4096, 4100}) {
    for (bool is_far : {false, true}) {
      for (bool has_bad : {false, true}) check(Width::int64, {bytes, is_far, is_far}, 128, 1, 0, has_bad);
    }
  }
}

// Tables of 16 rows and fewer, which lie in registers, by indices of every width; 17 do not.
TEST_P(TiersTake, Tables) {
  for (most_rows_ = 1; most_rows_ <= 17; ++most_rows_) {
    for (int32_t kind = 0; kind < 8; ++kind) {
      const auto width = static_cast<Width>(kind);
      const bool is_walked = width == Width::int32 || gather::core::index_bytes(static_cast<IndexKind>(kind)) == 8;
      if (!is_walked && (GetParam() == GTH_TIER_PORTABLE || most_rows_ > 16)) continue;
      for (int64_t bytes : {1, 2, 4}) {
        for (int64_t n : {64, 65, 71, 72, 100, 255, 300}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("rows " + std::to_string(most_rows_) + " of " + std::to_string(bytes) + ", n " +
                         std::to_string(n) + ", width " + std::to_string(kind));
            const int64_t gap = is_walked && pick(4) == 0 ? 3 : 0;
            check(width, {bytes, false, false}, n, n < 100 ? 1 + pick(3) : 1, gap, has_bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// ---- the same with the arrows reversed

class TiersGive : public TiersTake {
 protected:
  // As many updates as there are before the first tuple that is outside, or some fewer, in their order.
  template <class Combine>
  void check_give(TakeRows give, const Selection& selection, int64_t row, int64_t n, int64_t lines, bool has_bad,
                  Combine&& combine) {
    const int64_t all = n * lines;
    std::vector<int64_t> offsets(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; ++i) offsets[static_cast<size_t>(i)] = store_inside(selection, i);
    const int64_t bad = has_bad ? pick(all) : all;
    if (has_bad) store(selection, bad, 0, outside(selection, 0));
    char* const updates = updates_.at(all * row, pick(2) == 0);
    std::vector<char> expected(target_.first(), target_.first() + target_.size());
    const int64_t taken = give(selection, {indices_.first(), selection.tuple_step, n, updates, row, target_.first(),
                                           row, lines, n * selection.tuple_step, n * row, next_base_});
    ASSERT_LE(taken, bad);
    ASSERT_GT(taken, has_bad ? bad - group : all - 1);
    for (int64_t i = 0; i < taken; ++i) {
      const int64_t at = offsets[static_cast<size_t>(i)] + i % n * selection.row_step + i / n * next_base_;
      combine(expected.data() + at, updates + i * row);
    }
    ASSERT_EQ(std::memcmp(target_.first(), expected.data(), expected.size()), 0)
        << "rows of " << row << ", " << n << " in " << lines << " lines";
  }

  // Of rows that are numbers, each at a multiple of its size.
  void make_numbers(int64_t size, int64_t n, int64_t lines, int64_t most, Selection* selection) {
    selection->row_step -= selection->row_step % size;
    next_base_ -= next_base_ % size;
    const int64_t spare = static_cast<int64_t>(target_.size()) - size - n * selection->row_step - lines * next_base_;
    for (int32_t c = 0; c < selection->components; ++c) {
      selection->stride[c] = size;
      selection->size[c] = 1 + std::min(most, spare / selection->components / size);
    }
  }

  // choose(selection, is_far) is a way to give rows of T, one number each; few of a target, or many.
  template <class T, class Choose, class Combine>
  void check_gives(Choose&& choose, Combine&& combine) {
    for (int64_t most : {3, 100, 4000}) {
      for (Width width : {Width::int32, Width::int64, Width::uint64}) {
        for (int64_t n : {1, 3, 8, 15, 16, 17, 33, 63, 64, 100, 300}) {
          for (int32_t way = 0; way < 4; ++way) {
            const int64_t lines = n < 16 ? 1 + pick(30) : n < 128 ? 1 + pick(12) : 1 + pick(3);
            const bool has_bad = (way & 1) != 0, is_far = (way & 2) != 0;
            Selection selection = select(width, sizeof(T), n, 1 + way % 2, lines);
            make_numbers(sizeof(T), n, lines, most, &selection);
            const TakeRows give = choose(selection, is_far);
            ASSERT_NE(give, nullptr);
            draw<T>(&target_);
            draw<T>(&updates_);
            check_give(give, selection, sizeof(T), n, lines, has_bad, combine);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }

  template <class T>
  void check_sums(Addend addend) {
    check_gives<T>([&](const Selection& selection,
                       bool is_far) { return tier_->choose_give_sum(selection, addend, {sizeof(T), is_far, false}); },
                   add_number<T>);
  }

  template <class T>
  void check_writes() {
    check_gives<T>([&](const Selection& selection,
                       bool is_far) { return tier_->choose_give(selection, {sizeof(T), is_far, false}); },
                   [](char* at, const char* update) { std::memcpy(at, update, sizeof(T)); });
  }

 private:
  Guarded target_{8}, updates_{4};
};

TEST_P(TiersGive, IsWrittenInItsOrder) {
  check_writes<uint8_t>();
  check_writes<uint16_t>();
  check_writes<uint32_t>();
  check_writes<uint64_t>();
}

TEST_P(TiersGive, IsAddedInItsOrder) {
  check_sums<uint32_t>(Addend::integer32);
  check_sums<uint64_t>(Addend::integer64);
  check_sums<float>(Addend::float32);
  check_sums<double>(Addend::float64);
}

TEST_P(TiersGive, OnlyShortRowsByDenseTuples) {
  Selection selection = select(Width::int64, 4, 16);
  EXPECT_EQ(tier_->choose_give(selection, {3, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_give(selection, {16, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_give_sum(selection, Addend::float32, {8, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_give_sum(selection, Addend::integer16, {2, false, false}), nullptr);
  selection.tuple_step = 16;
  EXPECT_EQ(tier_->choose_give(selection, {4, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_give_sum(selection, Addend::float32, {4, false, false}), nullptr);
}

// Of so few tuples, or rows with gaps between them, it is not worth filling registers: another way takes them.
TEST_P(TiersTake, FewOfATable) {
  most_rows_ = 16;
  const Selection selection = select(Width::uint8, 4, 63);
  const TakeRows take = tier_->choose_take(selection, {4, false, false});
  ASSERT_EQ(take == nullptr, GetParam() == GTH_TIER_PORTABLE);
  if (!take) return;
  char out[300 * 8];
  EXPECT_EQ(take(selection, {indices_.first(), 1, 63, out, 4, table_.first(), 4, 1, 0, 0, 0}), 0);
  EXPECT_EQ(take(selection, {indices_.first(), 1, 300, out, 8, table_.first(), 4, 1, 0, 0, 0}), 0);
}

TEST_P(TiersTake, TuplesOfSeveralComponents) {
  for (int32_t components = 2; components <= Selection::most_components; ++components) {
    for (Width width : {Width::int32, Width::int64, Width::uint64}) {
      for (int64_t n : {1, 15, 16, 17, 33, 80, 97}) {
        for (int64_t bytes : {1, 4, 12, 64, 200}) {
          for (bool is_far : {false, true}) {
            for (bool has_bad : {false, true}) {
              SCOPED_TRACE("components " + std::to_string(components) + ", row " + std::to_string(bytes) + ", n " +
                           std::to_string(n) + ", width " + std::to_string(static_cast<int>(width)));
              check(width, {bytes, is_far, false}, n, 1 + pick(n < 16 ? 12 : 3), 0, has_bad, components);
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST_P(TiersTake, OnlyWhatLiesDense) {
  Selection selection = select(Width::int64, 4, 16);
  selection.tuple_step = 16;
  EXPECT_EQ(tier_->choose_take(selection, {4, false, false}), nullptr);
  selection.tuple_step = 0;
  EXPECT_EQ(tier_->choose_take(selection, {4, false, false}), nullptr);
  selection = select(Width::int64, 4, 16);
  selection.components = 2;
  EXPECT_EQ(tier_->choose_take(selection, {4, false, false}), nullptr);
}

// While another thread turns one index from good to bad and back, a row is that of a good index.
TEST_P(TiersTake, NothingIsReadTwice) {
  Selection selection{};
  selection.width = Width::int64;
  selection.components = 1;
  selection.index_step = selection.tuple_step = 8;
  selection.size[0] = 1000;
  selection.stride[0] = 8;
  int64_t table[1000], out[32];
  for (int64_t i = 0; i < 1000; ++i) table[i] = i;
  const TakeRows take = tier_->choose_take(selection, {8, false, false});
  alignas(64) volatile int64_t indices[32] = {};
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      for (int i = 0; i < 1000; ++i) indices[17] = 5, indices[17] = INT64_MIN, indices[17] = INT64_MAX / 2;
    }
  });
  const char* const first = reinterpret_cast<const char*>(const_cast<const int64_t*>(indices));
  const char* const base = reinterpret_cast<const char*>(table);
  for (const auto& [n, lines] : {std::pair<int64_t, int64_t>{32, 1}, {30, 1}, {5, 6}}) {
    for (int repeat = 0; repeat < 10000; ++repeat) {
      out[17] = 0;
      const int64_t taken =
          take(selection, {first, 8, n, reinterpret_cast<char*>(out), 8, base, 8, lines, n * 8, n * 8, 0});
      EXPECT_TRUE(out[17] == 0 || out[17] == 5) << out[17];
      EXPECT_LE(taken, n * lines);
    }
  }
  ends = true;
  other.join();
}

INSTANTIATE_TEST_SUITE_P(, TiersTuples, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersRows, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersUpdates, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersTake, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersGive, ::testing::ValuesIn(built()), tier_name);

// ---- which one

TEST(TierChoice, IsUsableAndTold) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(info.cpu_tiers_built, built_tiers());
  EXPECT_EQ(info.cpu_tiers_usable, usable_tiers());
  EXPECT_EQ(info.cpu_tier, tier().bit);
  EXPECT_TRUE(info.cpu_tiers_built & GTH_TIER_PORTABLE);
  EXPECT_EQ(info.cpu_tiers_usable & ~info.cpu_tiers_built, 0u);
  EXPECT_NE(info.cpu_tiers_usable & info.cpu_tier, 0u);
}

// In a process of its own, because a process chooses once. 77 where it cannot run: what is tested in its name is skipped.
TEST(TierChoice, IsTheOneThatIsAskedFor) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const uint32_t bit : built()) {
    if (bit == emulated_avx512) continue;
    const std::string name = tier_name({bit, 0});
    const auto choose = [&] {
      setenv("GATHER_TIER", name.c_str(), 1);
      std::_Exit(tier().bit == bit ? 0 : 1);
    };
    EXPECT_EXIT(choose(), ::testing::ExitedWithCode(find_tier(bit) ? 0 : 77), "") << name;
  }
  const auto choose_none = [] {
    setenv("GATHER_TIER", "none", 1);
    std::_Exit(tier().bit ? 0 : 1);
  };
  EXPECT_EXIT(choose_none(), ::testing::ExitedWithCode(77), "");
}

}  // namespace
