#include <cmath>
#include <limits>

#include "core/types/dtype.hpp"
#include "scatter_oracle.hpp"
#include "tiers.hpp"

// The kernels of the tiers that reduce. They are compared with a scatter that decodes each number, computes it as double
// or 128-bit integer, and rounds it by the definition of its format.
namespace {

using namespace tiers;
using gather::core::find_dtype;
using gather::core::is_reducible;

constexpr int32_t all_reductions[] = {GTH_REDUCTION_ADD, GTH_REDUCTION_MUL, GTH_REDUCTION_MAX, GTH_REDUCTION_MIN};
constexpr int32_t halves[] = {GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16};
constexpr int32_t dtypes[] = {GTH_DTYPE_BOOL,    GTH_DTYPE_INT8,      GTH_DTYPE_INT16,     GTH_DTYPE_INT32,
                              GTH_DTYPE_INT64,   GTH_DTYPE_UINT8,     GTH_DTYPE_UINT16,    GTH_DTYPE_UINT32,
                              GTH_DTYPE_UINT64,  GTH_DTYPE_FLOAT16,   GTH_DTYPE_BFLOAT16,  GTH_DTYPE_FLOAT32,
                              GTH_DTYPE_FLOAT64, GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128};

int64_t item_of(int32_t dtype) { return gth_dtype_size(dtype); }

// The type of the parts of a number.
int32_t part_of(int32_t dtype) {
  switch (dtype) {
    case GTH_DTYPE_COMPLEX64: return GTH_DTYPE_FLOAT32;
    case GTH_DTYPE_COMPLEX128: return GTH_DTYPE_FLOAT64;
    default: return dtype;
  }
}

bool is_nan(int32_t dtype, const char* at) {
  return oracle::is_float(dtype) && std::isnan(oracle::decode_float(dtype, at));
}

class TiersReduce : public Tiers {
 protected:
  // Writes a number: often a special one, or a small integer, because these are equal more often.
  void draw_number(int32_t dtype, char* at) {
    const uint64_t bits = random_();
    std::memcpy(at, &bits, static_cast<size_t>(item_of(dtype)));
    if (dtype == GTH_DTYPE_BOOL) *at = static_cast<char>(pick(4) * 85);
    if (!oracle::is_float(dtype) || pick(2) == 0) return;
    constexpr double specials[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 65504.0, 6e-8, -6e-8, 6.1e-5, 1e-45};
    oracle::encode_float(dtype, pick(3) == 0 ? static_cast<double>(pick(9) - 4) : pick(specials), at);
  }

  void draw(int32_t dtype, Guarded* memory) {
    const int64_t size = static_cast<int64_t>(memory->size()), item = item_of(part_of(dtype));
    for (int64_t at = 0; at < size; at += item) draw_number(part_of(dtype), memory->first() + at);
  }

  WriteRows choose(int32_t dtype, int32_t reduction, int64_t row) {
    return tier_->choose_reduce(find_dtype(dtype)->number, item_of(dtype), reduction, row);
  }

  // Compares numbers. The bit patterns of NaNs may differ.
  void expect_numbers(int32_t dtype, const char* found, const char* expected, int64_t bytes) {
    const int32_t part = part_of(dtype);
    for (int64_t at = 0; at < bytes; at += item_of(part)) {
      if (is_nan(part, found + at) && is_nan(part, expected + at)) continue;
      ASSERT_EQ(std::memcmp(found + at, expected + at, static_cast<size_t>(item_of(part))), 0) << at;
    }
  }

