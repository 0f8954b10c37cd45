#include "cpu/string_scatter.hpp"

#include <cstring>
#include <numeric>

#include "core/base/checked.hpp"
#include "cpu/load.hpp"
#include "cpu/run_plan.hpp"

namespace gather::cpu {
namespace {

using core::Error;

int32_t fail_race(int32_t operand, const Error& error) {
  return error.fail({GTH_E_RACE, operand}, "%s: offsets changed by another thread during the call",
                    core::operand_name(operand));
}

// A string of a tensor. Another thread may write its offsets.
struct Entry {
  const core::Strings& strings;
  int64_t number;
  int32_t operand;

  int64_t offset(int64_t i) const { return load_index<int64_t>(reinterpret_cast<const char*>(strings.offsets + i)); }

  // Returns the offset of its first byte, or -1 if `length` bytes from there are not inside.
  int64_t begin(int64_t length) const {
    const int64_t at = offset(number);
    return at >= 0 && at <= strings.extent && length <= strings.extent - at ? at : -1;
  }

  // Returns its length, or -1 if its offsets are invalid.
  int64_t length() const {
    const int64_t first = offset(number), end = offset(number + 1);
    return first >= 0 && first <= end && end <= strings.extent ? end - first : -1;
  }
};

Entry entry_of(const StringScatter& on, int64_t i) {
  const int64_t number = on.numbers[i];
  if (number < on.target_count) return {on.target, number, GTH_OPERAND_TARGET};
  return {on.updates, number - on.target_count, GTH_OPERAND_UPDATES};
}

}  // namespace

int32_t StringScatter::find(const core::Plan& plan, const char* indices, const Executor& executor,
                            const Error& error) const {
  std::iota(numbers, numbers + target_count + updates_count, int64_t{0});
  const core::Pointers pointers = core::pointers_of(numbers, indices, numbers + target_count);
  return run(plan, choose_kernels(plan), pointers, GTH_OPEN, core::Output::ours, executor, error);
}

int32_t StringScatter::measure(int64_t* offsets, const Error& error) const {
  offsets[0] = 0;
  for (int64_t i = 0; i < target_count; ++i) {
    const Entry entry = entry_of(*this, i);
    const int64_t length = entry.length();
    if (length < 0) return fail_race(entry.operand, error);
    if (!core::add(offsets[i], length, offsets + i + 1)) {
      return error.fail({GTH_E_SIZE, GTH_OPERAND_TARGET, -1, -1, 0, INT64_MAX},
                        "target: more than 2^63 - 1 bytes of strings");
    }
  }
  return GTH_OK;
}

int32_t StringScatter::copy(const int64_t* offsets, char* bytes, const Error& error) const {
  for (int64_t i = 0; i < target_count; ++i) {
    const Entry entry = entry_of(*this, i);
    const int64_t length = offsets[i + 1] - offsets[i], from = entry.begin(length);
    if (length > 0 && from < 0) return fail_race(entry.operand, error);
    if (length > 0) std::memcpy(bytes + offsets[i], entry.strings.bytes + from, static_cast<size_t>(length));
  }
  return GTH_OK;
}

}  // namespace gather::cpu
