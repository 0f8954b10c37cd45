#include <algorithm>
#include <atomic>
#include <cfenv>
#include <thread>

#include "cpu/indices.hpp"
#include "tiers.hpp"

// The offsets that tiers compute for tuples.
namespace {

using namespace tiers;
using gather::core::Plan;

constexpr int64_t all_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 256};
constexpr int64_t sizes[] = {1, 2, 3, 100, 127, 128, 129, 255, 256, 32767, 65536, INT32_MAX, int64_t{1} << 31};
constexpr int64_t strides[] = {0, 1, -1, 4, -12, 4096, INT32_MAX, INT32_MIN};

enum class Values { inside, negative, one_outside, many_outside };

// Tuples in memory, as a plan and a run describe them.
struct Tuples {
  Plan plan{};
  int64_t stride, n, first_to_end;
  int64_t below = 0;  // the bytes in front of the first tuple
};

class TiersTuples : public Tiers {
 protected:
  Tuples make(int32_t kind, int32_t components, int32_t bounds) {
    Tuples tuples;
    Plan& plan = tuples.plan;
    plan.index = static_cast<IndexType>(kind);
    plan.components = components;
    plan.bounds = bounds;
    plan.wraps = pick(2) == 1;
    const int64_t bytes = gather::core::index_bytes(plan.index);
    for (int32_t c = 0; c < components; ++c) plan.component[c] = {pick(sizes), pick(strides)};
    tuples.n = pick(all_counts);
    plan.index_step = bytes;
    tuples.stride = components * bytes;
    if (pick(3) == 0) {  // with gaps, which need not be multiples of the index size
      plan.index_step += pick(5);
      tuples.stride = components * plan.index_step + pick(5);
    } else if (components == 1 && pick(2) == 0) {  // every second index, or reversed ones
      tuples.stride = pick(2) == 0 ? 2 * bytes : -bytes;
    }
    tuples.below = std::max((1 - tuples.n) * tuples.stride, int64_t{0});
    const int64_t last = std::max((tuples.n - 1) * tuples.stride, int64_t{0});
    tuples.first_to_end = last + (components - 1) * plan.index_step + bytes;
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
    const bool turns = values == Values::negative && plan.wraps && plan.index != IndexType::uint64 && pick(2) == 1;
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

  // A tier must resolve tuples inside all dims. It must also resolve every tuple with clamp, and with fill or skip for
  // one component.
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

TEST_P(TiersTuples, OffsetsEqualThoseOfThePlainFunctions) {
  for (int32_t kind = 0; kind < 8; ++kind) {
    for (int32_t components = 1; components <= Selection::max_components; ++components) {
      for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
        for (Values values : {Values::inside, Values::negative, Values::one_outside, Values::many_outside}) {
          for (int repeat = 0; repeat < 24; ++repeat) {
            const Tuples tuples = make(kind, components, bounds);
            char* first = indices_.at(tuples.below + tuples.first_to_end, repeat % 2 == 0) + tuples.below;
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

// With modulo, a tier must resolve every index whose magnitude is below foldable, in every rounding mode. It may
// decline other indices, but must not resolve them wrongly.
TEST_P(TiersTuples, ModuloEqualsThatOfThePlainFunctions) {
  constexpr int64_t foldable = int64_t{1} << 50;
  constexpr int64_t edges[] = {foldable, -foldable, foldable + 1, -foldable - 1, INT64_MAX, INT64_MIN};
  int64_t near = 0, far = 0;
  for (int rounding : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    for (int repeat = 0; repeat < 8000 && !HasFatalFailure(); ++repeat) {
      const Tuples tuples = make(repeat % 8, 1 + repeat / 8 % Selection::max_components, GTH_BOUNDS_MODULO);
      const Plan& plan = tuples.plan;
      char* first = indices_.at(tuples.below + tuples.first_to_end, repeat % 2 == 0) + tuples.below;
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
          is_near &= number <= foldable && number >= (plan.index == IndexType::uint64 ? 0 : -foldable);
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

// While another thread changes one index between valid and invalid, each offset is that of a valid index or none.
TEST_P(TiersTuples, EachIndexIsReadOnce) {
  for (int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
    Plan plan{};
    plan.index = IndexType::int64;
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

INSTANTIATE_TEST_SUITE_P(, TiersTuples, ::testing::ValuesIn(built()), tier_name);

}  // namespace
