/* A server of embeddings that are stored in 8 bits. It decodes rows of a format by name, rows whose scales are apart, and
 * the same rows with new scales by a plan. It also pools rows. */
#include "check.h"

enum { WORDS = 4, NUMBERS = 32, BLOCK = 34, BATCH = 3 };

static const int64_t words_shape[] = {WORDS, NUMBERS}, batch_shape[] = {BATCH}, rows_shape[] = {BATCH, NUMBERS};
static const int64_t scales_shape[] = {WORDS, 1}, bags_shape[] = {2}, pooled_shape[] = {1, NUMBERS};
static const int32_t ids[BATCH] = {3, 0, 3};
static const int64_t borders[] = {0, BATCH};

static float rows[BATCH][NUMBERS];

/* The code of a number, and the scale of a row. */
static int code_of(int row, int j) { return row * 7 - j; }
static float scale_of(int row) { return (float)(row + 1) / 4; }

static gth_tensor_desc table(const void *data, const gth_codec *codec) {
  gth_tensor_desc desc = dense(GTH_DTYPE_FLOAT32, 2, words_shape, data);
  desc.codec = codec;
  return desc;
}

static void check_rows(float factor) {
  int i, j;
  for (i = 0; i < BATCH; i++)
    for (j = 0; j < NUMBERS; j++) CHECK(rows[i][j] == (float)code_of(ids[i], j) * scale_of(ids[i]) * factor);
  memset(rows, 0, sizeof rows);
}

/* A block of q8_0 begins with its scale as a float16. 0.25, 0.5, 0.75 and 1 have these bits. */
static void format_by_name(void) {
  static const uint16_t halves[WORDS] = {0x3400, 0x3800, 0x3a00, 0x3c00};
  static unsigned char blocks[WORDS][BLOCK];
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, batch_shape, ids);
  const gth_tensor_desc out = dense(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);
  gth_codec codec = GTH_CODEC_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor_desc params;
  int64_t bytes = 0;
  int i, j;
  CHECK_OK(gth_codec_named("q8_0", &codec, &err), &err);
  CHECK_OK(gth_codec_row_bytes(&codec, NUMBERS, &bytes, &err), &err);
  CHECK(bytes == BLOCK);
  for (i = 0; i < WORDS; i++) {
    memcpy(blocks[i], &halves[i], 2);
    for (j = 0; j < NUMBERS; j++) blocks[i][2 + j] = (unsigned char)code_of(i, j);
  }
  params = table(blocks, &codec);
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  check_rows(1);
  CHECK_STATUS(gth_codec_row_bytes(&codec, NUMBERS + 1, &bytes, &err), GTH_E_SHAPE, &err);
  CHECK_ERROR(&err, GTH_E_SHAPE, GTH_OPERAND_CODEC, (int32_t)offsetof(gth_codec, block_values), -1, NUMBERS + 1,
              NUMBERS);
}

static signed char codes[WORDS][NUMBERS];
static float scales[WORDS], doubled[WORDS];

/* A plan keeps the scales of its description. A run may have others. */
static void scales_apart(void) {
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, batch_shape, ids);
  const gth_tensor_desc out = dense(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);
  const gth_tensor_desc factors = dense(GTH_DTYPE_FLOAT32, 2, scales_shape, scales);
  gth_codec codec = GTH_CODEC_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  gth_plan *plan = NULL;
  gth_tensor_desc params;
  gth_request asked;
  int i, j;
  for (i = 0; i < WORDS; i++) {
    scales[i] = scale_of(i);
    doubled[i] = 2 * scale_of(i);
    for (j = 0; j < NUMBERS; j++) codes[i][j] = (signed char)code_of(i, j);
  }
  CHECK_OK(gth_codec_named("int8", &codec, &err), &err);
  codec.scales = &factors;
  params = table(codes, &codec);
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  check_rows(1);
  asked = request(GTH_OP_GATHER, &params, &indices, &out, NULL);
  CHECK_OK(gth_plan_create(&asked, &plan, &err), &err);
  args.table = codes;
  args.indices = ids;
  args.rows = rows;
  CHECK_OK(gth_plan_run_args(NULL, plan, &args, &err), &err);
  check_rows(1);
  args.scales = doubled;
  args.flags = GTH_ARGS_EXTENTS;
  args.table_extent = sizeof codes;
  args.indices_extent = sizeof ids;
  args.rows_extent = sizeof rows;
  args.scales_extent = sizeof doubled;
  CHECK_OK(gth_plan_run_args(NULL, plan, &args, &err), &err);
  check_rows(2);
  args.scales_extent -= 1;
  CHECK_STATUS(gth_plan_run_args(NULL, plan, &args, &err), GTH_E_SIZE, &err);
  CHECK_ERROR(&err, GTH_E_SIZE, GTH_OPERAND_SCALES, -1, -1, sizeof doubled - 1, sizeof doubled);
  CHECK(gth_plan_release(plan) == GTH_OK);
}

/* The sum of rows, of a table that is a handle. */
static void pooled(void) {
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, batch_shape, ids);
  const gth_tensor_desc bags = dense(GTH_DTYPE_INT64, 1, bags_shape, borders);
  const gth_tensor_desc out = dense(GTH_DTYPE_FLOAT32, 2, pooled_shape, rows);
  const gth_tensor_desc factors = dense(GTH_DTYPE_FLOAT32, 2, scales_shape, scales);
  gth_codec codec = GTH_CODEC_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor *tensor = NULL;
  gth_tensor_desc params;
  int j;
  CHECK_OK(gth_codec_named("int8", &codec, &err), &err);
  codec.scales = &factors;
  params = table(codes, &codec);
  CHECK_OK(gth_tensor_borrow(&params, &tensor, &err), &err);
  memset(&codec, 0xff, sizeof codec); /* It was copied. */
  params = handle(tensor);
  CHECK_OK(gth_gather_bags(NULL, &params, &indices, &bags, NULL, &out, NULL, &err), &err);
  for (j = 0; j < NUMBERS; j++)
    CHECK(rows[0][j] == 2 * (float)code_of(3, j) * scale_of(3) + (float)code_of(0, j) * scale_of(0));
  CHECK(gth_tensor_release(tensor) == GTH_OK);
}

int main(void) {
  format_by_name();
  scales_apart();
  pooled();
  return 0;
}
