#include "cpu/partition_ids.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "core/os/testing.hpp"
#include "cpu/block.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"
#include "cpu/run_plan.hpp"

namespace gather::cpu {
namespace {

using core::Shards;

// The shard of a row, and the number of the row in it.
struct ShardRow {
  int64_t shard, local;
};

struct Divided {
  int64_t quotient, remainder;
};

// Divides non-negative numbers by a constant. For numbers below 2^52, the float64 quotient is off by at most 1, and is
// corrected.
class Divider {
 public:
  explicit Divider(int64_t by) : by_(by), inverse_(1.0 / static_cast<double>(by)) {}

  Divided divide(int64_t v) const {
    if (v >= int64_t{1} << 52) return {v / by_, v % by_};
    const auto near = static_cast<int64_t>(static_cast<double>(v) * inverse_);
    const int64_t rest = v - near * by_;
    if (rest < 0) return {near - 1, rest + by_};
    return rest < by_ ? Divided{near, rest} : Divided{near + 1, rest - by_};
  }

 private:
  int64_t by_;
  double inverse_;
};

class BlockShards {
 public:
  explicit BlockShards(const Shards& shards) : by_block_(shards.divisor) {}
  ShardRow find(int64_t row) const {
    const Divided divided = by_block_.divide(row);
    return {divided.quotient, divided.remainder};
  }

 private:
  Divider by_block_;
};

class ModuloShards {
 public:
  explicit ModuloShards(const Shards& shards) : by_count_(shards.divisor) {}
  ShardRow find(int64_t row) const {
    const Divided divided = by_count_.divide(row);
    return {divided.remainder, divided.quotient};
  }

 private:
  Divider by_count_;
};

// The search always returns one of the shards, because another thread may have changed the borders.
class BorderShards {
 public:
  explicit BorderShards(const Shards& shards) : borders_(shards.borders), count_(shards.count) {}
  ShardRow find(int64_t row) const {
    const int64_t* first = borders_;
    for (int64_t left = count_; left > 1;) {
      const int64_t half = left / 2;
      first += first[half] <= row ? half : 0;
      left -= half;
    }
    return {first - borders_, row - *first};
  }

 private:
  const int64_t* borders_;
  int64_t count_;
};

// Calls on_map(map) with the object that finds the shard of a row.
template <class OnMap>
auto with_map(const Shards& shards, OnMap&& on_map) {
  switch (shards.kind) {
    case GTH_SHARDS_BLOCKS: return on_map(BlockShards(shards));
    case GTH_SHARDS_MODULO: return on_map(ModuloShards(shards));
    default: return on_map(BorderShards(shards));
  }
}

// The ids of each piece are counted separately, so that each piece has its own output ranges. The pieces do not depend
// on the number of threads.
Pieces cut(int64_t n, int64_t shards) {
  const int64_t least = std::max(min_piece_ids, shards > INT64_MAX / 8 ? INT64_MAX : 8 * shards);
  return split(std::max<int64_t>(1, n), std::max<int64_t>(1, std::min(most_partition_pieces, n / least)));
}

// The next output position of each piece in each shard, and the end of its range.
class Cursors {
 public:
  Cursors(int64_t* memory, int64_t pieces, int64_t shards)
      : next_(memory), end_(memory + pieces * shards), shards_(shards) {}

  int64_t* next(int64_t piece) const { return next_ + piece * shards_; }
  const int64_t* end(int64_t piece) const { return end_ + piece * shards_; }

  // Converts the counts of the pieces to output positions, and writes the count of each shard.
  void begin(int64_t pieces, int64_t* counts) const {
    int64_t at = 0;
    for (int64_t s = 0; s < shards_; ++s) {
      const int64_t first = at;
      for (int64_t p = 0; p < pieces; ++p) {
        const int64_t count = next(p)[s];
        next(p)[s] = at;
        at += count;
        end_[p * shards_ + s] = at;
      }
      counts[s] = at - first;
    }
  }

