/* ggml's GET_ROWS for a table that stays in its GGUF file: get_rows FILE TENSOR ID... writes the rows to standard
 * output as float32. Only the header and these rows are read. Nothing in the header is trusted: each number is compared
 * with the size of the file before it is used. */
#include <gather/gather.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* reason) {
  fprintf(stderr, "get_rows: %s\n", reason);
  return 1;
}

/* A file, and how many of its bytes have not been read. `left` is negative after an error. */
typedef struct {
  FILE* file;
  int64_t left;
} reader;

/* Reads bytes, or skips them if `to` is NULL. */
static void take(reader* from, void* to, uint64_t bytes) {
  if (from->left < 0 || bytes > (uint64_t)from->left)
    from->left = -1;
  else if (to ? fread(to, 1, (size_t)bytes, from->file) != bytes : fseek(from->file, (long)bytes, SEEK_CUR) != 0)
    from->left = -1;
  else
    from->left -= (int64_t)bytes;
}

static uint32_t take32(reader* from) {
  uint32_t number = 0;
  take(from, &number, sizeof number);
  return number;
}

static uint64_t take64(reader* from) {
  uint64_t number = 0;
  take(from, &number, sizeof number);
  return number;
}

/* Reads a string, and returns 1 if it is `wanted`. */
static int take_text(reader* from, const char* wanted) {
  char text[256];
  const uint64_t bytes = take64(from);
  const int is_short = bytes < sizeof text;
  take(from, is_short ? text : NULL, bytes);
  return from->left >= 0 && is_short && bytes == strlen(wanted) && memcmp(text, wanted, (size_t)bytes) == 0;
}

/* Skips a value of the metadata, which may be an array of simple values. */
static void skip_value(reader* from, uint32_t type) {
  static const unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  enum { text = 8, array = 9 };
  uint64_t count = 1;
  if (type == array) {
    type = take32(from);
    count = take64(from);
  }
  if (type >= sizeof sizes || type == array || count > (uint64_t)INT64_MAX / 8) from->left = -1;
  if (from->left < 0) return;
  if (type != text) take(from, NULL, count * sizes[type]);
  for (; type == text && count > 0 && from->left >= 0; count--) take_text(from, "");
}

/* The formats of ggml that are codecs of libgather, by number. */
static const char* const codecs[] = {
    [2] = "q4_0",  [3] = "q4_1",  [6] = "q5_0",  [7] = "q5_1",    [8] = "q8_0",    [10] = "q2_k", [11] = "q3_k",
    [12] = "q4_k", [13] = "q5_k", [14] = "q6_k", [20] = "iq4_nl", [23] = "iq4_xs", [39] = "mxfp4"};
enum { f32 = 0, f16 = 1, bf16 = 30 };

/* Where a tensor is: rows of `shape[1]` numbers. */
typedef struct {
  int64_t shape[2];
  uint32_t type;
  int64_t offset;
} place;

/* Finds a tensor. Returns 0 if the header is invalid or has no such tensor. */
static int find(reader* from, const char* name, place* found) {
  const int64_t size = from->left;
  char magic[4];
  take(from, magic, sizeof magic);
  const uint32_t version = take32(from);
  if (from->left < 0 || memcmp(magic, "GGUF", 4) != 0 || version < 2 || version > 3) return 0;
  uint64_t tensors = take64(from), values = take64(from), alignment = 32, offset = 0;
  for (; values > 0 && from->left >= 0; values--) {
    const int is_alignment = take_text(from, "general.alignment");
    const uint32_t type = take32(from);
    if (is_alignment && type == 4)
      alignment = take32(from);
    else
      skip_value(from, type);
  }
  int is_found = 0;
  for (; tensors > 0 && from->left >= 0; tensors--) {
    const int is_wanted = take_text(from, name);
    const uint32_t dims = take32(from);
    int64_t shape[2] = {1, 1}; /* all dims but the first one of ggml count rows */
    for (uint32_t i = 0; i < dims && i < 4; i++) {
      const uint64_t extent = take64(from);
      int64_t* const product = &shape[i == 0];
      if (extent == 0 || extent > (uint64_t)(INT64_MAX / *product)) return 0;
      *product *= (int64_t)extent;
    }
    const uint32_t type = take32(from);
    const uint64_t begin = take64(from);
    if (dims < 1 || dims > 4) return 0;
    if (!is_wanted) continue;
    is_found = 1;
    found->shape[0] = shape[0];
    found->shape[1] = shape[1];
    found->type = type;
    offset = begin;
  }
  if (from->left < 0 || !is_found || alignment == 0) return 0;
  const uint64_t header = (uint64_t)(size - from->left), data = (header + alignment - 1) / alignment * alignment;
  if (offset > (uint64_t)size || data > (uint64_t)size - offset) return 0;
  found->offset = (int64_t)(data + offset);
  return 1;
}

