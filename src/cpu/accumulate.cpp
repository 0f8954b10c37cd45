#include "cpu/accumulate.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/limits.hpp"
#include "cpu/target.hpp"
#include "cpu/update_room.hpp"

namespace gather::cpu {
namespace {

using core::Error;

// An update in a list: the offsets of its slice and of itself.
struct Update {
  int64_t target, from;
  Update* next;
};

// Sorts a list by slice, by 8 bits in each pass. Updates of one slice keep their order.
Update* sort_by_slice(Update* first) {
  constexpr int32_t bits = 8;
  constexpr uint64_t lists = 1 << bits;
  uint64_t differences = 0;
  for (const Update* each = first; each; each = each->next) {
    differences |= static_cast<uint64_t>(each->target) ^ static_cast<uint64_t>(first->target);
  }
  if (differences == 0) return first;
  for (int32_t shift = __builtin_ctzll(differences); shift < 64; shift += bits) {
    if ((differences >> shift & (lists - 1)) == 0) continue;
    Update *firsts[lists], **ends[lists];
    for (uint64_t i = 0; i < lists; ++i) ends[i] = &firsts[i];
    for (Update* each = first; each; each = each->next) {
      Update**& end = ends[static_cast<uint64_t>(each->target) >> shift & (lists - 1)];
      *end = each;
      end = &each->next;
    }
    Update** end = &first;
    for (uint64_t i = 0; i < lists; ++i) {
      if (ends[i] == &firsts[i]) continue;
      *end = firsts[i];
      end = ends[i];
    }
    *end = nullptr;
  }
  return first;
}

// Accumulates float32 in float64.
struct InDoubles {
  bool adds;

  void load(const char* row, int64_t n, double* values) const {
    for (int64_t i = 0; i < n; ++i) values[i] = number_at(row, i);
  }
  void combine(const char* row, int64_t n, double* values) const {
    if (adds) {
      for (int64_t i = 0; i < n; ++i) values[i] += number_at(row, i);
    } else {
      for (int64_t i = 0; i < n; ++i) values[i] *= number_at(row, i);
    }
  }
  void store(const double* values, int64_t n, char* row) const {
    for (int64_t i = 0; i < n; ++i) {
      const float value = static_cast<float>(values[i]);
      std::memcpy(row + i * int64_t{sizeof value}, &value, sizeof value);
    }
  }

 private:
  static double number_at(const char* row, int64_t i) {
    float value;
    std::memcpy(&value, row + i * int64_t{sizeof value}, sizeof value);
    return value;
  }
};

// Successive updates of the same slice: from `first` to `end`.
struct SliceUpdates {
  const Update *first, *end;
  int64_t divisor;  // of a mean
};

// Combines updates of a slice with a row of it. `from` is the distance of the row in the updates.
template <class Wide, class InWide>
void combine_row(const Job& job, const InWide& kernels, const SliceUpdates& on, int64_t from, char* row) {
  Wide values[sum_elements];
  const int64_t item = job.plan.item.bytes(), elements = job.plan.row.out / item;
  for (int64_t at = 0; at < elements; at += sum_elements) {
    const int64_t n = std::min(sum_elements, elements - at);
    kernels.load(row + at * item, n, values);
    for (const Update* each = on.first; each != on.end; each = each->next) {
      kernels.combine(moved(job.rows, each->from + from + at * item), n, values);
    }
    for (int64_t i = 0; job.plan.reducing.is_mean && i < n; ++i) values[i] /= static_cast<Wide>(on.divisor);
    kernels.store(values, n, row + at * item);
  }
}

// Combines the updates of a slice with it.
void combine(const Job& job, const Accumulate& halves, const SliceUpdates& on) {
  const core::Plan& plan = job.plan;
  char* const slice = moved(target_of(job), on.first->target);
  for_each_row(job, [&](int64_t to, int64_t from) {
    char* const row = moved(slice, to);
    if (plan.reducing.starts_with_update) job.kernels.fill(plan, row);
    if (plan.reducing.in_float32) return combine_row<float>(job, halves, on, from, row);
    combine_row<double>(job, InDoubles{plan.reducing.reduction == GTH_REDUCTION_ADD}, on, from, row);
  });
}

// Combines the updates of a part. Returns false if an index has become invalid, or if the parts have more updates than
// there were at first.
bool accumulate_part(const JobPart& part, const Accumulate& kernels, UpdateRoom<Update>* room) {
  const Job& job = part.job;
  Update *first = nullptr, **end = &first;
  bool fits = true;
  const bool whole = for_updates_of(part, [&](const Updates& on) {
    Update* const taken = room->take(on.count);
    fits &= taken != nullptr;
    for (int64_t i = 0; fits && i < on.count; ++i) {
      taken[i] = {on.target + on.offsets[i], on.updates + on.from[i], nullptr};
      *end = taken + i;
      end = &taken[i].next;
    }
  });
  if (!whole || !fits) return false;
  for (const Update* slice = sort_by_slice(first); slice;) {
    const Update* next = slice;
    int64_t count = job.plan.reducing.starts_with_update ? 0 : 1;
    for (; next && next->target == slice->target; next = next->next) ++count;
    combine(job, kernels, {slice, next, count});
    slice = next;
  }
  return true;
}

}  // namespace

int32_t accumulate(const Job& job, const BeforeWrite& before_write, const Executor& executor, const Error& error) {
  UpdateRoom<Update> room;
  if (int32_t status = room.allocate(job.slices, 1, error)) return status;
  const Accumulate kernels = job.kernels.tier->choose_accumulate(job.plan.reducing.number, job.plan.reducing.reduction);
  if (int32_t status = before_write()) return status;
  const bool whole =
      for_each_part(job, executor, [&](const JobPart& part) { return accumulate_part(part, kernels, &room); });
  return whole ? GTH_OK : core::fail_index_race(error);
}

}  // namespace gather::cpu
