/* Looks up rows of a table: rows TABLE DIM IDS. TABLE is a file of float32 rows of DIM elements, and IDS is a file of
 * int64 ids. Both are little-endian. The program writes the bytes of the rows to standard output, and the time of a
 * call to standard error. The same program exists in Rust, Python and Go. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gather/gather.h>

enum { ROUNDS = 20, CALLS = 50 };

static int fail(const char* what) {
  fprintf(stderr, "rows: %s\n", what);
  return 1;
}

/* Returns the content of a file, or NULL if it cannot be read. *bytes receives its size. */
static void* read_file(const char* path, int64_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  void* content = size > 0 ? malloc((size_t)size) : NULL;
  if (content && fread(content, 1, (size_t)size, file) != (size_t)size) {
    free(content);
    content = NULL;
  }
  fclose(file);
  *bytes = content ? size : 0;
  return content;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the time of the fastest of some rounds, because other work of the machine disturbs it least. */
static double time_call(const gth_plan* plan, const void* table, const void* ids, void* out, int64_t count) {
  double best = 1e9;
  for (int round = 0; round < ROUNDS; ++round) {
    const double begin = seconds();
    for (int call = 0; call < CALLS; ++call) {
      if (gth_plan_run(NULL, plan, count, table, ids, out, NULL) != GTH_OK) exit(1);
    }
    const double each = (seconds() - begin) / CALLS;
    if (each < best) best = each;
  }
  return best;
}

int main(int argc, char** argv) {
  const int64_t dim = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
  if (dim < 1) return fail("usage: rows TABLE DIM IDS");
  int64_t table_bytes, ids_bytes;
  float* table = read_file(argv[1], &table_bytes);
  int64_t* ids = read_file(argv[3], &ids_bytes);
  if (!table || !ids) return fail("a file cannot be read");
  const int64_t count = ids_bytes / 8, open_extent[] = {GTH_OPEN};
  const int64_t shape[] = {table_bytes / 4 / dim, dim};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, open_extent, NULL);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  const size_t out_bytes = (size_t)(count * dim * 4);
  float* out = malloc(out_bytes);
  gth_plan* plan = NULL;
  gth_error error = GTH_ERROR_INIT;
  if (!out || gth_plan_create(&request, &plan, &error) || gth_plan_run(NULL, plan, count, table, ids, out, &error)) {
    return fail(error.message);
  }
  if (fwrite(out, 1, out_bytes, stdout) != out_bytes) return fail("standard output is closed");
  fprintf(stderr, "%lld rows, %.0f ns per call\n", (long long)count, 1e9 * time_call(plan, table, ids, out, count));
  gth_plan_release(plan);
  free(out);
  free(ids);
  free(table);
  return 0;
}