  static int64_t numbers(int64_t pieces, int64_t shards) { return 2 * pieces * shards; }

 private:
  int64_t* next_;
  int64_t* end_;
  int64_t shards_;
};

// Calls body(position, rows, count) for blocks of the ids [first, last). Returns false if an id has become invalid
// after its validation.
template <class Body>
bool for_each_block(const Job& job, int64_t first, int64_t last, Body&& body) {
  BlockResolver resolver(job);
  LineIterator lines(job.copying);
  const SizedLoop& line = job.copying.line;
  int64_t j = first % line.extent;
  for (lines.seek(first / line.extent); first < last;) {
    const int64_t count = std::min({block_tuples, line.extent - j, last - first});
    const char* const tuples = moved(job.indices, lines.indices() + wrapping_multiply(j, line.indices));
    if (!resolver.resolve(tuples, {1, count, false})) return false;
    body(first, resolver.offsets(), count);
    first += count;
    j += count;
    if (j < line.extent) continue;
    lines.next();
    j = 0;
  }
  return true;
}

template <class Map>
bool count_piece(const Job& job, const Map& map, int64_t first, int64_t last, int64_t* counts, int64_t shards) {
  std::fill_n(counts, shards, 0);
  return for_each_block(job, first, last, [&](int64_t, const int64_t* rows, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (rows[i] != no_row) ++counts[map.find(rows[i]).shard];
    }
  });
}

// Writes the ids of a piece to its output ranges. Returns false if another thread has changed the ids after they were
// counted: an id is invalid, or a shard has another number of rows.
template <class Map>
bool write_piece(const Job& job, const Map& map, int64_t first, int64_t last, int64_t* next, const int64_t* end,
                 int64_t shards, const PartitionMemory& memory) {
  bool all = true;
  const bool walked = for_each_block(job, first, last, [&](int64_t position, const int64_t* rows, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++position) {
      if (memory.place) memory.place[position] = -1;
      if (rows[i] == no_row) continue;
      const ShardRow found = map.find(rows[i]);
      const int64_t at = next[found.shard];
      all &= at < end[found.shard];
      if (at >= end[found.shard]) continue;
      next[found.shard] = at + 1;
      memory.local[at] = found.local;
      if (memory.order) memory.order[at] = position;
      if (memory.place) memory.place[position] = at;
    }
  });
  return walked && all && std::equal(next, next + shards, end);
}

// Counts the processed ids in test builds.
void note_steps([[maybe_unused]] int64_t steps) {
#ifdef GATHER_TESTING
  core::testing_note_steps(steps);
#endif
}

// Sorts the numbers 0 .. count - 1 by row, and by number where rows are equal. Returns the buffer, of two, that holds
// the result.
int64_t* sort_by_row(const int64_t* rows, int64_t count, int64_t* numbers, int64_t* buffer) {
  constexpr int32_t digit_bits = 8, digits = 1 << digit_bits;
  const auto range = std::minmax_element(rows, rows + count);
  const uint64_t lowest = static_cast<uint64_t>(*range.first);
  const uint64_t span = static_cast<uint64_t>(*range.second) - lowest;
  std::iota(numbers, numbers + count, int64_t{0});
  for (int32_t shift = 0; shift < 64 && span >> shift > 0; shift += digit_bits) {
    const auto digit_of = [&](int64_t row) { return ((static_cast<uint64_t>(row) - lowest) >> shift) % digits; };
    int64_t next[digits + 1] = {};
    for (int64_t k = 0; k < count; ++k) ++next[digit_of(rows[k]) + 1];
    std::partial_sum(next, next + digits, next);
    for (int64_t k = 0; k < count; ++k) buffer[next[digit_of(rows[numbers[k]])]++] = numbers[k];
    std::swap(numbers, buffer);
    note_steps(count);
  }
  return numbers;
}

