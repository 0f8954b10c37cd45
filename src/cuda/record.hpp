#pragma once

#include "cuda/atomics.hpp"
#include "cuda/kernel_job.hpp"

// The error record on the device.
namespace gather::cuda {

// Copies the description of the first failed call.
GATHER_SHARED void copy_failure(gth_error_record* to, const gth_error_record& from) {
  to->sequence = from.sequence;
  to->position = from.position;
  to->value = from.value;
  to->limit = from.limit;
  to->operand = from.operand;
  to->component = from.component;
  to->status = from.status;
  to->flags = from.flags;
}

// Counts a failed call. The first failure since the last take is described before it is counted. Several calls and a
// take may run at the same time, so `reserved` is the lock of the record. A host may set the count to 0 at any time.
GATHER_SHARED void note_failure(gth_error_record* record, const gth_error_record& failure) {
  lock(&record->reserved);
  const uint64_t count = load(&record->count);
  if (count == 0) copy_failure(record, failure);
  publish(&record->count, count + 1);
  unlock(&record->reserved);
}

template <class Job>
GATHER_SHARED gth_error_record index_failure(const Job& job, const Finding& bad) {
  gth_error_record failure{};
  failure.sequence = job.sequence;
  failure.position = bad.position;
  failure.value = bad.value;
  failure.limit = job.component[bad.component].size;
  failure.operand = GTH_OPERAND_INDICES;
  failure.component = static_cast<int32_t>(bad.component);
  failure.status = GTH_E_INDEX;
  failure.flags = job.wraps_flag;
  if (!job.index_signed && bad.value < 0) failure.flags |= GTH_ERROR_UNSIGNED;
  return failure;
}

GATHER_SHARED gth_error_record race_failure(int64_t sequence, int32_t operand = GTH_OPERAND_INDICES) {
  gth_error_record failure{};
  failure.sequence = sequence;
  failure.position = -1;
  failure.operand = operand;
  failure.component = -1;
  failure.status = GTH_E_RACE;
  return failure;
}

// Copies the record to `to` and clears it.
GATHER_SHARED void take_record(gth_error_record* record, gth_error_record* to) {
  lock(&record->reserved);
  const uint64_t count = load(&record->count);
  copy_failure(to, count > 0 ? *record : gth_error_record{});
  to->reserved = 0;
  publish(&to->count, count);
  if (count > 0) publish(&record->count, 0);
  unlock(&record->reserved);
}

}  // namespace gather::cuda
