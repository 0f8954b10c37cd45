#include "cpu/accumulate.hpp"

#include <algorithm>
#include <atomic>

#include "core/base/checked.hpp"
#include "core/os/memory.hpp"
#include "cpu/target.hpp"

namespace gather::cpu {
namespace {

using core::Error;

// The number of elements that are converted to float32 at once.
constexpr int64_t block_floats = 512;

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

// Combines the updates from `first` to `end` with their slice, which is the same for all of them.
void combine(const Job& job, const Accumulate& kernels, const Update* first, const Update* end) {
  float values[block_floats];
  const int64_t item = job.plan.item.bytes(), elements = job.plan.row.out / item;
  char* const slice = moved(target_of(job), first->target);
  for_each_row(job, [&](int64_t to, int64_t from) {
    for (int64_t at = 0; at < elements; at += block_floats) {
      const int64_t n = std::min(block_floats, elements - at);
      char* const row = moved(slice, to + at * item);
      kernels.load(row, n, values);
      for (const Update* each = first; each != end; each = each->next) {
        kernels.combine(moved(job.rows, each->from + from + at * item), n, values);
      }
      kernels.store(values, n, row);
    }
  });
}

// Memory for the updates of all parts.
struct Room {
  Update* updates;
  int64_t size;
  std::atomic<int64_t> used;

  // Returns nullptr if there is no room for n updates.
  Update* take(int64_t n) {
    const int64_t begin = used.fetch_add(n, std::memory_order_relaxed);
    return n > size - begin ? nullptr : updates + begin;
  }
};

// Combines the updates of a part. Returns false if an index has become invalid, or if the parts have more updates than
// there were at first.
bool accumulate_part(const Part& part, const Accumulate& kernels, Room* room) {
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
    while (next && next->target == slice->target) next = next->next;
    combine(job, kernels, slice, next);
    slice = next;
  }
  return true;
}

int32_t fail_memory(int64_t bytes, const Error& error) {
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "no memory to accumulate in float32");
}

}  // namespace

int32_t accumulate(const Job& job, const BeforeWrite& before_write, const Executor& executor, const Error& error) {
  int64_t bytes;
  if (!core::multiply(job.slices, sizeof(Update), &bytes)) return fail_memory(INT64_MAX, error);
  Room room{static_cast<Update*>(core::allocate(static_cast<size_t>(bytes))), job.slices, {0}};
  if (!room.updates) return fail_memory(bytes, error);
  const Accumulate kernels = job.kernels.tier->choose_accumulate(job.plan.number, job.plan.reduction);
  int32_t status = before_write();
  if (!status &&
      !for_each_part(job, executor, [&](const Part& part) { return accumulate_part(part, kernels, &room); })) {
    status = core::fail_index_race(error);
  }
  core::deallocate(room.updates);
  return status;
}

}  // namespace gather::cpu
