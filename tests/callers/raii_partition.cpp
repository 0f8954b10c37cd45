// A C++ program that partitions ids by shards through gather.hpp, and gathers rows from the shards.
#include <algorithm>
#include <array>
#include <gather/gather.hpp>
#include <limits>
#include <random>
#include <string>

#include "raii.hpp"

namespace {

using gather::Options;
using gather::Parts;
using gather::PartsOnce;
using gather::Shards;
using gather::View;
using Numbers = std::vector<int64_t>;

enum class Kind { blocks, modulo, borders };

// Shards, and the place of a row in them, computed in the simplest way.
struct Layout {
  Kind kind;
  int64_t rows, count;
  Numbers borders;

  Layout(std::mt19937_64& random, Kind of, int64_t all, int64_t number) : kind(of), rows(all), count(number) {
    for (int64_t i = 0; i <= count; ++i) borders.push_back(std::uniform_int_distribution<int64_t>(0, rows)(random));
    std::sort(borders.begin(), borders.end());
    borders.front() = 0;
    borders.back() = rows;
  }

  Shards shards() const {
    switch (kind) {
      case Kind::blocks: return Shards::blocks(rows, count);
      case Kind::modulo: return Shards::modulo(rows, count);
      default: return Shards::borders(borders);
    }
  }

  bool has(int64_t shard, int64_t row) const {
    if (kind == Kind::modulo) return row % count == shard;
    if (kind == Kind::blocks) return row / block() == shard;
    return borders[static_cast<size_t>(shard)] <= row && row < borders[static_cast<size_t>(shard) + 1];
  }

  int64_t local(int64_t shard, int64_t row) const {
    if (kind == Kind::modulo) return row / count;
    return row - (kind == Kind::blocks ? shard * block() : borders[static_cast<size_t>(shard)]);
  }

  // named: the rows of the ids, or -1 for ids that are left out.
  void expect(const Numbers& named, const Parts& parts, const PartsOnce& once) const {
    Parts all;
    PartsOnce single;
    single.place.assign(named.size(), -1);
    for (int64_t s = 0; s < count; ++s) {
      const size_t first = all.local.size(), first_single = single.local.size();
      for (size_t i = 0; i < named.size(); ++i) {
        if (named[i] < 0 || !has(s, named[i])) continue;
        const int64_t row = local(s, named[i]);
        all.local.push_back(row);
        all.order.push_back(static_cast<int64_t>(i));
        const auto begin = single.local.begin();
        const auto known = std::find(begin + static_cast<int64_t>(first_single), single.local.end(), row);
        single.place[i] = known - begin;
        if (known == single.local.end()) single.local.push_back(row);
      }
      all.counts.push_back(static_cast<int64_t>(all.local.size() - first));
      single.counts.push_back(static_cast<int64_t>(single.local.size() - first_single));
    }
    CHECK(parts.counts == all.counts && parts.local == all.local && parts.order == all.order);
    CHECK(once.counts == single.counts && once.local == single.local && once.place == single.place);
  }

 private:
  int64_t block() const { return (rows + count - 1) / count; }
};

void against_loops() {
  std::mt19937_64 random(3);
  gth_context_options two_threads = GTH_CONTEXT_OPTIONS_INIT;
  two_threads.threads = 2;
  const gather::Context context(two_threads);
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  for (int64_t rows : {int64_t{1}, int64_t{7}, int64_t{1000}, int64_t{1} << 60}) {
    for (int64_t count : {1, 2, 5, 40}) {
      for (Kind kind : {Kind::blocks, Kind::modulo, Kind::borders}) {
        for (int64_t n : {0, 1, 30, 1000}) {
          const Layout layout(random, kind, rows, count);
          Numbers ids, named;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t row = below(std::min<int64_t>(rows, 60)) * std::max<int64_t>(1, rows / 60);
            const int64_t chance = below(6);
            named.push_back(chance == 0 ? -1 : row);
            ids.push_back(chance == 0 ? rows + below(3) : chance == 1 ? row - rows : row);
          }
          for (gather::Bounds bounds : {gather::Bounds::skip, gather::Bounds::fill}) {
            const Options options = Options().negative(gather::Negative::wrap).bounds(bounds);
            const Shards shards = layout.shards();
            layout.expect(named, gather::partition(ids, shards, options, context),
                          gather::partition_once(ids, shards, options, context));
          }
        }
      }
    }
  }
}

