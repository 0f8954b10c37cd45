/* The C function of results that no operation has: gradients of gather_bags, and positions. */
#ifndef GATHER_GO_RESULTS_H
#define GATHER_GO_RESULTS_H

#include "shim.h"

/* Results of gather_go_result. */
#define GATHER_GO_OF_PARAMS 0
#define GATHER_GO_OF_WEIGHTS 1
#define GATHER_GO_POSITIONS 2 /* The positions of the maxima or minima. gather_bags has no `rows` then. */

/* Computes a gradient of gather_bags, whose output has the gradient `rows`, or positions. If `unique` is present, the
 * gradient of params is sparse, and *count receives the number of its rows. */
gather_go_error *gather_go_result(gather_go_handle context, int32_t op, int32_t kind,
                                  GATHER_GO_OPERANDS GATHER_GO_TENSOR(unique), GATHER_GO_TENSOR(target),
                                  const gth_options *options, int64_t *count);

#endif
