#pragma once

#include "cuda/atomics.hpp"
#include "cuda/job.hpp"

// The error record, as the device writes and hands it out.
namespace gather::cuda {

// Counts a failed call; the first since the last take is described. Calls that overlap may fail at once: `reserved` says
// who came first, and the others are counted where its description is there already, so that none is read half written.
GATHER_SHARED void note_failure(gth_error_record* record, const gth_error_record& failure) {
  const uint64_t earlier = add(&record->reserved, 1);
  if (earlier > 0) {
    if (load(&record->count) > 0) raise(&record->count, earlier + 1);
    return;
  }
  record->sequence = failure.sequence;
  record->position = failure.position;
  record->value = failure.value;
  record->limit = failure.limit;
  record->operand = failure.operand;
  record->component = failure.component;
  record->status = failure.status;
  record->flags = failure.flags;
  publish(&record->count, load(&record->reserved));
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

GATHER_SHARED gth_error_record race_failure(int64_t sequence) {
  gth_error_record failure{};
  failure.sequence = sequence;
  failure.position = -1;
  failure.operand = GTH_OPERAND_INDICES;
  failure.component = -1;
  failure.status = GTH_E_RACE;
  return failure;
}

// Copies the record out and clears it.
GATHER_SHARED void take_record(gth_error_record* record, gth_error_record* to) {
  const uint64_t count = load(&record->count);
  gth_error_record taken{};
  if (count > 0) taken = *record;
  to->sequence = taken.sequence;
  to->position = taken.position;
  to->value = taken.value;
  to->limit = taken.limit;
  to->operand = taken.operand;
  to->component = taken.component;
  to->status = taken.status;
  to->flags = taken.flags;
  to->reserved = 0;
  publish(&to->count, count);
  if (count == 0) return;
  record->reserved = 0;
  publish(&record->count, 0);
}

}  // namespace gather::cuda
