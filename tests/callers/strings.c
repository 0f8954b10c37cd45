/* Strings from plain buffers and from Arrow: they are imported, gathered and exported. */
#include "check.h"
#include "foreign.h"

static int released;

static void release_array(struct ArrowArray *self) {
  released++;
  self->release = NULL;
}

static void release_schema(struct ArrowSchema *self) { self->release = NULL; }

static void count_release(void *user) { ++*(int *)user; }

static struct ArrowSchema make_schema(const char *format) {
  struct ArrowSchema schema;
  memset(&schema, 0, sizeof(schema));
  schema.format = format;
  schema.flags = 2; /* nullable, which producers set by default */
  schema.release = release_schema;
  return schema;
}

static struct ArrowArray make_array(int64_t length, int64_t offset, const void **buffers) {
  struct ArrowArray array;
  memset(&array, 0, sizeof(array));
  array.length = length;
  array.offset = offset;
  array.n_buffers = 3;
  array.buffers = buffers;
  array.release = release_array;
  released = 0;
  return array;
}

/* Compares string i of a tensor with `wanted`. */
static void check_string(const gth_tensor *tensor, int64_t i, const char *wanted) {
  const int64_t *offsets = NULL;
  const void *bytes = NULL;
  gth_error err = GTH_ERROR_INIT;
  int64_t size;
  CHECK_OK(gth_tensor_strings(tensor, &offsets, &bytes, &err), &err);
  size = offsets[i + 1] - offsets[i];
  if (size == (int64_t)strlen(wanted) &&
      (size == 0 || memcmp((const char *)bytes + offsets[i], wanted, (size_t)size) == 0))
    return;
  fprintf(stderr, "string %lld is \"%.*s\", wanted \"%s\"\n", (long long)i, (int)size,
          size == 0 ? "" : (const char *)bytes + offsets[i], wanted);
  exit(1);
}

/* Gathers strings of a handle by indices in memory, and creates a tensor of them. */
static int32_t make(int32_t op, const gth_tensor *strings, const gth_tensor_desc *indices, const gth_options *options,
                    gth_tensor **out, gth_error *err) {
  const gth_tensor_desc params = handle(strings);
  const gth_request asked = request(op, &params, indices, NULL, options);
  return gth_make(NULL, &asked, out, err);
}

static const char words[] = "onetwothreefourfive";
static const int64_t word_offsets[] = {0, 3, 6, 11, 11, 15, 19};
static const int64_t two_by_three[] = {2, 3};

