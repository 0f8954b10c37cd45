#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../../src/core/os/testing.hpp"
#include "hostile.hpp"

// The time of GTH_PARTS_ONCE is proportional to the number of ids, for any ids. The tests count steps and do not
// measure time.
namespace {

using namespace hostile;
using Numbers = std::vector<int64_t>;

constexpr int64_t n = 50000, rows = int64_t{1} << 62;
// Ids that were not chosen to collide have few collisions in the hash table.
constexpr int64_t ordinary_steps = 3;
// The number of collisions is limited to 4 per id. Beyond that, the ids are sorted in at most 8 passes.
constexpr int64_t most_steps = 1 + 4 + 8;

Numbers made(const std::function<int64_t(int64_t)>& id) {
  Numbers ids;
  for (int64_t i = 0; i < n; ++i) ids.push_back(id(i));
  return ids;
}

// Expects the rows of each shard in the order of first occurrence, and for each id the place of its row.
void expect_kept_once(const Numbers& ids, int64_t shards, const gth_parts& parts) {
  std::vector<std::map<int64_t, int64_t>> numbers(static_cast<size_t>(shards));
  std::vector<Numbers> local(numbers.size());
  for (const int64_t id : ids) {
    const auto s = static_cast<size_t>(id % shards);
    if (numbers[s].try_emplace(id / shards, static_cast<int64_t>(local[s].size())).second) {
      local[s].push_back(id / shards);
    }
  }
  Numbers all, starts;
  for (size_t s = 0; s < local.size(); ++s) {
    ASSERT_EQ(parts.counts[s], static_cast<int64_t>(local[s].size()));
    starts.push_back(static_cast<int64_t>(all.size()));
    all.insert(all.end(), local[s].begin(), local[s].end());
  }
  ASSERT_TRUE(std::equal(all.begin(), all.end(), parts.local));
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto s = static_cast<size_t>(ids[i] % shards);
    ASSERT_EQ(parts.place[i], starts[s] + numbers[s][ids[i] / shards]) << "id " << i;
  }
}

int64_t last_steps = 0;

void expect_steps(const char* what, const Numbers& ids, int64_t shards, int64_t most) {
  SCOPED_TRACE(std::string(what) + ", shards " + std::to_string(shards));
  const Shape shape{static_cast<int64_t>(ids.size())};
  const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, shape, ids.data());
  gth_shards table = GTH_SHARDS_INIT;
  table.kind = GTH_SHARDS_MODULO;
  table.rows = rows;
  table.count = shards;
  gth_parts parts = GTH_PARTS_INIT;
  parts.flags = GTH_PARTS_ONCE;
  ASSERT_EQ(gth_partition_scratch(&desc, &table, parts.flags, &parts.scratch_bytes, nullptr), GTH_OK);
  Numbers counts(static_cast<size_t>(shards)), local(ids.size()), place(ids.size());
  Numbers scratch(static_cast<size_t>(parts.scratch_bytes) / sizeof(int64_t));
  parts.capacity = shape[0];
  parts.counts = counts.data();
  parts.local = local.data();
  parts.place = place.data();
  parts.scratch = scratch.data();
  gth_testing_take_steps();
  ASSERT_EQ(gth_partition(nullptr, &desc, &table, nullptr, &parts, nullptr), GTH_OK);
  last_steps = gth_testing_take_steps();
  EXPECT_GE(last_steps, shape[0]);
  EXPECT_LE(last_steps, most * shape[0] + shards);
  expect_kept_once(ids, shards, parts);
}

