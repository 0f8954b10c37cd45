/* Makes each mistake in C and prints a line with the fields of its error. */
#include <gather/gather.h>
#include <stdio.h>

static float table[8] = {0, 1, 10, 11, 20, 21, 30, 31}, rows[8];
static const int64_t table_shape[] = {4, 2};
static gth_error err = GTH_ERROR_INIT;

#define TENSOR(dtype, data, ...)                       \
  {sizeof(gth_tensor_desc),                            \
   GTH_DTYPE_##dtype,                                  \
   0,                                                  \
   0,                                                  \
   sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
   0,                                                  \
   NULL,                                               \
   data,                                               \
   (const int64_t[]){__VA_ARGS__},                     \
   NULL,                                               \
   NULL,                                               \
   0,                                                  \
   sizeof(data)}

static void line(const char *mistake, int32_t status) {
  printf("%s\t%s", mistake, gth_status_name(status));
  if (status)
    printf("\t%d\t%d\t%lld\t%lld\t%lld", err.operand, err.component, (long long)err.position, (long long)err.value,
           (long long)err.limit);
  printf("\n");
}

static int32_t gather_ids(const int64_t *ids, int64_t count, const gth_options *options) {
  const gth_tensor_desc params = TENSOR(FLOAT32, table, 4, 2);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &count, ids);
  const int64_t shape[] = {count, 2};
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, shape, rows);
  return gth_gather(NULL, &params, &indices, &out, options, &err);
}

static int32_t gather_from(gth_tensor_desc params) {
  const int64_t ids[] = {0};
  const gth_tensor_desc indices = TENSOR(INT64, ids, 1), out = TENSOR(FLOAT32, rows, 1, 2);
  return gth_gather(NULL, &params, &indices, &out, NULL, &err);
}

static int32_t gather_to(gth_tensor_desc out) {
  const int64_t ids[] = {0, 1, 2};
  const gth_tensor_desc params = TENSOR(FLOAT32, table, 4, 2), indices = TENSOR(INT64, ids, 3);
  return gth_gather(NULL, &params, &indices, &out, NULL, &err);
}

int main(void) {
  const int64_t good[] = {0, 1};
  gth_options options = GTH_OPTIONS_INIT;
  line("an index above the range", gather_ids((const int64_t[]){0, 4, -1}, 3, NULL));
  line("a negative index", gather_ids((const int64_t[]){0, -1}, 2, NULL));
  options.negative = GTH_NEGATIVE_WRAP;
  line("an index below -size with negative = wrap", gather_ids((const int64_t[]){-5}, 1, &options));
  options = (gth_options)GTH_OPTIONS_INIT;
  options.has_axis = 1;
  options.axis = 2;
  line("an axis outside the rank", gather_ids(good, 2, &options));
  options = (gth_options)GTH_OPTIONS_INIT;
  options.batch_dims = 2;
  line("batch_dims above the rank of indices", gather_ids(good, 2, &options));
  options = (gth_options)GTH_OPTIONS_INIT;
  options.bounds = 99;
  line("an unknown switch", gather_ids(good, 2, &options));

  const gth_tensor_desc params = TENSOR(FLOAT32, table, 4, 2),
                        tuple = TENSOR(INT64, ((const int64_t[]){0, 0, 0}), 1, 3);
  gth_tensor_desc out = TENSOR(FLOAT32, rows, 1);
  line("tuples with more components than dims", gth_gather_nd(NULL, &params, &tuple, &out, NULL, &err));
  const gth_tensor_desc floats = TENSOR(FLOAT32, ((const float[]){0}), 1);
  out = (gth_tensor_desc)TENSOR(FLOAT32, rows, 1, 2);
  line("indices of float32", gth_gather(NULL, &params, &floats, &out, NULL, &err));

  gth_tensor_desc from = TENSOR(FLOAT32, table, 5, 2);
  line("memory that is too small for its shape", gather_from(from));
  from = (gth_tensor_desc)TENSOR(FLOAT32, table, 3, 2);
  line("memory that is larger than its shape needs", gather_from(from));
  from = (gth_tensor_desc)TENSOR(FLOAT32, table, 4, 2);
  const int64_t strides[] = {16, 4};
  from.strides = strides;
  line("strides that leave the memory", gather_from(from));

  line("an output of another shape", gather_to((gth_tensor_desc)TENSOR(FLOAT32, rows, 2, 2)));
  line("an output of another rank", gather_to((gth_tensor_desc)TENSOR(FLOAT32, rows, 6)));
  line("an output of another dtype", gather_to((gth_tensor_desc)TENSOR(INT32, rows, 3, 2)));
  line("an output that overlaps params", gather_to((gth_tensor_desc)TENSOR(FLOAT32, table, 3, 2)));
  out = (gth_tensor_desc)TENSOR(FLOAT32, rows, 3, 2);
  out.flags = GTH_TENSOR_READONLY;
  line("a read-only output", gather_to(out));

  gth_plan *plan = NULL;
  const gth_tensor_desc open = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, (const int64_t[]){GTH_OPEN}, NULL);
  const gth_tensor_desc planned = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &planned, &open, NULL, NULL);
  if (gth_plan_create(&request, &plan, &err) != GTH_OK) return 1;
  line("a run without a value for its open extent", gth_plan_run(NULL, plan, GTH_OPEN, table, good, rows, &err));
  gth_plan_args less = GTH_PLAN_ARGS_INIT;
  less.flags = GTH_ARGS_EXTENTS, less.n = 2;
  less.table = table, less.table_extent = 28;
  less.indices = good, less.indices_extent = 16;
  less.rows = rows, less.rows_extent = 32;
  line("a run with memory that is too small", gth_plan_run_args(NULL, plan, &less, &err));
  gth_plan_release(plan);
  line("a run of a released plan", gth_plan_run(NULL, plan, 2, table, good, rows, &err));

  gth_tensor_desc target = TENSOR(FLOAT32, rows, 4, 2);
  const gth_tensor_desc at = TENSOR(INT64, good, 2), outside = TENSOR(INT64, ((const int64_t[]){0, 4}), 2);
  gth_tensor_desc updates = TENSOR(FLOAT32, table, 2, 2);
  line("a scatter with an index above the range", gth_scatter(NULL, &target, &outside, &updates, NULL, &err));
  options = (gth_options)GTH_OPTIONS_INIT;
  options.bounds = GTH_BOUNDS_FILL;
  line("a scatter with bounds = fill", gth_scatter(NULL, &target, &at, &updates, &options, &err));
  updates = (gth_tensor_desc)TENSOR(FLOAT32, table, 3, 2);
  line("updates of another shape", gth_scatter(NULL, &target, &at, &updates, NULL, &err));
  updates = (gth_tensor_desc)TENSOR(INT32, table, 2, 2);
  line("updates of another dtype", gth_scatter(NULL, &target, &at, &updates, NULL, &err));
  updates = (gth_tensor_desc)TENSOR(FLOAT32, rows, 2, 2);
  line("updates that overlap the target", gth_scatter(NULL, &target, &at, &updates, NULL, &err));
  updates = (gth_tensor_desc)TENSOR(FLOAT32, table, 2, 2);
  target.flags = GTH_TENSOR_READONLY;
  line("a read-only target", gth_scatter(NULL, &target, &at, &updates, NULL, &err));
  return 0;
}
