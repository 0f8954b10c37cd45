/* A lookup in a CUDA graph. It is captured once, replayed with valid and invalid indices, and its error record is
 * taken. The CUDA driver is loaded at run time, so this program also compiles and runs without a driver. */
#include <dlfcn.h>

#include "check.h"

/* The driver functions that a caller needs for a capture. */
typedef struct CUstream_st *stream;
typedef struct CUgraph_st *graph;
typedef struct CUgraphExec_st *graph_exec;

typedef struct {
  int (*init)(unsigned flags);
  int (*retain)(void **cuda, int device);
  int (*set_current)(void *cuda);
  int (*stream_create)(stream *out, unsigned flags);
  int (*stream_destroy)(stream self);
  int (*begin)(stream self, int mode);
  int (*end)(stream self, graph *out);
  int (*instantiate)(graph_exec *out, graph self, unsigned long long flags);
  int (*launch)(graph_exec self, stream on);
  int (*exec_destroy)(graph_exec self);
  int (*graph_destroy)(graph self);
  int (*host_alloc)(void **out, size_t bytes, unsigned flags);
  int (*host_free)(void *self);
} driver;

static void load(void *library, const char *name, void *function, size_t size) {
  void *symbol = dlsym(library, name);
  CHECK(symbol != NULL && size == sizeof(symbol));
  memcpy(function, &symbol, size);
}

#define LOAD(field, name) load(library, name, &cu->field, sizeof(cu->field))

static void load_driver(driver *cu) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library != NULL);
  LOAD(init, "cuInit");
  LOAD(retain, "cuDevicePrimaryCtxRetain");
  LOAD(set_current, "cuCtxSetCurrent");
  LOAD(stream_create, "cuStreamCreate");
  LOAD(stream_destroy, "cuStreamDestroy_v2");
  LOAD(begin, "cuStreamBeginCapture_v2");
  LOAD(end, "cuStreamEndCapture");
  LOAD(instantiate, "cuGraphInstantiateWithFlags");
  LOAD(launch, "cuGraphLaunch");
  LOAD(exec_destroy, "cuGraphExecDestroy");
  LOAD(graph_destroy, "cuGraphDestroy");
  LOAD(host_alloc, "cuMemHostAlloc");
  LOAD(host_free, "cuMemFreeHost");
}

/* Device functions on a machine without a device: queries succeed, and all other calls return the documented error. */
static void without_device(void) {
  const int64_t shape[] = {2};
  int dummy = 0;
  gth_tensor_desc desc = dense(GTH_DTYPE_INT32, 1, shape, &dummy);
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_error_record record;
  gth_context *context = NULL;
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;

  memset(&record, 0, sizeof(record));
  CHECK(sizeof(record) == 64);
  CHECK_OK(gth_context_sync(NULL, &err), &err);
  CHECK_OK(gth_context_take_error(NULL, &err), &err);
  CHECK_OK(gth_context_enqueue_take_error(NULL, &record, &err), &err);
  CHECK(record.count == 0);
  CHECK_STATUS(gth_context_wait(NULL, NULL, &err), GTH_E_DEVICE, &err);
  CHECK_STATUS(gth_context_signal(NULL, NULL, &err), GTH_E_DEVICE, &err);
  options.device = 77;
  CHECK_STATUS(gth_context_create(&options, &context, &err), GTH_E_DEVICE, &err);
  CHECK_ERROR(&err, GTH_E_DEVICE, GTH_OPERAND_OPTIONS, (int32_t)offsetof(gth_context_options, device), -1, 77, 0);
  CHECK(context == NULL);
  desc.device = 77;
  CHECK_STATUS(gth_tensor_borrow(&desc, &tensor, &err), GTH_E_DEVICE, &err);
  CHECK(tensor == NULL && err.operand == GTH_OPERAND_TENSOR && err.value == 77);
}

