#pragma once

#include <cstdint>

#include "core/base/scaled.hpp"
#include "core/options/operation.hpp"
#include "core/plan/bag_plan.hpp"
#include "core/plan/layout.hpp"
#include "core/types/codec.hpp"
#include "core/types/index_type.hpp"
#include "core/types/reduction.hpp"

namespace gather::core {

// One loop of a plan. It has the byte strides of the three operands, and the increment of the position in errors. A
// loop that does not depend on indices has stride and position 0. Each number may depend on the open extent n.
struct Loop {
  Scaled extent;
  Scaled table, indices, rows;
  Scaled position;
};

// One component of a tuple. It selects in one dim of the table. The stride of a dim of size 1 is 0.
struct Component {
  int64_t size;
  int64_t stride;
};

inline IndexType index_type_of(int32_t dtype) {
  const int32_t size = __builtin_ctz(static_cast<uint32_t>(dtype & 255)) - 3;  // 8, 16, 32, 64 bits
  return static_cast<IndexType>(size + (dtype >= 256 ? 4 : 0));                // DLPack's code 1 is unsigned
}

inline int64_t index_bytes(IndexType kind) { return int64_t{1} << (static_cast<int32_t>(kind) & 3); }

inline bool is_signed(IndexType kind) { return kind < IndexType::uint8; }

// The representation of an element in a kernel.
enum class ItemKind : uint8_t {
  value,   // The bits of the element itself.
  offset,  // The offset of a string.
};

struct Item {
  int32_t bits;
  ItemKind kind;

  int64_t bytes() const { return bits / 8; }
};

// The size of a row in bytes, where it is read and where it is written. Both are equal, except for strings, whose
// offsets are read and whose addresses are written.
struct Row {
  int64_t in, out;
};

// How a scatter combines updates with the target.
struct Reducing {
  Number number;            // the type of the elements, or none if updates replace the target
  bool in_float32;          // It accumulates in float32.
  bool in_float64;          // It accumulates float32 in float64.
  bool is_mean;             // Sums are divided by the number of their terms. reduction is add.
  bool starts_with_update;  // It replaces the rows that it selects. `fill` of the plan is its identity.
  bool any_order;           // A device may add in any order. reduction is add, or the plan pools bags.
  int32_t reduction;
};

// The batches of the table between which the tuples are divided evenly.
struct BatchSplit {
  int64_t count;  // 1: no split
  int32_t ndim;   // the number of dims of the table that are batch dims of this split
  int64_t extents[GTH_MAX_NDIM], strides[GTH_MAX_NDIM];
};

// A plan contains everything that an executor needs to run a gather or a scatter. It has no dtypes, only sizes in bits,
// strides and index types.
//
//   for each outer loop that is not the line
//     for each tuple of the line
//       for each inner loop: copy a row
//
// A gather reads the table and writes the rows. A scatter reads the rows and writes the table. Tuples that may select
// the same slice are processed in the order of their positions.
//
// A plan does not change after it has been built.
struct Plan {
  // Loops are in the order of the dims of the output. Loops [0, inner_begin) step from tuple to tuple or repeat tuples.
  // loops[line] is the one of them that runs innermost. Loops [inner_begin, end) step through the rows of a slice, and
  // do not depend on indices.
  int32_t line, inner_begin, end;
  int32_t components;  // K
  IndexType index;
  bool is_open;
  bool wraps;
  bool is_empty;           // The output has no elements.
  bool checks_when_empty;  // The output is empty, and indices are validated nevertheless.
  const Operation* operation;
  Reducing reducing;
  bool is_partial_on_error;  // After an error, the output may contain some of the results.
  bool has_padding;          // A tuple whose components all equal `padding` selects no row.
  int32_t bounds;
  int64_t padding;
  int32_t refused_dim;  // the first empty dim of the table if the profile rejects an empty table, else -1
  int32_t device, device_id;
  int32_t threads;
  RoleSet in_files;  // the operands whose pointer is a files::Table. They are not memory.
  Item item;
  Row row;
  int64_t inner;       // the number of rows in a slice
  int64_t index_step;  // the bytes between the components of a tuple, or 0 if K < 2
  ByRole<int64_t> offset;
  int64_t largest_n;  // the largest open extent, or 0 if no extent is open
  Scaled tuples;      // the number of tuples in indices
  Scaled slices;      // the number of slices in the output
  uint64_t fill[2];   // the element that bounds = fill and padding write, or the identity of a reduction
  ByRole<Reach> reach;
  RoleSet nonempty;  // the operands that have elements
  int32_t ndim;      // the rank of the output
  int64_t shape[GTH_MAX_NDIM];
  BatchSplit split;
  BagPlan bags;
  PackedPlan packed;
  Component component[GTH_MAX_NDIM];
  Loop loops[GTH_MAX_NDIM + 1];
};

// Returns true if the plan pools bags. Plans of other operations do not set `bags`.
inline bool has_bags(const Plan& plan) { return plan.operation->form == Form::bags; }

// Returns false if a run reads no index, because its output is empty.
inline bool reads_indices(const Plan& plan) { return !plan.is_empty || plan.checks_when_empty; }

inline bool is_scatter(const Plan& plan) { return plan.operation->direction == Direction::scatter; }

// Returns true if the plan is a scatter that combines updates with the target.
inline bool reduces(const Plan& plan) { return plan.reducing.number != Number::none; }

// Returns true if a reduction accumulates in a wider type than that of the elements.
inline bool is_widened(const Plan& plan) { return plan.reducing.in_float32 || plan.reducing.in_float64; }

// Returns true if a scatter sorts its updates by slice, which needs memory.
inline bool sorts_updates(const Plan& plan) { return is_widened(plan) || plan.reducing.is_mean; }

// Returns true if a loop steps from tuple to tuple. Other loops repeat tuples or step through a slice.
inline bool is_tuple_loop(const Loop& loop) { return loop.position.factor != 0; }

}  // namespace gather::core
