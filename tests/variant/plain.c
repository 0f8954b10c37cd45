#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const float params[] = {3, 5, 8};
  const int64_t indices[] = {-1, 1, 7}, rows = 3;
  float out[3];
  gth_tensor_desc table = GTH_TENSOR_DESC_INIT;
  table.dtype = GTH_DTYPE_FLOAT32;
  table.ndim = 1;
  table.shape = &rows;
  gth_tensor_desc index = table, result = table;
  index.dtype = GTH_DTYPE_INT64;
  table.data = (void *)params;
  index.data = (void *)indices;
  result.data = out;
  gth_options options = GTH_OPTIONS_INIT;
  options.profile = GTH_PROFILE_FRESH;
  options.fresh = 4;
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_run(NULL, GTH_OP_GATHER_AGAIN, &table, &index, &result, &options, &error);
  if (status != GTH_OK || out[0] != 8 || out[1] != 5 || out[2] != 8) {
    fprintf(stderr, "status %d: %s\n", status, error.message);
    return 1;
  }
  return 0;
}
