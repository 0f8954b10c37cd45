/* The C functions of the gradients of gather_bags. */
#ifndef GATHER_GO_BAG_GRADIENTS_H
#define GATHER_GO_BAG_GRADIENTS_H

#include "shim.h"

/* Computes a gradient of gather_bags, whose output has the gradient `rows`. If `unique` is present, the gradient of
 * params is sparse, and *count receives the number of its rows. */
gather_go_error *gather_go_bag_gradient(gather_go_handle context, int32_t of_weights,
                                        GATHER_GO_OPERANDS GATHER_GO_TENSOR(unique), GATHER_GO_TENSOR(target),
                                        const gth_options *options, int64_t *count);

#endif
