#include "call.h"

#include <stdlib.h>

/* A form of a scatter, or of what a gather and a scatter both have. */
#define SCATTER(operation, form, ...)                                        \
  ((operation) == GATHER_GO_SCATTER      ? gth_scatter##form(__VA_ARGS__)    \
   : (operation) == GATHER_GO_SCATTER_ND ? gth_scatter_nd##form(__VA_ARGS__) \
                                         : gth_scatter_elements##form(__VA_ARGS__))
#define EITHER(operation, form, ...) \
  ((operation) < GATHER_GO_SCATTER ? GATHER(operation, form, __VA_ARGS__) : SCATTER(operation, form, __VA_ARGS__))

/* Where there is no memory for an error. */
static gth_error no_memory = {sizeof(gth_error), GTH_E_NOMEM, GTH_OPERAND_NONE, -1, 0, 0, -1, 0, 0, 0, 0, "no memory"};

gather_go_error *gather_go_error_copy(const gth_error *err) {
  gth_error *copy = malloc(sizeof *copy);
  if (!copy) return &no_memory;
  *copy = *err;
  return copy;
}

void gather_go_error_free(gather_go_error *err) {
  if (err != &no_memory) free(err);
}

int32_t gather_go_write_back(gather_go_operation operation, gth_context *context, const gth_tensor_desc *target,
                             const gth_tensor_desc *indices, const gth_tensor_desc *updates, const gth_options *options,
                             gth_error *err) {
  switch (operation) {
    case GATHER_GO_GATHER_GRADIENT: return gth_gather_gradient_desc(context, updates, indices, options, target, err);
    case GATHER_GO_GATHER_ND_GRADIENT:
      return gth_gather_nd_gradient_desc(context, updates, indices, options, target, err);
    case GATHER_GO_GATHER_ELEMENTS_GRADIENT:
      return gth_gather_elements_gradient_desc(context, updates, indices, options, target, err);
    default: return SCATTER(operation, _desc, context, target, indices, updates, options, err);
  }
}

gather_go_error *gather_go_shape(gather_go_operation operation, GATHER_GO_TENSOR(indexed), GATHER_GO_TENSOR(indices),
                                 const gth_options *options, int32_t *ndim, int64_t *shape) {
  BEGIN;
  const gth_tensor_desc one = DESCRIBE(indexed), at = DESCRIBE(indices);
  END(EITHER(operation, _shape, &one, &at, options, GTH_MAX_NDIM, ndim, shape, &err));
}

gather_go_error *gather_go_plan(gather_go_operation operation, GATHER_GO_TENSOR(indexed), GATHER_GO_TENSOR(indices),
                                const gth_options *options, GATHER_GO_TENSOR(linear), gather_go_handle *plan) {
  BEGIN;
  const gth_tensor_desc one = DESCRIBE(indexed), at = DESCRIBE(indices);
  gth_tensor_desc described;
  const gth_tensor_desc *other = NULL;
  if (linear) {
    described = DESCRIBE(linear);
    other = &described;
  }
  gth_plan *made = NULL;
  const int32_t status = EITHER(operation, _plan, &one, &at, options, other, &made, &err);
  *plan = (gather_go_handle)made;
  END(status);
}

gather_go_error *gather_go_plan_run_at(gather_go_handle context, gather_go_handle plan, uintptr_t params,
                                       uintptr_t indices, uintptr_t out, int64_t n) {
  BEGIN;
  END(gth_plan_run(CONTEXT(context), PLAN(plan), (const void *)params, (const void *)indices, (void *)out, n, &err));
}

gather_go_error *gather_go_plan_check(gather_go_handle context, gather_go_handle plan, const uint8_t *indices,
                                      int64_t n) {
  BEGIN;
  END(gth_plan_check(CONTEXT(context), PLAN(plan), indices, n, &err));
}

gather_go_error *gather_go_plan_check_at(gather_go_handle context, gather_go_handle plan, uintptr_t indices,
                                         int64_t n) {
  return gather_go_plan_check(context, plan, (const uint8_t *)indices, n);
}

gather_go_error *gather_go_plan_extents(gather_go_handle plan, int64_t n, int64_t *params, int64_t *indices,
                                        int64_t *out) {
  BEGIN;
  END(gth_plan_extents(PLAN(plan), n, params, indices, out, &err));
}

gather_go_error *gather_go_plan_shape(gather_go_handle plan, int64_t n, int32_t *ndim, int64_t *shape) {
  BEGIN;
  END(gth_plan_shape(PLAN(plan), n, GTH_MAX_NDIM, ndim, shape, &err));
}

void gather_go_plan_release(gather_go_handle plan) { gth_plan_release(PLAN(plan)); }

gather_go_error *gather_go_context(int32_t threads, int32_t device, int32_t device_id, uintptr_t stream,
                                   uintptr_t record, gather_go_handle *context) {
  BEGIN;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  options.device = device;
  options.device_id = device_id;
  options.stream = (struct CUstream_st *)stream;
  options.record = (gth_error_record *)record;
  gth_context *made = NULL;
  const int32_t status = gth_context_create(&options, &made, &err);
  *context = (gather_go_handle)made;
  END(status);
}

void gather_go_context_release(gather_go_handle context) { gth_context_release(CONTEXT(context)); }

gather_go_error *gather_go_context_sync(gather_go_handle context) {
  BEGIN;
  END(gth_context_sync(CONTEXT(context), &err));
}

gather_go_error *gather_go_context_wait(gather_go_handle context, uintptr_t stream) {
  BEGIN;
  END(gth_context_wait(CONTEXT(context), (struct CUstream_st *)stream, &err));
}

gather_go_error *gather_go_context_signal(gather_go_handle context, uintptr_t stream) {
  BEGIN;
  END(gth_context_signal(CONTEXT(context), (struct CUstream_st *)stream, &err));
}

gather_go_error *gather_go_context_take_error(gather_go_handle context) {
  BEGIN;
  END(gth_context_take_error(CONTEXT(context), &err));
}

gather_go_error *gather_go_context_enqueue_take_error(gather_go_handle context, uintptr_t record) {
  BEGIN;
  END(gth_context_enqueue_take_error(CONTEXT(context), (gth_error_record *)record, &err));
}

gather_go_error *gather_go_capabilities(gth_capability_info *info) {
  BEGIN;
  END(gth_capabilities(info, &err));
}

int32_t gather_go_can_allocate(int64_t bytes) {
  void *volatile memory = malloc((size_t)bytes); /* volatile: the pair must not be optimised away */
  free(memory);
  return memory != NULL;
}

int64_t *gather_go_strings_alloc(int64_t count, int64_t extent) {
  return malloc((size_t)(count + 1) * sizeof(int64_t) + (size_t)extent);
}

gather_go_error *gather_go_strings_adopt(int64_t *memory, int64_t count, int64_t extent, int32_t ndim,
                                         const int64_t *shape, gather_go_handle *tensor) {
  BEGIN;
  gth_tensor *made = NULL;
  const int32_t status =
      gth_tensor_from_strings(NULL, 0, ndim, shape, memory, memory + count + 1, extent, free, memory, &made, &err);
  if (status) free(memory);
  *tensor = (gather_go_handle)made;
  END(status);
}

void gather_go_tensor_release(gather_go_handle tensor) { gth_tensor_release(TENSOR(tensor)); }

/* The buffers of a new tensor, or the tensor is released again. */
static int32_t read_strings(gth_tensor *tensor, gather_go_strings *out, gth_error *err) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  const void *bytes = NULL;
  int32_t status = gth_tensor_strings(tensor, &out->offsets, &bytes, err);
  if (!status) status = gth_tensor_describe(tensor, &desc, err);
  if (status) {
    gth_tensor_release(tensor);
    return status;
  }
  out->tensor = (gather_go_handle)tensor;
  out->bytes = bytes;
  out->shape = desc.shape;
  out->ndim = desc.ndim;
  return GTH_OK;
}