static void plain_buffers(void) {
  const int64_t two[] = {2};
  const int64_t three[] = {3};
  const int64_t bad_offsets[] = {0, 5, 3, 6};
  const int64_t far_offsets[] = {0, 5, 6, 20};
  const int32_t picks[] = {2, 0};
  const int32_t far_picks[] = {2, 9};
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  gth_options options = GTH_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, two, picks);
  gth_tensor_desc table, rows;
  gth_tensor *params = NULL;
  gth_tensor *out = NULL;
  int gone = 0;

  CHECK_STATUS(gth_tensor_from_strings(NULL, 0, 1, three, bad_offsets, words, 19, count_release, &gone, &params, &err),
               GTH_E_ARROW, &err);
  CHECK_ERROR(&err, GTH_E_ARROW, GTH_OPERAND_TENSOR, -1, 1, 3, 5);
  CHECK_STATUS(gth_tensor_from_strings(NULL, 0, 1, three, far_offsets, words, 19, count_release, &gone, &params, &err),
               GTH_E_ARROW, &err);
  CHECK_ERROR(&err, GTH_E_ARROW, GTH_OPERAND_TENSOR, -1, 2, 20, 19);
  CHECK(params == NULL && gone == 0);

  CHECK_OK(
      gth_tensor_from_strings(NULL, 0, 2, two_by_three, word_offsets, words, 19, count_release, &gone, &params, &err),
      &err);
  CHECK_OK(gth_tensor_describe(params, &desc, &err), &err);
  CHECK(desc.dtype == GTH_DTYPE_STRING && desc.ndim == 2 && desc.shape[0] == 2 && desc.shape[1] == 3);
  CHECK(desc.data == NULL && desc.strides == NULL);

  options.has_axis = 1;
  options.axis = 1;
  CHECK_OK(make(GTH_OP_GATHER, params, &indices, &options, &out, &err), &err);
  table = handle(params);
  rows = handle(out);
  CHECK_STATUS(gth_gather(NULL, &table, &indices, &rows, &options, &err), GTH_E_UNSUPPORTED, &err);
  CHECK(gth_tensor_release(params) == GTH_OK && gone == 1);
  CHECK_OK(gth_tensor_describe(out, &desc, &err), &err);
  CHECK(desc.dtype == GTH_DTYPE_STRING && desc.ndim == 2 && desc.shape[0] == 2 && desc.shape[1] == 2);
  check_string(out, 0, "three");
  check_string(out, 1, "one");
  check_string(out, 2, "five");
  check_string(out, 3, "");
  CHECK(gth_tensor_release(out) == GTH_OK);

  /* An invalid index is reported. Filled rows are empty strings. */
  indices.data = far_picks;
  CHECK_OK(gth_tensor_from_strings(NULL, 0, 2, two_by_three, word_offsets, words, 19, NULL, NULL, &params, &err), &err);
  CHECK_STATUS(make(GTH_OP_GATHER, params, &indices, &options, &out, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 9, 3);
  CHECK(out == NULL);
  options.bounds = GTH_BOUNDS_FILL;
  CHECK_OK(make(GTH_OP_GATHER, params, &indices, &options, &out, &err), &err);
  check_string(out, 0, "three");
  check_string(out, 1, "");
  check_string(out, 2, "five");
  CHECK(gth_tensor_release(out) == GTH_OK && gth_tensor_release(params) == GTH_OK);
}

/* Exports to Arrow. Borrowed buffers are copied. A gathered tensor is shared and stays valid after its handle is
 * released. */
static void to_arrow(void) {
  const int64_t two[] = {2};
  const int32_t picks[] = {1, 0};
  struct ArrowSchema schema;
  struct ArrowArray array;
  gth_error err = GTH_ERROR_INIT;
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, two, picks);
  gth_tensor *params = NULL;
  gth_tensor *numbers = NULL;
  gth_tensor *out = NULL;
  const int64_t *offsets;
  const char *bytes;

  CHECK_OK(gth_tensor_from_strings(NULL, 0, 2, two_by_three, word_offsets, words, 19, NULL, NULL, &params, &err), &err);
  CHECK_STATUS(gth_tensor_to_arrow(NULL, params, GTH_EXPORT_NO_COPY, &schema, &array, &err), GTH_E_UNSUPPORTED, &err);
  CHECK_OK(gth_tensor_borrow(&indices, &numbers, &err), &err);
  CHECK_STATUS(gth_tensor_to_arrow(NULL, numbers, 0, &schema, &array, &err), GTH_E_UNSUPPORTED, &err);
  CHECK(gth_tensor_release(numbers) == GTH_OK);
  CHECK_OK(make(GTH_OP_GATHER, params, &indices, NULL, &out, &err), &err);
  CHECK_OK(gth_tensor_to_arrow(NULL, out, GTH_EXPORT_NO_COPY, &schema, &array, &err), &err);
  CHECK(gth_tensor_release(out) == GTH_OK && gth_tensor_release(params) == GTH_OK);

  CHECK(strcmp(schema.format, "U") == 0 && schema.n_children == 0);
  CHECK(array.length == 6 && array.null_count == 0 && array.n_buffers == 3 && array.n_children == 0);
  CHECK(array.buffers[0] == NULL);
  offsets = (const int64_t *)array.buffers[1] + array.offset;
  bytes = (const char *)array.buffers[2];
  CHECK(offsets[6] - offsets[0] == 19);
  CHECK(memcmp(bytes + offsets[0], "fourfiveonetwothree", 19) == 0);
  CHECK(offsets[1] == offsets[0] && offsets[2] - offsets[1] == 4 && offsets[5] - offsets[4] == 3);
  array.release(&array);
  schema.release(&schema);
  CHECK(array.release == NULL && schema.release == NULL);

  CHECK_OK(gth_tensor_from_strings(NULL, GTH_STRINGS_BINARY, 2, two_by_three, word_offsets, words, 19, NULL, NULL,
                                   &params, &err),
           &err);
  CHECK_OK(gth_tensor_to_arrow(NULL, params, 0, &schema, &array, &err), &err);
  CHECK(strcmp(schema.format, "Z") == 0);
  array.release(&array);
  schema.release(&schema);
  CHECK(gth_tensor_release(params) == GTH_OK);
}

