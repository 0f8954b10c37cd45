/* What Go calls. cgo refuses a Go pointer inside a struct that C is given, so descriptions are taken apart: numbers in
 * a gather_go_view, pointers as arguments, put together again on the C stack. */
#ifndef GATHER_GO_SHIM_H
#define GATHER_GO_SHIM_H

#include "header_check.h"

/* A handle. The value is a token and no address: to Go it is a number, which the garbage collector leaves alone and cgo
 * does not check. */
typedef uintptr_t gather_go_handle;

/* gth_tensor_desc without its pointers. Tensors are passed by value in Go: each byte here is copied in every call. */
typedef struct gather_go_view {
  int32_t dtype;
  int32_t device;
  int32_t device_id;
  int32_t ndim;
  uint32_t flags;       /* GTH_TENSOR_*, and the marks below */
  int32_t stride_count; /* as many as ndim, or Go does not call */
  int64_t place;        /* of element 0, in bytes from data; of what lies at an address: the address */
  int64_t extent;
} gather_go_view;

/* Marks of Go's own, in the upper half of flags. */
#define GATHER_GO_ADDRESSED 0x10000 /* at an address, without data */
#define GATHER_GO_SLICE 0x20000     /* dense over a slice of the elements */
#define GATHER_GO_ODD 0x40000       /* not to be given to C: see why */
#define GATHER_GO_OWNED 0x80000     /* memory at an address that can be closed */
#define GATHER_GO_BYTES 0x100000    /* bools in memory of another type: they may be other bytes than 0 and 1 */

/* A tensor as arguments. */
#define GATHER_GO_TENSOR(name) \
  const gather_go_view *name, const uint8_t *name##_data, const int64_t *name##_shape, const int64_t *name##_strides

/* The functions below return NULL if they succeed, or an error that the caller hands back. So a call that succeeds does
 * not pay for the error's 320 bytes, which Go would clear. */
typedef gth_error gather_go_error;
gather_go_error *gather_go_error_copy(const gth_error *err);
void gather_go_error_free(gather_go_error *err);

typedef enum gather_go_operation {
  GATHER_GO_GATHER,
  GATHER_GO_GATHER_ND,
  GATHER_GO_GATHER_ELEMENTS,
  GATHER_GO_SCATTER,
  GATHER_GO_SCATTER_ND,
  GATHER_GO_SCATTER_ELEMENTS,
  GATHER_GO_GATHER_GRADIENT,
  GATHER_GO_GATHER_ND_GRADIENT,
  GATHER_GO_GATHER_ELEMENTS_GRADIENT
} gather_go_operation;

/* A scatter in place, or a gradient: what a gather does, backwards. */
int32_t gather_go_write_back(gather_go_operation operation, gth_context *context, const gth_tensor_desc *target,
                             const gth_tensor_desc *indices, const gth_tensor_desc *updates, const gth_options *options,
                             gth_error *err);

/* Of a gather or a scatter. shape has room for GTH_MAX_NDIM extents. */
gather_go_error *gather_go_shape(gather_go_operation operation, GATHER_GO_TENSOR(indexed), GATHER_GO_TENSOR(indices),
                                 const gth_options *options, int32_t *ndim, int64_t *shape);

/* Of a gather or a scatter. linear may be NULL. */
gather_go_error *gather_go_plan(gather_go_operation operation, GATHER_GO_TENSOR(indexed), GATHER_GO_TENSOR(indices),
                                const gth_options *options, GATHER_GO_TENSOR(linear), gather_go_handle *plan);
gather_go_error *gather_go_plan_run_at(gather_go_handle context, gather_go_handle plan, uintptr_t params,
                                       uintptr_t indices, uintptr_t out, int64_t n);
gather_go_error *gather_go_plan_check(gather_go_handle context, gather_go_handle plan, const uint8_t *indices,
                                      int64_t n);
gather_go_error *gather_go_plan_check_at(gather_go_handle context, gather_go_handle plan, uintptr_t indices, int64_t n);
gather_go_error *gather_go_plan_extents(gather_go_handle plan, int64_t n, int64_t *params, int64_t *indices,
                                        int64_t *out);
gather_go_error *gather_go_plan_shape(gather_go_handle plan, int64_t n, int32_t *ndim, int64_t *shape);

gather_go_error *gather_go_context(int32_t threads, int32_t device, int32_t device_id, uintptr_t stream,
                                   uintptr_t record, gather_go_handle *context);
void gather_go_context_release(gather_go_handle context);
gather_go_error *gather_go_context_sync(gather_go_handle context);
gather_go_error *gather_go_context_wait(gather_go_handle context, uintptr_t stream);
gather_go_error *gather_go_context_signal(gather_go_handle context, uintptr_t stream);
gather_go_error *gather_go_context_take_error(gather_go_handle context);
gather_go_error *gather_go_context_enqueue_take_error(gather_go_handle context, uintptr_t record);

gather_go_error *gather_go_capabilities(gth_capability_info *info);

void gather_go_plan_release(gather_go_handle plan);
void gather_go_tensor_release(gather_go_handle tensor);

/* Whether there is so much memory. */
int32_t gather_go_can_allocate(int64_t bytes);

/* Memory for `count` strings of `extent` bytes together: count + 1 offsets, then the bytes. NULL: none to be had. */
int64_t *gather_go_strings_alloc(int64_t count, int64_t extent);
/* A string tensor that takes the memory over, or frees it if it fails. */
gather_go_error *gather_go_strings_adopt(int64_t *memory, int64_t count, int64_t extent, int32_t ndim,
                                         const int64_t *shape, gather_go_handle *tensor);

/* The buffers of a string tensor. They live until it is released. */
typedef struct gather_go_strings {
  gather_go_handle tensor;
  const int64_t *offsets;
  const char *bytes;
  const int64_t *shape;
  int64_t ndim;
} gather_go_strings;

gather_go_error *gather_go_strings_gather(gather_go_operation operation, gather_go_handle context,
                                          gather_go_handle params, GATHER_GO_TENSOR(indices),
                                          const gth_options *options, gather_go_strings *out);
gather_go_error *gather_go_strings_scatter(gather_go_operation operation, gather_go_handle context,
                                           gather_go_handle target, GATHER_GO_TENSOR(indices), gather_go_handle updates,
                                           const gth_options *options, gather_go_strings *out);

#endif
