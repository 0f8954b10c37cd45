#include "packed.h"

#include "call.h"

gather_go_error *gather_go_packed(const uint8_t *name, const gather_go_codec *given, GATHER_GO_TENSOR(rows),
                                  GATHER_GO_TENSOR(scales), GATHER_GO_TENSOR(zeros), gather_go_files *files,
                                  gather_go_handle *tensor) {
  BEGIN;
  gth_codec codec = GTH_CODEC_INIT;
  int32_t status = name ? gth_codec_named((const char *)name, &codec, &err) : GTH_OK;
  if (status) END(status);
  gth_tensor_desc table = DESCRIBE(rows);
  const gth_tensor_desc described_scales = DESCRIBE(scales), described_zeros = DESCRIBE(zeros);
  if (given->given & GATHER_GO_GIVEN_BLOCK) codec.block_values = given->block_values;
  if (given->given & GATHER_GO_GIVEN_ZERO) {
    codec.zero = given->zero;
    codec.zero_place = GTH_PLACE_NONE;
  }
  codec.factor = given->factor;
  if (!(scales->flags & GATHER_GO_ABSENT)) codec.scales = &described_scales;
  if (!(zeros->flags & GATHER_GO_ABSENT)) {
    codec.zeros = &described_zeros;
    if (codec.zero_place == GTH_PLACE_NONE) codec.zero_place = GTH_PLACE_OPERAND;
    codec.zero_dtype = given->zero_dtype;
  }
  if (name) table.codec = &codec;
  gth_tensor *made = NULL;
  if (files->segments) {
    files->options.size = sizeof files->options;
    status = gth_tensor_open(NULL, &table, files->count, files->segments, &files->options, &made, &err);
  } else {
    status = gth_tensor_borrow(&table, &made, &err);
  }
  *tensor = (gather_go_handle)made;
  END(status);
}

gather_go_error *gather_go_prefetch(gather_go_handle tensor, GATHER_GO_TENSOR(indices)) {
  BEGIN;
  const gth_tensor_desc ids = DESCRIBE(indices);
  END(gth_tensor_prefetch(NULL, TENSOR(tensor), &ids, NULL, &err));
}

gather_go_error *gather_go_stats(gather_go_handle tensor, gth_files_stats *stats) {
  BEGIN;
  stats->size = sizeof *stats;
  END(gth_tensor_stats(TENSOR(tensor), stats, &err));
}

gather_go_error *gather_go_row_bytes(const uint8_t *name, int64_t values, int64_t *bytes) {
  BEGIN;
  gth_codec codec = GTH_CODEC_INIT;
  const int32_t status = gth_codec_named((const char *)name, &codec, &err);
  END(status ? status : gth_codec_row_bytes(&codec, values, bytes, &err));
}
