/* Gathers rows of a table by id into memory of the caller. It uses no handle and allocates nothing. */
#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const float table[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}};
  const int64_t ids[3] = {3, 0, 3};
  float rows[3][2];

  const int64_t table_shape[] = {4, 2}, ids_shape[] = {3}, rows_shape[] = {3, 2};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);

  gth_error error = GTH_ERROR_INIT;
  if (gth_gather(NULL, &params, &indices, &out, NULL, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < 3; i++) printf("%d: %g %g\n", (int)ids[i], rows[i][0], rows[i][1]);
  return 0;
}
