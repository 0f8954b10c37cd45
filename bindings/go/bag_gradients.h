/* The C functions of the gradients and positions of gather_bags. */
#ifndef GATHER_GO_BAG_GRADIENTS_H
#define GATHER_GO_BAG_GRADIENTS_H

#include "shim.h"

/* Results of gather_go_bag_gradient. */
#define GATHER_GO_OF_PARAMS 0
#define GATHER_GO_OF_WEIGHTS 1
#define GATHER_GO_POSITIONS 2 /* The positions of the maxima or minima. There are no `rows`. */

/* Computes a gradient of gather_bags, whose output has the gradient `rows`, or positions. If `unique` is present, the
 * gradient of params is sparse, and *count receives the number of its rows. */
gather_go_error *gather_go_bag_gradient(gather_go_handle context, int32_t kind,
                                        GATHER_GO_OPERANDS GATHER_GO_TENSOR(unique), GATHER_GO_TENSOR(target),
                                        const gth_options *options, int64_t *count);

#endif