void ids_as_they_lie() {
  const std::array<uint8_t, 8> memory = {0, 99, 2, 99, 5, 99, 1, 99};
  const View ids = View(memory, {2, 2}).strides({2, 4});  // 0 5, 2 1
  const Parts parts = gather::partition(ids, Shards::blocks(6, 2));
  CHECK(parts.counts == Numbers({3, 1}) && parts.local == Numbers({0, 2, 1, 2}));
  CHECK(parts.order == Numbers({0, 2, 3, 1}));
}

// Rows gathered from shards equal the rows of the unsharded table.
void rows_come_back() {
  std::vector<float> table(20);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const std::array<uint16_t, 8> ids = {7, 0, 7, 9, 3, 3, 3, 8};
  const auto send = [&](const Numbers& counts, const Numbers& local) {
    std::vector<float> sent;
    size_t k = 0;
    for (size_t s = 0; s < counts.size(); ++s) {
      for (int64_t left = counts[s]; left > 0; --left, ++k) {
        const size_t row = static_cast<size_t>(local[k]) * 3 + s;
        sent.insert(sent.end(), {table[2 * row], table[2 * row + 1]});
      }
    }
    return sent;
  };
  const std::vector<float> whole = gather::gather({table, {10, 2}}, ids).to_vector<float>();
  const Parts parts = gather::partition(ids, Shards::modulo(10, 3));
  std::vector<float> back(whole.size());
  const std::vector<float> sent = send(parts.counts, parts.local);
  gather::scatter_into({back, {8, 2}}, parts.order, {sent, {8, 2}});
  CHECK(back == whole);
  const PartsOnce once = gather::partition_once(ids, Shards::modulo(10, 3));
  const std::vector<float> fewer = send(once.counts, once.local);
  CHECK(once.local.size() == 5);
  CHECK(gather::gather({fewer, {5, 2}}, once.place).to_vector<float>() == whole);
}

void errors() {
  Numbers ids(500);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 7 % 100);
  const Shards shards = Shards::modulo(100, 4);
  for (int64_t bad : {int64_t{100}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    ids[321] = bad;
    ids[400] = 1000;
    const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::partition(ids, shards); });
    CHECK(index.operand() == GTH_OPERAND_INDICES && index.position() == 321);
    CHECK(index.value() == bad && index.limit() == 100);
    const auto same = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::partition_once(ids, shards); });
    CHECK(same.position() == 321 && same.what() == std::string(index.what()));
  }
  const std::array<uint8_t, 2> two = {0, 1};
  const auto refused = [&](int32_t status, const char* message, const View& of, const Shards& by) {
    CHECK(std::string(thrown<gather::Error>(status, [&] { gather::partition(of, by); }).what()).find(message) !=
          std::string::npos);
    gather::Report err;
    Parts parts;
    PartsOnce once;
    parts.counts = once.counts = {1};
    CHECK(gather::try_partition(of, by, &parts, &err) == status && parts.counts.empty() && parts.local.empty());
    CHECK(gather::try_partition_once(of, by, &once, nullptr) == status && once.counts.empty() && once.local.empty());
  };
  refused(GTH_E_SHAPE, "count is 0", two, Shards::blocks(2, 0));
  refused(GTH_E_SHAPE, "rows is -2", two, Shards::modulo(-2, 2));
  refused(GTH_E_SHAPE, "count is 0", two, Shards::borders({}));
  refused(GTH_E_SHAPE, "count is 0", two, Shards::borders({2}));
  refused(GTH_E_SHAPE, "border 0 is 1", two, Shards::borders({1, 2}));
  refused(GTH_E_SHAPE, "border 1 is 3", two, Shards::borders({0, 3, 2}));
  refused(GTH_E_STRIDE, "indices", {two, {3}}, Shards::blocks(2, 2));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // operator new of sanitizers ends the program
  // Sizes that exceed all memory.
  refused(GTH_E_NOMEM, "indices", View(two, {int64_t{1} << 55}).strides({0}), Shards::blocks(2, 2));
  refused(GTH_E_NOMEM, "indices", two, Shards::blocks(2, int64_t{1} << 56));
#endif
}

}  // namespace

int main() {
  against_loops();
  ids_as_they_lie();
  rows_come_back();
  errors();
  std::printf("raii of partitions: parts, rows that come back and errors\n");
  return 0;
}