// Does the same as keep_once by sorting. Its time does not depend on the distribution of the rows.
int64_t keep_once_sorted(int64_t* local, const int64_t* order, int64_t count, int64_t* buffers, int64_t* place) {
  const int64_t* const sorted = sort_by_row(local, count, buffers, buffers + count);
  int64_t* const kept_as = sorted == buffers ? buffers + count : buffers;
  for (int64_t k = 0, first = 0; k < count; ++k) {
    if (local[sorted[k]] != local[sorted[first]]) first = k;
    kept_as[sorted[k]] = sorted[first];
  }
  // The loop replaces the first of equal rows by its number in the shard before it reaches the others.
  int64_t kept = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (kept_as[k] == k) {
      local[kept] = local[k];
      kept_as[k] = kept++;
    } else {
      kept_as[k] = kept_as[kept_as[k]];
    }
    place[order[k]] = kept_as[k];
  }
  return kept;
}

// Maps a number to [0, size) by its upper bits.
int64_t scaled(uint64_t number, int64_t size) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<int64_t>(static_cast<Wide>(number) * static_cast<uint64_t>(size) >> 64);
}

// Hashes a number in two rounds. After one round, rows at certain equal distances have similar hashes.
uint64_t mix(uint64_t number) {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15u;
  number *= multiplier;
  return (number ^ number >> 32) * multiplier;
}

// A hash table from rows to their numbers, with open addressing. The number of collisions is bounded.
class RowTable {
 public:
  RowTable(const int64_t* rows, int64_t* slots, int64_t size) : rows_(rows), slots_(slots), size_(size) {
    std::fill_n(slots, size, -1);
  }

  // Returns the slot of the row, or the free slot for it. Returns nullptr if the bound is reached.
  int64_t* find(int64_t row) {
    uint64_t mixed = mix(static_cast<uint64_t>(row));
    // The first slot of a small row has the number of the row. So the slots of frequent rows are close together.
    int64_t at = row >= 0 && row < size_ ? row : scaled(mixed, size_);
    if (is_slot_of(row, at)) return slots_ + at;
    for (int32_t tries = 1; ++collisions_ <= max_collisions_per_slot * size_; ++tries) {
      const bool stays_near = tries % near_slots != 0;
      if (!stays_near) mixed = mix(mixed + 1);
      at = !stays_near ? scaled(mixed, size_) : at + 1 == size_ ? 0 : at + 1;
      if (is_slot_of(row, at)) return slots_ + at;
    }
    return nullptr;
  }

  int64_t collisions() const { return collisions_; }

 private:
  static constexpr int64_t max_collisions_per_slot = 2;
  static constexpr int32_t near_slots = 4;  // adjacent probes, which usually share a cache line

  bool is_slot_of(int64_t row, int64_t at) const { return slots_[at] < 0 || rows_[slots_[at]] == row; }

  const int64_t* rows_;
  int64_t* slots_;
  int64_t size_;
  int64_t collisions_ = 0;
};

// Removes duplicate rows of one shard from `local`, in the order of first occurrence. Returns the number of rows that
// are kept. `order` has the position of each row in the ids. `place` receives the number of the kept row for each of
// these positions. `slots` has two elements for each row.
int64_t keep_once(int64_t* local, const int64_t* order, int64_t count, int64_t* slots, int64_t* place) {
  RowTable table(local, slots, 2 * count);
  int64_t kept = 0;
  for (int64_t k = 0; k < count; ++k) {
    int64_t* const slot = table.find(local[k]);
    if (!slot) {
      while (k-- > 0) local[k] = local[place[order[k]]];
      note_steps(count + table.collisions());
      return keep_once_sorted(local, order, count, slots, place);
    }
    if (*slot < 0) {
      *slot = kept;
      local[kept++] = local[k];
    }
    place[order[k]] = *slot;
  }
  note_steps(count + table.collisions());
  return kept;
}

