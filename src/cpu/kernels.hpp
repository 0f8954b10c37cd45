#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/indices.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Describes the components of tuples for the tiers. Returns false if the tiers do not support them: a size or stride
// exceeds int32, or there are too many components.
bool describe_components(const core::Component* component, int32_t count, Selection* selection);

// Describes for the tiers how the tuples of a plan select rows. Returns false if the tiers do not support the plan.
bool describe_selection(const core::Plan& plan, Selection* selection);

// The kernels that run a plan. They are chosen once for each plan.
struct Kernels {
  const Tier* tier;
  bool is_supported_by_tier;  // the tier supports the tuples of the plan, which `selection` describes
  bool prefetches;            // rows of the table are prefetched
  Selection selection;

  // Moves rows. It is NULL for a scatter of rows that `update` combines.
  MoveRows move;
  // Resolves indices and moves rows, or NULL.
  MoveFused fused;
  // Copies from a table in registers, or NULL.
  LookUp look_up;
  // Pool the rows of bags: all parts of a row but the last one, and the last one. They are NULL for rare numbers.
  PoolBags pooling, last_pooling;
  DecodeRow decode;  // a part of a packed row; set for bags
  // Combine updates with rows of the target of a scatter. `stream` uses non-temporal stores, and is NULL if they are
  // not faster.
  WriteRows update, stream;

  // Returns true if n tuples are all valid, for bounds = error, fill and skip. Returns false if a tuple is invalid, and
  // may return false if the fast test is not sufficient.
  bool inside(const char* tuples, int64_t stride, int64_t n) const {
    return is_supported_by_tier && tier->inside(selection, tuples, stride, n);
  }

  // Resolves n <= block_tuples tuples to byte offsets into the table. The first tuple is at `tuples`, and they are
  // `stride` bytes apart. Each index is loaded once and validated before it is used. So if another thread writes
  // indices, another row may be selected, but no offset is out of bounds.
  Resolved resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                   BadTuple* bad) const;

  // Fills a row with the element of bounds = fill.
  void fill(const core::Plan& plan, char* out) const;
};

Kernels choose_kernels(const core::Plan& plan);

}  // namespace gather::cpu
