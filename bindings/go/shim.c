#include "call.h"

#include <stdlib.h>

/* This error is returned if no memory for a copy of an error can be allocated. */
static gth_error no_memory = {sizeof(gth_error), GTH_E_NOMEM, GTH_OPERAND_NONE, -1, 0, 0, -1, 0, 0, 0, 0, -1,
                              "no memory"};

gather_go_error *gather_go_error_copy(const gth_error *err) {
  gth_error *copy = malloc(sizeof *copy);
  if (!copy) return &no_memory;
  *copy = *err;
  return copy;
}

void gather_go_error_free(gather_go_error *err) {
  if (err != &no_memory) free(err);
}

gather_go_error *gather_go_error_at(gather_go_error *err, int64_t item) {
  if (err != &no_memory) err->item = item;
  return err;
}

gather_go_error *gather_go_infer(int32_t op, GATHER_GO_OPERANDS const gth_options *options, int32_t *ndim,
                                 int64_t *shape) {
  BEGIN;
  DESCRIBE_REQUEST(op, options);
  gth_tensor_desc result = GTH_TENSOR_DESC_INIT;
  const int32_t status = gth_infer(&request, &result, GTH_MAX_NDIM, shape, &err);
  *ndim = result.ndim;
  END(status);
}

gather_go_error *gather_go_copy(gather_go_handle context, GATHER_GO_TENSOR(source), GATHER_GO_TENSOR(destination)) {
  BEGIN;
  const gth_tensor_desc from = DESCRIBE(source), to = DESCRIBE(destination);
  const int32_t status = gth_copy(CONTEXT(context), &from, &to, &err);
  const int32_t waited = gth_context_sync(CONTEXT(context), status ? NULL : &err);
  END(status ? status : waited);
}

gather_go_error *gather_go_plan_create(int32_t op, GATHER_GO_OPERANDS const gth_options *options,
                                       gather_go_handle *plan) {
  BEGIN;
  DESCRIBE_REQUEST(op, options);
  gth_plan *made = NULL;
  const int32_t status = gth_plan_create(&request, &made, &err);
  *plan = (gather_go_handle)made;
  END(status);
}

gather_go_error *gather_go_plan_run_at(gather_go_handle context, gather_go_handle plan, int64_t n, uintptr_t table,
                                       uintptr_t indices, uintptr_t rows) {
  BEGIN;
  END(gth_plan_run(CONTEXT(context), PLAN(plan), n, (const void *)table, (const void *)indices, (void *)rows, &err));
}

static gather_go_error *check(gather_go_handle context, gather_go_handle plan, gth_plan_args args) {
  BEGIN;
  END(gth_plan_check(CONTEXT(context), PLAN(plan), &args, &err));
}

gather_go_error *gather_go_plan_check(gather_go_handle context, gather_go_handle plan, int64_t n,
                                      const uint8_t *indices, int64_t indices_extent) {
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.flags = GTH_ARGS_EXTENTS;
  args.n = n;
  args.indices = indices;
  args.indices_extent = indices_extent;
  return check(context, plan, args);
}

gather_go_error *gather_go_plan_check_at(gather_go_handle context, gather_go_handle plan, int64_t n,
                                         uintptr_t indices) {
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.n = n;
  args.indices = (const void *)indices;
  return check(context, plan, args);
}

gather_go_error *gather_go_plan_extents(gather_go_handle plan, int64_t n, int64_t *extents) {
  BEGIN;
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.n = n;
  const int32_t status = gth_plan_extents(PLAN(plan), &args, &err);
  extents[0] = args.table_extent;
  extents[1] = args.indices_extent;
  extents[2] = args.rows_extent;
  END(status);
}

gather_go_error *gather_go_plan_infer(gather_go_handle plan, int64_t n, int32_t *ndim, int64_t *shape) {
  BEGIN;
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  const int32_t status = gth_plan_infer(PLAN(plan), n, &rows, GTH_MAX_NDIM, shape, &err);
  *ndim = rows.ndim;
  END(status);
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
  void *volatile memory = malloc((size_t)bytes); /* volatile keeps the compiler from removing both calls. */
  free(memory);
  return memory != NULL;
}

gather_go_error *gather_go_tensor_alloc(gather_go_handle context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                        gather_go_handle *tensor, gather_go_view *view) {
  BEGIN;
  gth_tensor *made = NULL;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  int32_t status = gth_tensor_alloc(CONTEXT(context), dtype, ndim, shape, &made, &err);
  if (!status) status = gth_tensor_describe(made, &desc, &err);
  *tensor = (gather_go_handle)made;
  *view = (gather_go_view){
      .dtype = dtype,
      .device = desc.device,
      .device_id = desc.device_id,
      .ndim = ndim,
      .flags = GATHER_GO_ADDRESSED,
      .place = (int64_t)desc.data,
      .extent = desc.extent,
  };
  END(status);
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

/* Returns the buffers of a new tensor. On failure the tensor is released. */
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

gather_go_error *gather_go_strings_make(gather_go_handle context, int32_t op, gather_go_handle table,
                                        GATHER_GO_TENSOR(indices), gather_go_handle rows, const gth_options *options,
                                        gather_go_strings *out) {
  BEGIN;
  const gth_tensor_desc table_handle = GTH_TENSOR_DESC_HANDLE(TENSOR(table)), described_indices = DESCRIBE(indices);
  const gth_tensor_desc rows_handle = GTH_TENSOR_DESC_HANDLE(TENSOR(rows));
  const gth_request request = GTH_REQUEST(op, &table_handle, &described_indices, rows ? &rows_handle : NULL, options);
  gth_tensor *made = NULL;
  const int32_t status = gth_make(CONTEXT(context), &request, &made, &err);
  END(status ? status : read_strings(made, out, &err));
}