static int32_t gather_strings(gather_go_operation operation, gth_context *context, const gth_tensor *params,
                              const gth_tensor_desc *indices, const gth_options *options, gather_go_strings *out,
                              gth_error *err) {
  gth_tensor *at = NULL, *result = NULL;
  int32_t status = gth_tensor_borrow(indices, &at, err);
  if (status) return status;
  status = GATHER(operation, , context, params, at, options, &result, err);
  gth_tensor_release(at);
  return status ? status : read_strings(result, out, err);
}

gather_go_error *gather_go_strings_gather(gather_go_operation operation, gather_go_handle context,
                                          gather_go_handle params, GATHER_GO_TENSOR(indices),
                                          const gth_options *options, gather_go_strings *out) {
  BEGIN;
  const gth_tensor_desc at = DESCRIBE(indices);
  END(gather_strings(operation, CONTEXT(context), TENSOR(params), &at, options, out, &err));
}

static int32_t scatter_strings(gather_go_operation operation, gth_context *context, const gth_tensor *target,
                               const gth_tensor_desc *indices, const gth_tensor *updates, const gth_options *options,
                               gather_go_strings *out, gth_error *err) {
  gth_tensor *at = NULL, *result = NULL;
  int32_t status = gth_tensor_borrow(indices, &at, err);
  if (status) return status;
  status = SCATTER(operation, , context, target, at, updates, options, &result, err);
  gth_tensor_release(at);
  return status ? status : read_strings(result, out, err);
}

gather_go_error *gather_go_strings_scatter(gather_go_operation operation, gather_go_handle context,
                                           gather_go_handle target, GATHER_GO_TENSOR(indices), gather_go_handle updates,
                                           const gth_options *options, gather_go_strings *out) {
  BEGIN;
  const gth_tensor_desc at = DESCRIBE(indices);
  END(scatter_strings(operation, CONTEXT(context), TENSOR(target), &at, TENSOR(updates), options, out, &err));
}
