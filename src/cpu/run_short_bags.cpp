#include "cpu/run_short_bags.hpp"

#include <algorithm>

#include "cpu/bag_ids.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/indices.hpp"
#include "cpu/tiers/choice.hpp"

namespace gather::cpu {
namespace {

using core::ShortBags;
using core::Span;

// One run: its bags and ids. Bag i has the ids [begin[i], begin[i + 1]).
struct Run {
  int64_t bags, ids;
  int64_t begin[short_bags + 1];
  int64_t id[short_bag_ids];
};

// Sets the numbers of bags and ids. Returns false if the short form cannot run them.
bool set_counts(const ShortBags& form, int64_t n, int64_t open_ids, Run* run) {
  const bool is_open = form.count.by_n != 0;
  if (is_open ? n < 1 || n > std::min(form.largest_n, short_bags) : n != GTH_OPEN) return false;
  if (form.ids_are_open ? open_ids > form.largest_ids : open_ids != GTH_OPEN) return false;
  run->bags = form.count.at(n);
  if (run->bags < 1 || run->bags > short_bags || form.row * run->bags > short_bag_bytes) return false;
  run->ids = form.ids_of(run->bags, open_ids);
  return run->ids >= 1 && run->ids <= short_bag_ids;
}

// Returns true if the memory of a run has the given sizes, and if the output overlaps no other operand. *spans receives
// the memory.
bool find_memory(const ShortBags& form, const Run& run, const core::Pointers& pointers, const core::Extents* given,
                 core::Spans* spans) {
  const auto span_of = [&](core::Role role, int64_t bytes) {
    return Span{form.offset[role], form.offset[role] + bytes};
  };
  const Span ids = span_of(core::Role::indices, run.ids * core::index_bytes(form.index));
  const Span rows = span_of(core::Role::rows, run.bags * form.row);
  const Span bags = span_of(core::Role::bags, form.has_offsets ? (run.bags + 1) * core::index_bytes(form.numbers) : 0);
  spans->table = form.table;
  spans->indices = ids;
  spans->rows = rows;
  spans->bags = bags;
  if (!pointers.table || !pointers.indices || !pointers.rows || pointers.weights) return false;
  if ((pointers.bags != nullptr) != form.has_offsets) return false;
  if (given && (given->table < form.table.high || given->indices < ids.high || given->rows < rows.high ||
                (form.has_offsets && given->bags < bags.high))) {
    return false;
  }
  return !core::overlap(pointers.rows, rows, pointers.table, form.table) &&
         !core::overlap(pointers.rows, rows, pointers.indices, ids) &&
         !(form.has_offsets && core::overlap(pointers.rows, rows, pointers.bags, bags));
}

// Loads the bags. Returns false if they are invalid, or if max or min has no value for one.
bool load_bags(const ShortBags& form, const core::Pointers& pointers, Run* run) {
  int64_t* const begin = run->begin;
  if (form.has_offsets) {
    load_numbers(form.numbers, moved(pointers.bags, form.offset.bags), core::index_bytes(form.numbers), run->bags + 1,
                 begin);
  } else {
    for (int64_t i = 0; i <= run->bags; ++i) begin[i] = i * form.length;
  }
  bool are_valid = begin[0] == 0 && begin[run->bags] == run->ids;
  const bool may_be_empty = !core::is_extreme_pool(form.pool);
  for (int64_t i = 0; i < run->bags; ++i) {
    const bool is_longer = begin[i + 1] > begin[i] || (may_be_empty && begin[i + 1] == begin[i]);
    are_valid &= begin[i] >= 0 && begin[i] <= run->ids && is_longer;
  }
  return are_valid;
}

template <class T>
void set_divisors(const Run& run, void* divisors) {
  for (int64_t i = 0; i < run.bags; ++i) {
    static_cast<T*>(divisors)[i] = static_cast<T>(std::max<int64_t>(run.begin[i + 1] - run.begin[i], 1));
  }
}

void pool_bag(const ShortBags& form, PoolBags kernel, const core::Pointers& pointers, const Run& run) {
  alignas(64) char sums[pooled_sums_bytes];
  alignas(16) char divisors[short_bags * sizeof(double)];
  BagRows rows{};
  rows.table = moved(pointers.table, form.offset.table);
  rows.rows = form.rows;
  rows.stride = form.stride;
  rows.elements = form.row / form.item;
  rows.ids = run.id;
  rows.readable = run.ids;
  rows.begin = run.begin;
  rows.bags = run.bags;
  rows.out = moved(pointers.rows, form.offset.rows);
  rows.out_stride = form.row;
  rows.is_first = rows.is_last = true;
  rows.sums = sums;
  if (form.pool == GTH_POOL_MEAN) {
    form.item == int64_t{sizeof(double)} ? set_divisors<double>(run, divisors) : set_divisors<float>(run, divisors);
    rows.divisors = divisors;
  }
  kernel(rows);  // The ids have been validated and are copies, so other threads cannot change them.
}

// Loads and validates the bags and ids of a run. Returns false if the short form cannot run it.
__attribute__((always_inline)) inline bool load_run(const ShortBags& form, const core::Pointers& pointers, int64_t n,
                                                    const core::Extents* given, Run* run, core::Spans* spans) {
#ifdef GATHER_TESTING
  return false;  // In test builds, all calls take the general path.
#endif
  if (!set_counts(form, n, pointers.ids, run) || !find_memory(form, *run, pointers, given, spans)) return false;
  if (!load_bags(form, pointers, run)) return false;
  load_numbers(form.index, moved(pointers.indices, form.offset.indices), core::index_bytes(form.index), run->ids,
               run->id);
  return are_inside(form.rows, 0, run->id, run->ids);
}

}  // namespace

PoolBags choose_short_pooling(const ShortBags& form) {
  const auto choose = tier().choose_pooling;
  const int64_t sum = std::max<int64_t>(form.item, sizeof(float)), elements = form.row / form.item;
  if (!choose || elements * sum > most_pooled_bytes) return nullptr;
  return choose({form.number, form.item, form.rounds_each, pool_of(form.pool, false)}, elements);
}

__attribute__((flatten)) bool run_short_bags(const ShortBags& form, PoolBags kernel, const core::Pointers& pointers,
                                             int64_t n, const core::Extents* given) {
  Run run;
  core::Spans spans;
  if (!kernel || !load_run(form, pointers, n, given, &run, &spans)) return false;
  pool_bag(form, kernel, pointers, run);
  return true;
}

bool check_short_bags(const ShortBags& form, PoolBags kernel, const core::Pointers& pointers, int64_t n,
                      const core::Extents* given, core::Spans* spans) {
  Run run;
  *spans = {};
  return kernel && load_run(form, pointers, n, given, &run, spans);
}

}  // namespace gather::cpu
