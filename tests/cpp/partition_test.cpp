#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "guarded.hpp"
#include "hostile.hpp"
#include "limits.hpp"
#include "watched.hpp"

// Tests the documentation of the header about the partition of ids by shards.
namespace {

using namespace hostile;
using Numbers = std::vector<int64_t>;

constexpr int64_t untouched = 0x5555555555555555;

// Computes the place of a row in the simplest way, as the header defines it.
struct Layout {
  int32_t kind;
  int64_t rows, count;
  Numbers borders;

  gth_shards shards() const {
    gth_shards result = GTH_SHARDS_INIT;
    result.kind = kind;
    result.rows = rows;
    result.count = count;
    result.borders = borders.empty() ? nullptr : borders.data();
    return result;
  }

  std::pair<int64_t, int64_t> find(int64_t row) const {
    if (kind == GTH_SHARDS_MODULO) return {row % count, row / count};
    if (kind == GTH_SHARDS_BLOCKS || kind == 0) {
      const int64_t block = (rows + count - 1) / count;
      return {row / block, row % block};
    }
    for (int64_t s = 0;; ++s) {
      if (row < borders[static_cast<size_t>(s) + 1]) return {s, row - borders[static_cast<size_t>(s)]};
    }
  }
};

// The memory of a call. Each array ends before an inaccessible page.
struct Memory {
  Memory(const gth_tensor_desc& ids, const Layout& layout, int64_t n, uint32_t flags) {
    const gth_shards shards = layout.shards();
    int64_t bytes = -1;
    EXPECT_EQ(gth_partition_scratch(&ids, &shards, flags, &bytes, nullptr), GTH_OK);
    const int64_t sizes[] = {8 * layout.count, 8 * n, 8 * n, 8 * n, bytes};
    for (size_t i = 0; i < 5; ++i) {
      memory_[i] = std::make_unique<Guarded>(static_cast<size_t>(sizes[i] / 4096 + 1));
      at_[i] = reinterpret_cast<int64_t*>(memory_[i]->at(sizes[i], false));
      std::fill_n(at_[i], sizes[i] / 8, untouched);
    }
    parts = GTH_PARTS_INIT;
    parts.flags = flags;
    parts.capacity = n;
    parts.counts = at_[0];
    parts.local = at_[1];
    parts.order = flags & GTH_PARTS_ONCE ? nullptr : at_[2];
    parts.place = at_[3];
    parts.scratch = at_[4];
    parts.scratch_bytes = bytes;
  }

  bool is_untouched(int64_t n, int64_t count) const {
    const auto same = [](const int64_t* at, int64_t numbers) {
      return std::all_of(at, at + numbers, [](int64_t number) { return number == untouched; });
    };
    return same(at_[0], count) && same(at_[1], n) && same(at_[2], n) && same(at_[3], n);
  }

  gth_parts parts;

 private:
  std::unique_ptr<Guarded> memory_[5];
  int64_t* at_[5];
};

// Compares an array of a result with the expected numbers.
void expect_numbers(const char* name, const Numbers& expected, const int64_t* result) {
  const auto [wanted, found] = std::mismatch(expected.begin(), expected.end(), result);
  ASSERT_TRUE(wanted == expected.end()) << name << ", number " << wanted - expected.begin() << ": " << *wanted
                                        << " is expected, not " << *found;
}

// Checks the result. ids: the row of each id, or -1 for none.
void expect_parts(const Layout& layout, const Numbers& ids, const gth_parts& parts) {
  const bool once = parts.flags & GTH_PARTS_ONCE;
  std::vector<Numbers> local_rows(static_cast<size_t>(layout.count)), positions(local_rows.size());
  std::unordered_map<int64_t, int64_t> ranks;  // of the rows that are listed once
  Numbers rank(ids.size(), -1);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    const auto [shard, row] = layout.find(ids[i]);
    const auto s = static_cast<size_t>(shard);
    rank[i] = static_cast<int64_t>(local_rows[s].size());
    if (once) {
      const auto [known, is_new] = ranks.try_emplace(ids[i], rank[i]);
      rank[i] = known->second;
      if (!is_new) continue;
    }
    local_rows[s].push_back(row);
    positions[s].push_back(static_cast<int64_t>(i));
  }
  Numbers counts, starts, local, order, place;
  for (size_t s = 0; s < local_rows.size(); ++s) {
    counts.push_back(static_cast<int64_t>(local_rows[s].size()));
    starts.push_back(static_cast<int64_t>(local.size()));
    local.insert(local.end(), local_rows[s].begin(), local_rows[s].end());
    order.insert(order.end(), positions[s].begin(), positions[s].end());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    place.push_back(rank[i] < 0 ? -1 : starts[static_cast<size_t>(layout.find(ids[i]).first)] + rank[i]);
  }
  expect_numbers("counts", counts, parts.counts);
  expect_numbers("local", local, parts.local);
  if (!once) expect_numbers("order", order, parts.order);
  expect_numbers("place", place, parts.place);
}

