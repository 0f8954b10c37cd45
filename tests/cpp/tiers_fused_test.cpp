#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "scatter_oracle.hpp"
#include "tiers.hpp"

// The kernels of the tiers that resolve indices and copy their rows, and those that move rows of one element into a
// table.
namespace {

using namespace tiers;

class TiersMoveFused : public Tiers {
 protected:
  TiersMoveFused() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(hostile::readable);
  }

  // Returns a random selection whose rows are all inside the first `bytes` bytes of the table. It has up to `most` rows.
  Selection select(IndexType type, int64_t row, int64_t most, int64_t bytes) {
    Selection selection{};
    selection.type = type;
    selection.components = 1;
    selection.wraps = type != IndexType::uint64 && pick(2) == 1;
    selection.index_step = gather::core::index_bytes(type);
    selection.stride[0] = 1 + pick(row);
    selection.size[0] = std::min(most, 1 + (bytes - row) / selection.stride[0]);
    return selection;
  }

  void store(const Selection& selection, int64_t i, int64_t value) {
    std::memcpy(indices_.first() + i * selection.index_step, &value, static_cast<size_t>(selection.index_step));
  }

  // Stores a valid index. Returns the offset that it selects.
  int64_t store_inside(const Selection& selection, int64_t i) {
    const int64_t size = selection.size[0], index = pick(8) == 0 ? size - 1 : pick(size);
    const bool turns = selection.wraps && fits(selection.type, -1) && pick(2) == 1;
    store(selection, i, turns ? index - size : index);
    return index * selection.stride[0];
  }

  int64_t outside(const Selection& selection) {
    const int64_t size = selection.size[0];
    return pick(2) ? size : selection.wraps ? -size - 1 : selection.type == IndexType::uint64 ? INT64_MIN : -1;
  }

  // Stores n indices, one of them invalid if `has_bad`. Returns the number of valid indices before it.
  int64_t store_all(const Selection& selection, int64_t n, bool has_bad) {
    for (int64_t i = 0; i < n; ++i) offsets_[i] = store_inside(selection, i);
    if (!has_bad) return n;
    const int64_t bad = pick(n);
    store(selection, bad, outside(selection));
    return bad;
  }

  // Checks that `moved` rows have been copied, and nothing else has been written.
  void expect_moved(const char* out, int64_t bytes, int64_t moved, int64_t stride, int64_t row) {
    std::string expected(static_cast<size_t>(bytes), '#');
    for (int64_t i = 0; i < moved; ++i)
      std::memcpy(expected.data() + i * stride, table_.first() + offsets_[i], static_cast<size_t>(row));
    ASSERT_EQ(std::memcmp(out, expected.data(), expected.size()), 0);
  }

  void check_fused(IndexType type, int64_t row, int64_t n, bool prefetches, int64_t gap, bool has_bad) {
    int64_t steps[max_n];
    const int64_t step = pick(2) * pick(static_cast<int64_t>(table_.size()) / (4 * n) + 1);
    for (int64_t i = 0; i < n; ++i) steps[i] = i * step;
    const int64_t table_bytes = static_cast<int64_t>(table_.size()) - (n - 1) * step;
    const Selection selection = select(type, row, INT64_MAX, table_bytes);
    const MoveFused fused = tier_->choose_fused_gather(selection, selection.index_step, row, prefetches);
    ASSERT_NE(fused, nullptr);
    const int64_t valid = store_all(selection, n, has_bad);
    for (int64_t i = 0; i < n; ++i) offsets_[i] += steps[i];
    const int64_t stride = row + gap, bytes = (n - 1) * stride + row;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* const out = out_.at(bytes, pick(2) == 0);
    std::memset(out, '#', static_cast<size_t>(bytes));
    const int64_t moved = fused(selection, indices_.first(), selection.index_step, step ? steps : nullptr,
                                {out, stride, table_.first(), nullptr, n, row, 1, 0, 0, 1 + pick(100)});
    if (n < group) {
      ASSERT_EQ(moved, 0);
    } else if (has_bad) {
      ASSERT_LE(moved, valid);
      ASSERT_GT(moved, valid - group);
    } else {
      ASSERT_EQ(moved, n);
    }
    expect_moved(out, bytes, moved, stride, row);
  }

