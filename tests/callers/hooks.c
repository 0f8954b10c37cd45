/* The executor and the allocator of a caller. */
#include <pthread.h>

#include "check.h"

enum { ROWS = 4096, WIDTH = 512, PICKS = 16384, MOST_TASKS = 65536, WORKERS = 3 };

/* ------------------------------------------------------------------------------------------------------ Executor */

typedef struct {
  int64_t calls;
  int64_t tasks;
  unsigned char done[MOST_TASKS];
} executor;

typedef struct {
  executor *self;
  int64_t n;
  gth_task_fn task;
  void *arg;
  int worker;
} share;

/* Worker w runs every WORKERS-th task, in descending order. */
static void *work(void *argument) {
  share *mine = (share *)argument;
  int64_t i;
  for (i = mine->n - 1; i >= 0; i--) {
    if (i % WORKERS != mine->worker) continue;
    mine->task(mine->arg, i);
    mine->self->done[i]++;
  }
  return NULL;
}

static void parallel_for(void *user, int64_t n, gth_task_fn task, void *arg) {
  executor *self = (executor *)user;
  pthread_t threads[WORKERS];
  share shares[WORKERS];
  int w;
  int64_t i;
  CHECK(n >= 0 && n <= MOST_TASKS);
  memset(self->done, 0, (size_t)n);
  for (w = 0; w < WORKERS; w++) {
    shares[w].self = self;
    shares[w].n = n;
    shares[w].task = task;
    shares[w].arg = arg;
    shares[w].worker = w;
    CHECK(pthread_create(&threads[w], NULL, work, &shares[w]) == 0);
  }
  for (w = 0; w < WORKERS; w++) CHECK(pthread_join(threads[w], NULL) == 0);
  for (i = 0; i < n; i++) CHECK(self->done[i] == 1);
  self->calls++;
  self->tasks += n;
}

static void use_executor(void) {
  static executor mine;
  const int64_t params_shape[] = {ROWS, WIDTH};
  const int64_t indices_shape[] = {PICKS};
  const int64_t out_shape[] = {PICKS, WIDTH};
  float *table = (float *)malloc(sizeof(float) * ROWS * WIDTH);
  float *rows = (float *)malloc(sizeof(float) * PICKS * WIDTH);
  int32_t *picks = (int32_t *)malloc(sizeof(int32_t) * PICKS);
  gth_tensor_desc params = dense(GTH_DTYPE_FLOAT32, 2, params_shape, table);
  gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, indices_shape, picks);
  gth_tensor_desc out = dense(GTH_DTYPE_FLOAT32, 2, out_shape, rows);
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_context *context = NULL;
  gth_error err = GTH_ERROR_INIT;
  int64_t i, calls;

  CHECK(table != NULL && rows != NULL && picks != NULL);
  for (i = 0; i < ROWS * WIDTH; i++) table[i] = (float)i;
  for (i = 0; i < PICKS; i++) picks[i] = (int32_t)(i * 7 % ROWS);
  options.threads = 4;
  options.parallel_for = parallel_for;
  options.parallel_user = &mine;
  CHECK_OK(gth_context_create(&options, &context, &err), &err);

  CHECK_OK(gth_gather(context, &params, &indices, &out, NULL, &err), &err);
  CHECK(mine.calls > 0 && mine.tasks > 1);
  for (i = 0; i < PICKS; i++) CHECK(memcmp(rows + i * WIDTH, table + picks[i] * WIDTH, sizeof(float) * WIDTH) == 0);

  /* The smallest invalid position is reported, even if a worker finds another one first. The output is unchanged.
   * */
  memset(rows, 0x55, sizeof(float) * PICKS * WIDTH);
  picks[PICKS - 1] = -1;
  picks[9000] = ROWS + 5;
  picks[12000] = -7;
  CHECK_STATUS(gth_gather(context, &params, &indices, &out, NULL, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 9000, ROWS + 5, ROWS);
  for (i = 0; i < (int64_t)sizeof(float) * PICKS * WIDTH; i++) CHECK(((const unsigned char *)rows)[i] == 0x55);

  /* After the context is released, it calls no hook. */
  CHECK(gth_context_release(context) == GTH_OK);
  calls = mine.calls;
  CHECK_STATUS(gth_gather(context, &params, &indices, &out, NULL, &err), GTH_E_HANDLE, &err);
  CHECK(err.operand == GTH_OPERAND_CONTEXT && mine.calls == calls);
  free(table);
  free(rows);
  free(picks);
}

/* ----------------------------------------------------------------------------------------------------- Allocator */

enum { MOST_BLOCKS = 16 };

typedef struct {
  void *ptr;
  void *raw;
  int64_t bytes;
  int64_t align;
} block;

typedef struct {
  block blocks[MOST_BLOCKS];
  int live;
  int allocs;
  int empty; /* every further allocation fails */
} arena;