Layout borders_of(std::mt19937_64& random, int64_t rows, int64_t count) {
  Layout layout{GTH_SHARDS_BORDERS, rows, count, {}};
  for (int64_t i = 0; i <= count; ++i) {
    layout.borders.push_back(i == 0       ? 0
                             : i == count ? rows
                                          : static_cast<int64_t>(random() % static_cast<uint64_t>(rows + 1)));
  }
  std::sort(layout.borders.begin(), layout.borders.end());
  return layout;
}

TEST(Partition, EveryKindOfShardsMatchesTheHeader) {
  std::mt19937_64 random(3);
  const auto pick = [&](int64_t count) { return static_cast<int64_t>(random() % static_cast<uint64_t>(count)); };
  for (int64_t rows : {int64_t{1}, int64_t{5}, int64_t{100}, int64_t{70000}, int64_t{1} << 33, int64_t{1} << 60}) {
    for (int64_t count : {1, 2, 3, 8, 200}) {
      for (int32_t kind : {0, GTH_SHARDS_BLOCKS, GTH_SHARDS_MODULO, GTH_SHARDS_BORDERS}) {
        for (int64_t n : {0, 1, 2, 7, 300, 2000}) {
          const Layout layout =
              kind == GTH_SHARDS_BORDERS ? borders_of(random, rows, count) : Layout{kind, rows, count, {}};
          const int32_t bounds = pick(2) ? GTH_BOUNDS_ERROR : GTH_BOUNDS_SKIP;
          const int64_t near = pick(2) ? rows : std::min<int64_t>(rows, 50);  // few rows have many duplicates
          Numbers values, ids;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t row = pick(near);
            const bool is_outside = bounds == GTH_BOUNDS_SKIP && pick(5) == 0;
            values.push_back(is_outside ? rows + pick(3) : pick(4) == 0 ? row - rows : row);
            ids.push_back(is_outside ? -1 : row);
          }
          const Shape shape{n};
          const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, values.data());
          gth_options options = GTH_OPTIONS_INIT;
          options.bounds = bounds;
          options.negative = GTH_NEGATIVE_WRAP;
          for (uint32_t flags : {0, GTH_PARTS_ONCE}) {
            SCOPED_TRACE("rows " + std::to_string(rows) + ", shards " + std::to_string(count) + ", kind " +
                         std::to_string(kind) + ", n " + std::to_string(n) + ", flags " + std::to_string(flags));
            const Memory memory(desc, layout, n, flags);
            const gth_shards shards = layout.shards();
            Error error;
            ASSERT_EQ(gth_partition(nullptr, &desc, &shards, &options, &memory.parts, &error), GTH_OK) << error.message;
            expect_parts(layout, ids, memory.parts);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The number of ids straddles a block of tuples, and the pieces for threads.
TEST(Partition, SizesAtTheBordersOfBlocksMatchTheHeader) {
  std::mt19937_64 random(6);
  for (const int64_t limit : {limits::block_tuples, 2 * limits::min_piece_ids,
                              limits::most_partition_pieces * std::max<int64_t>(limits::min_piece_ids, 8 * 3)}) {
    for (const int64_t n : {limit - 1, limit + 1}) {
      for (const int64_t count : {int64_t{3}, limits::min_piece_ids / 8 + 1}) {
        if (count > n) continue;
        for (const uint32_t flags : {0, GTH_PARTS_ONCE}) {
          const Layout layout{random() % 2 ? GTH_SHARDS_MODULO : GTH_SHARDS_BLOCKS, 2 * n, count, {}};
          Numbers ids(static_cast<size_t>(n));
          for (int64_t& id : ids) id = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * n));
          const Shape shape{n};
          const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, ids.data());
          const Memory memory(desc, layout, n, flags);
          const gth_shards shards = layout.shards();
          Error error;
          ASSERT_EQ(gth_partition(nullptr, &desc, &shards, nullptr, &memory.parts, &error), GTH_OK) << error.message;
          expect_parts(layout, ids, memory.parts);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// No row is filled, so the options may have a fill value of any dtype.
TEST(Partition, FillValueOfAnyDtypeIsAccepted) {
  const Layout layout{GTH_SHARDS_MODULO, 7, 2, {}};
  const gth_shards shards = layout.shards();
  const Array ids = indices64({3}, {6, 0, 3});
  const gth_tensor_desc desc = ids.desc();
  const Memory out(desc, layout, 3, 0);
  gth_options options = with_bounds(GTH_BOUNDS_FILL);
  options.fill = GTH_FILL_VALUE;
  options.fill_dtype = GTH_DTYPE_FLOAT64;
  Error error;
  ASSERT_EQ(gth_partition(nullptr, &desc, &shards, &options, &out.parts, &error), GTH_OK) << error.message;
  expect_parts(layout, {6, 0, 3}, out.parts);
}

// Ids of every integer type and with any strides are read in row-major order.
TEST(Partition, IdsOfEveryTypeAndStrideAreAccepted) {
  const Layout layout{GTH_SHARDS_MODULO, 100, 3, {}};
  const gth_shards shards = layout.shards();
  for (int32_t dtype : {GTH_DTYPE_INT8, GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64, GTH_DTYPE_UINT8,
                        GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64}) {
    const int64_t bytes = (dtype & 255) / 8;
    std::vector<char> memory(static_cast<size_t>(40 * bytes));
    Numbers ids;
    const Shape shape{4, 3}, strides{bytes, 8 * bytes};  // columns of a table with four
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        const int64_t id = (i * 37 + j * 11) % 100;
        ids.push_back(id);
        std::memcpy(&memory[static_cast<size_t>(i * bytes + j * 8 * bytes)], &id, static_cast<size_t>(bytes));
      }
    }
    const gth_tensor_desc desc = describe(dtype, shape, memory.data(), strides.data());
    const Memory out(desc, layout, 12, 0);
    Error error;
    ASSERT_EQ(gth_partition(nullptr, &desc, &shards, nullptr, &out.parts, &error), GTH_OK) << error.message;
    expect_parts(layout, ids, out.parts);
  }
}

// The first invalid id is reported with its position and value. It need not belong to the first shard. Nothing is
// written.
TEST(Partition, FirstInvalidIdIsReported) {
  std::mt19937_64 random(5);
  const Layout layout{GTH_SHARDS_BLOCKS, 1000, 4, {}};
  const gth_shards shards = layout.shards();
  for (int64_t n : {1, 300, 5000}) {
    Numbers values(static_cast<size_t>(n));
    for (auto& value : values) value = static_cast<int64_t>(random() % 1000);
    const auto bad = static_cast<size_t>(random() % static_cast<uint64_t>(n));
    values[bad] = 1000;
    values.back() = bad + 1 == values.size() ? 1000 : -1;
    const Shape shape{n};
    const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, values.data());
    for (uint32_t flags : {0, GTH_PARTS_ONCE}) {
      const Memory memory(desc, layout, n, flags);
      Error error;
      expect_facts(gth_partition(nullptr, &desc, &shards, nullptr, &memory.parts, &error), error,
                   {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, static_cast<int64_t>(bad), 1000, 1000});
      EXPECT_TRUE(memory.is_untouched(n, 4));
    }
  }
}

// The result does not depend on the number of threads, of the library or the caller.
TEST(Partition, EveryNumberOfThreadsGivesTheSameResult) {
  constexpr int64_t n = 200000;
  std::mt19937_64 random(7);
  Numbers values(n);
  for (auto& value : values) value = static_cast<int64_t>(random() % 5000 * (random() % 5000) / 5);
  const Layout layout{GTH_SHARDS_MODULO, 5000 * 1000, 7, {}};
  const gth_shards shards = layout.shards();
  const Shape shape{n};
  const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, values.data());
  for (int32_t threads : {1, 2, 3}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    for (uint32_t flags : {0, GTH_PARTS_ONCE}) {
      const Memory memory(desc, layout, n, flags);
      ASSERT_EQ(gth_partition(nullptr, &desc, &shards, &options, &memory.parts, nullptr), GTH_OK);
      expect_parts(layout, values, memory.parts);
      if (HasFatalFailure()) return;
    }
  }
}

// The result does not depend on the rounding mode. The ids are near the first row of a shard, and near changes of a
// quotient.
TEST(Partition, EveryRoundingModeGivesTheSameResult) {
  for (int64_t rows :
       {int64_t{1} << 20, int64_t{1} << 51, (int64_t{1} << 52) - 1, int64_t{1} << 52, int64_t{1} << 60}) {
    for (int64_t count : {2, 3, 5, 7, 49}) {
      const int64_t block = (rows + count - 1) / count;
      Numbers ids;
      for (int64_t k = 1; k < 60; ++k) {
        for (int64_t near : {-1, 0, 1}) {
          ids.push_back(block * (k % count) + (k % count > 0 ? near : k));
          ids.push_back((rows / count - k) * count + near);
        }
      }
      const auto n = static_cast<int64_t>(ids.size());
      const Shape shape{n};
      const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, ids.data());
      for (int32_t kind : {GTH_SHARDS_BLOCKS, GTH_SHARDS_MODULO}) {
        const Layout layout{kind, rows, count, {}};
        const gth_shards shards = layout.shards();
        for (int rounding : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
          const Memory memory(desc, layout, n, 0);
          std::fesetround(rounding);
          const int32_t status = gth_partition(nullptr, &desc, &shards, nullptr, &memory.parts, nullptr);
          std::fesetround(FE_TONEAREST);
          ASSERT_EQ(status, GTH_OK) << rows << ", " << count;
          expect_parts(layout, ids, memory.parts);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// If ids change during the call, it returns an error or the result of some ids. It accesses no other memory.
TEST(Partition, I9_RacingIdsAccessNoOtherMemory) {
  constexpr int64_t n = 3000;
  alignas(8) static volatile int64_t values[n];
  const Layout layout = {GTH_SHARDS_BORDERS, 600, 3, {0, 100, 400, 600}};
  const gth_shards shards = layout.shards();
  const Shape shape{n};
  const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, const_cast<int64_t*>(values));
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (int64_t i = 0; !ends; ++i) values[i * 7 % n] = i % 11 == 0 ? 600 : i * 13 % 600;
  });
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = GTH_BOUNDS_SKIP;
  for (uint32_t flags : {0, GTH_PARTS_ONCE}) {
    const Memory memory(desc, layout, n, flags);
    for (int repeat = 0; repeat < 300; ++repeat) {
      const int32_t status = gth_partition(nullptr, &desc, &shards, &options, &memory.parts, nullptr);
      ASSERT_TRUE(status == GTH_OK || status == GTH_E_RACE) << status;
    }
  }
  ends = true;
  writer.join();
}

// Ids that change at a chosen step of the call. The steps are: validate (except with skip), count, and store.
class PartitionRaces : public ::testing::TestWithParam<std::pair<int32_t, uint32_t>> {
 protected:
  static constexpr int64_t rows = 600, n = Watched::n;

  void expect_race(int32_t bounds, int nth, int64_t at, int64_t id) const {
    Numbers values(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = i * 7 % (rows - 1);
    const Watched ids(values, nth, [at, id](int64_t* now) { now[at] = id; });
    const gth_tensor_desc desc = ids.desc();
    const Layout layout{GetParam().first, rows, 3, {0, 100, 400, rows}};
    const gth_shards shards = layout.shards();
    const Memory memory(desc, layout, n, GetParam().second);
    gth_options options = with_bounds(bounds);
    options.threads = 1;
    Error error;
    expect_facts(gth_partition(nullptr, &desc, &shards, &options, &memory.parts, &error), error,
                 {GTH_E_RACE, GTH_OPERAND_INDICES});
  }
};

TEST_P(PartitionRaces, I9_IdThatIsInvalidWhenCountedGivesRace) { expect_race(GTH_BOUNDS_ERROR, 1, 0, rows); }

TEST_P(PartitionRaces, I9_IdThatIsInvalidWhenStoredGivesRace) { expect_race(GTH_BOUNDS_ERROR, 3, 0, rows); }

// The last shard has one row more than counted, either at once or at the end.
TEST_P(PartitionRaces, I9_MoreIdsThanCountedGiveRace) {
  expect_race(GTH_BOUNDS_ERROR, 3, 0, rows - 1);
  expect_race(GTH_BOUNDS_ERROR, 5, n - 1, rows - 1);
}

TEST_P(PartitionRaces, I9_FewerIdsThanCountedGiveRace) { expect_race(GTH_BOUNDS_SKIP, 1, 0, rows); }

INSTANTIATE_TEST_SUITE_P(, PartitionRaces,
                         ::testing::Values(std::pair{GTH_SHARDS_BLOCKS, 0u}, std::pair{GTH_SHARDS_MODULO, 0u},
                                           std::pair{GTH_SHARDS_BORDERS, 0u},
                                           std::pair{GTH_SHARDS_BORDERS, uint32_t{GTH_PARTS_ONCE}}));

class PartitionMistakes : public ::testing::Test {
 protected:
  void expect(const Facts& facts) {
    Error error;
    expect_facts(gth_partition(nullptr, &desc_, &shards_, nullptr, &memory_.parts, &error), error, facts);
    EXPECT_TRUE(memory_.is_untouched(3, 2));
  }

  Numbers values_{0, 5, 9};
  Shape shape_{3};
  gth_tensor_desc desc_ = describe(GTH_DTYPE_INT64, shape_, values_.data());
  Layout layout_{GTH_SHARDS_BLOCKS, 10, 2, {}};
  gth_shards shards_ = layout_.shards();
  Memory memory_{desc_, layout_, 3, 0};
};

TEST_F(PartitionMistakes, I10_InvalidShardsAreRejected) {
  const gth_shards good = shards_;
  const auto with = [&](auto change, const Facts& facts) {
    shards_ = good;
    change(shards_);
    expect(facts);
  };
  with([](auto& s) { s.size = 8; }, {GTH_E_VERSION, GTH_OPERAND_NONE, 0, -1, 8, sizeof(gth_shards)});
  with([](auto& s) { s.kind = -1; }, {GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, -1, 3});
  with([](auto& s) { s.kind = 4; }, {GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, 4, 3});
  with([](auto& s) { s.rows = -1; }, {GTH_E_SHAPE, GTH_OPERAND_NONE, -1, -1, -1, 0});
  with([](auto& s) { s.count = 0; }, {GTH_E_SHAPE, GTH_OPERAND_NONE, -1, -1, 0, 0});
  with([](auto& s) { s.count = INT64_MAX; }, {GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, 3, 0});
  with([](auto& s) { s.kind = GTH_SHARDS_BORDERS; }, {GTH_E_NULL});
  with([](auto& s) { s.rows = 9; }, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 9});
  with([](auto& s) { s.rows = 0; }, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 0, 0});
}

// Every array of the result, with every other memory of the call. Arrays that touch do not overlap.
TEST_F(PartitionMistakes, I10_OverlappingArraysAreRejected) {
  Numbers memory(100), borders = {0, 5, 10};
  const auto at = [&](int64_t i) { return memory.data() + i; };
  gth_parts parts = memory_.parts;
  ASSERT_LE(parts.scratch_bytes, 8 * 20);
  parts.scratch_bytes = 8 * 20;
  parts.counts = at(0), parts.local = at(2), parts.order = at(5), parts.place = at(8), parts.scratch = at(11);
  std::copy_n(values_.data(), 3, at(31));
  std::copy_n(borders.data(), 3, at(34));
  desc_.data = at(31);
  shards_.kind = GTH_SHARDS_BORDERS;
  shards_.borders = at(34);
  Error error;
  ASSERT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error), GTH_OK) << error.message;
  const Numbers expected(memory);

  const struct {
    int64_t* gth_parts::* array;
    int64_t first, numbers;
  } arrays[] = {
      {&gth_parts::counts, 0, 2}, {&gth_parts::local, 2, 3}, {&gth_parts::order, 5, 3}, {&gth_parts::place, 8, 3}};
  const struct {
    int64_t first, numbers;
    int32_t operand;
  } others[] = {{0, 2, 0}, {2, 3, 0}, {5, 3, 0}, {8, 3, 0}, {11, 20, 0}, {31, 3, GTH_OPERAND_INDICES}, {34, 3, 0}};
  for (const auto& each : arrays) {
    for (const auto& other : others) {
      if (other.first == each.first) continue;
      for (const int64_t first : {other.first, other.first + other.numbers - 1, other.first + 1 - each.numbers}) {
        if (first < 0) continue;
        gth_parts wrong = parts;
        wrong.*each.array = at(first);
        const int32_t status = gth_partition(nullptr, &desc_, &shards_, nullptr, &wrong, &error);
        EXPECT_EQ(status, GTH_E_ALIAS) << each.first << " at " << first;
        EXPECT_EQ(memory, expected);
      }
    }
  }
  parts.order = at(33);
  expect_facts(gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_NONE, -1, -1, GTH_OPERAND_INDICES, 0});
  parts.order = at(5), parts.scratch = at(31);
  expect_facts(gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_NONE, -1, -1, GTH_OPERAND_INDICES, 0});
  // Nothing is written for no ids, so their arrays may be anywhere.
  const Shape none{0};
  desc_ = describe(GTH_DTYPE_INT64, none, at(2));
  parts.local = parts.order = parts.place = at(0), parts.scratch = at(40);
  EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error), GTH_OK) << error.message;
}

