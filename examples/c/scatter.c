/* Writes rows into a table by id, in place. The last update of a row remains, or all updates are added. */
#include <gather/gather.h>
#include <stdio.h>

static void print(float table[4][2]) {
  for (int i = 0; i < 4; i++) printf("%g %g\n", table[i][0], table[i][1]);
}

int main(void) {
  float table[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}};
  const int64_t ids[3] = {3, 0, 3};
  const float rows[3][2] = {{1, 2}, {3, 4}, {5, 6}};

  const int64_t table_shape[] = {4, 2}, ids_shape[] = {3}, rows_shape[] = {3, 2};
  const gth_tensor_desc target = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);
  const gth_tensor_desc updates = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);

  gth_options add = GTH_OPTIONS_INIT;
  add.reduction = GTH_REDUCTION_ADD;
  gth_error error = GTH_ERROR_INIT;
  if (gth_scatter(NULL, &target, &indices, &updates, NULL, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  print(table);
  if (gth_scatter(NULL, &target, &indices, &updates, &add, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  print(table);
  return 0;
}
