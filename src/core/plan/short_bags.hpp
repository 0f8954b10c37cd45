#pragma once

#include "core/base/limits.hpp"
#include "core/meaning/request.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"

namespace gather::core {

// The short form of few dense bags of floating-point rows: without weights and padding, with ids that must be in bounds
// and not negative. It serves calls for which building and checking a plan takes longer than pooling. All other requests,
// and invalid ones, use the plan.
struct ShortBags {
  Number number;
  int32_t pool;
  bool rounds_each;
  bool has_offsets;          // else each bag has `length` ids
  bool ids_are_open;         // Each run sets the number of ids.
  IndexType index, numbers;  // the types of ids and offsets
  Scaled count;              // the number of bags
  int64_t largest_n, largest_ids;
  int64_t ids, length;
  int64_t item, row;     // the bytes of an element and of a row
  int64_t rows, stride;  // the number of rows of the table, and the bytes between them
  Span table;            // the accessed bytes
  ByRole<int64_t> offset;

  int64_t ids_of(int64_t bags, int64_t open_ids) const {
    if (!has_offsets) return bags * length;
    return ids_are_open ? open_ids : ids;
  }
};

// Sets the short form of a plan of bags. Returns false if the plan has none.
bool shorten_bags(const Plan& plan, ShortBags* out);

// Sets the short form of a request of gather_bags. Returns false if the request has none.
bool lower_short_bags(const Request& request, ShortBags* out);

}  // namespace gather::core
