#pragma once

#include <cstdint>

#include "core/types/index_type.hpp"
#include "core/plan/layout.hpp"
#include "core/options/operation.hpp"
#include "core/types/reduction.hpp"
#include "core/base/scaled.hpp"

namespace gather::core {

// One loop of a plan: the byte strides of the three operands, and the increment of the position that an error names. A
// loop that does not depend on indices has stride and position 0. Each number may depend on the open extent n.
struct Loop {
  Scaled extent;
  Scaled table, indices, rows;
  Scaled position;
};

// One component of a tuple: an indexed dim of params.
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

// What an element is to a kernel.
enum class ItemKind : uint8_t {
  value,   // a number of so many bits, copied as it is
  offset,  // a string, by its entry in the offsets
};

struct Item {
  int32_t bits;
  ItemKind kind;

  int64_t bytes() const { return bits / 8; }
};

// Contiguous bytes of a row where it is read and where it is written.
struct Row {
  int64_t in, out;
};

// Everything an executor needs to know about a gather or a scatter, dtypes excepted: kernels see bits, strides and index
// widths.
//
//   for each loop in front of the inner ones, but the line                  "lines"
//     for each tuple of the line                                            "line"
//       for each inner loop: copy a row
//
// A gather reads the table and writes the rows. A scatter reads the rows and writes the table. Tuples that may select the
// same row are visited in the order of their positions.
//
// Immutable once lowered.
struct Plan {
  // Loops in the order of the output's dims. [0, inner_begin) go from tuple to tuple or repeat tuples, loops[line] is the
  // one of them that is walked innermost; [inner_begin, end) go from row to row of a slice, which indices know nothing of.
  int32_t line, inner_begin, end;
  int32_t components;  // K
  IndexType index;
  bool is_open;
  bool wraps;
  bool is_empty;           // no output even where there are tuples
  bool checks_when_empty;  // ... and index values are judged all the same
  Direction direction;
  Number number;    // of a scatter that reduces: what its elements are
  bool in_float32;  // ... and whether they are accumulated in float32
  int32_t reduction;
  int32_t bounds;
  int32_t refused_dim;  // params without elements, which the profile refuses: the first empty dim; else -1
  int32_t device, device_id;
  int32_t threads;
  Item item;
  Row row;
  int64_t inner;       // rows in a slice
  int64_t index_step;  // bytes between the components of a tuple
  int64_t table_offset, indices_offset, rows_offset;
  int64_t largest_n;
  Scaled tuples;     // in indices
  Scaled slices;     // in the output
  uint64_t fill[2];  // the element that bounds = fill writes
  Reach table_reach, indices_reach, rows_reach;
  int64_t dealt;       // the tuples are dealt out to so many batches of params (1: they are not)
  int32_t dealt_ndim;  // params dims of these batches
  int32_t ndim;        // of the output
  int64_t shape[GTH_MAX_NDIM];
  int64_t dealt_extents[GTH_MAX_NDIM], dealt_strides[GTH_MAX_NDIM];
  Component component[GTH_MAX_NDIM];
  Loop loops[GTH_MAX_NDIM + 1];
};

inline bool is_scatter(const Plan& plan) { return plan.direction == Direction::scatter; }

// A loop from tuple to tuple; the others repeat tuples, or are inside a slice.
inline bool is_tuple_loop(const Loop& loop) { return loop.position.factor != 0; }

}  // namespace gather::core
