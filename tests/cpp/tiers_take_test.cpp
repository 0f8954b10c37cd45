#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "tiers.hpp"

// The fused kernels of the tiers: they resolve tuples, and copy, write or add their rows.
namespace {

using namespace tiers;

class TiersFusedGather : public Tiers {
 protected:
  TiersFusedGather() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(PROT_READ);
  }

  // Returns a random selection whose rows are all inside the table.
  Selection select(IndexType type, int64_t row, int64_t n, int32_t components = 1, int64_t lines = 1) {
    Selection selection{};
    selection.type = type;
    selection.components = components;
    selection.wraps = type != IndexType::uint64 && pick(2) == 1;
    selection.index_step = gather::core::index_bytes(type);
    selection.tuple_step = components * selection.index_step;
    const int64_t spare = static_cast<int64_t>(table_.size()) - row;
    selection.table_step = pick(2) * pick(spare / (4 * n) + 1);
    next_table_ = pick(2) * pick(spare / (4 * lines) + 1);
    if (most_rows_) selection.table_step = next_table_ = 0;
    const int64_t share = (spare - n * selection.table_step - lines * next_table_) / components;
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

  // Stores a valid tuple. Returns the offset that it selects.
  int64_t store_inside(const Selection& selection, int64_t i) {
    int64_t offset = 0;
    for (int32_t c = 0; c < selection.components; ++c) {
      const int64_t size = selection.size[c], index = pick(8) == 0 ? size - 1 : pick(size);
      const bool turns = selection.wraps && fits(selection.type, -1) && pick(2) == 1;
      store(selection, i, c, turns ? index - size : index);
      offset += index * selection.stride[c];
    }
    return offset;
  }

  int64_t outside(const Selection& selection, int32_t c) {
    const int64_t size = selection.size[c];
    return pick(2) ? size : selection.wraps ? -size - 1 : selection.type == IndexType::uint64 ? INT64_MIN : -1;
  }

  // Checks that the rows before the first invalid tuple are copied, except for some of the last ones, and nothing else
  // is written.
  void check(IndexType type, const RowTraits& rows, int64_t n, int64_t lines, int64_t gap, bool has_bad,
             int32_t components = 1) {
    const int64_t all = n * lines;
    Selection selection = select(type, rows.bytes, n, components, lines);
    const FusedKernel fused = tier_->choose_fused_gather(selection, rows);
    ASSERT_NE(fused, nullptr);
    std::vector<int64_t> offsets(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; ++i) offsets[static_cast<size_t>(i)] = store_inside(selection, i);
    const int64_t bad = has_bad ? pick(all) : all;
    const auto bad_component = static_cast<int32_t>(pick(components));
    if (has_bad) store(selection, bad, bad_component, outside(selection, bad_component));

    const int64_t stride = rows.bytes + gap, next_rows = n * stride + 64 * pick(2);
    const int64_t bytes = (lines - 1) * next_rows + (n - 1) * stride + rows.bytes;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* out = out_.at(bytes, pick(2) == 0);
    std::memset(out, '#', static_cast<size_t>(bytes));
    std::string expected(out, static_cast<size_t>(bytes));
    const int64_t moved = fused(selection, {indices_.first(), selection.tuple_step, n, out, stride, table_.first(),
                                            rows.bytes, lines, n * selection.tuple_step, next_rows, next_table_});
    if (has_bad) {
      ASSERT_LE(moved, bad);
      ASSERT_GT(moved, bad - group);
    } else {
      ASSERT_EQ(moved, all);
    }
    for (int64_t i = 0; i < moved; ++i) {
      const char* row =
          table_.first() + offsets[static_cast<size_t>(i)] + i % n * selection.table_step + i / n * next_table_;
      std::memcpy(expected.data() + i / n * next_rows + i % n * stride, row, static_cast<size_t>(rows.bytes));
    }
    ASSERT_EQ(std::memcmp(out, expected.data(), expected.size()), 0);
  }

  static constexpr int64_t group = 16;
  int64_t next_table_ = 0;  // bytes in the table from line to line
  int64_t most_rows_ = 0;   // rows in the table; 0: as many as fit the memory
  Guarded table_{8}, indices_{5}, out_{600};
};

TEST_P(TiersFusedGather, EverySizeIsCopied) {
  for (int64_t bytes = 1; bytes <= 700; bytes += bytes < 140 ? 1 : 29) {
    for (IndexType type : {IndexType::int32, IndexType::int64, IndexType::uint64}) {
      for (int64_t n : {1, 2, 3, 7, 15, 16, 17, 33, 63, 64, 79, 80, 81, 97, 255, 300}) {
        for (bool exceeds_cache : {false, true}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("row " + std::to_string(bytes) + ", n " + std::to_string(n) + ", type " +
                         std::to_string(static_cast<int>(type)) + (exceeds_cache ? ", exceeds cache" : ""));
            const int64_t gap = pick(3) == 0 ? 64 * pick(2) + pick(2) : 0;
            const int64_t lines = n < 16 ? 1 + pick(60) : n < 128 ? 1 + pick(12) : 1;
            check(type, {bytes, exceeds_cache, pick(2) == 0}, n, lines, gap, has_bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(TiersFusedGather, LongRowsAreCopied) {
  for (int64_t bytes : {1024, 2048, 4096, 4100}) {
    for (bool exceeds_cache : {false, true}) {
      for (bool has_bad : {false, true})
        check(IndexType::int64, {bytes, exceeds_cache, exceeds_cache}, 128, 1, 0, has_bad);
    }
  }
}

// Tables of at most 16 rows are loaded into registers, for indices of every type. Tables of 17 rows are not.
TEST_P(TiersFusedGather, TablesInRegistersAreCopied) {
  for (most_rows_ = 1; most_rows_ <= 17; ++most_rows_) {
    for (int32_t kind = 0; kind < 8; ++kind) {
      const auto type = static_cast<IndexType>(kind);
      const bool is_walked = type == IndexType::int32 || gather::core::index_bytes(static_cast<IndexType>(kind)) == 8;
      if (!is_walked && (GetParam() == GTH_TIER_PORTABLE || most_rows_ > 16)) continue;
      for (int64_t bytes : {1, 2, 4}) {
        for (int64_t n : {64, 65, 71, 72, 100, 255, 300}) {
          for (bool has_bad : {false, true}) {
            SCOPED_TRACE("rows " + std::to_string(most_rows_) + " of " + std::to_string(bytes) + ", n " +
                         std::to_string(n) + ", type " + std::to_string(kind));
            const int64_t gap = is_walked && pick(4) == 0 ? 3 : 0;
            check(type, {bytes, false, false}, n, n < 100 ? 1 + pick(3) : 1, gap, has_bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// With few tuples, or with gaps between rows, the table is not loaded into registers. The kernel copies nothing.
TEST_P(TiersFusedGather, FewTuplesOfATableAreDeclined) {
  most_rows_ = 16;
  const Selection selection = select(IndexType::uint8, 4, 63);
  const FusedKernel fused = tier_->choose_fused_gather(selection, {4, false, false});
  ASSERT_EQ(fused == nullptr, GetParam() == GTH_TIER_PORTABLE);
  if (!fused) return;
  char out[300 * 8];
  EXPECT_EQ(fused(selection, {indices_.first(), 1, 63, out, 4, table_.first(), 4, 1, 0, 0, 0}), 0);
  EXPECT_EQ(fused(selection, {indices_.first(), 1, 300, out, 8, table_.first(), 4, 1, 0, 0, 0}), 0);
}

TEST_P(TiersFusedGather, TuplesOfSeveralComponentsAreCopied) {
  for (int32_t components = 2; components <= Selection::max_components; ++components) {
    for (IndexType type : {IndexType::int32, IndexType::int64, IndexType::uint64}) {
      for (int64_t n : {1, 15, 16, 17, 33, 80, 97}) {
        for (int64_t bytes : {1, 4, 12, 64, 200}) {
          for (bool exceeds_cache : {false, true}) {
            for (bool has_bad : {false, true}) {
              SCOPED_TRACE("components " + std::to_string(components) + ", row " + std::to_string(bytes) + ", n " +
                           std::to_string(n) + ", type " + std::to_string(static_cast<int>(type)));
              check(type, {bytes, exceeds_cache, false}, n, 1 + pick(n < 16 ? 12 : 3), 0, has_bad, components);
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST_P(TiersFusedGather, OnlyDenseOperandsAreAccepted) {
  Selection selection = select(IndexType::int64, 4, 16);
  selection.tuple_step = 16;
  EXPECT_EQ(tier_->choose_fused_gather(selection, {4, false, false}), nullptr);
  selection.tuple_step = 0;
  EXPECT_EQ(tier_->choose_fused_gather(selection, {4, false, false}), nullptr);
  selection = select(IndexType::int64, 4, 16);
  selection.components = 2;
  EXPECT_EQ(tier_->choose_fused_gather(selection, {4, false, false}), nullptr);
}

// While another thread changes one index between valid and invalid, the row of a valid index is copied.
TEST_P(TiersFusedGather, EachIndexIsReadOnce) {
  Selection selection{};
  selection.type = IndexType::int64;
  selection.components = 1;
  selection.index_step = selection.tuple_step = 8;
  selection.size[0] = 1000;
  selection.stride[0] = 8;
  int64_t table[1000], out[32];
  for (int64_t i = 0; i < 1000; ++i) table[i] = i;
  const FusedKernel fused = tier_->choose_fused_gather(selection, {8, false, false});
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
      const int64_t moved =
          fused(selection, {first, 8, n, reinterpret_cast<char*>(out), 8, base, 8, lines, n * 8, n * 8, 0});
      EXPECT_TRUE(out[17] == 0 || out[17] == 5) << out[17];
      EXPECT_LE(moved, n * lines);
    }
  }
  ends = true;
  other.join();
}

// ---- scatters

class TiersFusedScatter : public TiersFusedGather {
 protected:
  // Checks that the updates before the first invalid tuple are applied in order, except for some of the last ones.
  template <class Combine>
  void check_fused_scatter(FusedKernel fused, const Selection& selection, int64_t row, int64_t n, int64_t lines,
                           bool has_bad, Combine&& combine) {
    const int64_t all = n * lines;
    std::vector<int64_t> offsets(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; ++i) offsets[static_cast<size_t>(i)] = store_inside(selection, i);
    const int64_t bad = has_bad ? pick(all) : all;
    if (has_bad) store(selection, bad, 0, outside(selection, 0));
    char* const updates = updates_.at(all * row, pick(2) == 0);
    std::vector<char> expected(target_.first(), target_.first() + target_.size());
    const int64_t moved = fused(selection, {indices_.first(), selection.tuple_step, n, updates, row, target_.first(),
                                            row, lines, n * selection.tuple_step, n * row, next_table_});
    ASSERT_LE(moved, bad);
    ASSERT_GT(moved, has_bad ? bad - group : all - 1);
    for (int64_t i = 0; i < moved; ++i) {
      const int64_t at = offsets[static_cast<size_t>(i)] + i % n * selection.table_step + i / n * next_table_;
      combine(expected.data() + at, updates + i * row);
    }
    ASSERT_EQ(std::memcmp(target_.first(), expected.data(), expected.size()), 0)
        << "rows of " << row << ", " << n << " in " << lines << " lines";
  }

  // Changes the selection so that each row is one number, at a multiple of its size.
  void make_numbers(int64_t size, int64_t n, int64_t lines, int64_t most, Selection* selection) {
    selection->table_step -= selection->table_step % size;
    next_table_ -= next_table_ % size;
    const int64_t spare = static_cast<int64_t>(target_.size()) - size - n * selection->table_step - lines * next_table_;
    for (int32_t c = 0; c < selection->components; ++c) {
      selection->stride[c] = size;
      selection->size[c] = 1 + std::min(most, spare / selection->components / size);
    }
  }

  // Checks the kernels that choose(selection, exceeds_cache) returns. Rows are one number of type T, with few or many
  // targets.
  template <class T, class Choose, class Combine>
  void check_fused_scatters(Choose&& choose, Combine&& combine) {
    for (int64_t most : {3, 100, 4000}) {
      for (IndexType type : {IndexType::int32, IndexType::int64, IndexType::uint64}) {
        for (int64_t n : {1, 3, 8, 15, 16, 17, 33, 63, 64, 100, 300}) {
          for (int32_t bits = 0; bits < 4; ++bits) {
            const int64_t lines = n < 16 ? 1 + pick(30) : n < 128 ? 1 + pick(12) : 1 + pick(3);
            const bool has_bad = (bits & 1) != 0, exceeds_cache = (bits & 2) != 0;
            Selection selection = select(type, sizeof(T), n, 1 + bits % 2, lines);
            make_numbers(sizeof(T), n, lines, most, &selection);
            const FusedKernel fused = choose(selection, exceeds_cache);
            ASSERT_NE(fused, nullptr);
            draw<T>(&target_);
            draw<T>(&updates_);
            check_fused_scatter(fused, selection, sizeof(T), n, lines, has_bad, combine);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }

  template <class T>
  void check_sums(Addend addend) {
    check_fused_scatters<T>(
        [&](const Selection& selection, bool exceeds_cache) {
          return tier_->choose_fused_scatter_sum(selection, addend, {sizeof(T), exceeds_cache, false});
        },
        add_number<T>);
  }

  template <class T>
  void check_writes() {
    check_fused_scatters<T>(
        [&](const Selection& selection, bool exceeds_cache) {
          return tier_->choose_fused_scatter(selection, {sizeof(T), exceeds_cache, false});
        },
        [](char* at, const char* update) { std::memcpy(at, update, sizeof(T)); });
  }

 private:
  Guarded target_{8}, updates_{4};
};

TEST_P(TiersFusedScatter, UpdatesAreWrittenInOrder) {
  check_writes<uint8_t>();
  check_writes<uint16_t>();
  check_writes<uint32_t>();
  check_writes<uint64_t>();
}

TEST_P(TiersFusedScatter, UpdatesAreAddedInOrder) {
  check_sums<uint32_t>(Addend::integer32);
  check_sums<uint64_t>(Addend::integer64);
  check_sums<float>(Addend::float32);
  check_sums<double>(Addend::float64);
}

TEST_P(TiersFusedScatter, OnlyShortRowsAndDenseTuplesAreAccepted) {
  Selection selection = select(IndexType::int64, 4, 16);
  EXPECT_EQ(tier_->choose_fused_scatter(selection, {3, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_fused_scatter(selection, {16, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_fused_scatter_sum(selection, Addend::float32, {8, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_fused_scatter_sum(selection, Addend::integer16, {2, false, false}), nullptr);
  selection.tuple_step = 16;
  EXPECT_EQ(tier_->choose_fused_scatter(selection, {4, false, false}), nullptr);
  EXPECT_EQ(tier_->choose_fused_scatter_sum(selection, Addend::float32, {4, false, false}), nullptr);
}

INSTANTIATE_TEST_SUITE_P(, TiersFusedGather, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersFusedScatter, ::testing::ValuesIn(built()), tier_name);

}  // namespace