  static constexpr int64_t group = 16, max_n = 300;
  int64_t offsets_[max_n];
  Guarded table_{8}, indices_{5}, out_{600};
};

TEST_P(TiersMoveFused, EverySizeIsCopied) {
  for (int64_t row = 1; row < 512; row += row < 140 ? 1 : 29) {
    for (IndexType type : {IndexType::int32, IndexType::int64, IndexType::uint64}) {
      for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 63, 64, 79, 80, 81, 97, 255, 300}) {
        for (bool prefetches : {false, true}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("row " + std::to_string(row) + ", n " + std::to_string(n) + ", type " +
                         std::to_string(static_cast<int>(type)) + (prefetches ? ", prefetches" : ""));
            check_fused(type, row, n, prefetches, pick(3) == 0 ? 64 * pick(2) + pick(2) : 0, has_bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The last group would copy rows a second time, which takes long for long rows.
TEST_P(TiersMoveFused, LongRowsHaveNoKernel) {
  const Selection selection = select(IndexType::int64, 512, 100, 1 << 20);
  EXPECT_NE(tier_->choose_fused_gather(selection, 8, 511, true), nullptr);
  EXPECT_EQ(tier_->choose_fused_gather(selection, 8, 512, true), nullptr);
  EXPECT_EQ(tier_->choose_fused_gather(selection, 8, 512, false), nullptr);
}

TEST_P(TiersMoveFused, OnlyContiguousWideIndicesAreAccepted) {
  Selection selection = select(IndexType::int64, 4, 100, 4096);
  EXPECT_EQ(tier_->choose_fused_gather(selection, 16, 4, false), nullptr);
  EXPECT_EQ(tier_->choose_fused_gather(selection, 0, 4, false), nullptr);
  selection.components = 2;
  EXPECT_EQ(tier_->choose_fused_gather(selection, 16, 4, false), nullptr);
  selection = select(IndexType::int16, 4, 100, 4096);
  EXPECT_EQ(tier_->choose_fused_gather(selection, 2, 4, false), nullptr);
}

// While another thread changes one index between valid and invalid, the row of a valid index is copied.
TEST_P(TiersMoveFused, EachIndexIsReadOnce) {
  Selection selection{};
  selection.type = IndexType::int64;
  selection.components = 1;
  selection.index_step = 8;
  selection.size[0] = 1000;
  selection.stride[0] = 8;
  int64_t table[1000], out[32];
  for (int64_t i = 0; i < 1000; ++i) table[i] = i;
  alignas(64) volatile int64_t indices[32] = {};
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      for (int i = 0; i < 1000; ++i) indices[17] = 5, indices[17] = INT64_MIN, indices[17] = INT64_MAX / 2;
    }
  });
  const char* const first = reinterpret_cast<const char*>(const_cast<const int64_t*>(indices));
  for (bool prefetches : {false, true}) {
    const MoveFused fused = tier_->choose_fused_gather(selection, 8, 8, prefetches);
    for (int64_t n : {32, 30}) {
      for (int repeat = 0; repeat < 10000; ++repeat) {
        out[17] = 0;
        const int64_t moved =
            fused(selection, first, 8, nullptr,
                  {reinterpret_cast<char*>(out), 8, reinterpret_cast<const char*>(table), nullptr, n, 8, 1, 0, 0, 16});
        EXPECT_TRUE(out[17] == 0 || out[17] == 5) << out[17];
        EXPECT_LE(moved, n);
      }
    }
  }
  ends = true;
  other.join();
}

// Tables of at most 16 rows are loaded into registers, for indices of every type. Tables of 17 rows are not.
TEST_P(TiersMoveFused, TablesInRegistersAreCopied) {
  for (int64_t rows = 1; rows <= 17; ++rows) {
    for (int32_t kind = 0; kind < 8; ++kind) {
      const auto type = static_cast<IndexType>(kind);
      for (int64_t row : {1, 2, 4}) {
        for (int64_t n : {1, 7, 8, 64, 65, 71, 72, 100, 255, 300}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("rows " + std::to_string(rows) + " of " + std::to_string(row) + ", n " + std::to_string(n) +
                         ", type " + std::to_string(kind));
            Selection selection = select(type, row, rows, 4096);
            selection.size[0] = rows;
            const LookUp look_up = tier_->choose_look_up(selection, selection.index_step, row);
            ASSERT_EQ(look_up == nullptr, rows > 16 || GetParam() == GTH_TIER_PORTABLE);
            if (!look_up) continue;
            const int64_t valid = store_all(selection, n, has_bad);
            char* const out = out_.at(n * row, pick(2) == 0);
            std::memset(out, '#', static_cast<size_t>(n * row));
            const int64_t moved = look_up(selection, indices_.first(), table_.first(), out, n);
            ASSERT_LE(moved, valid);
            ASSERT_GT(moved, has_bad ? valid - group : n - 1);
            expect_moved(out, n * row, moved, row, row);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(TiersMoveFused, OnlySmallTablesOfSmallRowsAreLookedUp) {
  Selection selection = select(IndexType::uint8, 4, 16, 4096);
  EXPECT_EQ(tier_->choose_look_up(selection, 2, 4), nullptr);
  EXPECT_EQ(tier_->choose_look_up(selection, 1, 8), nullptr);
  selection.outside = Outside::clamped;
  EXPECT_EQ(tier_->choose_look_up(selection, 1, 4), nullptr);
}

// ---- scatters

class TiersScatterRows : public Tiers {
 protected:
  // A number of 16 bits, float16 or bfloat16. It is finite.
  struct Half {};

  // Checks that the updates of several lines are applied in order, for few or many rows of the target.
  template <class T, class Number = T, class Combine>
  void check(MoveRows move, Combine&& combine, bool adds = true) {
    constexpr int64_t row = sizeof(T);
    ASSERT_NE(move, nullptr);
    for (int64_t most : {3, 100, 4000}) {
      for (int64_t n : {1, 3, 7, 8, 15, 16, 17, 33, 100, 256}) {
        for (int64_t ahead : {0, 5, 64}) {
          const int64_t rows = static_cast<int64_t>(target_.size()) / row;
          const int64_t lines = ahead > 0 ? 1 : std::min(1 + pick(300 / n + 1), rows / 2),
                        gap = pick(2) * row * pick(4);
          const int64_t stride = row + gap, next_rows = pick(2) == 0 && n == 1 ? row : n * stride;
          if (lines * n * stride > static_cast<int64_t>(updates_.size())) continue;
          draw_numbers<Number>(&target_);
          draw_numbers<Number>(&updates_);
          const int64_t next = lines == 1 ? 0 : 1 + pick(rows / lines / 2), spare = rows - (lines - 1) * next;
          int64_t offsets[block_tuples];
          for (int64_t i = 0; i < n; ++i) offsets[i] = pick(std::min(most, spare)) * row;
          char* const updates = updates_.at((lines - 1) * next_rows + (n - 1) * stride + row, pick(2) == 0);
          std::vector<char> expected(target_.first(), target_.first() + target_.size());
          // Each line has targets of its own, so that only the order of the updates in a line matters.
          if (lines > 1) {
            for (int64_t i = 0; i < n; ++i) offsets[i] %= std::max(next, int64_t{1}) * row;
          }
          for (int64_t l = 0; l < lines; ++l) {
            for (int64_t i = 0; i < n; ++i)
              combine(expected.data() + offsets[i] + l * next * row, updates + l * next_rows + i * stride);
          }
          const RowBlock block{updates, stride, target_.first(), offsets, n, row, lines, next_rows, next * row, ahead};
          if (adds && pick(2) == 0) {
            move_with_own_offsets(move, block);
          } else {
            move(block);
          }
          ASSERT_EQ(std::memcmp(target_.first(), expected.data(), expected.size()), 0)
              << "rows of " << row << ", " << n << " in " << lines << " lines";
        }
      }
    }
  }

  template <class T>
  void check_sums(gather::core::Number number) {
    check<T>(tier_->choose_scatter_sum(number, sizeof(T), sizeof(T)), add_number<T>);
  }
  void check_half_sums(int32_t dtype, gather::core::Number number) {
    check<uint16_t, Half>(tier_->choose_scatter_sum(number, 2, 2), [dtype](char* at, const char* from) {
      oracle::reduce_element(GTH_REDUCTION_ADD, dtype, at, from);
    });
  }
  template <class T, class Number = T>
  void check_other_reductions(int32_t dtype, gather::core::Number number) {
    for (int32_t reduction : {GTH_REDUCTION_MUL, GTH_REDUCTION_MAX, GTH_REDUCTION_MIN}) {
      check<T, Number>(tier_->choose_scatter_element(number, sizeof(T), reduction),
                       [=](char* at, const char* from) { oracle::reduce_element(reduction, dtype, at, from); });
    }
  }
  // Checks rows of `count` numbers, of which an element has `parts`.
  template <class T, size_t count>
  void check_row_sums(gather::core::Number number, int64_t parts = 1) {
    const int64_t item = parts * int64_t{sizeof(T)}, row = int64_t{sizeof(T) * count};
    check<std::array<T, count>, T>(tier_->choose_scatter_sum(number, item, row), [](char* at, const char* from) {
      for (size_t i = 0; i < sizeof(T) * count; i += sizeof(T)) add_number<T>(at + i, from + i);
    });
  }
  template <class T, class Number = T>
  void check_writes() {
    check<T, Number>(
        tier_->choose_scatter(sizeof(T)), [](char* at, const char* from) { std::memcpy(at, from, sizeof(T)); }, false);
  }

 private:
  // Gives each line offsets of its own, which include the distance of the line. The numbers between them are not used.
  static void move_with_own_offsets(MoveRows move, RowBlock block) {
    block.next_offsets = block.n + 3;
    std::vector<int64_t> offsets(static_cast<size_t>(block.lines * block.next_offsets), INT64_MAX);
    for (int64_t l = 0; l < block.lines; ++l) {
      for (int64_t i = 0; i < block.n; ++i) {
        offsets[static_cast<size_t>(l * block.next_offsets + i)] = block.offsets[i] + l * block.next_table;
      }
    }
    block.next_table = block.ahead = 0;
    block.offsets = offsets.data();
    move(block);
  }

  template <class Number>
  void draw_numbers(Guarded* memory) {
    if constexpr (!std::is_same_v<Number, Half>) return draw<Number>(memory);
    draw<uint16_t>(memory);
    for (size_t at = 1; at < memory->size(); at += 2) memory->first()[at] &= static_cast<char>(0xbf);
  }

  Guarded target_{8}, updates_{8};
};

TEST_P(TiersScatterRows, UpdatesAreWrittenInOrder) {
  check_writes<uint8_t>();
  check_writes<uint16_t>();
  check_writes<uint32_t>();
  check_writes<uint64_t>();
  check_writes<std::array<uint64_t, 2>, uint64_t>();
}

TEST_P(TiersScatterRows, UpdatesAreAddedInOrder) {
  check_sums<uint8_t>(gather::core::Number::unsigned_integer);
  check_sums<int16_t>(gather::core::Number::signed_integer);
  check_sums<uint32_t>(gather::core::Number::unsigned_integer);
  check_sums<uint64_t>(gather::core::Number::signed_integer);
  check_sums<float>(gather::core::Number::floating);
  check_sums<double>(gather::core::Number::floating);
  check_half_sums(GTH_DTYPE_FLOAT16, gather::core::Number::floating);
  check_half_sums(GTH_DTYPE_BFLOAT16, gather::core::Number::brain_floating);
  check_row_sums<float, 2>(gather::core::Number::complex, 2);
  check_row_sums<double, 2>(gather::core::Number::complex, 2);
}

TEST_P(TiersScatterRows, ElementsAreCombinedInOrder) {
  using gather::core::Number;
  check_other_reductions<uint8_t>(GTH_DTYPE_UINT8, Number::unsigned_integer);
  check_other_reductions<int8_t>(GTH_DTYPE_INT8, Number::signed_integer);
  check_other_reductions<uint16_t>(GTH_DTYPE_UINT16, Number::unsigned_integer);
  check_other_reductions<int16_t>(GTH_DTYPE_INT16, Number::signed_integer);
  check_other_reductions<uint32_t>(GTH_DTYPE_UINT32, Number::unsigned_integer);
  check_other_reductions<int32_t>(GTH_DTYPE_INT32, Number::signed_integer);
  check_other_reductions<uint64_t>(GTH_DTYPE_UINT64, Number::unsigned_integer);
  check_other_reductions<int64_t>(GTH_DTYPE_INT64, Number::signed_integer);
  check_other_reductions<float>(GTH_DTYPE_FLOAT32, Number::floating);
  check_other_reductions<double>(GTH_DTYPE_FLOAT64, Number::floating);
  check_other_reductions<uint16_t, Half>(GTH_DTYPE_FLOAT16, Number::floating);
  check_other_reductions<uint16_t, Half>(GTH_DTYPE_BFLOAT16, Number::brain_floating);
}

TEST_P(TiersScatterRows, ShortRowsAreAddedInOrder) {
  check_row_sums<float, 2>(gather::core::Number::floating);
  check_row_sums<float, 3>(gather::core::Number::floating);
  check_row_sums<float, 7>(gather::core::Number::floating);
  check_row_sums<double, 9>(gather::core::Number::floating);
  check_row_sums<uint32_t, 4>(gather::core::Number::unsigned_integer);
  check_row_sums<int64_t, 5>(gather::core::Number::signed_integer);
  check_row_sums<float, 6>(gather::core::Number::complex, 2);
  check_row_sums<double, 64>(gather::core::Number::floating);
}

TEST_P(TiersScatterRows, OtherRowsAreRejected) {
  EXPECT_EQ(tier_->choose_scatter(3), nullptr);
  EXPECT_EQ(tier_->choose_scatter(32), nullptr);
  EXPECT_EQ(tier_->choose_scatter_sum(gather::core::Number::signed_integer, 16, 16), nullptr);
  EXPECT_EQ(tier_->choose_scatter_sum(gather::core::Number::boolean, 1, 1), nullptr);
  EXPECT_EQ(tier_->choose_scatter_sum(gather::core::Number::boolean, 1, 4), nullptr);
  EXPECT_EQ(tier_->choose_scatter_sum(gather::core::Number::signed_integer, 2, 4), nullptr);
  EXPECT_EQ(tier_->choose_scatter_sum(gather::core::Number::floating, 8, 520), nullptr);
  EXPECT_EQ(tier_->choose_scatter_element(gather::core::Number::complex, 8, GTH_REDUCTION_MUL), nullptr);
  EXPECT_EQ(tier_->choose_scatter_element(gather::core::Number::boolean, 1, GTH_REDUCTION_MAX), nullptr);
}

INSTANTIATE_TEST_SUITE_P(, TiersMoveFused, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersScatterRows, ::testing::ValuesIn(built()), tier_name);

}  // namespace