// Moves the kept rows of each shard directly behind those of the shard before it. `order` and `starts` describe the
// rows before duplicates were removed, and counts the rows after it.
void close_gaps(const PartitionMemory& memory, const int64_t* order, const int64_t* starts, int64_t shards) {
  int64_t to = 0;
  for (int64_t s = 0; s < shards; ++s) {
    std::memmove(memory.local + to, memory.local + starts[s], static_cast<size_t>(memory.counts[s]) * sizeof(int64_t));
    for (int64_t k = starts[s]; k < starts[s + 1]; ++k) memory.place[order[k]] += to;
    to += memory.counts[s];
  }
}

struct Scratch {
  int64_t *cursors, *starts, *order, *slots;

  Scratch(int64_t* memory, int64_t pieces, int64_t shards, int64_t n)
      : cursors(memory),
        starts(memory + Cursors::numbers(pieces, shards)),
        order(starts + shards + 1),
        slots(order + n) {}
};

void keep_all_once(const PartitionMemory& memory, const Scratch& scratch, int64_t shards, const Executor& executor) {
  scratch.starts[0] = 0;
  for (int64_t s = 0; s < shards; ++s) scratch.starts[s + 1] = scratch.starts[s] + memory.counts[s];
  constexpr int64_t bytes_of_id = 32;  // read and written for each id
  in_pieces(executor, shards, bytes_of_id * scratch.starts[shards], [&](int64_t first, int64_t last) {
    for (int64_t s = first; s < last; ++s) {
      const int64_t start = scratch.starts[s];
      memory.counts[s] = keep_once(memory.local + start, scratch.order + start, memory.counts[s],
                                   scratch.slots + 2 * start, memory.place);
    }
  });
  close_gaps(memory, scratch.order, scratch.starts, shards);
}

}  // namespace

bool scratch_numbers(int64_t n, int64_t shards, bool once, int64_t* numbers) {
  int64_t cursors, lists = 0;
  const Pieces pieces = cut(n, shards);
  if (!core::multiply(shards, 2 * pieces.count, &cursors)) return false;
  if (once && (!core::multiply(n, 3, &lists) || !core::add(lists, shards, &lists) || !core::add(lists, 1, &lists))) {
    return false;
  }
  return core::add(cursors, lists, numbers);
}

int32_t partition(const core::Plan& plan, const char* indices, int64_t n, const Shards& shards,
                  const PartitionMemory& given, const Executor& executor, const core::Error& error) {
  const Kernels kernels = choose_kernels(plan);
  const core::Pointers pointers = core::pointers_of(nullptr, indices, nullptr);
  if (int32_t status = validate(plan, kernels, pointers, GTH_OPEN, executor, error)) return status;
  if (n == 0) {
    std::fill_n(given.counts, shards.count, 0);
    return GTH_OK;
  }
  const Job job(plan, pointers, GTH_OPEN, kernels);
  const Pieces pieces = cut(n, shards.count);
  const Scratch scratch(given.scratch, pieces.count, shards.count, n);
  const Cursors cursors(scratch.cursors, pieces.count, shards.count);
  PartitionMemory memory = given;
  if (memory.once) memory.order = scratch.order;
  std::atomic<bool> raced{false};
  with_map(shards, [&](const auto& map) {
    for_each_piece(executor, pieces, [&](int64_t p) {
      if (!count_piece(job, map, pieces.first(p), pieces.last(p), cursors.next(p), shards.count)) raced = true;
    });
    if (raced) return;
    cursors.begin(pieces.count, memory.counts);
    for_each_piece(executor, pieces, [&](int64_t p) {
      if (!write_piece(job, map, pieces.first(p), pieces.last(p), cursors.next(p), cursors.end(p), shards.count,
                       memory))
        raced = true;
    });
  });
  if (raced) return core::fail_index_race(error);
  if (memory.once) keep_all_once(memory, scratch, shards.count, executor);
  return GTH_OK;
}

}  // namespace gather::cpu
