/* Generated from gather.h by ./dev generate: do not edit. */
#define GTH_ABI_VERSION 1
#define GTH_VERSION 1000
#define GTH_MAX_NDIM 64
#define GTH_MESSAGE_SIZE 256
#define GTH_MAX_DEVICES 16
#define GTH_OPEN -1
#define GTH_OK 0
#define GTH_E_NULL -1
#define GTH_E_HANDLE -2
#define GTH_E_VERSION -3
#define GTH_E_DTYPE -4
#define GTH_E_RANK -5
#define GTH_E_AXIS -6
#define GTH_E_BATCH -7
#define GTH_E_SHAPE -8
#define GTH_E_SIZE -9
#define GTH_E_STRIDE -10
#define GTH_E_DEVICE -11
#define GTH_E_DLPACK -12
#define GTH_E_ARROW -13
#define GTH_E_READONLY -14
#define GTH_E_ALIAS -15
#define GTH_E_INDEX -16
#define GTH_E_RACE -17
#define GTH_E_NOMEM -18
#define GTH_E_FORK -19
#define GTH_E_CUDA -20
#define GTH_E_CAPTURE -21
#define GTH_E_UNSUPPORTED -22
#define GTH_E_INTERNAL -23
#define GTH_E_OFFSETS -24
#define GTH_E_IO -25
#define GTH_OPERAND_NONE 0
#define GTH_OPERAND_PARAMS 1
#define GTH_OPERAND_INDICES 2
#define GTH_OPERAND_OUT 3
#define GTH_OPERAND_OPTIONS 4
#define GTH_OPERAND_CONTEXT 5
#define GTH_OPERAND_PLAN 6
#define GTH_OPERAND_TENSOR 7
#define GTH_OPERAND_TARGET 8
#define GTH_OPERAND_UPDATES 9
#define GTH_OPERAND_REQUEST 10
#define GTH_OPERAND_BAGS 11
#define GTH_OPERAND_WEIGHTS 12
#define GTH_OPERAND_CODEC 13
#define GTH_OPERAND_FILE 14
#define GTH_ERROR_UNSIGNED 1
#define GTH_ERROR_CUT 2
#define GTH_ERROR_WRAP 4
#define GTH_ERROR_FIRST 328
#define GTH_DTYPE_INT8 8
#define GTH_DTYPE_INT16 16
#define GTH_DTYPE_INT32 32
#define GTH_DTYPE_INT64 64
#define GTH_DTYPE_UINT8 264
#define GTH_DTYPE_UINT16 272
#define GTH_DTYPE_UINT32 288
#define GTH_DTYPE_UINT64 320
#define GTH_DTYPE_FLOAT16 528
#define GTH_DTYPE_FLOAT32 544
#define GTH_DTYPE_FLOAT64 576
#define GTH_DTYPE_BFLOAT16 1040
#define GTH_DTYPE_COMPLEX64 1344
#define GTH_DTYPE_COMPLEX128 1408
#define GTH_DTYPE_BOOL 1544
#define GTH_DTYPE_FLOAT8_E3M4 1800
#define GTH_DTYPE_FLOAT8_E4M3 2056
#define GTH_DTYPE_FLOAT8_E4M3B11FNUZ 2312
#define GTH_DTYPE_FLOAT8_E4M3FN 2568
#define GTH_DTYPE_FLOAT8_E4M3FNUZ 2824
#define GTH_DTYPE_FLOAT8_E5M2 3080
#define GTH_DTYPE_FLOAT8_E5M2FNUZ 3336
#define GTH_DTYPE_FLOAT8_E8M0FNU 3592
#define GTH_DTYPE_STRING 65536
#define GTH_DEVICE_CPU 1
#define GTH_DEVICE_CUDA 2
#define GTH_DEVICE_CUDA_HOST 3
#define GTH_DEVICE_CUDA_MANAGED 13
#define GTH_TIER_PORTABLE 1
#define GTH_TIER_AVX2 2
#define GTH_TIER_NEON 8
#define GTH_CAPABILITY_INFO_FIRST 232
#define GTH_CONTEXT_OPTIONS_FIRST 88
#define GTH_TENSOR_READONLY 1
#define GTH_TENSOR_DESC_FIRST 80
#define GTH_EXPORT_COPY 1
#define GTH_EXPORT_NO_COPY 2
#define GTH_STRINGS_BINARY 1
#define GTH_PROFILE_TENSORFLOW 1
#define GTH_PROFILE_TENSORFLOW_GPU 2
#define GTH_PROFILE_ONNX 3
#define GTH_PROFILE_ORT 4
#define GTH_PROFILE_NUMPY_RAISE 5
#define GTH_PROFILE_NUMPY_WRAP 6
#define GTH_PROFILE_NUMPY_CLIP 7
#define GTH_PROFILE_TORCH 8
#define GTH_PROFILE_JAX_FILL 9
#define GTH_PROFILE_JAX_CLIP 10
#define GTH_NEGATIVE_REJECT 1
#define GTH_NEGATIVE_WRAP 2
#define GTH_BOUNDS_ERROR 1
#define GTH_BOUNDS_FILL 2
#define GTH_BOUNDS_CLAMP 3
#define GTH_BOUNDS_MODULO 4
#define GTH_BOUNDS_SKIP 5
#define GTH_BOUNDS_ERROR_PARTIAL 6
#define GTH_FILL_ZERO 1
#define GTH_FILL_VALUE 2
#define GTH_FILL_BY_DTYPE 3
#define GTH_EXTENTS_EQUAL 1
#define GTH_EXTENTS_PREFIX 2
#define GTH_EXTENTS_BROADCAST 3
#define GTH_REDUCTION_NONE 1
#define GTH_REDUCTION_ADD 2
#define GTH_REDUCTION_MUL 3
#define GTH_REDUCTION_MAX 4
#define GTH_REDUCTION_MIN 5
#define GTH_ACCUMULATE_DTYPE 1
#define GTH_ACCUMULATE_FLOAT32 2
#define GTH_OPTIONS_FIRST 80
#define GTH_OP_GATHER 1
#define GTH_OP_GATHER_ND 2
#define GTH_OP_GATHER_ELEMENTS 3
#define GTH_OP_SCATTER 4
#define GTH_OP_SCATTER_ND 5
#define GTH_OP_SCATTER_ELEMENTS 6
#define GTH_OP_GATHER_GRADIENT 7
#define GTH_OP_GATHER_ND_GRADIENT 8
#define GTH_OP_GATHER_ELEMENTS_GRADIENT 9
#define GTH_OP_LAST 9
#define GTH_REQUEST_FIRST 56
#define GTH_ARGS_EXTENTS 1
#define GTH_PLAN_ARGS_FIRST 96
#define GTH_SHARDS_BLOCKS 1
#define GTH_SHARDS_MODULO 2
#define GTH_SHARDS_BORDERS 3
#define GTH_SHARDS_FIRST 32
#define GTH_PARTS_ONCE 1
#define GTH_PARTS_FIRST 64

