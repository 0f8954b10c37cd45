#include "cpu/strings.hpp"

#include <cstring>

#include "core/checked.hpp"
#include "cpu/load.hpp"
#include "cpu/run.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Strings of a slice that lie next to each other in params.
int64_t strings_of(const Plan& plan) { return plan.row.in / plan.item.bytes(); }

int64_t slices_of(const Plan& plan) { return plan.is_empty ? 0 : plan.slices.at(GTH_OPEN) * plan.inner; }

// Stores where each row lies instead of copying it.
void store_addresses(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t) {
  for (int64_t i = 0; i < n; ++i) {
    const char* address = base + offsets[i];
    std::memcpy(out + i * stride, &address, sizeof address);
  }
}

// The plan that stores one address a row where `plan` copies a row of offsets.
Plan addresses_plan(const Plan& plan) {
  Plan result = plan;
  for (int32_t i = 0; i < plan.end; ++i) result.loops[i].out.factor /= strings_of(plan);
  result.row.out = sizeof(const char*);
  return result;
}

int32_t find_slices(const Plan& plan, const core::Strings& params, const char* indices, const Executor& executor,
                    const int64_t** firsts, const Error& error) {
  const core::Pointers pointers{reinterpret_cast<const char*>(params.offsets), indices,
                                reinterpret_cast<char*>(firsts)};
  Kernels kernels = choose_kernels(plan);
  if (plan.is_empty) return run(plan, kernels, pointers, GTH_OPEN, executor, error);
  kernels.copy = store_addresses;
  return run(addresses_plan(plan), kernels, pointers, GTH_OPEN, executor, error);
}

// Offsets were checked when the tensor was made; that they are bad now is another thread's doing.
bool is_range(const core::Strings& params, int64_t begin, int64_t end) {
  return begin >= 0 && begin <= end && end <= params.extent;
}

int32_t fail_race(const Error& error) {
  return error.fail({GTH_E_RACE, GTH_OPERAND_PARAMS}, "params: offsets changed by another thread during the call");
}

}  // namespace

int32_t gather_string_offsets(const Plan& plan, const core::Strings& params, const char* indices,
                              const Executor& executor, const int64_t** firsts, int64_t* offsets, const Error& error) {
  if (int32_t status = find_slices(plan, params, indices, executor, firsts, error)) return status;
  const int64_t slices = slices_of(plan), strings = strings_of(plan);
  int64_t total = 0;
  *offsets++ = 0;
  for (int64_t slice = 0; slice < slices; ++slice) {
    const int64_t* first = firsts[slice];
    int64_t begin = first ? load_index<int64_t>(reinterpret_cast<const char*>(first)) : 0;
    for (int64_t i = 1; i <= strings; ++i) {
      const int64_t end = first ? load_index<int64_t>(reinterpret_cast<const char*>(first + i)) : 0;
      if (first && !is_range(params, begin, end)) return fail_race(error);
      if (!core::add(total, end - begin, &total)) {
        return error.fail({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, end - begin, INT64_MAX},
                          "out: more than 2^63 - 1 bytes of strings");
      }
      *offsets++ = total;
      begin = end;
    }
  }
  return GTH_OK;
}

int32_t gather_string_bytes(const Plan& plan, const core::Strings& params, const int64_t* const* firsts,
                            const int64_t* offsets, char* bytes, const Error& error) {
  const int64_t slices = slices_of(plan), strings = strings_of(plan);
  for (int64_t slice = 0; slice < slices; ++slice) {
    const int64_t* out = offsets + slice * strings;
    const int64_t length = out[strings] - out[0];
    if (!firsts[slice] || length == 0) continue;
    const int64_t begin = load_index<int64_t>(reinterpret_cast<const char*>(firsts[slice]));
    if (begin < 0 || begin > params.extent || length > params.extent - begin) return fail_race(error);
    std::memcpy(bytes + out[0], params.bytes + begin, static_cast<size_t>(length));
  }
  return GTH_OK;
}

}  // namespace gather::cpu
