/* Runs a plan. Shapes and options are validated once. Each run sets the number of ids. */
#include <gather/gather.h>
#include <stdio.h>

static const float table[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}};

static int look_up(const gth_plan *plan, const int64_t *ids, int64_t n) {
  float rows[3][2] = {{0}};
  gth_error error = GTH_ERROR_INIT;
  if (gth_plan_run(NULL, plan, n, table, ids, rows, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < n; i++) printf("%g %g\n", rows[i][0], rows[i][1]);
  return 0;
}

int main(void) {
  const int64_t table_shape[] = {4, 2}, ids_shape[] = {GTH_OPEN};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, NULL);

  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);

  gth_plan *plan;
  gth_error error = GTH_ERROR_INIT;
  if (gth_plan_create(&request, &plan, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const int64_t one[] = {2}, three[] = {0, 1, 3};
  const int failed = look_up(plan, one, 1) || look_up(plan, three, 3);
  gth_plan_release(plan);
  return failed;
}
