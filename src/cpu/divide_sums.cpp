#include "cpu/divide_sums.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/limits.hpp"
#include "cpu/sort_by_digit.hpp"
#include "cpu/target.hpp"
#include "cpu/update_room.hpp"

namespace gather::cpu {
namespace {

using core::Error;

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
  float values[divided_halves];
  for (int64_t at = 0; at < bytes; at += 2 * divided_halves) {
    const int64_t n = std::min(divided_halves, (bytes - at) / 2);
    kernels.load(row + at, n, values);
    for (int64_t i = 0; i < n; ++i) values[i] /= static_cast<float>(divisor);
    kernels.store(values, n, row + at);
  }
}

// Divides the numbers of a row.
void divide_row(const core::Plan& plan, const Accumulate& halves, char* row, int64_t divisor) {
  const int64_t bytes = plan.row.out, item = plan.item.bytes();
  switch (plan.reducing.number) {
    case core::Number::signed_integer:
      return divide_integers<int64_t, int8_t, int16_t, int32_t, int64_t>(row, bytes, item, divisor);
    case core::Number::unsigned_integer:
      return divide_integers<uint64_t, uint8_t, uint16_t, uint32_t, uint64_t>(row, bytes, item, divisor);
    default: break;
  }
  if (item == 2) return divide_halves(halves, row, bytes, divisor);
  const bool is_float = item == (plan.reducing.number == core::Number::complex ? 8 : 4);
  is_float ? divide<float, float>(row, bytes, divisor) : divide<double, double>(row, bytes, divisor);
}

// The offsets of the slices of updates, and as much memory to sort them.
struct Offsets {
  int64_t *numbers, *room;
  int64_t count;
};

// Sorts offsets by 8 bits in each pass. Afterwards `numbers` are the sorted ones.
void sort(Offsets* offsets) {
  const auto key = [](int64_t offset) { return offset; };
  uint64_t differences = 0;
  for (int64_t i = 1; i < offsets->count; ++i) {
    differences |= static_cast<uint64_t>(offsets->numbers[i]) ^ static_cast<uint64_t>(offsets->numbers[0]);
  }
  if (differences == 0) return;
  for (int32_t shift = __builtin_ctzll(differences); shift < 64; shift += 8) {
    if ((differences >> shift & 255) == 0) continue;
    sort_by_digit(offsets->numbers, offsets->count, shift, offsets->room, key);
    std::swap(offsets->numbers, offsets->room);
  }
}

// Reads the offsets of the updates of a part. If another thread changes indices, the function reads at most as many
// offsets as there were updates at the first pass. Returns false if an index has become invalid, or if the parts have
// more updates than there were at first.
bool read_offsets(const JobPart& part, UpdateRoom<int64_t>* room, Offsets* offsets) {
  int64_t count = 0;
  if (!for_updates_of(part, [&](const Updates& on) { count += on.count; })) return false;
  int64_t* const taken = room->take(2 * count);
  if (!taken) return false;
  *offsets = {taken, taken + count, 0};
  return for_updates_of(part, [&](const Updates& on) {
    const int64_t n = std::min(on.count, count - offsets->count);
    for (int64_t i = 0; i < n; ++i) offsets->numbers[offsets->count++] = on.target + on.offsets[i];
  });
}

// Divides the sums of a part. Returns false if read_offsets() does.
bool divide_part(const JobPart& part, const Accumulate& halves, UpdateRoom<int64_t>* room) {
  const Job& job = part.job;
  Offsets offsets;
  if (!read_offsets(part, room, &offsets)) return false;
  sort(&offsets);
  const int64_t terms_of_target = job.plan.reducing.starts_with_update ? 0 : 1;
  for (int64_t i = 0, next; i < offsets.count; i = next) {
    const int64_t slice = offsets.numbers[i];
    for (next = i + 1; next < offsets.count && offsets.numbers[next] == slice;) ++next;
    char* const target = moved(target_of(job), slice);
    for_each_row(
        job, [&](int64_t to, int64_t) { divide_row(job.plan, halves, moved(target, to), next - i + terms_of_target); });
  }
  return true;
}

}  // namespace

int32_t divide_sums(const Job& job, const BeforeWrite& write_sums, const Executor& executor, const Error& error) {
  UpdateRoom<int64_t> room;
  if (int32_t status = room.allocate(job.slices, 2, error)) return status;
  const Accumulate halves = job.kernels.tier->choose_accumulate(job.plan.reducing.number, job.plan.reducing.reduction);
  if (int32_t status = write_sums()) return status;
  const bool whole =
      for_each_part(job, executor, [&](const JobPart& part) { return divide_part(part, halves, &room); });
  return whole ? GTH_OK : core::fail_index_race(error);
}

}  // namespace gather::cpu
