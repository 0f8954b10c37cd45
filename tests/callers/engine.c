/* An inference engine. It creates one plan per lookup when the model is loaded, and runs it with every batch size. */
#include "check.h"

enum { VOCABULARY = 1000, WIDTH = 16, TOKENS = 4, LARGEST = 64 };

static float table[VOCABULARY][WIDTH];
static int32_t tokens[LARGEST][TOKENS];
static float activations[LARGEST][TOKENS][WIDTH];

static float cell(int64_t row, int64_t column) { return (float)(row * 100 + column); }

static gth_plan *plan_of(int32_t op, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                         const gth_tensor_desc *out, const gth_options *options) {
  const gth_request planned = request(op, params, indices, out, options);
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan = NULL;
  CHECK_OK(gth_plan_create(&planned, &plan, &err), &err);
  return plan;
}

static void load_model(void) {
  int row, column;
  for (row = 0; row < VOCABULARY; row++)
    for (column = 0; column < WIDTH; column++) table[row][column] = cell(row, column);
  for (row = 0; row < LARGEST; row++)
    for (column = 0; column < TOKENS; column++) tokens[row][column] = (row * 37 + column * 311) % VOCABULARY;
}

/* The batch is the open extent. An invalid token is reported and leaves the activations unchanged. */
static void dynamic_batch(gth_context *context) {
  static const int64_t batches[] = {1, 7, 64, 0, 3};
  const int64_t table_shape[] = {VOCABULARY, WIDTH};
  const int64_t token_shape[] = {GTH_OPEN, TOKENS};
  const gth_tensor_desc params = dense(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 2, token_shape, NULL);
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan = plan_of(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  size_t i;

  CHECK_OK(gth_plan_infer(plan, GTH_OPEN, &rows, GTH_MAX_NDIM, shape, &err), &err);
  CHECK(rows.dtype == GTH_DTYPE_FLOAT32 && rows.ndim == 3 && rows.shape == shape && rows.data == NULL);
  CHECK(shape[0] == GTH_OPEN && shape[1] == TOKENS && shape[2] == WIDTH);
  CHECK_OK(gth_plan_infer(plan, 7, &rows, 3, shape, &err), &err);
  CHECK(rows.ndim == 3 && shape[0] == 7 && shape[1] == TOKENS && shape[2] == WIDTH);
  rows.ndim = 0;
  CHECK_STATUS(gth_plan_infer(plan, 7, &rows, 2, shape, &err), GTH_E_SIZE, &err);
  CHECK(rows.ndim == 3);

  for (i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
    const int64_t n = batches[i];
    int64_t b, t, w;
    memset(activations, 0x55, sizeof(activations));
    CHECK_OK(gth_plan_run(context, plan, n, table, tokens, activations, &err), &err);
    for (b = 0; b < n; b++)
      for (t = 0; t < TOKENS; t++)
        for (w = 0; w < WIDTH; w++) CHECK(activations[b][t][w] == cell(tokens[b][t], w));
    for (b = n; b < LARGEST; b++) CHECK(((const unsigned char *)activations[b])[0] == 0x55);
  }
  CHECK_OK(gth_plan_run(context, plan, 0, table, NULL, NULL, &err), &err);

  /* Two tokens are invalid. The smaller position is reported, for any number of threads. */
  memset(activations, 0x55, sizeof(activations));
  tokens[5][2] = VOCABULARY;
  tokens[6][0] = -1;
  CHECK_STATUS(gth_plan_run(context, plan, 7, table, tokens, activations, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 5 * TOKENS + 2, VOCABULARY, VOCABULARY);
  CHECK((err.flags & GTH_ERROR_WRAP) == 0);
  for (i = 0; i < sizeof(activations); i++) CHECK(((const unsigned char *)activations)[i] == 0x55);
  CHECK_OK(gth_plan_run(context, plan, 5, table, tokens, activations, &err), &err);
  load_model();

  CHECK_STATUS(gth_plan_run(context, plan, GTH_OPEN, table, tokens, activations, &err), GTH_E_SHAPE, &err);
  CHECK_STATUS(gth_plan_run(context, plan, -2, table, tokens, activations, &err), GTH_E_SHAPE, &err);
  CHECK_STATUS(gth_plan_run(context, plan, INT64_MAX, table, tokens, activations, &err), GTH_E_SIZE, &err);
  CHECK_STATUS(gth_plan_run(context, plan, 1, table, NULL, activations, &err), GTH_E_NULL, &err);
  CHECK(err.operand == GTH_OPERAND_INDICES);
  CHECK_STATUS(gth_plan_run(context, plan, 1, table, tokens, table, &err), GTH_E_ALIAS, &err);
  CHECK_ERROR(&err, GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0);

  CHECK(gth_plan_release(plan) == GTH_OK);
  CHECK_STATUS(gth_plan_run(context, plan, 1, table, tokens, activations, &err), GTH_E_HANDLE, &err);
  CHECK(err.operand == GTH_OPERAND_PLAN);
  CHECK(gth_plan_release(plan) == GTH_E_HANDLE);
  CHECK(gth_plan_release(NULL) == GTH_OK);
}

/* The output is a column range of wider rows, so two lookups are concatenated without a copy. */
static void concatenated(gth_context *context) {
  enum { ROWS = 3 };
  static float joined[ROWS][2 * WIDTH];
  const int32_t ids[ROWS] = {999, 0, 500};
  const int64_t table_shape[] = {VOCABULARY, WIDTH};
  const int64_t id_shape[] = {GTH_OPEN};
  const int64_t out_shape[] = {GTH_OPEN, WIDTH};
  const int64_t out_strides[] = {(int64_t)sizeof(joined[0]), (int64_t)sizeof(float)};
  const gth_tensor_desc params = dense(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, id_shape, NULL);
  gth_tensor_desc output = dense(GTH_DTYPE_FLOAT32, 2, out_shape, NULL);
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan;
  int row, column;

  output.strides = out_strides;
  plan = plan_of(GTH_OP_GATHER, &params, &indices, &output, NULL);
  CHECK_OK(gth_plan_run(context, plan, ROWS, table, ids, &joined[0][WIDTH], &err), &err);
  for (row = 0; row < ROWS; row++)
    for (column = 0; column < WIDTH; column++) {
      CHECK(joined[row][column] == 0);
      CHECK(joined[row][WIDTH + column] == cell(ids[row], column));
    }
  CHECK(gth_plan_release(plan) == GTH_OK);
}

/* One table per request: the open extent is the outermost batch dim of params and of indices. */
static void table_per_request(gth_context *context) {
  enum { REQUESTS = 5, ROWS = 3 };
  static double tables[REQUESTS][ROWS];
  static const int64_t picks[REQUESTS][2] = {{2, 0}, {1, 1}, {0, 2}, {-1, 0}, {2, -3}};
  static double out[REQUESTS][2];
  const int64_t table_shape[] = {GTH_OPEN, ROWS};
  const int64_t pick_shape[] = {GTH_OPEN, 2};
  const gth_tensor_desc params = dense(GTH_DTYPE_FLOAT64, 2, table_shape, NULL);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT64, 2, pick_shape, NULL);
  gth_options options = GTH_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan;
  int r, p;

  for (r = 0; r < REQUESTS; r++)
    for (p = 0; p < ROWS; p++) tables[r][p] = 10.0 * r + p;
  options.batch_dims = 1;
  options.negative = GTH_NEGATIVE_WRAP;
  plan = plan_of(GTH_OP_GATHER, &params, &indices, NULL, &options);
  CHECK_OK(gth_plan_run(context, plan, REQUESTS, tables, picks, out, &err), &err);
  for (r = 0; r < REQUESTS; r++)
    for (p = 0; p < 2; p++) CHECK(out[r][p] == 10.0 * r + (double)((picks[r][p] + ROWS) % ROWS));
  CHECK(gth_plan_release(plan) == GTH_OK);
}

/* gather_nd selects single elements of the model's state by coordinates. n is the number of tuples. */
static void elements(gth_context *context) {
  const int64_t table_shape[] = {VOCABULARY, WIDTH};
  const int64_t tuple_shape[] = {GTH_OPEN, 2};
  const uint16_t tuples[][2] = {{999, 15}, {0, 0}, {12, 7}, {12, 16}};
  float out[4] = {-1, -1, -1, -1};
  const gth_tensor_desc params = dense(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_tensor_desc indices = dense(GTH_DTYPE_UINT16, 2, tuple_shape, NULL);
  gth_error err = GTH_ERROR_INIT;
  gth_plan *plan = plan_of(GTH_OP_GATHER_ND, &params, &indices, NULL, NULL);

  CHECK_OK(gth_plan_run(context, plan, 3, table, tuples, out, &err), &err);
  CHECK(out[0] == cell(999, 15) && out[1] == cell(0, 0) && out[2] == cell(12, 7) && out[3] == -1);
  CHECK_STATUS(gth_plan_run(context, plan, 4, table, tuples, out, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 1, 3, 16, WIDTH);
  CHECK(gth_plan_release(plan) == GTH_OK);
}

int main(void) {
  gth_context *context = NULL;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;

  CHECK(gth_abi_version() == GTH_ABI_VERSION);
  options.threads = 2;
  CHECK_OK(gth_context_create(&options, &context, &err), &err);
  load_model();
  dynamic_batch(context);
  dynamic_batch(NULL);
  concatenated(context);
  table_per_request(context);
  elements(context);
  CHECK(gth_context_release(context) == GTH_OK);
  printf("engine: one plan for batches of 1, 7, 64 and 0; bad tokens named, output unchanged\n");
  return 0;
}