uint32_t gth_abi_version(void);

uint32_t gth_version(void);

const char *gth_status_name(int32_t status);

typedef struct gth_error {
  uint32_t size;
  int32_t status;
  int32_t operand;
  int32_t component;
  int32_t native;
  uint32_t flags;
  int64_t position;
  int64_t value;
  int64_t limit;
  int64_t sequence;
  uint64_t count;
  int64_t item;
  char message[GTH_MESSAGE_SIZE];
} gth_error;

int64_t gth_dtype_size(int32_t dtype);

int64_t gth_dtype_bits(int32_t dtype);

const char *gth_dtype_name(int32_t dtype);

struct CUstream_st;

typedef struct gth_capability_info {
  uint32_t size;
  uint32_t abi;
  uint32_t version;
  int32_t cpu_threads;
  uint32_t cpu_tiers_built;
  uint32_t cpu_tiers_usable;
  uint32_t cpu_tier;
  int32_t cuda_runtime;
  int32_t cuda_driver;
  int32_t device_count;
  int32_t device_compute[GTH_MAX_DEVICES];
  int64_t device_memory[GTH_MAX_DEVICES];
} gth_capability_info;

int32_t gth_capabilities(gth_capability_info *info, gth_error *err);

typedef struct gth_context gth_context;
typedef struct gth_tensor gth_tensor;
typedef struct gth_plan gth_plan;

typedef struct gth_error_record {
  uint64_t count;
  int64_t sequence;
  int64_t position;
  int64_t value;
  int64_t limit;
  int32_t operand;
  int32_t component;
  int32_t status;
  uint32_t flags;
  uint64_t reserved;
} gth_error_record;

typedef void *(*gth_alloc_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                              struct CUstream_st *stream);

