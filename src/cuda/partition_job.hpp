#pragma once

#include "cuda/bag_job.hpp"
#include "cuda/scatter_job.hpp"

// The kernels of gth_partition sort the ids by shard. So the ids of a shard keep their order. If duplicates are requested
// once, a sort by row in front of that finds the first id of each row.
namespace gather::cuda {

// Some of the borders of shards, which become an array on the device. So a captured call has its own.
struct BorderJob {
  int64_t* to;
  int32_t count;
  int64_t borders[size_t{borders_at_once}];
};

enum class PartitionStep : uint8_t { keys, first_ids, parts, places, counts };
constexpr int partition_steps = static_cast<int>(PartitionStep::counts) + 1;

struct PartitionJob {
  IntegerLine ids;
  int64_t ids_count;
  int64_t rows;
  core::IndexPolicy policy;
  bool refuses;  // An invalid id has become invalid after its validation.
  bool once;
  int32_t kind;    // GTH_SHARDS_*
  int64_t shards;  // their number
  int64_t divisor;
  const int64_t* borders;
  Keys keys;            // the shard and the number of each id. Ids without a place have the number of the shards.
  Keys rows_of_ids;     // once: the row and the number of each id. Those without a row have the number of the rows.
  uint32_t* first_ids;  // once: by id, the first id of its row, or no_id
  int64_t* locals;      // by id
  int64_t *counts, *local, *order, *place;  // see gth_parts
  State* state;                             // nullptr if nothing is validated
  gth_error_record* record;
  int64_t sequence;
};

}  // namespace gather::cuda
