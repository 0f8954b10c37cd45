#pragma once

#include <cstdint>

#include "core/types/index_type.hpp"
#include "core/types/reduction.hpp"

#define GATHER_INLINE __attribute__((always_inline)) inline

// The kernels of one instruction set. The file of a tier is compiled for instructions that some processors lack, so it
// shares no code with the rest of the library. Otherwise the linker could merge two copies of a function and keep the
// copy that some processors cannot run. The file includes only this header, which defines only types, and body.hpp,
// whose functions have internal linkage.
//
// In all kernels, the table is the operand that tuples select rows of. The rows operand is the output of a gather or
// the updates of a scatter.
namespace gather::cpu {

// The largest number of tuples that are resolved at once. It amortises the call, and the offsets fit the L1 cache.
constexpr int64_t block_tuples = 256;

// The offset of a tuple that selects no row (bounds = fill or skip).
constexpr int64_t no_row = INT64_MIN;

enum class Resolved : uint8_t {
  all,   // every offset selects a row
  some,  // some offsets are no_row
  bad,   // the offsets are unspecified
};

using core::IndexType;
using core::Outside;

// Describes how a tuple of indices selects a row: by the sum of index * stride over its components. Each index is
// validated against the size of its component.
struct Selection {
  static constexpr int32_t max_components = 8;

  IndexType type;
  Outside outside;
  bool wraps;  // negative indices count from the end; always false for uint64
  int32_t components;
  int64_t index_step;  // bytes between the components of a tuple
  int64_t tuple_step;  // bytes between tuples; 0 if it depends on the open extent
  int64_t table_step;  // bytes in the table from a tuple of a line to the next; independent of index values
  int64_t size[max_components], stride[max_components];
};

// Copies n rows of `row` bytes: row i from base + offsets[i] to out + i * stride. Addresses need no alignment.
using CopyRows = void (*)(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row);

// Lines of tuples with equal distances, and the operands that they refer to.
struct TupleRun {
  const char* tuples;
  int64_t tuple_step;
  int64_t n;  // tuples in a line, at least 1
  char* rows;
  int64_t row_stride;  // bytes from row to row
  const char* table;
  int64_t row_bytes;
  int64_t lines;                               // at least 1
  int64_t next_tuples, next_rows, next_table;  // bytes from line to line
};

// Resolves tuples and moves their rows in one pass, line by line. A gather copies from the table to the rows. A scatter
// writes to the table, or adds to it. The kernel stops at the first tuple that is out of bounds, or a few tuples before
// it. Returns the number of tuples that were processed. Each index is validated after it is loaded and before it is
// used.
using FusedKernel = int64_t (*)(const Selection& selection, const TupleRun& run);

// Properties of rows by which a kernel is chosen.
struct RowTraits {
  int64_t bytes;
  bool exceeds_cache;  // the table is larger than the caches, so rows are prefetched
  bool streams;        // the written operand is larger than the caches, so it is written with non-temporal stores
};

// Combines n rows of `row` bytes in order: the row at updates + from[i] with the row at target + offsets[i], which is
// overwritten with the result. Addresses need no alignment.
using WriteRows = void (*)(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                           int64_t row);

// Kernels that accumulate n >= 1 elements of 2 bytes in float32.
struct Accumulate {
  void (*load)(const char* row, int64_t n, float* values);
  void (*combine)(const char* row, int64_t n, float* values);
  void (*store)(const float* values, int64_t n, char* row);  // rounded to nearest, ties to even
};

// Element types that vector instructions add. Integers wrap around, so signed and unsigned integers share an entry.
enum class Addend : uint8_t { integer8, integer16, integer32, integer64, float32, float64 };

struct Tier {
  uint32_t bit;  // GTH_TIER_*

  // Returns true if n tuples are all inside. The first tuple is at `tuples`, and they are `stride` bytes apart. Returns
  // false if a tuple is out of bounds, and may return false if the fast test is not sufficient.
  bool (*inside)(const Selection& selection, const char* tuples, int64_t stride, int64_t n);

  // Resolves n <= block_tuples tuples to offsets. Loads every index exactly once. Returns `bad` if an index is out of
  // bounds and refused, or if this tier has no fast form for the tuples.
  Resolved (*resolve)(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* offsets);

  CopyRows (*choose_copy)(const RowTraits& rows);
  // Returns NULL if there is no fused gather for these tuples.
  FusedKernel (*choose_fused_gather)(const Selection& selection, const RowTraits& rows);

  // Returns the kernel that overwrites rows of the target.
  WriteRows (*choose_write)(const RowTraits& rows);
  // Returns the kernel that combines rows of elements of `item` bytes by a GTH_REDUCTION_*. Precondition:
  // is_reducible(). Updates do not overlap the target.
  WriteRows (*choose_reduce)(core::Number number, int64_t item, int32_t reduction, int64_t row);
  // Returns the kernels that accumulate float16 or bfloat16 in float32.
  Accumulate (*choose_accumulate)(core::Number number, int32_t reduction);
  // Return the fused kernels of a scatter with short rows: the first one overwrites, the second one adds. Both return
  // NULL if there is none for these tuples or rows. The table of the run is the target, and its rows are the updates.
  FusedKernel (*choose_fused_scatter)(const Selection& selection, const RowTraits& rows);
  FusedKernel (*choose_fused_scatter_sum)(const Selection& selection, Addend addend, const RowTraits& rows);
};

extern const Tier portable_tier, avx2_tier, neon_tier;

}  // namespace gather::cpu
