/* The calls that programs repeat. They are inlined into the function that cgo generates for each of them. That function
 * has the arguments in memory, and an ordinary function would need them in registers and on the stack once more. */
#ifndef GATHER_GO_CALL_H
#define GATHER_GO_CALL_H

#include "shim.h"

#define INLINE static inline __attribute__((always_inline))

/* Only the size is set, because a successful call writes nothing but the status. */
#define BEGIN    \
  gth_error err; \
  err.size = sizeof err

#define END(status) return (status) ? gather_go_error_copy(&err) : NULL

/* Returns the address of the data. Memory of 0 bytes has the address NULL, because an extent of 0 means that the shape
 * decides the size. */
INLINE const void *gather_go_data(const gather_go_view *view, const uint8_t *data) {
  if (view->flags & GATHER_GO_ADDRESSED) return (const void *)view->place;
  return view->extent ? data : NULL;
}

INLINE gth_tensor_desc gather_go_describe(GATHER_GO_TENSOR(view)) {
  if (view->flags & GATHER_GO_HANDLE) {
    const gth_tensor_desc handle = GTH_TENSOR_DESC_HANDLE((const gth_tensor *)view->place);
    return handle;
  }
  const gth_tensor_desc desc = {
      .size = sizeof(gth_tensor_desc),
      .dtype = view->dtype,
      .device = view->device,
      .device_id = view->device_id,
      .ndim = view->ndim,
      .flags = view->flags & 0xffff,
      .data = gather_go_data(view, view_data),
      .shape = view_shape,
      .strides = view_strides,
      .offset = view->flags & GATHER_GO_ADDRESSED ? 0 : view->place,
      .extent = view->extent,
  };
  return desc;
}

#define DESCRIBE(name) gather_go_describe(name, name##_data, name##_shape, name##_strides)

/* Describes the operands of a request, and the request. */
#define DESCRIBE_OPERAND(name) const gth_tensor_desc described_##name = DESCRIBE(name);
#define GIVE_OPERAND(name) .name = name->flags & GATHER_GO_ABSENT ? NULL : &described_##name,
#define DESCRIBE_REQUEST(number, given) \
  GATHER_GO_ROLES(DESCRIBE_OPERAND)     \
  const gth_request request = {         \
      .size = sizeof(gth_request), .op = (number), .options = (given), GATHER_GO_ROLES(GIVE_OPERAND)}

#define CONTEXT(handle) ((gth_context *)(handle))
#define PLAN(handle) ((gth_plan *)(handle))
#define TENSOR(handle) ((gth_tensor *)(handle))

INLINE gather_go_error *gather_go_run(gather_go_handle context, int32_t op, GATHER_GO_TENSOR(table),
                                      GATHER_GO_TENSOR(indices), GATHER_GO_TENSOR(rows), const gth_options *options) {
  BEGIN;
  const gth_tensor_desc described_table = DESCRIBE(table);
  const gth_tensor_desc described_indices = DESCRIBE(indices);
  const gth_tensor_desc described_rows = DESCRIBE(rows);
  END(gth_run(CONTEXT(context), op, &described_table, &described_indices, &described_rows, options, &err));
}

INLINE gather_go_error *gather_go_run_request(gather_go_handle context, int32_t op,
                                              GATHER_GO_OPERANDS const gth_options *options) {
  BEGIN;
  DESCRIBE_REQUEST(op, options);
  END(gth_run_request(CONTEXT(context), &request, &err));
}

/* Runs a plan. The extents are the sizes of the slices in bytes. The library checks them, so no run leaves memory of
 * Go. */
INLINE gather_go_error *gather_go_plan_run(gather_go_handle context, gather_go_handle plan, int64_t n,
                                           const uint8_t *table, int64_t table_extent, const uint8_t *indices,
                                           int64_t indices_extent, const uint8_t *rows, int64_t rows_extent) {
  BEGIN;
  const gth_plan_args args = {
      .size = sizeof(gth_plan_args),
      .flags = GTH_ARGS_EXTENTS,
      .n = n,
      .table = table,
      .indices = indices,
      .rows = rows,
      .table_extent = table_extent,
      .indices_extent = indices_extent,
      .rows_extent = rows_extent,
  };
  END(gth_plan_run_args(CONTEXT(context), PLAN(plan), &args, &err));
}

/* The arguments of a run of a plan. */
typedef struct gather_go_plan_args {
  gather_go_handle plan;
  int64_t n;
  const uint8_t *table, *indices, *rows;
  int64_t table_extent, indices_extent, rows_extent;
} gather_go_plan_args;

/* Runs that Go passes by value. Their pointers are then arguments themselves, so cgo need not pin the memory. */
#define GATHER_GO_BATCH 8
typedef struct gather_go_batch {
  int64_t count;
  gather_go_plan_args runs[GATHER_GO_BATCH];
} gather_go_batch;

/* Runs plans in turn, up to the first that fails. Its number is that of all runs that have been started before, plus
 * item. */
INLINE gather_go_error *gather_go_plan_run_batch(gather_go_handle context, gather_go_batch batch, int64_t item) {
  for (int64_t i = 0; i < batch.count; ++i) {
    const gather_go_plan_args *run = &batch.runs[i];
    gather_go_error *err = gather_go_plan_run(context, run->plan, run->n, run->table, run->table_extent, run->indices,
                                              run->indices_extent, run->rows, run->rows_extent);
    if (err) return gather_go_error_at(err, item + i);
  }
  return NULL;
}

#endif