typedef void (*gth_free_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                            struct CUstream_st *stream, void *ptr);

typedef void (*gth_task_fn)(void *arg, int64_t i);

typedef void (*gth_parallel_for_fn)(void *user, int64_t n, gth_task_fn task, void *arg);

typedef void (*gth_deleter_fn)(void *user);

typedef struct gth_context_options {
  uint32_t size;
  int32_t threads;
  int32_t device;
  int32_t device_id;
  uint32_t flags;
  uint32_t reserved;
  struct CUstream_st *stream;
  struct gth_error_record *record;
  gth_alloc_fn alloc;
  gth_free_fn free;
  void *memory_user;
  gth_parallel_for_fn parallel_for;
  void *parallel_user;
  void *reserved_pointer;
} gth_context_options;

int32_t gth_context_create(const gth_context_options *options, gth_context **out, gth_error *err);

int32_t gth_context_release(gth_context *context);

int32_t gth_context_sync(gth_context *context, gth_error *err);

int32_t gth_context_wait(gth_context *context, struct CUstream_st *stream, gth_error *err);

int32_t gth_context_signal(gth_context *context, struct CUstream_st *stream, gth_error *err);

int32_t gth_context_take_error(gth_context *context, gth_error *err);

int32_t gth_context_enqueue_take_error(gth_context *context, gth_error_record *record, gth_error *err);

int32_t gth_shutdown(void);

struct gth_codec;

typedef struct gth_tensor_desc {
  uint32_t size;
  int32_t dtype;
  int32_t device;
  int32_t device_id;
  int32_t ndim;
  uint32_t flags;
  const gth_tensor *tensor;
  const void *data;
  const int64_t *shape;
  const int64_t *strides;
  const struct gth_codec *codec;
  int64_t offset;
  int64_t extent;
} gth_tensor_desc;

int32_t gth_tensor_borrow(const gth_tensor_desc *desc, gth_tensor **out, gth_error *err);

int32_t gth_tensor_adopt(gth_context *context, const gth_tensor_desc *desc, gth_deleter_fn deleter, void *user,
                                 gth_tensor **out, gth_error *err);

int32_t gth_tensor_alloc(gth_context *context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                 gth_tensor **out, gth_error *err);

int32_t gth_tensor_describe(const gth_tensor *tensor, gth_tensor_desc *desc, gth_error *err);

int32_t gth_tensor_release(gth_tensor *tensor);

int32_t gth_copy(gth_context *context, const gth_tensor_desc *source, const gth_tensor_desc *destination,
                         gth_error *err);

struct DLManagedTensor;
struct DLManagedTensorVersioned;
struct ArrowSchema;
struct ArrowArray;

int32_t gth_tensor_from_dlpack(gth_context *context, struct DLManagedTensorVersioned *managed, gth_tensor **out,
                                       gth_error *err);
int32_t gth_tensor_from_dlpack_legacy(gth_context *context, struct DLManagedTensor *managed, gth_tensor **out,
                                              gth_error *err);

int32_t gth_tensor_to_dlpack(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                     struct DLManagedTensorVersioned **out, gth_error *err);
int32_t gth_tensor_to_dlpack_legacy(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                            struct DLManagedTensor **out, gth_error *err);

int32_t gth_tensor_from_arrow(gth_context *context, const struct ArrowSchema *schema, struct ArrowArray *array,
                                      int32_t ndim, const int64_t *shape, gth_tensor **out, gth_error *err);

int32_t gth_tensor_to_arrow(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                    struct ArrowSchema *schema, struct ArrowArray *array, gth_error *err);

int32_t gth_tensor_from_strings(gth_context *context, uint32_t flags, int32_t ndim, const int64_t *shape,
                                        const int64_t *offsets, const void *bytes, int64_t extent,
                                        gth_deleter_fn deleter, void *user, gth_tensor **out, gth_error *err);

int32_t gth_tensor_strings(const gth_tensor *tensor, const int64_t **offsets, const void **bytes,
                                   gth_error *err);

typedef struct gth_options {
  uint32_t size;
  int32_t has_axis;
  int64_t axis;
  int64_t batch_dims;
  int32_t profile;
  int32_t opset;
  int32_t negative;
  int32_t bounds;
  int32_t fill;
  int32_t threads;
  int32_t extents;
  int32_t reduction;
  uint64_t fill_value[2];
  int32_t accumulate;
  int32_t out_dtype;
} gth_options;