/* Imports from Arrow: 32-bit offsets, a slice, and a given shape. Ownership is taken only if the call returns GTH_OK.
 * */
static void from_arrow_small(void) {
  static const int32_t offsets[] = {0, 3, 6, 11, 11, 15, 19};
  static const uint8_t all_valid[] = {0x3f};
  static const uint8_t third_is_null[] = {0x3b};
  const int64_t two_by_two[] = {2, 2};
  const int64_t three_by_two[] = {3, 2};
  const int32_t tuples[] = {1, 1, 0, 0, 1, 0};
  const int32_t bad_tuples[] = {1, 1, 0, 2, 2, 0};
  const void *buffers[3];
  struct ArrowSchema schema = make_schema("u");
  struct ArrowArray array;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 2, three_by_two, tuples);
  gth_tensor *params = NULL;
  gth_tensor *out = NULL;

  buffers[0] = third_is_null;
  buffers[1] = offsets;
  buffers[2] = words;
  array = make_array(4, 1, buffers);
  array.null_count = -1;
  CHECK_STATUS(gth_tensor_from_arrow(NULL, &schema, &array, 2, two_by_two, &params, &err), GTH_E_DTYPE, &err);
  buffers[0] = all_valid;
  CHECK_STATUS(gth_tensor_from_arrow(NULL, &schema, &array, 2, three_by_two, &params, &err), GTH_E_SHAPE, &err);
  schema.format = "i";
  CHECK_STATUS(gth_tensor_from_arrow(NULL, &schema, &array, 2, two_by_two, &params, &err), GTH_E_DTYPE, &err);
  schema.format = "u";
  CHECK(params == NULL && released == 0 && array.release == release_array);

  CHECK_OK(gth_tensor_from_arrow(NULL, &schema, &array, 2, two_by_two, &params, &err), &err);
  CHECK(array.release == NULL && schema.release == release_schema);
  CHECK_STATUS(gth_tensor_from_arrow(NULL, &schema, &array, 2, two_by_two, &out, &err), GTH_E_ARROW, &err);
  check_string(params, 0, "two");
  check_string(params, 3, "four");
  CHECK_OK(make(GTH_OP_GATHER_ND, params, &indices, NULL, &out, &err), &err);
  check_string(out, 0, "four");
  check_string(out, 1, "two");
  check_string(out, 2, "");
  CHECK(gth_tensor_release(out) == GTH_OK);

  indices.data = bad_tuples;
  CHECK_STATUS(make(GTH_OP_GATHER_ND, params, &indices, NULL, &out, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 1, 1, 2, 2);
  CHECK(gth_tensor_release(params) == GTH_OK && released == 1);
}

static void from_arrow_large(void) {
  const void *buffers[3];
  struct ArrowSchema schema = make_schema("U");
  struct ArrowArray array;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor *params = NULL;

  buffers[0] = NULL;
  buffers[1] = word_offsets;
  buffers[2] = words;
  array = make_array(5, 1, buffers);
  CHECK_OK(gth_tensor_from_arrow(NULL, &schema, &array, -1, NULL, &params, &err), &err);
  CHECK_OK(gth_tensor_describe(params, &desc, &err), &err);
  CHECK(desc.ndim == 1 && desc.shape[0] == 5);
  check_string(params, 0, "two");
  check_string(params, 2, "");
  check_string(params, 4, "five");
  CHECK(released == 0);
  CHECK(gth_tensor_release(params) == GTH_OK && released == 1);
}

int main(void) {
  plain_buffers();
  to_arrow();
  from_arrow_small();
  from_arrow_large();
  printf("strings: plain buffers and Arrow in, gathered, Arrow out; arrays moved on OK only\n");
  return 0;
}
