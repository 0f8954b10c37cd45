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

// An update: the offsets of its slice and of itself, and its number in the order of positions.
struct Update {
  int64_t target, from, number;
};

bool is_before(const Update& a, const Update& b) {
  return a.target != b.target ? a.target < b.target : a.number < b.number;
}

// Combines updates with their slice. Precondition: all updates [first, last) have the same slice.
void combine(const Job& job, const Accumulate& kernels, const Update* first, const Update* last) {
  float values[block_floats];
  const int64_t item = job.plan.item.bytes(), elements = job.plan.row.out / item;
  char* const slice = moved(target_of(job), first->target);
  for_each_row(job, [&](int64_t to, int64_t from) {
    for (int64_t at = 0; at < elements; at += block_floats) {
      const int64_t n = std::min(block_floats, elements - at);
      char* const row = moved(slice, to + at * item);
      kernels.load(row, n, values);
      for (const Update* each = first; each != last; ++each) {
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
};

// Combines the updates of a part. Returns false if an index has become invalid, or if the part has more updates than
// were counted.
bool accumulate_part(const Part& part, const Accumulate& kernels, Room* room) {
  const Job& job = part.job;
  int64_t count = 0;
  if (!for_updates_of(part, [&](const Updates& on) { count += on.count; })) return false;
  const int64_t begin = room->used.fetch_add(count, std::memory_order_relaxed);
  if (count > room->size - begin) return false;
  Update* const first = room->updates + begin;
  int64_t found = 0;
  const bool whole = for_updates_of(part, [&](const Updates& on) {
    for (int64_t i = 0; i < on.count; ++i, ++found) {
      if (found < count) first[found] = {on.target + on.offsets[i], on.updates + on.from[i], found};
    }
  });
  if (!whole || found > count) return false;
  std::sort(first, first + found, is_before);
  for (int64_t i = 0, end = 0; i < found; i = end) {
    while (end < found && first[end].target == first[i].target) ++end;
    combine(job, kernels, first + i, first + end);
  }
  return true;
}

int32_t fail_memory(int64_t bytes, const Error& error) {
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "no memory to accumulate in float32");
}

}  // namespace

int32_t accumulate(const Job& job, const Prepare& prepare, const Executor& executor, const Error& error) {
  int64_t bytes;
  if (!core::multiply(job.slices, sizeof(Update), &bytes)) return fail_memory(INT64_MAX, error);
  Room room{static_cast<Update*>(core::allocate(static_cast<size_t>(bytes))), job.slices, {0}};
  if (!room.updates) return fail_memory(bytes, error);
  const Accumulate kernels = job.kernels.tier->choose_accumulate(job.plan.number, job.plan.reduction);
  int32_t status = prepare();
  if (!status &&
      !for_each_part(job, executor, [&](const Part& part) { return accumulate_part(part, kernels, &room); })) {
    status = core::fail_index_race(error);
  }
  core::deallocate(room.updates);
  return status;
}

}  // namespace gather::cpu
