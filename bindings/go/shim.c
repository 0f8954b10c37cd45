#include "call.h"

#include <stdlib.h>

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

gather_go_error *gather_go_shape(gather_go_operation operation, GATHER_GO_TENSOR(params), GATHER_GO_TENSOR(indices),
                                 const gth_options *options, int32_t *ndim, int64_t *shape) {
  BEGIN;
  const gth_tensor_desc from = DESCRIBE(params), at = DESCRIBE(indices);
  END(CALL(operation, _shape, &from, &at, options, GTH_MAX_NDIM, ndim, shape, &err));
}

gather_go_error *gather_go_plan(gather_go_operation operation, GATHER_GO_TENSOR(params), GATHER_GO_TENSOR(indices),
                                const gth_options *options, GATHER_GO_TENSOR(out), gather_go_handle *plan) {
  BEGIN;
  const gth_tensor_desc from = DESCRIBE(params), at = DESCRIBE(indices);
  gth_tensor_desc described;
  const gth_tensor_desc *to = NULL;
  if (out) {
    described = DESCRIBE(out);
    to = &described;
  }
  gth_plan *made = NULL;
  const int32_t status = CALL(operation, _plan, &from, &at, options, to, &made, &err);
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
  status = CALL(operation, , context, params, at, options, &result, err);
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
