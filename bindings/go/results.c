#include "results.h"

#include "call.h"

gather_go_error *gather_go_result(gather_go_handle context, int32_t op, int32_t kind,
                                  GATHER_GO_OPERANDS GATHER_GO_TENSOR(unique), GATHER_GO_TENSOR(target),
                                  const gth_options *options, int64_t *count) {
  BEGIN;
  DESCRIBE_REQUEST(op, options);
  const gth_tensor_desc result = DESCRIBE(target), ids = DESCRIBE(unique);
  if (op != GTH_OP_GATHER_BAGS) END(gth_scatter_positions(CONTEXT(context), &request, &result, &err));
  if (kind == GATHER_GO_POSITIONS) END(gth_gather_bags_positions(CONTEXT(context), &request, &result, &err));
  if (kind == GATHER_GO_OF_WEIGHTS) END(gth_gather_bags_weight_gradient(CONTEXT(context), &request, &result, &err));
  if (unique->flags & GATHER_GO_ABSENT) END(gth_gather_bags_gradient(CONTEXT(context), &request, &result, &err));
  END(gth_gather_bags_sparse_gradient(CONTEXT(context), &request, &ids, &result, count, &err));
}
