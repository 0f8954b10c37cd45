/* Gathers elements by coordinates. Each row of indices is a tuple with one index for each dim. */
#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const int32_t matrix[2][3] = {{0, 1, 2}, {10, 11, 12}};
  const int64_t at[2][2] = {{1, 2}, {0, 0}};
  int32_t elements[2];

  const int64_t matrix_shape[] = {2, 3}, at_shape[] = {2, 2}, elements_shape[] = {2};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 2, matrix_shape, matrix);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 2, at_shape, at);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 1, elements_shape, elements);

  gth_error error = GTH_ERROR_INIT;
  if (gth_gather_nd(NULL, &params, &indices, &out, NULL, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < 2; i++) printf("%d\n", (int)elements[i]);
  return 0;
}
