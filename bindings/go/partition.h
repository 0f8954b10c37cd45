/* The C functions of the partition of ids by the shards of a table. */
#ifndef GATHER_GO_PARTITION_H
#define GATHER_GO_PARTITION_H

#include "shim.h"

/* gth_shards without its pointer, because cgo rejects Go pointers inside C structs. */
typedef struct gather_go_shards {
  int32_t kind;
  int64_t rows;
  int64_t count;
} gather_go_shards;

/* Declares the parameters of shards. */
#define GATHER_GO_SHARDS const gather_go_shards *shards, const int64_t *borders

gather_go_error *gather_go_partition_scratch(GATHER_GO_TENSOR(ids), GATHER_GO_SHARDS, uint32_t flags, int64_t *bytes);

/* Partitions ids. linked receives the order, or the places with GTH_PARTS_ONCE. local and linked have room for `capacity`
 * numbers. */
gather_go_error *gather_go_partition(gather_go_handle context, GATHER_GO_TENSOR(ids), GATHER_GO_SHARDS,
                                     const gth_options *options, uint32_t flags, int64_t capacity, int64_t *counts,
                                     int64_t *local, int64_t *linked, int64_t *scratch, int64_t scratch_bytes);

#endif
