#pragma once

#include <cstdint>

#include "core/base/roles.hpp"
#include "core/base/scaled.hpp"
#include "core/types/index_type.hpp"
#include "gather/gather.h"

namespace gather::core {

// The distance between the elements of a tensor in row-major order. If they have no common distance, the loops of the
// plan have the strides.
struct Line {
  bool is_line;
  int64_t stride;
};

// The bags of a plan of Form::bags. Its loops in front of the inner loops step through the ids. In these loops, `table`
// is the stride of weights. The last of them steps through the ids of a dense bag, and the others through the bags. Bags
// of other formats have one loop, over the ids of all bags.
struct BagPlan {
  int32_t format;    // GTH_BAGS_*
  int32_t pool;      // GTH_POOL_*
  int32_t empty;     // GTH_EMPTY_*, or start_if_empty
  bool ends_early;   // Offsets may end before the number of ids, and there may be no starts. Other ids are not read.
  bool rounds_each;  // Each sum of numbers of 2 bytes is rounded.
  bool adds_bias_first;  // of packed rows
  bool widens;           // The table has numbers of 2 bytes, and the output has float32.
  bool has_weights;
  bool has_float32_weights;  // They are float32, whatever the table has.
  bool ids_are_open;         // Each run sets the number of ids.
  IndexType type;            // of the operand bags
  Scaled count;              // the number of bags
  int64_t ids;               // their number, if it is not open and bags are not dense
  int64_t length;            // the number of ids of each dense bag
  int64_t largest_ids;
  int64_t bags_stride;
  Line ids_at, weights_at;  // by id
  Line rows_at;             // by bag

  // Returns the number of ids. `n` is the open number of bags, and `open_ids` that of ids.
  int64_t ids_of(int64_t n, int64_t open_ids) const {
    if (format == GTH_BAGS_DENSE) return count.at(n) * length;
    return ids_are_open ? open_ids : ids;
  }
  // Returns the open extent of the loops over ids.
  int64_t loops_n(int64_t n, int64_t open_ids) const {
    if (format == GTH_BAGS_DENSE) return n;
    return ids_are_open ? open_ids : GTH_OPEN;
  }
  // Returns the number of elements of the operand bags.
  int64_t numbers_of(int64_t n, int64_t open_ids) const {
    switch (format) {
      case GTH_BAGS_OFFSETS: return count.at(n) + 1;
      case GTH_BAGS_SEGMENTS: return ids_of(n, open_ids);
      case GTH_BAGS_DENSE: return 0;
      default: return count.at(n);
    }
  }
  // Returns the open extent of an operand.
  int64_t extent_of(Role role, int64_t n, int64_t open_ids) const {
    switch (role) {
      case Role::indices:
      case Role::weights: return loops_n(n, open_ids);
      case Role::bags: return numbers_of(n, open_ids);
      default: return n;
    }
  }
};

}  // namespace gather::core
