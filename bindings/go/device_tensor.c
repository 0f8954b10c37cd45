#include "device_tensor.h"

#include "call.h"

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

/* The tensor's elements, dense in memory of Go's, as a tensor for one copy. */
static int32_t borrow(gth_tensor *tensor, const uint8_t *data, gth_tensor **out, gth_error *err) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  const int32_t status = gth_tensor_describe(tensor, &desc, err);
  if (status) return status;
  desc.device = GTH_DEVICE_CPU;
  desc.device_id = 0;
  desc.flags = 0;
  desc.data = data;
  desc.strides = NULL;
  desc.offset = 0;
  return gth_tensor_borrow(&desc, out, err);
}

static int32_t copy(gth_context *context, gth_tensor *tensor, const uint8_t *data, int reads, gth_error *err) {
  gth_tensor *host = NULL;
  int32_t status = borrow(tensor, data, &host, err);
  if (status) return status;
  status = gth_tensor_copy(context, reads ? tensor : host, reads ? host : tensor, err);
  /* Whatever has come of it: the memory is used until the stream has passed. */
  const int32_t waited = gth_context_sync(context, status ? NULL : err);
  gth_tensor_release(host);
  return status ? status : waited;
}

gather_go_error *gather_go_tensor_read(gather_go_handle context, gather_go_handle tensor, uint8_t *data) {
  BEGIN;
  END(copy(CONTEXT(context), TENSOR(tensor), data, 1, &err));
}

gather_go_error *gather_go_tensor_write(gather_go_handle context, gather_go_handle tensor, const uint8_t *data) {
  BEGIN;
  END(copy(CONTEXT(context), TENSOR(tensor), data, 0, &err));
}
