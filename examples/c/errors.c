/* Shows the meanings of an id out of bounds. An error names the position of the id, and the output is unchanged. */
#include <gather/gather.h>
#include <stdio.h>

static const float table[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}};

/* Writes the row of an id to `row`. */
static int32_t look_up(int64_t id, const gth_options *options, float *row, gth_error *error) {
  const int64_t table_shape[] = {4, 2}, ids_shape[] = {2}, rows_shape[] = {2, 2};
  const int64_t ids[] = {0, id};
  float rows[2][2];
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);
  const int32_t status = gth_gather(NULL, &params, &indices, &out, options, error);
  if (status == GTH_OK) {
    row[0] = rows[1][0];
    row[1] = rows[1][1];
  }
  return status;
}

static int show(const char *what, int64_t id, const gth_options *options) {
  float row[2];
  gth_error error = GTH_ERROR_INIT;
  if (look_up(id, options, row, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("%s: %g %g\n", what, row[0], row[1]);
  return 0;
}

int main(void) {
  float row[2];
  gth_error error = GTH_ERROR_INIT;
  if (look_up(4, NULL, row, &error) != GTH_E_INDEX) return 1;
  printf("refused: id %d at position %d, of %d rows\n", (int)error.value, (int)error.position, (int)error.limit);

  gth_options wrap = GTH_OPTIONS_INIT, clamp = GTH_OPTIONS_INIT, fill = GTH_OPTIONS_INIT;
  wrap.negative = GTH_NEGATIVE_WRAP;
  clamp.bounds = GTH_BOUNDS_CLAMP;
  fill.bounds = GTH_BOUNDS_FILL;
  fill.fill = GTH_FILL_VALUE;
  fill.fill_value[0] = 0xbf800000; /* the bits of -1.0f */
  return show("from the end", -1, &wrap) || show("clamped", 9, &clamp) || show("filled", 9, &fill);
}
