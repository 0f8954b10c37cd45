// The calls in C that Java's calls are compared with. Each function repeats a call, and returns 0 if all succeed.
#include <gather/gather.h>

static float table[64], out[1];
static const int64_t ids[1] = {7}, rows = 64, one = 1;

static gth_plan *create(int64_t extent) {
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, &rows, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &extent, NULL);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  gth_plan *plan = NULL;
  return gth_plan_create(&request, &plan, NULL) == GTH_OK ? plan : NULL;
}

static int run(int64_t repeats, int64_t extent, int64_t n) {
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan = create(extent);
  int failed = 0;
  for (int64_t i = 0; i < repeats; i++) failed |= gth_plan_run(NULL, plan, n, table, ids, out, &err);
  gth_plan_release(plan);
  return failed;
}

int plan_run(int64_t repeats) { return run(repeats, 1, GTH_OPEN); }

int plan_run_open(int64_t repeats) { return run(repeats, GTH_OPEN, 1); }

int described_once(int64_t repeats) {
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, &rows, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &one, ids);
  const gth_tensor_desc output = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, &one, out);
  gth_error err = GTH_ERROR_INIT;
  int failed = 0;
  for (int64_t i = 0; i < repeats; i++) failed |= gth_gather(NULL, &params, &indices, &output, NULL, &err);
  return failed;
}

int described(int64_t repeats) {
  int failed = 0;
  for (int64_t i = 0; i < repeats; i++) failed |= described_once(1);
  return failed;
}

int new_output(int64_t repeats) {
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, &rows, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &one, ids);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  gth_error err = GTH_ERROR_INIT;
  int failed = 0;
  for (int64_t i = 0; i < repeats; i++) {
    gth_tensor *made = NULL;
    failed |= gth_make(NULL, &request, &made, &err);
    gth_tensor_release(made);
  }
  return failed;
}