TEST(PartitionSteps, OrdinaryIdsNeedFewSteps) {
  std::mt19937_64 random(11);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  const auto zipf = [&](int64_t) {
    return static_cast<int64_t>(std::exp(static_cast<double>(below(1 << 20)) / (1 << 20) * std::log(1e7)));
  };
  Numbers shuffled = made([](int64_t i) { return i; });
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  for (const int64_t shards : {1, 3}) {
    const auto expect = [&](const char* what, const Numbers& ids) { expect_steps(what, ids, shards, ordinary_steps); };
    expect("a run", made([](int64_t i) { return 5000000000 + i; }));
    expect("repeated runs", made([](int64_t i) { return 5000000000 + i % 9000; }));
    expect("popular rows, then a run", made([](int64_t i) { return i < n / 2 ? i : 5000000000 + i; }));
    expect("popular rows, then others", made([&](int64_t i) { return i < n / 2 ? i : below(1 << 30); }));
    expect("popular rows between others", made([&](int64_t i) { return i % 2 ? i : below(rows); }));
    expect("Zipf", made(zipf));
    expect("a permutation", shuffled);
    expect("few rows", made([&](int64_t) { return below(50) * 12345678; }));
    expect("one row", made([](int64_t) { return rows / 3; }));
    expect("the last rows", made([](int64_t i) { return rows - 1 - i; }));
    for (const int32_t bits : {3, 8, 11, 16, 24, 32, 40}) {
      expect("multiples of a power of two", made([&](int64_t i) { return i % (rows >> bits) << bits; }));
    }
  }
}

// The hash is public and can be inverted. These ids have the hashes 1, 2, 3, .., which all map to the first slots.
TEST(PartitionSteps, CollidingIdsNeedLinearSteps) {
  uint64_t inverse = 1;
  for (int32_t i = 0; i < 6; ++i) inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
  Numbers ids;
  for (uint64_t hash = 1; static_cast<int64_t>(ids.size()) < n; ++hash) {
    const uint64_t mixed = hash * inverse, id = (mixed ^ mixed >> 32) * inverse;
    if (id < static_cast<uint64_t>(rows)) ids.push_back(static_cast<int64_t>(id));
  }
  expect_steps("distinct ids", ids, 1, most_steps);
  EXPECT_GT(last_steps, ordinary_steps * n) << "the hashes do not collide";
  Numbers twice = ids;
  for (size_t i = 0; i < twice.size(); ++i) twice[i] = ids[i * 7 % (twice.size() / 2)];
  expect_steps("ids that come again", twice, 1, most_steps);
  // Each shard has its own table.
  Numbers apart = ids;
  for (size_t i = 0; i < apart.size(); ++i) apart[i] = ids[i] % (rows / 3) * 3 + static_cast<int64_t>(i % 3);
  expect_steps("three shards", apart, 3, most_steps);
  std::reverse(ids.begin(), ids.end());
  for (size_t i = 0; i < ids.size(); i += 2) ids[i] = static_cast<int64_t>(i / 4);
  expect_steps("popular rows between them", ids, 1, most_steps);
}

// Ids whose first slots collide, and which differ above this bit only. Each comes twice, and others are between its two
// occurrences. A sort by fewer bits does not separate them.
TEST(PartitionSteps, CollidingIdsThatDifferInTheirUpperBitsAreKeptOnce) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15u;
  for (const int32_t bit : {40, 48, 56}) {
    Numbers ids;
    for (uint64_t low = 1; static_cast<int64_t>(ids.size()) < n / 2; low = low * multiplier + 1) {
      for (uint64_t high = 0; high < static_cast<uint64_t>(rows) >> bit; ++high) {
        const uint64_t id = high << bit | low >> (64 - bit), mixed = id * multiplier;
        const bool has_first_slot = (mixed ^ mixed >> 32) * multiplier >> 57 == 0;
        if (has_first_slot && static_cast<int64_t>(ids.size()) < n / 2) ids.push_back(static_cast<int64_t>(id));
      }
    }
    ids.insert(ids.end(), ids.begin(), ids.begin() + n / 2);
    expect_steps("ids that differ in their upper bits", ids, 1, most_steps);
    EXPECT_GT(last_steps, ordinary_steps * n) << "the hashes do not collide";
  }
}

TEST(PartitionSteps, FewIdsNeedFewSteps) {
  std::mt19937_64 random(13);
  for (int32_t repeat = 0; repeat < 2000; ++repeat) {
    Numbers ids(static_cast<size_t>(1 + random() % 20));
    const uint64_t limit = repeat % 2 ? 12 : static_cast<uint64_t>(rows);
    for (auto& id : ids) id = static_cast<int64_t>(random() % limit);
    expect_steps("few ids", ids, 1 + repeat % 3, most_steps);
    if (HasFailure()) return;
  }
}

}  // namespace