static void skip_without_cuda(void) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  gth_context *context = NULL;
  gth_error err = GTH_ERROR_INIT;

  CHECK_OK(gth_capabilities(&info, &err), &err);
  CHECK(info.abi == gth_abi_version() && info.version == gth_version() && info.cpu_threads >= 1);
  CHECK((info.cpu_tiers_usable & ~info.cpu_tiers_built) == 0 && (info.cpu_tier & info.cpu_tiers_usable) != 0);
  if (info.device_count > 0) return;
  options.device = GTH_DEVICE_CUDA;
  CHECK_STATUS(gth_context_create(&options, &context, &err), GTH_E_DEVICE, &err);
  CHECK_ERROR(&err, GTH_E_DEVICE, GTH_OPERAND_OPTIONS, (int32_t)offsetof(gth_context_options, device), -1,
              GTH_DEVICE_CUDA, GTH_DEVICE_CPU);
  CHECK(context == NULL);
  printf("skipped: %s\n", err.message);
  exit(SKIPPED);
}

enum { ROWS = 6, WIDTH = 4, PICKS = 3 };

static const int64_t params_shape[] = {ROWS, WIDTH};
static const int64_t indices_shape[] = {PICKS};
static const int64_t out_shape[] = {PICKS, WIDTH};

typedef struct {
  gth_context *context;
  gth_tensor *params;
  gth_tensor *indices;
  gth_tensor *out;
} lookup;

static gth_tensor *allocate(gth_context *context, int32_t dtype, int32_t ndim, const int64_t *shape) {
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;
  CHECK_OK(gth_tensor_alloc(context, dtype, ndim, shape, &tensor, &err), &err);
  return tensor;
}

/* Copies between host memory and a device tensor, and waits until the host memory is no longer used. */
static void copy(gth_context *context, const gth_tensor *device, int32_t dtype, int32_t ndim, const int64_t *shape,
                 void *host, int to_device) {
  const gth_tensor_desc memory = dense(dtype, ndim, shape, host), tensor = handle(device);
  gth_error err = GTH_ERROR_INIT;
  CHECK_OK(gth_copy(context, to_device ? &memory : &tensor, to_device ? &tensor : &memory, &err), &err);
  CHECK_OK(gth_context_sync(context, &err), &err);
}

/* Sets the indices, overwrites the output and replays the graph. */
static void replay(const driver *cu, graph_exec exec, stream on, const lookup *self, int32_t a, int32_t b, int32_t c) {
  int32_t picks[PICKS];
  float poison[PICKS][WIDTH];
  int i;
  picks[0] = a;
  picks[1] = b;
  picks[2] = c;
  for (i = 0; i < PICKS * WIDTH; i++) poison[i / WIDTH][i % WIDTH] = -1;
  copy(self->context, self->indices, GTH_DTYPE_INT32, 1, indices_shape, picks, 1);
  copy(self->context, self->out, GTH_DTYPE_FLOAT32, 2, out_shape, poison, 1);
  CHECK(cu->launch(exec, on) == 0);
}

/* Expects the rows a, b, c in the output, or the previous content after an invalid index. */
static void check_rows(const lookup *self, int32_t a, int32_t b, int32_t c, int unchanged) {
  int32_t picks[PICKS];
  float rows[PICKS][WIDTH];
  int i;
  picks[0] = a;
  picks[1] = b;
  picks[2] = c;
  copy(self->context, self->out, GTH_DTYPE_FLOAT32, 2, out_shape, rows, 0);
  for (i = 0; i < PICKS * WIDTH; i++)
    CHECK(rows[i / WIDTH][i % WIDTH] == (unchanged ? -1.0f : (float)(10 * picks[i / WIDTH] + i % WIDTH)));
}

static graph_exec end_capture(const driver *cu, stream on) {
  graph captured = NULL;
  graph_exec exec = NULL;
  CHECK(cu->end(on, &captured) == 0 && captured != NULL);
  CHECK(cu->instantiate(&exec, captured, 0) == 0);
  CHECK(cu->graph_destroy(captured) == 0);
  return exec;
}

