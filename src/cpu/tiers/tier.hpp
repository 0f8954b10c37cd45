#pragma once

#include <cstdint>

#include "core/types/index_type.hpp"

#define GATHER_INLINE __attribute__((always_inline)) inline

// The kernels of one instruction set. A tier's file is compiled for processors that not everybody has, so it shares no
// code with the rest of the library: a linker that merged two copies of a function might keep the one that others
// cannot run. All it includes is this header, which has types alone, and body.hpp, which has internal linkage.
namespace gather::cpu {

// How many rows are resolved at once: enough to amortise a call, little enough for L1.
constexpr int64_t block_tuples = 256;

// Where a tuple that selects nothing (bounds = fill, skip) points.
constexpr int64_t no_row = INT64_MIN;

enum class Resolved : uint8_t {
  all,   // every offset selects a row
  some,  // some are no_row
  bad,   // the offsets say nothing
};

using core::IndexType;
using core::Outside;

// How a tuple of indices selects a row: the sum of index * stride over its components, each judged against its size.
struct Selection {
  static constexpr int32_t most_components = 8;

  IndexType type;
  Outside outside;
  bool wraps;  // negative indices count from the end; never for uint64
  int32_t components;
  int64_t index_step;  // bytes between the components of a tuple
  int64_t tuple_step;  // bytes between tuples; 0 where only a run knows
  int64_t row_step;    // bytes that the row of each next tuple lies further on, whatever the tuple says
  int64_t size[most_components], stride[most_components];
};

// Copies n rows of `row` bytes: row i from base + offsets[i] to out + i * stride. No alignment is asked for.
using CopyRows = void (*)(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row);

// Lines of tuples, where the rows that they select come to lie, and the memory that offsets count from.
struct Stretch {
  const char* tuples;
  int64_t tuple_step;
  int64_t n;  // tuples of a line, at least 1
  char* out;
  int64_t out_step;
  const char* base;
  int64_t row;                               // bytes
  int64_t lines;                             // at least 1
  int64_t next_tuples, next_out, next_base;  // bytes from line to line
};

// Resolves tuples and moves the rows that they select, in one go, line by line, up to the first that is outside or some
// tuples before it. Returns how many were copied. What is loaded is judged before it is used.
using TakeRows = int64_t (*)(const Selection& selection, const Stretch& stretch);

// What a copy is to be good at.
struct Rows {
  int64_t bytes;     // of a row
  bool is_far;       // the table is larger than the caches: rows are fetched before they are wanted
  bool is_flooding;  // so is the output: it is written past the caches
};

// Combines n rows of `row` bytes, one after the other: the one at updates + from[i] with the one at target + offsets[i],
// where the result is written. No alignment is asked for.
using WriteRows = void (*)(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                           int64_t row);

// Numbers whose sums the processor has. Integers wrap around, whatever their sign.
enum class Addend : uint8_t { integer8, integer16, integer32, integer64, float32, float64 };

struct Tier {
  uint32_t bit;  // GTH_TIER_*

  // Whether n tuples are all inside, the first at `tuples` and each next one `stride` bytes on. False may also mean that
  // it cannot be said quickly.
  bool (*inside)(const Selection& selection, const char* tuples, int64_t stride, int64_t n);

  // Resolves n <= block_tuples tuples to offsets. Every index is loaded exactly once. Bad: one is outside and refused, or
  // it cannot be done quickly.
  Resolved (*resolve)(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* offsets);

  CopyRows (*choose_copy)(const Rows& rows);
  // NULL: not for these tuples.
  TakeRows (*choose_take)(const Selection& selection, const Rows& rows);

  // Updates that take the place of rows of a target.
  WriteRows (*choose_write)(const Rows& rows);
  // Those that are added to them. NULL: not for rows so short.
  WriteRows (*choose_sum)(Addend addend, int64_t row);
  // The same two for short rows, tuples resolved in one go with them; a stretch has the target as its base, and updates in
  // the place of the output. NULL: not for these tuples, or these rows.
  TakeRows (*choose_give)(const Selection& selection, const Rows& rows);
  TakeRows (*choose_give_sum)(const Selection& selection, Addend addend, const Rows& rows);
};

extern const Tier portable_tier, avx2_tier, neon_tier;

}  // namespace gather::cpu