  // Reduces n updates of one row each to rows at offsets that repeat. The target ends before an inaccessible page.
  void check_rows(int32_t dtype, int32_t reduction, int64_t row, int64_t n) {
    const int64_t item = item_of(dtype), rows = static_cast<int64_t>(target_.size()) / row;
    const int64_t used = std::min<int64_t>(rows, 5) * row;
    char* const target = target_.at(used, pick(2) == 0);
    std::vector<char> expected(target, target + used);
    int64_t offsets[block_tuples], from[block_tuples];
    for (int64_t i = 0; i < n; ++i) {
      offsets[i] = pick(used / row) * row;
      from[i] = pick((static_cast<int64_t>(updates_.size()) - row) / item + 1) * item;
      for (int64_t at = 0; at < row; at += item) {
        oracle::reduce_element(reduction, dtype, expected.data() + offsets[i] + at, updates_.first() + from[i] + at);
      }
    }
    choose(dtype, reduction, row)(target, offsets, updates_.first(), from, n, row);
    expect_numbers(dtype, target, expected.data(), used);
  }

  Guarded target_{2}, updates_{2};
};

TEST_P(TiersReduce, RowsOfEverySizeAreReducedInOrder) {
  for (int32_t dtype : dtypes) {
    draw(dtype, &updates_);
    for (int32_t reduction : all_reductions) {
      if (!is_reducible(find_dtype(dtype)->number, reduction)) continue;
      for (int64_t elements = 1; elements <= 70; ++elements) {
        SCOPED_TRACE(std::string(gth_dtype_name(dtype)) + ", " + gather::core::reduction_name(reduction) + ", " +
                     std::to_string(elements));
        draw(dtype, &target_);
        for (int64_t n : {1, 3, 16}) check_rows(dtype, reduction, elements * item_of(dtype), n);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Targets end before an inaccessible page, so rows of successive sizes begin at every alignment.
TEST_P(TiersReduce, LongRowsAreReducedAtEveryAlignment) {
  for (int32_t dtype : dtypes) {
    const int64_t item = item_of(dtype), elements = 800 / item;
    draw(dtype, &updates_);
    for (int32_t reduction : all_reductions) {
      if (!is_reducible(find_dtype(dtype)->number, reduction)) continue;
      for (int64_t more = -1; more <= 32; ++more) {
        SCOPED_TRACE(std::string(gth_dtype_name(dtype)) + ", " + gather::core::reduction_name(reduction) + ", " +
                     std::to_string(elements + more));
        draw(dtype, &target_);
        check_rows(dtype, reduction, (elements + more) * item, 3);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of 1 and 8 elements use different instructions.
TEST_P(TiersReduce, EveryHalfIsReducedExactly) {
  constexpr double partners[] = {0.0, -0.0, 1.0, -3.0, 0.333, INFINITY, NAN, 6e-8, 300.0};
  for (int32_t dtype : halves) {
    std::vector<uint16_t> target(65536), updates(65536), expected(65536);
    for (double partner : partners) {
      for (int32_t reduction : all_reductions) {
        for (int64_t elements : {1, 8}) {
          for (size_t i = 0; i < target.size(); ++i) {
            target[i] = expected[i] = static_cast<uint16_t>(i);
            updates[i] = oracle::format_of(dtype).encode(partner);
            oracle::reduce_element(reduction, dtype, reinterpret_cast<char*>(&expected[i]),
                                   reinterpret_cast<const char*>(&updates[i]));
          }
          const WriteRows reduce = choose(dtype, reduction, elements * 2);
          for (int64_t i = 0; i < 65536; i += elements) {
            const int64_t offset = i * 2;
            reduce(reinterpret_cast<char*>(target.data()), &offset, reinterpret_cast<char*>(updates.data()), &offset, 1,
                   elements * 2);
          }
          expect_numbers(dtype, reinterpret_cast<char*>(target.data()), reinterpret_cast<char*>(expected.data()),
                         65536 * 2);
          ASSERT_FALSE(HasFatalFailure()) << gth_dtype_name(dtype) << ", " << reduction << ", " << partner;
        }
      }
    }
  }
}

// A NaN keeps its sign and the high bits of its payload, and becomes quiet.
TEST_P(TiersReduce, NanOfTheTargetKeepsItsPayload) {
  for (int32_t dtype : halves) {
    const uint16_t quiet = dtype == GTH_DTYPE_FLOAT16 ? 0x200 : 0x40;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto memory = static_cast<uint16_t>(bits);
      if (!std::isnan(oracle::format_of(dtype).decode(memory))) continue;
      for (int32_t reduction : all_reductions) {
        uint16_t target = memory, one = oracle::format_of(dtype).encode(1.0);
        const int64_t offset = 0;
        choose(dtype, reduction, 2)(reinterpret_cast<char*>(&target), &offset, reinterpret_cast<char*>(&one), &offset,
                                    1, 2);
        ASSERT_EQ(target, memory | quiet) << gth_dtype_name(dtype) << ", " << reduction;
      }
    }
  }
}

class TiersAccumulate : public TiersReduce {
 protected:
  Accumulate choose_accumulate(int32_t dtype, int32_t reduction) {
    return tier_->choose_accumulate(find_dtype(dtype)->number, reduction);
  }
};

TEST_P(TiersAccumulate, RowsOfEverySizeAreCombinedInFloat32) {
  for (int32_t dtype : halves) {
    draw(dtype, &target_);
    draw(dtype, &updates_);
    for (int32_t reduction : {GTH_REDUCTION_ADD, GTH_REDUCTION_MUL}) {
      const Accumulate kernels = choose_accumulate(dtype, reduction);
      for (int64_t n = 1; n <= 70; ++n) {
        char* const row = target_.at(n * 2, false);
        char* const update = updates_.at(n * 2, false);
        std::vector<float> values(static_cast<size_t>(n)), expected;
        for (int64_t i = 0; i < n; ++i) {
          const auto a = static_cast<float>(oracle::decode_float(dtype, row + 2 * i));
          const auto b = static_cast<float>(oracle::decode_float(dtype, update + 2 * i));
          expected.push_back(oracle::reduced(reduction, oracle::reduced(reduction, a, b), b));
        }
        kernels.load(row, n, values.data());
        for (int32_t repeat = 0; repeat < 2; ++repeat) kernels.combine(update, n, values.data());
        expect_numbers(GTH_DTYPE_FLOAT32, reinterpret_cast<char*>(values.data()),
                       reinterpret_cast<char*>(expected.data()), n * 4);
        ASSERT_FALSE(HasFatalFailure()) << gth_dtype_name(dtype) << ", " << n;
      }
    }
  }
}

// Rounds numbers next to every border between two halves, and random ones.
TEST_P(TiersAccumulate, FloatsAreRoundedToNearest) {
  for (int32_t dtype : halves) {
    std::vector<float> values;
    for (uint32_t bits = 0; bits < 65535; ++bits) {
      const oracle::SmallFloat& format = oracle::format_of(dtype);
      const auto low = static_cast<float>(format.decode(static_cast<uint16_t>(bits)));
      const auto high = static_cast<float>(format.decode(static_cast<uint16_t>(bits + 1)));
      const float middle = (low + high) / 2;
      values.insert(values.end(), {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)});
    }
    for (int64_t i = 0; i < 200000; ++i) {
      const auto bits = static_cast<uint32_t>(random_());
      values.push_back(oracle::read_as<float>(reinterpret_cast<const char*>(&bits)));
    }
    const Accumulate kernels = choose_accumulate(dtype, GTH_REDUCTION_ADD);
    for (size_t at : {values.size(), size_t{1}, size_t{7}}) {  // in vectors, and in small groups
      std::vector<uint16_t> found(values.size()), expected;
      for (float value : values) expected.push_back(oracle::format_of(dtype).encode(double{value}));
      for (size_t i = 0; i < values.size(); i += at) {
        const size_t n = std::min(at, values.size() - i);
        kernels.store(values.data() + i, static_cast<int64_t>(n), reinterpret_cast<char*>(found.data() + i));
      }
      expect_numbers(dtype, reinterpret_cast<char*>(found.data()), reinterpret_cast<char*>(expected.data()),
                     static_cast<int64_t>(found.size()) * 2);
      ASSERT_FALSE(HasFatalFailure()) << gth_dtype_name(dtype);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TiersReduce, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersAccumulate, ::testing::ValuesIn(built()), tier_name);

}  // namespace