/* Opens the rows. The library compares them with the size of the file. */
static int32_t open_table(const char* path, const place* at, gth_tensor** table, gth_error* error) {
  gth_codec codec = GTH_CODEC_INIT;
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, at->shape, NULL);
  if (at->type == f16 || at->type == bf16) {
    desc.dtype = at->type == f16 ? GTH_DTYPE_FLOAT16 : GTH_DTYPE_BFLOAT16;
  } else if (at->type != f32) {
    const int is_known = at->type < sizeof codecs / sizeof *codecs && codecs[at->type];
    const int32_t status = gth_codec_named(is_known ? codecs[at->type] : "unknown", &codec, error);
    if (status != GTH_OK) return status;
    desc.codec = &codec;
  }
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.path = path;
  segment.offset = at->offset;
  segment.rows = at->shape[0];
  const gth_segment* const segments[] = {&segment};
  return gth_tensor_open(NULL, &desc, 1, segments, NULL, table, error);
}

/* Each id is a bag of one row: the maximum of one row is the row itself, as float32. */
static int32_t get_rows(const gth_tensor* table, const int32_t* ids, int64_t count, int64_t width, float* out,
                        gth_error* error) {
  const int64_t ids_shape[] = {count, 1}, out_shape[] = {count, width};
  gth_options options = GTH_OPTIONS_INIT;
  options.bag_format = GTH_BAGS_DENSE;
  options.pool = GTH_POOL_MAX;
  options.out_dtype = GTH_DTYPE_FLOAT32;
  const gth_tensor_desc params = GTH_TENSOR_DESC_HANDLE(table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 2, ids_shape, ids);
  const gth_tensor_desc rows = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape, out);
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &params, &indices, &rows, &options);
  return gth_run_request(NULL, &request, error);
}

int main(int argc, char** argv) {
  if (argc < 4) return fail("usage: get_rows FILE TENSOR ID...");
  reader from = {fopen(argv[1], "rb"), -1};
  if (!from.file) return fail("the file cannot be opened");
  if (fseek(from.file, 0, SEEK_END) == 0) from.left = ftell(from.file);
  rewind(from.file);
  place at;
  const int is_found = find(&from, argv[2], &at);
  fclose(from.file);
  if (!is_found) return fail("the file is no GGUF file with this tensor");

  gth_error error = GTH_ERROR_INIT;
  gth_tensor* table = NULL;
  if (open_table(argv[1], &at, &table, &error) != GTH_OK) return fail(error.message);
  const int64_t count = argc - 3;
  int32_t* const ids = malloc((size_t)count * sizeof *ids);
  float* const out = calloc((size_t)at.shape[1], (size_t)count * sizeof *out);
  if (!ids || !out) return fail("there is no memory");
  for (int i = 0; i < count; i++) ids[i] = (int32_t)strtol(argv[3 + i], NULL, 10);
  if (get_rows(table, ids, count, at.shape[1], out, &error) != GTH_OK) return fail(error.message);
  const size_t numbers = (size_t)(count * at.shape[1]);
  if (fwrite(out, sizeof *out, numbers, stdout) != numbers) return fail("standard output is closed");
  free(out);
  free(ids);
  gth_tensor_release(table);
  return 0;
}