TEST_F(PartitionMistakes, MessagesNameBothArrays) {
  const gth_parts good = memory_.parts;
  Numbers borders = {0, 5, 10};
  shards_.kind = GTH_SHARDS_BORDERS;
  shards_.borders = borders.data();
  const auto expect_message = [&](const gth_parts& parts, const char* message) {
    Error error;
    EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error), GTH_E_ALIAS);
    EXPECT_STREQ(error.message, message);
  };
  gth_parts parts = good;
  parts.local = good.counts;
  expect_message(parts, "parts: counts shares memory with local");
  parts = good;
  parts.place = static_cast<int64_t*>(good.scratch);
  expect_message(parts, "parts: place shares memory with scratch");
  parts = good;
  parts.order = values_.data();
  expect_message(parts, "parts: order shares memory with ids");
  parts = good;
  parts.counts = borders.data();
  expect_message(parts, "parts: counts shares memory with borders");
}

// Only shards of the kind GTH_SHARDS_BORDERS have borders.
TEST_F(PartitionMistakes, I10_BordersOfOtherKindsAreIgnored) {
  shards_.borders = memory_.parts.counts;
  for (const int32_t kind : {0, GTH_SHARDS_BLOCKS, GTH_SHARDS_MODULO}) {
    shards_.kind = kind;
    Error error;
    EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, &memory_.parts, &error), GTH_OK) << error.message;
  }
}

