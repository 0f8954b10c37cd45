#pragma once

#include "cuda/bag_checks.hpp"
#include "cuda/columns.hpp"
#include "cuda/partition_job.hpp"

// The kernels of gth_partition. cuda/bodies.hpp describes what a Block has.
namespace gather::cuda {

template <class Block>
GATHER_KERNEL void border_body(Block& block, const BorderJob& job) {
  block.each(
      [&](uint32_t thread) { for_numbers(block, thread, job.count, [&](int64_t i) { job.to[i] = job.borders[i]; }); });
}

// ---- Ids

// Returns the row of an id, or -1.
GATHER_SHARED int64_t row_of_id(const PartitionJob& job, int64_t i) {
  return resolve_seldom(AnyIndex::load(job.ids, job.ids.first + i * job.ids.stride), job.rows, job.policy);
}

// Returns the last shard whose first row is not behind a row.
GATHER_SELDOM int64_t shard_between(const int64_t* borders, int64_t shards, int64_t row) {
  int64_t first = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t left = shards; left > 1;) {
    const int64_t half = left / 2;
    first += borders[first + half] <= row ? half : 0;
    left -= half;
  }
  return first;
}

// Writes the key of an id: its shard. Ids without a row are behind all shards.
GATHER_SHARED void write_shard(const PartitionJob& job, int64_t id, int64_t row) {
  int64_t shard = job.shards, local = 0;
  if (row >= 0) {
    switch (job.kind) {
      case GTH_SHARDS_BLOCKS: shard = row / job.divisor, local = row % job.divisor; break;
      case GTH_SHARDS_MODULO: shard = row % job.divisor, local = row / job.divisor; break;
      default: shard = shard_between(job.borders, job.shards, row), local = row - job.borders[shard];
    }
  }
  job.keys.slices[id] = static_cast<uint32_t>(shard);
  job.keys.updates[id] = static_cast<uint32_t>(id);
  job.locals[id] = local;
}

// Writes the keys of the first sort. It writes them for refused calls too, because the sort needs some.
template <class Block>
GATHER_KERNEL void partition_key_body(Block& block, const PartitionJob& job) {
  const bool refused = is_refused(job);
  const bool raced = block.any([&](uint32_t thread) {
    bool result = false;
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      const int64_t row = refused ? -1 : row_of_id(job, i);
      result |= job.refuses && !refused && row < 0;
      if (!job.once) return write_shard(job, i, row);
      job.rows_of_ids.slices[i] = static_cast<uint32_t>(row < 0 ? job.rows : row);
      job.rows_of_ids.updates[i] = static_cast<uint32_t>(i);
    });
    return result;
  });
  if (raced) block.once([&] { note_change(job, GTH_OPERAND_INDICES); });
}

// ---- Sorted ids

// Returns the first of sorted keys that is not smaller than a number.
GATHER_SELDOM int64_t first_key(const uint32_t* keys, int64_t count, uint64_t number) {
  int64_t first = 0, last = count;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (keys[middle] < number)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

// Writes the keys of the second sort. Only the first id of a row has a shard.
template <class Block>
GATHER_KERNEL void first_id_body(Block& block, const PartitionJob& job) {
  block.each([&](uint32_t thread) {
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      const uint32_t row = job.rows_of_ids.slices[i], id = job.rows_of_ids.updates[i];
      const int64_t first = first_key(job.rows_of_ids.slices, job.ids_count, row);
      const bool has_row = row != job.rows;
      job.first_ids[id] = has_row ? job.rows_of_ids.updates[first] : no_id;
      write_shard(job, id, has_row && first == i ? int64_t{row} : -1);
    });
  });
}

// Writes the parts of the ids that are sorted by shard.
template <class Block>
GATHER_KERNEL void part_body(Block& block, const PartitionJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      const uint32_t id = job.keys.updates[i];
      const bool has_shard = job.keys.slices[i] != job.shards;
      if (job.place && (has_shard || !job.once)) job.place[id] = has_shard ? i : -1;
      if (!has_shard) return;
      job.local[i] = job.locals[id];
      if (job.order) job.order[i] = id;
    });
  });
}

// Writes the places of ids whose rows earlier ids request.
template <class Block>
GATHER_KERNEL void place_body(Block& block, const PartitionJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.ids_count, [&](int64_t id) {
      const uint32_t first = job.first_ids[id];
      if (first != id) job.place[id] = first == no_id ? -1 : job.place[first];
    });
  });
}

template <class Block>
GATHER_KERNEL void shard_count_body(Block& block, const PartitionJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.shards, [&](int64_t shard) {
      const auto number = static_cast<uint64_t>(shard);
      const int64_t first = first_key(job.keys.slices, job.ids_count, number);
      job.counts[shard] = first_key(job.keys.slices, job.ids_count, number + 1) - first;
    });
  });
}

template <PartitionStep step, class Block>
GATHER_KERNEL void partition_body(Block& block, const PartitionJob& job) {
  if constexpr (step == PartitionStep::keys) partition_key_body(block, job);
  if constexpr (step == PartitionStep::first_ids) first_id_body(block, job);
  if constexpr (step == PartitionStep::parts) part_body(block, job);
  if constexpr (step == PartitionStep::places) place_body(block, job);
  if constexpr (step == PartitionStep::counts) shard_count_body(block, job);
}

// Calls visit(std::integral_constant<PartitionStep, step>{}).
template <class Visit>
int visit_partition(PartitionStep step, Visit&& visit) {
  switch (step) {
    case PartitionStep::keys: return visit(std::integral_constant<PartitionStep, PartitionStep::keys>{});
    case PartitionStep::first_ids: return visit(std::integral_constant<PartitionStep, PartitionStep::first_ids>{});
    case PartitionStep::parts: return visit(std::integral_constant<PartitionStep, PartitionStep::parts>{});
    case PartitionStep::places: return visit(std::integral_constant<PartitionStep, PartitionStep::places>{});
    default: return visit(std::integral_constant<PartitionStep, PartitionStep::counts>{});
  }
}

}  // namespace gather::cuda
