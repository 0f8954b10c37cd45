#include "partition.h"

#include "call.h"

static gth_shards make_shards(GATHER_GO_SHARDS) {
  gth_shards result = GTH_SHARDS_INIT;
  result.kind = shards->kind;
  result.rows = shards->rows;
  result.count = shards->count;
  result.borders = borders;
  return result;
}

gather_go_error *gather_go_partition_scratch(GATHER_GO_TENSOR(ids), GATHER_GO_SHARDS, uint32_t flags, int64_t *bytes) {
  BEGIN;
  const gth_tensor_desc described = DESCRIBE(ids);
  const gth_shards all = make_shards(shards, borders);
  END(gth_partition_scratch(&described, &all, flags, bytes, &err));
}

gather_go_error *gather_go_partition(gather_go_handle context, GATHER_GO_TENSOR(ids), GATHER_GO_SHARDS,
                                     const gth_options *options, uint32_t flags, int64_t capacity, int64_t *counts,
                                     int64_t *local, int64_t *linked, int64_t *scratch, int64_t scratch_bytes) {
  BEGIN;
  const gth_tensor_desc described = DESCRIBE(ids);
  const gth_shards all = make_shards(shards, borders);
  gth_parts parts = GTH_PARTS_INIT;
  parts.flags = flags;
  parts.capacity = capacity;
  parts.counts = counts;
  parts.local = local;
  *(flags & GTH_PARTS_ONCE ? &parts.place : &parts.order) = linked;
  parts.scratch = scratch;
  parts.scratch_bytes = scratch_bytes;
  END(gth_partition(CONTEXT(context), &described, &all, options, &parts, &err));
}