// The ids occupy memory from their lowest to their highest one, wherever their data begins.
TEST_F(PartitionMistakes, I10_OnlyTheMemoryOfIdsMayNotOverlap) {
  Numbers memory(20);
  std::copy_n(values_.data(), 3, memory.data() + 10);
  for (const int64_t stride : {8, -8}) {
    const Shape strides{stride};
    desc_ = describe(GTH_DTYPE_INT64, shape_, memory.data() + 8, strides.data());
    desc_.offset = stride > 0 ? 16 : 32;
    for (const int64_t first : {7, 8, 12, 13}) {
      gth_parts parts = memory_.parts;
      parts.order = memory.data() + first;
      Error error;
      const int32_t status = gth_partition(nullptr, &desc_, &shards_, nullptr, &parts, &error);
      EXPECT_EQ(status, first == 7 || first == 13 ? GTH_OK : GTH_E_ALIAS) << stride << " " << first << error.message;
    }
  }
}

// The number of 2^60 cursors fits int64, but their size of 8 bytes each does not. Three numbers for each id give a size
// that wraps around to 2, and one that just fits int64.
TEST_F(PartitionMistakes, I11_ScratchBeyondInt64IsRejected) {
  for (int64_t n : {int64_t{6148914691236517206}, INT64_MAX / 3, INT64_MAX / 3 - 1}) {
    for (shards_.count = 1; shards_.count <= 3; ++shards_.count) {
      const Shape shape{n};
      const gth_tensor_desc ids = describe(GTH_DTYPE_INT8, shape, nullptr);
      int64_t bytes = -7;
      Error error;
      expect_facts(gth_partition_scratch(&ids, &shards_, GTH_PARTS_ONCE, &bytes, &error), error,
                   {GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, n, 0});
      EXPECT_EQ(bytes, -7) << n;
    }
  }
  for (int64_t count : {int64_t{1} << 59, int64_t{1} << 60, INT64_MAX}) {
    shards_.count = count;
    int64_t bytes = -7;
    Error error;
    const int32_t status = gth_partition_scratch(&desc_, &shards_, 0, &bytes, &error);
    expect_facts(status, error, {GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, 3, 0});
    EXPECT_EQ(bytes, -7) << count;
  }
}