static void with_device(const driver *cu, stream on) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_error_record *record = NULL;
  gth_tensor *refused = NULL;
  void *pinned = NULL;
  float table[ROWS][WIDTH];
  lookup self;
  gth_tensor_desc params, indices, out;
  gth_request asked;
  graph_exec plain, taking;
  int64_t sequence;
  int i;

  options.device = GTH_DEVICE_CUDA;
  options.stream = on;
  CHECK_OK(gth_context_create(&options, &self.context, &err), &err);
  self.params = allocate(self.context, GTH_DTYPE_FLOAT32, 2, params_shape);
  self.indices = allocate(self.context, GTH_DTYPE_INT32, 1, indices_shape);
  self.out = allocate(self.context, GTH_DTYPE_FLOAT32, 2, out_shape);
  params = handle(self.params);
  indices = handle(self.indices);
  out = handle(self.out);
  asked = request(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  for (i = 0; i < ROWS * WIDTH; i++) table[i / WIDTH][i % WIDTH] = (float)(10 * (i / WIDTH) + i % WIDTH);
  copy(self.context, self.params, GTH_DTYPE_FLOAT32, 2, params_shape, table, 1);
  CHECK(cu->host_alloc(&pinned, sizeof(*record), 0) == 0);
  memset(pinned, 0, sizeof(*record));
  record = (gth_error_record *)pinned;

  /* The first gather of the context is captured. Calls that wait or allocate are rejected and do not invalidate the
   * capture. */
  CHECK(cu->begin(on, 0) == 0);
  CHECK_OK(gth_gather(self.context, &params, &indices, &out, NULL, &err), &err);
  sequence = err.sequence;
  CHECK(sequence >= 1);
  CHECK_STATUS(gth_make(self.context, &asked, &refused, &err), GTH_E_CAPTURE, &err);
  CHECK(refused == NULL);
  CHECK_STATUS(gth_context_take_error(self.context, &err), GTH_E_CAPTURE, &err);
  plain = end_capture(cu, on);
  CHECK(cu->begin(on, 0) == 0);
  CHECK_OK(gth_gather(self.context, &params, &indices, &out, NULL, &err), &err);
  CHECK(err.sequence > sequence);
  CHECK_OK(gth_context_enqueue_take_error(self.context, record, &err), &err);
  taking = end_capture(cu, on);

  replay(cu, plain, on, &self, 5, 0, 3);
  check_rows(&self, 5, 0, 3, 0);
  CHECK_OK(gth_context_take_error(self.context, &err), &err);

  /* Runs two invalid replays and a valid one. The first failure is reported with a count of two, and the valid replay
   * runs.
   * */
  replay(cu, plain, on, &self, 5, ROWS, -1);
  check_rows(&self, 5, ROWS, -1, 1);
  replay(cu, plain, on, &self, 5, 0, 99);
  check_rows(&self, 5, 0, 99, 1);
  replay(cu, plain, on, &self, 1, 2, 4);
  check_rows(&self, 1, 2, 4, 0);
  CHECK_STATUS(gth_context_take_error(self.context, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, ROWS, ROWS);
  CHECK(err.count == 2 && err.sequence == sequence);
  CHECK_OK(gth_context_take_error(self.context, &err), &err);

  /* The graph itself takes the record, in stream order. */
  replay(cu, taking, on, &self, 0, 1, -3);
  check_rows(&self, 0, 1, -3, 1);
  CHECK(record->count == 1 && record->status == GTH_E_INDEX && record->operand == GTH_OPERAND_INDICES);
  CHECK(record->component == 0 && record->position == 2 && record->value == -3 && record->limit == ROWS);
  CHECK_OK(gth_context_take_error(self.context, &err), &err);
  replay(cu, taking, on, &self, 0, 1, 2);
  check_rows(&self, 0, 1, 2, 0);
  CHECK(record->count == 0);

  CHECK(cu->exec_destroy(plain) == 0 && cu->exec_destroy(taking) == 0);
  CHECK(gth_tensor_release(self.params) == GTH_OK && gth_tensor_release(self.indices) == GTH_OK);
  CHECK(gth_tensor_release(self.out) == GTH_OK);
  CHECK_OK(gth_context_sync(self.context, &err), &err);
  CHECK(gth_context_release(self.context) == GTH_OK);
  CHECK(cu->host_free(pinned) == 0);
}

int main(void) {
  driver cu;
  void *primary = NULL;
  stream on = NULL;
  without_device();
  skip_without_cuda();
  load_driver(&cu);
  CHECK(cu.init(0) == 0 && cu.retain(&primary, 0) == 0 && cu.set_current(primary) == 0);
  CHECK(cu.stream_create(&on, 1) == 0);
  with_device(&cu, on);
  CHECK(cu.stream_destroy(on) == 0);
  printf("capture: graphs replayed with good and bad indices, errors taken by the host and by the graph\n");
  return 0;
}
