/* The calls that users repeat. They are inline in the code that cgo makes for each, which has the arguments in memory:
 * a function would have them passed once more. */
#ifndef GATHER_GO_CALL_H
#define GATHER_GO_CALL_H

#include "shim.h"

#define INLINE static inline __attribute__((always_inline))

/* Only what a failure leaves unwritten is set: a call that succeeds writes nothing but the status. */
#define BEGIN    \
  gth_error err; \
  err.size = sizeof err

#define END(status) return (status) ? gather_go_error_copy(&err) : NULL

/* An extent of 0 would leave the memory's size to the shape, so that no bytes at all are NULL. */
INLINE const void *gather_go_data(const gather_go_view *view, const uint8_t *data) {
  if (view->flags & GATHER_GO_ADDRESSED) return (const void *)view->place;
  return view->extent ? data : NULL;
}

INLINE gth_tensor_desc gather_go_describe(GATHER_GO_TENSOR(view)) {
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

#define CONTEXT(handle) ((gth_context *)(handle))
#define PLAN(handle) ((gth_plan *)(handle))
#define TENSOR(handle) ((gth_tensor *)(handle))

/* A form of a gather: the functions differ in their names alone. */
#define GATHER(operation, form, ...)                                       \
  ((operation) == GATHER_GO_GATHER      ? gth_gather##form(__VA_ARGS__)    \
   : (operation) == GATHER_GO_GATHER_ND ? gth_gather_nd##form(__VA_ARGS__) \
                                        : gth_gather_elements##form(__VA_ARGS__))

/* indexed is params, linear the output; of a scatter or a gradient they are the target and the updates. */
INLINE gather_go_error *gather_go_desc(gather_go_operation operation, gather_go_handle context,
                                       GATHER_GO_TENSOR(indexed), GATHER_GO_TENSOR(indices), const gth_options *options,
                                       GATHER_GO_TENSOR(linear)) {
  BEGIN;
  const gth_tensor_desc one = DESCRIBE(indexed), at = DESCRIBE(indices), other = DESCRIBE(linear);
  if (operation > GATHER_GO_GATHER_ELEMENTS)
    END(gather_go_write_back(operation, CONTEXT(context), &one, &at, &other, options, &err));
  END(GATHER(operation, _desc, CONTEXT(context), &one, &at, options, &other, &err));
}

/* The extents are the bytes of the slices: memory of Go is never left. */
INLINE gather_go_error *gather_go_plan_run(gather_go_handle context, gather_go_handle plan, const uint8_t *params,
                                           int64_t params_extent, const uint8_t *indices, int64_t indices_extent,
                                           uint8_t *out, int64_t out_extent, int64_t n) {
  BEGIN;
  END(gth_plan_run_checked(CONTEXT(context), PLAN(plan), params, params_extent, indices, indices_extent, out,
                           out_extent, n, &err));
}

#endif
