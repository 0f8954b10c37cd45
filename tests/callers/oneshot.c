/* gather and gather_nd in one call, from descriptions of memory and without a handle. */
#include "check.h"

static const int32_t matrix[3][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};
static const int64_t matrix_shape[] = {3, 4};

static void rows_and_columns(void) {
  const int64_t two[] = {2};
  const uint8_t picks[] = {2, 0};
  const int64_t rows_shape[] = {2, 4};
  const int64_t columns_shape[] = {3, 2};
  int32_t rows[2][4];
  int32_t columns[3][2];
  int64_t shape[2] = {0, 0};
  gth_tensor_desc inferred = GTH_TENSOR_DESC_INIT;
  gth_tensor_desc params = dense(GTH_DTYPE_INT32, 2, matrix_shape, matrix);
  gth_tensor_desc indices = dense(GTH_DTYPE_UINT8, 1, two, picks);
  gth_tensor_desc out = dense(GTH_DTYPE_INT32, 2, rows_shape, rows);
  gth_options options = GTH_OPTIONS_INIT;
  const gth_request along_columns = request(GTH_OP_GATHER, &params, &indices, NULL, &options);
  gth_error err = GTH_ERROR_INIT;
  int i;

  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  CHECK(memcmp(rows[0], matrix[2], sizeof(rows[0])) == 0 && memcmp(rows[1], matrix[0], sizeof(rows[1])) == 0);

  options.has_axis = 1;
  options.axis = -1;
  CHECK_OK(gth_infer(&along_columns, &inferred, 2, shape, &err), &err);
  CHECK(inferred.dtype == GTH_DTYPE_INT32 && inferred.ndim == 2 && shape[0] == 3 && shape[1] == 2);
  out = dense(GTH_DTYPE_INT32, 2, columns_shape, columns);
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, &options, &err), &err);
  for (i = 0; i < 3; i++) CHECK(columns[i][0] == matrix[i][2] && columns[i][1] == matrix[i][0]);

  /* An index of rank 0 drops the axis. */
  indices.ndim = 0;
  indices.shape = NULL;
  out.ndim = 1;
  out.shape = columns_shape;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, &options, &err), &err);
  CHECK(columns[0][0] == 2 && columns[0][1] == 12 && columns[1][0] == 22);

  options.axis = 2;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, &options, &err), GTH_E_AXIS, &err);
  CHECK_ERROR(&err, GTH_E_AXIS, GTH_OPERAND_OPTIONS, (int32_t)offsetof(gth_options, axis), -1, 2, 2);
  options.axis = 0;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, &options, &err), GTH_E_SHAPE, &err);
  CHECK_ERROR(&err, GTH_E_SHAPE, GTH_OPERAND_OUT, 0, -1, 3, 4);
}

/* Transposed, reversed and broadcast params, and indices with a stride, are read in place. */
static void strides(void) {
  const int64_t transposed_shape[] = {4, 3};
  const int64_t transposed[] = {4, 16};
  const int64_t reversed[] = {-16, -4};
  const int64_t broadcast_shape[] = {1000000, 4};
  const int64_t broadcast[] = {0, 4};
  const int64_t two[] = {2};
  const int64_t every_other[] = {2 * (int64_t)sizeof(int64_t)};
  const int64_t picks[] = {3, -99, 1};
  const int64_t far_picks[] = {999999, -99, 0};
  const int64_t near_picks[] = {0, -99, 2};
  const int64_t transposed_out[] = {2, 3};
  const int64_t out_shape[] = {2, 4};
  int32_t taken[2][3];
  int32_t out_rows[2][4];
  int i;
  gth_tensor_desc params = dense(GTH_DTYPE_INT32, 2, transposed_shape, matrix);
  gth_tensor_desc indices = dense(GTH_DTYPE_INT64, 1, two, picks);
  gth_tensor_desc out = dense(GTH_DTYPE_INT32, 2, transposed_out, taken);
  gth_error err = GTH_ERROR_INIT;

  indices.strides = every_other;
  params.strides = transposed;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  for (i = 0; i < 3; i++) CHECK(taken[0][i] == matrix[i][3] && taken[1][i] == matrix[i][1]);

  out = dense(GTH_DTYPE_INT32, 2, out_shape, out_rows);
  params.shape = matrix_shape;
  params.strides = reversed;
  params.offset = 2 * 16 + 3 * 4;
  params.extent = (int64_t)sizeof(matrix);
  indices.data = near_picks;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  for (i = 0; i < 4; i++) CHECK(out_rows[0][i] == matrix[2][3 - i] && out_rows[1][i] == matrix[0][3 - i]);

  params.shape = broadcast_shape;
  params.strides = broadcast;
  params.offset = 16;
  params.extent = 32;
  indices.data = far_picks;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  for (i = 0; i < 4; i++) CHECK(out_rows[0][i] == matrix[1][i] && out_rows[1][i] == matrix[1][i]);

  /* Strides that leave the described memory below and above, and an output with overlapping elements, are rejected. */
  params.shape = matrix_shape;
  params.strides = reversed;
  params.offset = 2 * 16;
  params.extent = (int64_t)sizeof(matrix);
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_STRIDE, &err);
  CHECK_ERROR(&err, GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, -12, (int64_t)sizeof(matrix));
  params.strides = NULL;
  params.offset = 0;
  params.extent = (int64_t)sizeof(matrix) - 1;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_STRIDE, &err);
  CHECK_ERROR(&err, GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, sizeof(matrix), (int64_t)sizeof(matrix) - 1);
  params.extent = 0;
  out.strides = broadcast;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_STRIDE, &err);
  CHECK_ERROR(&err, GTH_E_STRIDE, GTH_OPERAND_OUT, 0, -1, 0, 4);
}

