/* The operations, a row each, by the number that the Python side gives them (_operation.py). */
#ifndef LIBGATHER_OPERATION_H
#define LIBGATHER_OPERATION_H

#include <gather/gather.h>

typedef struct operation {
  int32_t (*shape)(const gth_tensor_desc *params, const gth_tensor_desc *indices, const gth_options *options,
                   int32_t capacity, int32_t *ndim, int64_t *shape, gth_error *err);
  int32_t (*run)(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                 const gth_options *options, const gth_tensor_desc *out, gth_error *err);
} operation;

/* NULL for a number that no operation has. */
const operation *operation_numbered(int64_t number);

/* A scatter in place. */
typedef int32_t (*scatter_function)(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *updates, const gth_options *options, gth_error *err);

/* Scatters have numbers of their own; NULL for one that none has. */
scatter_function scatter_numbered(int64_t number);

#endif
