#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/layout.hpp"
#include "core/options.hpp"
#include "core/scaled.hpp"
#include "core/shape.hpp"

namespace gather::core {

// One loop of a plan. A batch loop has all three strides, an outer or inner loop no index stride, a tuple loop no
// params stride. Extents and strides may depend on the open extent n.
struct Loop {
  Scaled extent;
  Scaled params, index, out;
};

// One component of a tuple: an indexed dim of params.
struct Component {
  int64_t size;
  int64_t stride;
};

// The integer type of indices.
enum class IndexKind : uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64 };

inline IndexKind index_kind(int32_t dtype) {
  const int32_t size = __builtin_ctz(static_cast<uint32_t>(dtype & 255)) - 3;  // 8, 16, 32, 64 bits
  return static_cast<IndexKind>(size + (dtype >= 256 ? 4 : 0));                // DLPack's code 1 is unsigned
}

inline int64_t index_bytes(IndexKind kind) { return int64_t{1} << (static_cast<int32_t>(kind) & 3); }

inline bool is_signed(IndexKind kind) { return kind < IndexKind::uint8; }

// Everything an executor needs to know about a gather, dtypes excepted: kernels see bytes, strides and index widths.
//
//   for each batch, outer and tuple loop but the last tuple loop        "lines"
//     for each tuple of the last tuple loop                             "line"
//       for each inner loop: copy `row` bytes
//
// Immutable once lowered.
struct Plan {
  // Loops in output order: [0, outer_begin) batch, [outer_begin, tuple_begin) outer, [tuple_begin, line) tuples without
  // the last, loops[line] the last tuple loop (extent 1 if there is none), (line, end) inner.
  int32_t outer_begin, tuple_begin, line, end;
  int32_t components;  // K
  IndexKind index;
  bool is_open;
  bool wraps;
  bool is_empty;           // no output even where there are tuples
  bool checks_when_empty;  // ... and index values are judged all the same
  int32_t bounds;
  int32_t refused_dim;  // params without elements, which the profile refuses: the first empty dim; else -1
  int32_t device, device_id;
  int32_t threads;
  int64_t row;         // contiguous bytes
  int64_t inner;       // rows in a slice
  int64_t index_step;  // bytes between the components of a tuple
  int64_t params_offset, indices_offset, out_offset;
  int64_t largest_n;
  Scaled tuples;     // in indices, batch dims included
  Scaled slices;     // in the output: tuples times outer extents
  int64_t item;      // bytes of an element
  uint64_t fill[2];  // the element that bounds = fill writes
  Reach params_reach, indices_reach, out_reach;
  int64_t dealt;       // the tuples are dealt out to so many batches of params (1: they are not)
  int32_t dealt_ndim;  // params dims of these batches
  int32_t ndim;        // of the output
  int64_t shape[GTH_MAX_NDIM];
  int64_t dealt_extents[GTH_MAX_NDIM], dealt_strides[GTH_MAX_NDIM];
  Component component[GTH_MAX_NDIM];
  Loop loops[GTH_MAX_NDIM + 1];
};

// What a plan is lowered from.
struct Request {
  Op op;
  Open open;  // none or one
  const gth_tensor_desc* params;
  const gth_tensor_desc* indices;
  const gth_tensor_desc* out;  // nullptr: dense row-major output
  const gth_options* options;
  int32_t device, device_id;  // of the context; device 0: find it in the descriptions
};

// Struct sizes of descriptions and options.
int32_t check_structs(const Request& request, const Error& error);

// Checks everything that does not need data, in the order of the contract, and lowers to a plan.
int32_t lower(const Request& request, Plan* plan, const Error& error);

// Sets the element that bounds = fill writes.
void set_fill(int32_t dtype, const Settings& settings, Plan* plan);

// The plan that copies `source` to `destination`, of the same dtype and shape, element by element, on a context's device.
int32_t lower_copy(const gth_tensor_desc& source, const gth_tensor_desc& destination, int32_t device, int32_t device_id,
                   Plan* plan, const Error& error);

// The open extent of a run: an extent that keeps all sizes inside int64, or GTH_OPEN for a plan without one.
int32_t check_open_extent(const Plan& plan, int64_t n, const Error& error);

// What a run can still get wrong: the open extent, NULL and overlap.
struct Pointers {
  const char* params;
  const char* indices;
  char* out;
};
int32_t check_run(const Plan& plan, const Pointers& pointers, int64_t n, const Error& error);

}  // namespace gather::core