static void by_tuples(void) {
  const int64_t tuple_shape[] = {3, 2};
  const int64_t three[] = {3};
  const int16_t tuples[3][2] = {{2, 3}, {0, 0}, {1, 2}};
  const int16_t bad[3][2] = {{2, 3}, {0, 4}, {3, 2}};
  int32_t out_values[3] = {-1, -1, -1};
  int64_t shape[1] = {0};
  gth_tensor_desc inferred = GTH_TENSOR_DESC_INIT;
  gth_tensor_desc params = dense(GTH_DTYPE_INT32, 2, matrix_shape, matrix);
  gth_tensor_desc indices = dense(GTH_DTYPE_INT16, 2, tuple_shape, tuples);
  gth_tensor_desc out = dense(GTH_DTYPE_INT32, 1, three, out_values);
  const gth_request by_pairs = request(GTH_OP_GATHER_ND, &params, &indices, NULL, NULL);
  gth_error err = GTH_ERROR_INIT;

  CHECK_OK(gth_infer(&by_pairs, &inferred, 1, shape, &err), &err);
  CHECK(inferred.ndim == 1 && shape[0] == 3);
  CHECK_OK(gth_gather_nd(NULL, &params, &indices, &out, NULL, &err), &err);
  CHECK(out_values[0] == 23 && out_values[1] == 0 && out_values[2] == 12);

  memset(out_values, 0x55, sizeof(out_values));
  indices.data = bad;
  CHECK_STATUS(gth_gather_nd(NULL, &params, &indices, &out, NULL, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 1, 1, 4, 4);
  CHECK(out_values[0] == 0x55555555 && out_values[1] == 0x55555555 && out_values[2] == 0x55555555);
}

/* Indices below, inside and above the dim, with every bounds mode. */
static void bounds(void) {
  static const int64_t six[] = {6};
  static const int64_t four[] = {4};
  static const int32_t picks[6] = {-5, -4, -1, 1, 4, 9};
  static const float values[4] = {1, 2, 3, 4};
  static const struct {
    int32_t negative;
    int32_t bounds;
    int32_t fill;
    float wanted[6];
  } cases[] = {
      {GTH_NEGATIVE_REJECT, GTH_BOUNDS_FILL, 0, {0, 0, 0, 2, 0, 0}},
      {GTH_NEGATIVE_REJECT, GTH_BOUNDS_FILL, GTH_FILL_VALUE, {-8, -8, -8, 2, -8, -8}},
      {GTH_NEGATIVE_WRAP, GTH_BOUNDS_FILL, GTH_FILL_VALUE, {-8, 1, 4, 2, -8, -8}},
      {0, GTH_BOUNDS_CLAMP, 0, {1, 1, 1, 2, 4, 4}},
      {GTH_NEGATIVE_WRAP, GTH_BOUNDS_CLAMP, 0, {1, 1, 4, 2, 4, 4}},
      {0, GTH_BOUNDS_MODULO, 0, {4, 1, 4, 2, 1, 2}},
      {0, GTH_BOUNDS_SKIP, 0, {77, 77, 77, 2, 77, 77}},
      {GTH_NEGATIVE_WRAP, GTH_BOUNDS_SKIP, 0, {77, 1, 4, 2, 77, 77}},
  };
  const float fill = -8;
  float taken[6];
  gth_tensor_desc params = dense(GTH_DTYPE_FLOAT32, 1, four, values);
  gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, six, picks);
  gth_tensor_desc out = dense(GTH_DTYPE_FLOAT32, 1, six, taken);
  gth_options options = GTH_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;
  size_t c;
  int i;

  for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    for (i = 0; i < 6; i++) taken[i] = 77;
    options.negative = cases[c].negative;
    options.bounds = cases[c].bounds;
    options.fill = cases[c].fill;
    memcpy(options.fill_value, &fill, sizeof(fill));
    CHECK_OK(gth_gather(NULL, &params, &indices, &out, &options, &err), &err);
    for (i = 0; i < 6; i++) {
      if (taken[i] == cases[c].wanted[i]) continue;
      fprintf(stderr, "case %d index %d: %g, wanted %g\n", (int)c, (int)picks[i], taken[i], cases[c].wanted[i]);
      exit(1);
    }
  }

  options.negative = GTH_NEGATIVE_WRAP;
  options.bounds = GTH_BOUNDS_ERROR;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, &options, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, -5, 4);
  CHECK((err.flags & GTH_ERROR_WRAP) != 0);
  options.bounds = 7;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, &options, &err), GTH_E_VERSION, &err);
  CHECK_ERROR(&err, GTH_E_VERSION, GTH_OPERAND_OPTIONS, (int32_t)offsetof(gth_options, bounds), -1, 7,
              GTH_BOUNDS_ERROR_PARTIAL);
}

