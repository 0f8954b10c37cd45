/* Generated from gather.h by ./dev generate: do not edit. */
#define GTH_MESSAGE_SIZE 256
#define GTH_MAX_DEVICES 16

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

typedef struct gth_codec {
  uint32_t size;
  int32_t structure;
  int32_t code;
  int32_t packing;
  int32_t rule;
  int32_t scale_place;
  int32_t scale_dtype;
  int32_t zero_place;
  int32_t zero_dtype;
  float zero;
  float factor;
  int32_t reserved;
  int64_t block_values;
  int64_t block_bytes;
  int64_t row_tail;
  int64_t code_at;
  int64_t scale_at;
  int64_t zero_at;
  const float *code_table;
  const gth_tensor_desc *scales;
  const gth_tensor_desc *zeros;
} gth_codec;

int32_t gth_codec_named(const char *name, gth_codec *codec, gth_error *err);

int32_t gth_codec_row_bytes(const gth_codec *codec, int64_t values, int64_t *bytes, gth_error *err);

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

struct gth_options;

typedef struct gth_segment {
  uint32_t size;
  uint32_t flags;
  const char *path;
  const void *data;
  int64_t file;
  int64_t offset;
  int64_t rows;
  int64_t row_stride;
  int64_t extent;
} gth_segment;

typedef struct gth_files_options {
  uint32_t size;
  int32_t mode;
  int64_t resident;
} gth_files_options;

typedef struct gth_files_stats {
  uint32_t size;
  int32_t mode;
  int64_t rows;
  int64_t requested;
  int64_t releases;
  int64_t resident;
} gth_files_stats;

int32_t gth_tensor_open(gth_context *context, const gth_tensor_desc *desc, int64_t count,
                                const gth_segment *const *segments, const gth_files_options *options, gth_tensor **out,
                                gth_error *err);

int32_t gth_tensor_prefetch(gth_context *context, const gth_tensor *tensor, const gth_tensor_desc *indices,
                                    const struct gth_options *options, gth_error *err);

int32_t gth_tensor_stats(const gth_tensor *tensor, gth_files_stats *stats, gth_error *err);

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
  int32_t bag_format;
  int32_t pool;
  int32_t empty;
  int32_t has_padding_index;
  int64_t padding_index;
  int64_t bag_count;
  int32_t initial;
  int32_t fill_dtype;
  int32_t order;
  int32_t reserved;
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

int32_t gth_run_at(gth_context *context, const gth_request *request, const void *table, const void *indices,
                           const void *rows, gth_error *err);

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

int32_t gth_gather_gradient(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *gradient, const gth_options *options, gth_error *err);

int32_t gth_gather_nd_gradient(gth_context *context, const gth_tensor_desc *target,
                                       const gth_tensor_desc *indices, const gth_tensor_desc *gradient,
                                       const gth_options *options, gth_error *err);

int32_t gth_gather_elements_gradient(gth_context *context, const gth_tensor_desc *target,
                                             const gth_tensor_desc *indices, const gth_tensor_desc *gradient,
                                             const gth_options *options, gth_error *err);

int32_t gth_gather_bags(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                const gth_tensor_desc *bags, const gth_tensor_desc *weights, const gth_tensor_desc *out,
                                const gth_options *options, gth_error *err);

int32_t gth_gather_bags_gradient(gth_context *context, const gth_request *request,
                                         const gth_tensor_desc *target, gth_error *err);

int32_t gth_gather_bags_sparse_gradient(gth_context *context, const gth_request *request,
                                                const gth_tensor_desc *unique, const gth_tensor_desc *target,
                                                int64_t *count, gth_error *err);

int32_t gth_gather_bags_weight_gradient(gth_context *context, const gth_request *request,
                                                const gth_tensor_desc *target, gth_error *err);

int32_t gth_gather_bags_positions(gth_context *context, const gth_request *request,
                                          const gth_tensor_desc *positions, gth_error *err);

int32_t gth_scatter_positions(gth_context *context, const gth_request *request,
                                      const gth_tensor_desc *positions, gth_error *err);

int32_t gth_plan_create(const gth_request *request, gth_plan **out, gth_error *err);

int32_t gth_plan_run(gth_context *context, const gth_plan *plan, int64_t n, const void *table,
                             const void *indices, const void *rows, gth_error *err);

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
  int64_t ids;
  const void *scales;
  const void *zeros;
  int64_t scales_extent;
  int64_t zeros_extent;
} gth_plan_args;

int32_t gth_plan_run_args(gth_context *context, const gth_plan *plan, const gth_plan_args *args,
                                  gth_error *err);

int32_t gth_plan_run_many(gth_context *context, int64_t count, const gth_plan *const *plans,
                                  const gth_plan_args *const *args, gth_error *err);

int32_t gth_plan_parts(const gth_plan *plan, int64_t n, int64_t *parts, gth_error *err);

int32_t gth_plan_run_parts(gth_context *context, const gth_plan *plan, int64_t n, int64_t first, int64_t last,
                                   const void *table, const void *indices, const void *rows, gth_error *err);

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

struct ArrowArrayStream;

typedef struct gth_column gth_column;

typedef struct gth_take {
  uint32_t size;
  uint32_t flags;
  const gth_tensor_desc *indices;
  const void *validity;
  int64_t validity_offset;
  const gth_options *options;
} gth_take;

int32_t gth_column_from_arrow(gth_context *context, const struct ArrowSchema *schema, int64_t count,
                                      struct ArrowArray *const *chunks, gth_column **out, gth_error *err);

int32_t gth_column_from_arrow_stream(gth_context *context, struct ArrowArrayStream *stream, gth_column **out,
                                             gth_error *err);

int32_t gth_column_release(gth_column *column);

int32_t gth_column_take(gth_context *context, const gth_column *column, const gth_take *take,
                                struct ArrowSchema *schema, struct ArrowArray *array, gth_error *err);

int32_t gth_arrow_take(gth_context *context, const struct ArrowSchema *type, int64_t count,
                               struct ArrowArray *const *chunks, const gth_take *take, struct ArrowSchema *schema,
                               struct ArrowArray *array, gth_error *err);

int32_t gth_resolve(gth_context *context, int64_t extent, const gth_take *take, int64_t capacity, int64_t *rows,
                            gth_error *err);
