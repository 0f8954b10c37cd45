#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/moved.hpp"
#include "core/plan/plan.hpp"

// The memory of one run of a plan.
namespace gather::core {

// The data pointers. Only written operands are written through them.
struct Pointers : ByRole<char*> {
  int64_t ids = GTH_OPEN;  // the open number of ids of bags
};

inline Pointers pointers_of(const void* table, const void* indices, const void* rows) {
  const auto writable = [](const void* data) { return static_cast<char*>(const_cast<void*>(data)); };
  return {by_role(writable(table), writable(indices), writable(rows))};
}

// Returns the packed rows of a run. Precondition: the table is packed, or the result is not used.
inline PackedRows packed_rows_of(const Plan& plan, const Pointers& pointers) {
  return {&plan.packed, moved(pointers.table, plan.offset.table), moved(pointers.scales, plan.offset.scales),
          moved(pointers.zeros, plan.offset.zeros)};
}

// The owner of the output. If a run fails, memory of the caller is unchanged, and memory of the library is freed.
enum class Output : uint8_t { callers, ours };

// The size of the memory of each operand in bytes, from its data pointer on.
struct Extents : ByRole<int64_t> {};

// The memory that a run accesses, relative to the data pointers. The span of an absent operand is empty.
struct Spans : ByRole<Span> {};

// Checks the open extent of a run. All sizes must fit int64 and the described memory. n must be GTH_OPEN if the plan
// has no open extent.
int32_t check_open_extent(const Plan& plan, int64_t n, const Error& error);

// Checks the open number of ids, which only bags have.
int32_t check_open_ids(const Plan& plan, int64_t ids, const Error& error);

// Returns the number of parts into which a run can be divided, at least 1. Several parts are slices of the output.
int64_t parts_of(const Plan& plan, int64_t n);

// Returns the operands whose memory a run accesses. `ids` is the open number of ids.
RoleSet accessed_by(const Plan& plan, int64_t n, int64_t ids);

// Returns the memory of an operand that a run accesses.
Span span_of(const Plan& plan, Role role, int64_t n, int64_t ids);

// Returns the size of the memory that a run accesses. Precondition: check_open_extent and check_open_ids have succeeded.
Extents extents_of(const Plan& plan, int64_t n, int64_t ids);

// Validates the open extent, the sizes and the pointers of a run, and checks for overlap. `given` has the sizes of the
// memory. If it is nullptr, the caller is responsible for them.
int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given, const Error& error);

// The same as check_run for a run that only validates indices. Other operands are ignored.
int32_t check_index_run(const Plan& plan, const Pointers& pointers, int64_t n, const Extents* given,
                        const Error& error);

}  // namespace gather::core