static void refusals(void) {
  int64_t memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int64_t four[] = {4};
  const int64_t two[] = {2};
  const int64_t picks[] = {3, 1};
  gth_tensor_desc params = dense(GTH_DTYPE_INT64, 1, four, memory);
  gth_tensor_desc indices = dense(GTH_DTYPE_INT64, 1, two, picks);
  gth_tensor_desc out = dense(GTH_DTYPE_INT64, 1, two, memory + 3);
  gth_options options = GTH_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;
  int i;

  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_ALIAS, &err);
  CHECK_ERROR(&err, GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0);
  out.data = memory + 6;
  indices.data = memory + 5;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_ALIAS, &err);
  CHECK_ERROR(&err, GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_INDICES, 0);
  indices.data = picks;
  out.flags = GTH_TENSOR_READONLY;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_READONLY, &err);
  CHECK(err.operand == GTH_OPERAND_OUT);
  out.flags = 0;
  out.dtype = GTH_DTYPE_UINT64;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_DTYPE, &err);
  CHECK_ERROR(&err, GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, GTH_DTYPE_UINT64, GTH_DTYPE_INT64);
  out.dtype = GTH_DTYPE_INT64;
  out.size = 4;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_VERSION, &err);
  CHECK(err.operand == GTH_OPERAND_OUT);
  out.size = sizeof(out);
  for (i = 0; i < 8; i++) CHECK(memory[i] == i);
  params.flags = GTH_TENSOR_READONLY;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  CHECK(memory[6] == 3 && memory[7] == 1);
  CHECK(gth_gather(NULL, &params, &indices, &out, NULL, NULL) == GTH_OK);

  /* Frequent mistakes: an axis without its switch, a missing operand, missing memory, an empty struct. */
  options.axis = 1;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, &options, &err), GTH_E_AXIS, &err);
  CHECK(err.operand == GTH_OPERAND_OPTIONS && err.component == (int32_t)offsetof(gth_options, axis) && err.value == 1);
  CHECK_STATUS(gth_gather(NULL, &params, NULL, &out, NULL, &err), GTH_E_NULL, &err);
  CHECK_ERROR(&err, GTH_E_NULL, GTH_OPERAND_INDICES, -1, -1, 0, 0);
  indices.data = NULL;
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &out, NULL, &err), GTH_E_NULL, &err);
  CHECK_ERROR(&err, GTH_E_NULL, GTH_OPERAND_INDICES, -1, -1, 0, 0);
  memset(&err, 0, sizeof(err));
  CHECK(gth_gather(NULL, &params, &indices, &out, NULL, &err) == GTH_E_VERSION);
  CHECK(err.status == 0 && err.message[0] == 0);
}

int main(void) {
  rows_and_columns();
  strides();
  by_tuples();
  bounds();
  refusals();
  printf("oneshot: strided, reversed and broadcast views, every bounds policy, refused outputs\n");
  return 0;
}
