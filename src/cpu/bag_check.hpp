#pragma once

#include <cinttypes>

#include "cpu/bag_reader.hpp"

// Validates bags without their borders. The number of steps depends on the memory of the operands, not on the number of
// bags. `reads` tells which bags are empty:
//   bool has_ids(int64_t begin, int64_t end)    Returns true if one of these ids is read.
//   int64_t next(int64_t bag)                   Returns the next bag of equally many ids that may have other ids.
namespace gather::cpu {

// The first bag of which no id is read, if each bag must have one.
template <class Reads>
struct FirstEmpty {
  const bool is_wanted;
  const Reads& reads;
  int64_t bag = -1;

  // Searches m bags from `first` on for an empty bag.
  void look_in(int64_t first, int64_t m, const int64_t* begin) {
    for (int64_t i = 0; i < m && is_wanted && bag < 0; ++i) {
      if (!reads.has_ids(begin[i], begin[i + 1])) bag = first + i;
    }
  }

  // Looks for it in a run of bags from `first` on.
  void look_in(const BagPosition& first, const BagRun& run) {
    for (int64_t i = first.bag; i < first.bag + run.bags && is_wanted && bag < 0; i = reads.next(i)) {
      const int64_t begin = first.id + (i - first.bag) * run.ids;
      if (!reads.has_ids(begin, begin + run.ids)) bag = i;
    }
  }

  int32_t check(const core::Error& error) const {
    if (bag < 0) return GTH_OK;
    return error.fail({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, bag, 0, 1}, "bags: bag %" PRId64 " is empty", bag);
  }
};

// Checks bags that consist of at most BagReader::most_runs runs. Sets *at to their end.
template <class Reads>
int32_t check_runs(const BagReader& reader, FirstEmpty<Reads>* empty, BagPosition* at, const core::Error& error) {
  BagRun runs[BagReader::most_runs];
  if (int32_t status = reader.read_runs(runs, error)) return status;
  for (const BagRun& run : runs) {
    empty->look_in(*at, run);
    *at = {at->bag + run.bags, at->id + run.bags * run.ids};
  }
  return GTH_OK;
}

// Checks bags with a number for each. Sets *at to their end.
template <class Reads>
int32_t check_each(const BagReader& reader, FirstEmpty<Reads>* empty, BagPosition* at, const core::Error& error) {
  if (reader.are_segments()) {  // There may be many more bags than ids.
    if (int32_t status = reader.check_segments(error)) return status;
  }
  while (at->bag < reader.count() && !(reader.are_segments() && (!empty->is_wanted || empty->bag >= 0))) {
    int64_t m, begin[BagReader::most + 1];
    if (int32_t status = reader.read(*at, reader.count(), begin, &m, error)) return status;
    empty->look_in(at->bag, m, begin);
    *at = {at->bag + m, begin[m]};
  }
  if (reader.are_segments()) *at = {reader.count(), reader.ids()};
  return GTH_OK;
}

// Checks all bags, first their numbers, and then that none is empty if the plan demands this. *ids receives the number of
// their ids.
template <class Reads>
int32_t check_bags(const BagReader& reader, bool must_have_ids, const Reads& reads, int64_t* ids,
                   const core::Error& error) {
  FirstEmpty<Reads> empty{must_have_ids, reads};
  BagPosition at{0, 0};
  int32_t status = reader.are_runs() ? check_runs(reader, &empty, &at, error) : check_each(reader, &empty, &at, error);
  if (!status) status = reader.check_end(at, error);
  *ids = at.id;
  return status ? status : empty.check(error);
}

}  // namespace gather::cpu