TEST_F(PartitionMistakes, I10_InvalidBordersAreRejected) {
  shards_.kind = GTH_SHARDS_BORDERS;
  const auto with = [&](Numbers borders, int64_t at, int64_t value, int64_t limit) {
    shards_.borders = borders.data();
    expect({GTH_E_SHAPE, GTH_OPERAND_NONE, -1, at, value, limit});
  };
  with({1, 5, 10}, 0, 1, 0);
  with({-1, 5, 10}, 0, -1, 0);
  with({0, 11, 10}, 1, 11, 10);
  with({0, -1, 10}, 1, -1, 10);
  with({0, 5, 9}, 2, 9, 10);
  with({0, 5, 11}, 2, 11, 10);
}

TEST_F(PartitionMistakes, I11_InvalidArraysAreRejected) {
  const gth_parts good = memory_.parts;
  const auto with = [&](auto change, const Facts& facts) {
    memory_.parts = good;
    change(memory_.parts);
    expect(facts);
  };
  const int64_t needed = good.scratch_bytes;
  with([](auto& p) { p.size = 12; }, {GTH_E_VERSION, GTH_OPERAND_NONE, 0, -1, 12, sizeof(gth_parts)});
  with([](auto& p) { p.flags = 2; }, {GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, 2, 1});
  with([](auto& p) { p.capacity = 2; }, {GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, 2, 3});
  with([](auto& p) { p.counts = nullptr; }, {GTH_E_NULL});
  with([](auto& p) { p.local = nullptr; }, {GTH_E_NULL});
  with([](auto& p) { p.scratch = nullptr; }, {GTH_E_NULL});
  with([&](auto& p) { p.scratch_bytes = needed - 1; }, {GTH_E_SIZE, GTH_OPERAND_NONE, -1, -1, needed - 1, needed});
  with([](auto& p) { p.flags = GTH_PARTS_ONCE; }, {GTH_E_UNSUPPORTED});
  with([](auto& p) { p.flags = GTH_PARTS_ONCE, p.order = nullptr, p.place = nullptr; }, {GTH_E_NULL});
  for (int64_t* gth_parts::* numbers : {&gth_parts::counts, &gth_parts::local, &gth_parts::order, &gth_parts::place}) {
    with([&](auto& p) { p.*numbers = reinterpret_cast<int64_t*>(reinterpret_cast<char*>(p.*numbers) + 4); },
         {GTH_E_UNSUPPORTED});
  }
  with([](auto& p) { p.scratch = static_cast<char*>(p.scratch) + 4; }, {GTH_E_UNSUPPORTED});
}

