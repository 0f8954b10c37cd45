#pragma once

#include <cstdint>

namespace gather::core {

enum class Op : int32_t { gather, gather_nd };

// When index values are judged although the output is empty because ... (columns may be combined)
enum EmptyCheck : uint8_t {
  check_never = 0,
  check_empty_row = 1,      // ... the selected rows are empty
  check_empty_outer = 2,    // ... a params dim in front of the axis is empty
  check_empty_dim = 4,      // ... or an indexed dim has size 0
  check_single_tuple = 8,   // ... and indices are one tuple, of rank 1
  check_single_empty = 16,  // ... or both at once
  check_always = check_empty_row | check_empty_outer,
};

enum class BatchRule : uint8_t {
  equal,      // batch extents of params and indices agree dim by dim
  divisible,  // ONNX Runtime's GatherND: the number of tuples is a multiple of the number of params batches
};

// One row of the profile table: every switch, public or not, for one operation.
struct Rules {
  int32_t negative;
  int32_t bounds;
  int32_t fill;
  uint8_t empty_check;
  bool allows_no_components;  // K = 0
  bool refuses_empty_params;  // any tuple into params without elements is an error
  bool has_batch_dims;        // the operation has such an attribute at all
  BatchRule batch;
};

// profile: 0 or GTH_PROFILE_*; anything else gives nullptr.
const Rules* find_rules(int32_t profile, Op op);

}  // namespace gather::core
