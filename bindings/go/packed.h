/* The C functions of packed rows. */
#ifndef GATHER_GO_PACKED_H
#define GATHER_GO_PACKED_H

#include "shim.h"

/* The fields of a codec that replace those of its format. */
typedef struct gather_go_codec {
  int64_t block_values;
  float factor, zero;
  int32_t zero_dtype;
  uint32_t given; /* GATHER_GO_GIVEN_* */
} gather_go_codec;

#define GATHER_GO_GIVEN_BLOCK 1
#define GATHER_GO_GIVEN_ZERO 2

/* Where the rows of a table in files lie. */
typedef struct gather_go_files {
  int64_t count;
  const gth_segment *const *segments; /* NULL: The rows are in memory. */
  gth_files_options options;
} gather_go_files;

/* Creates a tensor of packed rows, or of a table in files. It keeps the addresses of memory, which Go has pinned. scales
 * and zeros may be absent. The name ends with a zero. It is NULL for a table in files that is not packed. */
gather_go_error *gather_go_packed(const uint8_t *name, const gather_go_codec *given, GATHER_GO_TENSOR(rows),
                                  GATHER_GO_TENSOR(scales), GATHER_GO_TENSOR(zeros), gather_go_files *files,
                                  gather_go_handle *tensor);

gather_go_error *gather_go_prefetch(gather_go_handle tensor, GATHER_GO_TENSOR(indices));
gather_go_error *gather_go_stats(gather_go_handle tensor, gth_files_stats *stats);

/* Computes the bytes of a row of a format. */
gather_go_error *gather_go_row_bytes(const uint8_t *name, int64_t values, int64_t *bytes);

#endif