TEST_F(PartitionMistakes, InvalidContextsAreRejected) {
  Error error;
  expect_facts(gth_partition(reinterpret_cast<gth_context*>(1), &desc_, &shards_, nullptr, &memory_.parts, &error),
               error, {GTH_E_HANDLE, GTH_OPERAND_CONTEXT});
  EXPECT_TRUE(memory_.is_untouched(3, 2));
}

TEST_F(PartitionMistakes, PaddingIsRejected) {
  gth_options options = GTH_OPTIONS_INIT;
  options.has_padding_index = 1;
  Error error;
  EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, &options, &memory_.parts, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_options, has_padding_index)));
  EXPECT_TRUE(memory_.is_untouched(3, 2));
}

TEST_F(PartitionMistakes, InvalidIdsAreRejected) {
  EXPECT_EQ(gth_partition(nullptr, nullptr, &shards_, nullptr, &memory_.parts, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_partition(nullptr, &desc_, nullptr, nullptr, &memory_.parts, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, nullptr, nullptr), GTH_E_NULL);
  const gth_tensor_desc good = desc_;
  desc_.data = nullptr;
  expect({GTH_E_NULL, GTH_OPERAND_INDICES});
  desc_ = good;
  desc_.dtype = GTH_DTYPE_FLOAT32;
  Error error;
  EXPECT_EQ(gth_partition(nullptr, &desc_, &shards_, nullptr, &memory_.parts, &error), GTH_E_DTYPE);
  EXPECT_EQ(error.operand, GTH_OPERAND_INDICES);
  int64_t bytes;
  EXPECT_EQ(gth_partition_scratch(&good, &shards_, 0, nullptr, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_partition_scratch(&good, &shards_, 2, &bytes, nullptr), GTH_E_VERSION);
  EXPECT_EQ(gth_partition_scratch(nullptr, &shards_, 0, &bytes, nullptr), GTH_E_NULL);
}

}  // namespace