typedef struct gth_request {
  uint32_t size;
  int32_t op;
  const gth_tensor_desc *table;
  const gth_tensor_desc *indices;
  const gth_tensor_desc *rows;
  const gth_options *options;
  const gth_tensor_desc *bags;
  const gth_tensor_desc *weights;
} gth_request;

int32_t gth_run(gth_context *context, int32_t op, const gth_tensor_desc *table, const gth_tensor_desc *indices,
                        const gth_tensor_desc *rows, const gth_options *options, gth_error *err);

int32_t gth_run_request(gth_context *context, const gth_request *request, gth_error *err);

int32_t gth_run_many(gth_context *context, int64_t count, const gth_request *const *requests, gth_error *err);

int32_t gth_make(gth_context *context, const gth_request *request, gth_tensor **out, gth_error *err);

int32_t gth_infer(const gth_request *request, gth_tensor_desc *rows, int32_t capacity, int64_t *shape,
                          gth_error *err);

int32_t gth_gather(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                           const gth_tensor_desc *out, const gth_options *options, gth_error *err);

int32_t gth_gather_nd(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                              const gth_tensor_desc *out, const gth_options *options, gth_error *err);

int32_t gth_gather_elements(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *out, const gth_options *options, gth_error *err);

int32_t gth_scatter(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                            const gth_tensor_desc *updates, const gth_options *options, gth_error *err);

int32_t gth_scatter_nd(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                               const gth_tensor_desc *updates, const gth_options *options, gth_error *err);

int32_t gth_scatter_elements(gth_context *context, const gth_tensor_desc *target,
                                     const gth_tensor_desc *indices, const gth_tensor_desc *updates,
                                     const gth_options *options, gth_error *err);

int32_t gth_gather_gradient(gth_context *context, const gth_tensor_desc *out, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *gradient, const gth_options *options, gth_error *err);

int32_t gth_gather_nd_gradient(gth_context *context, const gth_tensor_desc *out, const gth_tensor_desc *indices,
                                       const gth_tensor_desc *gradient, const gth_options *options, gth_error *err);

int32_t gth_gather_elements_gradient(gth_context *context, const gth_tensor_desc *out,
                                             const gth_tensor_desc *indices, const gth_tensor_desc *gradient,
                                             const gth_options *options, gth_error *err);

int32_t gth_plan_create(const gth_request *request, gth_plan **out, gth_error *err);

int32_t gth_plan_run(gth_context *context, const gth_plan *plan, int64_t n, const void *table,
                             const void *indices, void *rows, gth_error *err);

typedef struct gth_plan_args {
  uint32_t size;
  uint32_t flags;
  int64_t n;
  const void *table;
  const void *indices;
  const void *rows;
  int64_t table_extent;
  int64_t indices_extent;
  int64_t rows_extent;
  const void *bags;
  const void *weights;
  int64_t bags_extent;
  int64_t weights_extent;
} gth_plan_args;

int32_t gth_plan_run_args(gth_context *context, const gth_plan *plan, const gth_plan_args *args,
                                  gth_error *err);

int32_t gth_plan_run_many(gth_context *context, int64_t count, const gth_plan *const *plans,
                                  const gth_plan_args *const *args, gth_error *err);

int32_t gth_plan_check(gth_context *context, const gth_plan *plan, const gth_plan_args *args, gth_error *err);

int32_t gth_plan_extents(const gth_plan *plan, gth_plan_args *args, gth_error *err);

int32_t gth_plan_infer(const gth_plan *plan, int64_t n, gth_tensor_desc *rows, int32_t capacity, int64_t *shape,
                               gth_error *err);

int32_t gth_plan_release(gth_plan *plan);

typedef struct gth_shards {
  uint32_t size;
  int32_t kind;
  int64_t rows;
  int64_t count;
  const int64_t *borders;
} gth_shards;

typedef struct gth_parts {
  uint32_t size;
  uint32_t flags;
  int64_t capacity;
  int64_t *counts;
  int64_t *local;
  int64_t *order;
  int64_t *place;
  void *scratch;
  int64_t scratch_bytes;
} gth_parts;

int32_t gth_partition(gth_context *context, const gth_tensor_desc *ids, const gth_shards *shards,
                              const gth_options *options, const gth_parts *parts, gth_error *err);

int32_t gth_partition_scratch(const gth_tensor_desc *ids, const gth_shards *shards, uint32_t flags,
                                      int64_t *bytes, gth_error *err);
