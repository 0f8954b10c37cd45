#include "api/run.hpp"

// The exported function of each operation.
#define GATHER_NAMED(NAME, OP)                                                                           \
  int32_t gth_##NAME(gth_context* context, const gth_tensor_desc* table, const gth_tensor_desc* indices, \
                     const gth_tensor_desc* rows, const gth_options* options, gth_error* err) {          \
    return gather::api::run_operation(context, GTH_OP_##OP, table, indices, rows, options, err);         \
  }

GATHER_NAMED(gather, GATHER)
GATHER_NAMED(gather_nd, GATHER_ND)
GATHER_NAMED(gather_elements, GATHER_ELEMENTS)
GATHER_NAMED(scatter, SCATTER)
GATHER_NAMED(scatter_nd, SCATTER_ND)
GATHER_NAMED(scatter_elements, SCATTER_ELEMENTS)
GATHER_NAMED(gather_gradient, GATHER_GRADIENT)
GATHER_NAMED(gather_nd_gradient, GATHER_ND_GRADIENT)
GATHER_NAMED(gather_elements_gradient, GATHER_ELEMENTS_GRADIENT)