static void *arena_alloc(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                         struct CUstream_st *stream) {
  arena *self = (arena *)user;
  int i;
  CHECK(bytes > 0 && align > 0 && (align & (align - 1)) == 0);
  CHECK(device == GTH_DEVICE_CPU && device_id == 0 && stream == NULL);
  if (self->empty) return NULL;
  for (i = 0; i < MOST_BLOCKS; i++) {
    block *one = &self->blocks[i];
    if (one->ptr != NULL) continue;
    one->raw = malloc((size_t)(bytes + align));
    CHECK(one->raw != NULL);
    memset(one->raw, 0xee, (size_t)(bytes + align));
    one->ptr = (char *)one->raw + (align - (int64_t)((uintptr_t)one->raw & (uintptr_t)(align - 1)));
    one->bytes = bytes;
    one->align = align;
    self->live++;
    self->allocs++;
    return one->ptr;
  }
  return NULL;
}

static void arena_free(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                       struct CUstream_st *stream, void *ptr) {
  arena *self = (arena *)user;
  int i;
  CHECK(ptr != NULL && device == GTH_DEVICE_CPU && device_id == 0 && stream == NULL);
  for (i = 0; i < MOST_BLOCKS && self->blocks[i].ptr != ptr; i++) continue;
  CHECK(i < MOST_BLOCKS && self->blocks[i].bytes == bytes && self->blocks[i].align == align);
  free(self->blocks[i].raw);
  memset(&self->blocks[i], 0, sizeof(self->blocks[i]));
  self->live--;
}

static void use_allocator(void) {
  static arena mine;
  static const int64_t params_shape[] = {3, 2};
  static const int64_t indices_shape[] = {2};
  static const int64_t no_shape[] = {0};
  static const double table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  static const int64_t picks[] = {2, 0};
  static const int64_t bad_picks[] = {2, 3};
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_context *context = NULL;
  const gth_tensor_desc params = dense(GTH_DTYPE_FLOAT64, 2, params_shape, table);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT64, 1, indices_shape, picks);
  const gth_tensor_desc bad = dense(GTH_DTYPE_INT64, 1, indices_shape, bad_picks);
  const gth_tensor_desc none = dense(GTH_DTYPE_INT64, 1, no_shape, NULL);
  const gth_request good_request = request(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  const gth_request bad_request = request(GTH_OP_GATHER, &params, &bad, NULL, NULL);
  const gth_request empty_request = request(GTH_OP_GATHER, &params, &none, NULL, NULL);
  gth_tensor_desc rows;
  gth_tensor *out = NULL;
  gth_tensor *zeros = NULL;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  gth_error err = GTH_ERROR_INIT;
  const double *data;
  int i;

  options.alloc = arena_alloc;
  options.memory_user = &mine;
  CHECK_STATUS(gth_context_create(&options, &context, &err), GTH_E_NULL, &err);
  CHECK(context == NULL && err.operand == GTH_OPERAND_OPTIONS);
  CHECK(err.component == (int32_t)offsetof(gth_context_options, free));
  options.free = arena_free;
  CHECK_OK(gth_context_create(&options, &context, &err), &err);

  CHECK_OK(gth_make(context, &good_request, &out, &err), &err);
  CHECK(mine.live == 1);
  CHECK_OK(gth_tensor_describe(out, &desc, &err), &err);
  CHECK(desc.data == mine.blocks[0].ptr && desc.offset == 0);
  data = (const double *)desc.data;
  CHECK(data[0] == 5 && data[1] == 6 && data[2] == 1 && data[3] == 2);

  CHECK_OK(gth_tensor_alloc(context, GTH_DTYPE_FLOAT64, 2, params_shape, &zeros, &err), &err);
  CHECK_OK(gth_tensor_describe(zeros, &desc, &err), &err);
  data = (const double *)desc.data;
  for (i = 0; i < 6; i++) CHECK(data[i] == 0);
  CHECK(mine.live == 2);
  CHECK(gth_tensor_release(zeros) == GTH_OK && mine.live == 1);

  /* A call that fails frees what it allocated. NULL from the allocator is reported as an error. */
  CHECK_STATUS(gth_make(context, &bad_request, &zeros, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 3, 3);
  CHECK(zeros == NULL && mine.live == 1);
  mine.empty = 1;
  CHECK_STATUS(gth_make(context, &good_request, &zeros, &err), GTH_E_NOMEM, &err);
  CHECK(zeros == NULL && mine.live == 1);
  CHECK_STATUS(gth_tensor_alloc(context, GTH_DTYPE_FLOAT64, 2, params_shape, &zeros, &err), GTH_E_NOMEM, &err);
  CHECK(zeros == NULL && mine.live == 1);

  /* An empty output allocates no memory. An output of the caller allocates none either. */
  CHECK_OK(gth_make(context, &empty_request, &zeros, &err), &err);
  CHECK(gth_tensor_release(zeros) == GTH_OK);
  i = mine.allocs;
  rows = handle(out);
  CHECK_OK(gth_gather(context, &params, &indices, &rows, NULL, &err), &err);
  CHECK(mine.allocs == i);

  /* The hooks are used until the last tensor made with them is released, even after the context. */
  CHECK(gth_context_release(context) == GTH_OK && mine.live == 1);
  CHECK(gth_tensor_release(out) == GTH_OK && mine.live == 0);
}

int main(void) {
  use_executor();
  use_allocator();
  printf("hooks: each task once, each block freed as it was given, NULL from the allocator is GTH_E_NOMEM\n");
  return 0;
}
