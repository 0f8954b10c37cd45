#include "cpu/accumulate.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "core/base/checked.hpp"
#include "core/os/memory.hpp"
#include "cpu/target.hpp"

namespace gather::cpu {
namespace {

using core::Error;

// The number of elements that are converted at once.
constexpr int64_t sum_elements = 512;

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
    for (int64_t i = 0; job.plan.is_mean && i < n; ++i) values[i] /= static_cast<Wide>(on.divisor);
    kernels.store(values, n, row + at * item);
  }
}

// Divides numbers. Quotients of integers are rounded down. A divisor may exceed T, but not Wide.
template <class T, class Wide>
void divide(char* row, int64_t bytes, int64_t divisor) {
  for (int64_t at = 0; at < bytes; at += int64_t{sizeof(T)}) {
    T value;
    std::memcpy(&value, row + at, sizeof value);
    const Wide number = value, by = static_cast<Wide>(divisor);
    Wide quotient = number / by;
    if constexpr (std::is_integral_v<Wide> && std::is_signed_v<Wide>) {
      if (number < 0 && quotient * by != number) --quotient;
    }
    value = static_cast<T>(quotient);
    std::memcpy(row + at, &value, sizeof value);
  }
}

template <class Wide, class Byte, class Half, class Word, class Long>
void divide_integers(char* row, int64_t bytes, int64_t item, int64_t divisor) {
  switch (item) {
    case 1: return divide<Byte, Wide>(row, bytes, divisor);
    case 2: return divide<Half, Wide>(row, bytes, divisor);
    case 4: return divide<Word, Wide>(row, bytes, divisor);
    default: return divide<Long, Wide>(row, bytes, divisor);
  }
}

void divide_halves(const Accumulate& kernels, char* row, int64_t bytes, int64_t divisor) {
  float values[sum_elements];
  for (int64_t at = 0; at < bytes; at += 2 * sum_elements) {
    const int64_t n = std::min(sum_elements, (bytes - at) / 2);
    kernels.load(row + at, n, values);
    for (int64_t i = 0; i < n; ++i) values[i] /= static_cast<float>(divisor);
    kernels.store(values, n, row + at);
  }
}

// Divides the numbers of a row.
void divide_row(const core::Plan& plan, const Accumulate& halves, char* row, int64_t divisor) {
  const int64_t bytes = plan.row.out, item = plan.item.bytes();
  switch (plan.number) {
    case core::Number::signed_integer:
      return divide_integers<int64_t, int8_t, int16_t, int32_t, int64_t>(row, bytes, item, divisor);
    case core::Number::unsigned_integer:
      return divide_integers<uint64_t, uint8_t, uint16_t, uint32_t, uint64_t>(row, bytes, item, divisor);
    default: break;
  }
  if (item == 2) return divide_halves(halves, row, bytes, divisor);
  const bool is_float = item == (plan.number == core::Number::complex ? 8 : 4);
  is_float ? divide<float, float>(row, bytes, divisor) : divide<double, double>(row, bytes, divisor);
}

// Combines the updates of a slice with it.
void combine(const Job& job, const Accumulate& halves, const SliceUpdates& on) {
  const core::Plan& plan = job.plan;
  char* const slice = moved(target_of(job), on.first->target);
  for_each_row(job, [&](int64_t to, int64_t from) {
    char* const row = moved(slice, to);
    if (plan.starts_with_update) job.kernels.fill(plan, row);
    if (plan.in_float32) return combine_row<float>(job, halves, on, from, row);
    if (plan.in_float64) return combine_row<double>(job, InDoubles{plan.reduction == GTH_REDUCTION_ADD}, on, from, row);
    constexpr int64_t none = 0;
    for (const Update* each = on.first; each != on.end; each = each->next) {
      job.kernels.update(row, &none, moved(job.rows, each->from + from), &none, 1, plan.row.out);
    }
    divide_row(plan, halves, row, on.divisor);
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
    int64_t count = job.plan.starts_with_update ? 0 : 1;
    for (; next && next->target == slice->target; next = next->next) ++count;
    combine(job, kernels, {slice, next, count});
    slice = next;
  }
  return true;
}

int32_t fail_memory(int64_t bytes, const Error& error) {
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "no memory to sort the updates");
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
