/* Memory that the library allocates on a context's device, and copies between it and Go's. */
#ifndef GATHER_GO_DEVICE_TENSOR_H
#define GATHER_GO_DEVICE_TENSOR_H

#include "shim.h"

/* A tensor of zeros, where it lies, and how large it is. */
gather_go_error *gather_go_tensor_alloc(gather_go_handle context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                        gather_go_handle *tensor, gather_go_view *view);

/* Copies a whole tensor from or to dense memory of its size. Waits, so that the memory is lent for the call only. */
gather_go_error *gather_go_tensor_read(gather_go_handle context, gather_go_handle tensor, uint8_t *data);
gather_go_error *gather_go_tensor_write(gather_go_handle context, gather_go_handle tensor, const uint8_t *data);

#endif
