#pragma once

#include <cstdint>

#include "core/types/reduction.hpp"
#include "cuda/kernel_job.hpp"
#include "cuda/numbers.hpp"

// The kernels of a scatter sort its updates by the slice of the target that they select, and then combine the updates of
// each slice in their order. So each element of the target is written by one thread, and the result is the same in every
// run.
//
// Slices and updates are numbered by their addresses: all of them are a multiple of one distance apart.
namespace gather::cuda {

// The number of no id. Ids, which are sorted like updates, have smaller numbers.
constexpr uint32_t no_id = UINT32_MAX;

// The updates in the order in which they are sorted: number i has slices[i] and updates[i].
struct Keys {
  uint32_t* slices;
  uint32_t* updates;
};

// The numbers of an update if they exceed 32 bits. Keys::updates then has the index of this entry, and Keys::slices has
// the lower half of the number of the slice, and then the upper one.
struct WideUpdate {
  uint64_t slice, update;
};

// The part of a job that writes keys.
struct KeyJob {
  Keys keys;
  WideUpdate* wide;                   // nullptr if all numbers fit in 32 bits
  int64_t first_slice, first_update;  // the smallest numbers, which become 0
  uint64_t slices;                    // updates that select no slice get this number, which is behind all others
  uint64_t* long_count;               // becomes 0
  bool is_validated;                  // an invalid index has become invalid after its validation
};

// The first updates of the long slices, in any order.
struct LongSlices {
  uint64_t* count;
  uint32_t* firsts;
};

// A loop over the rows of a slice, with strides in bytes.
struct RowLoop {
  int64_t extent;
  int64_t target, updates;
};

// The part of a job that combines sorted updates. A group of neighbouring threads processes one update, which is the
// first of its slice, and all later ones of this slice. Each thread has its own columns: vectors of the rows.
struct CombineJob {
  Keys keys;
  const WideUpdate* wide;
  LongSlices long_slices;
  uint32_t count;   // of updates
  uint64_t slices;  // see KeyJob
  char* target;     // the slice with the number 0
  const char* updates;
  int64_t slice_bytes, update_bytes;  // from number to number
  int64_t columns;                    // of a slice
  int64_t vectors;                    // columns of a row
  uint32_t lanes;                     // threads of a group, a power of two
  int64_t chunks;                     // parts of a slice, each with a column for each thread of a group
  int32_t loops;
  int32_t reduction;        // GTH_REDUCTION_*
  bool is_mean;             // sums are divided by the number of their terms
  bool starts_with_update;  // the target is no term
  bool is_aligned;          // vectors are aligned to their size
  bool is_signed;           // of integers
  uint64_t sign_bits;       // see invert_signs
  uint64_t identity[2];
  const void* scales;  // of sums: the factor of each sorted update, in the type of the sum. nullptr: they are 1
  bool rounds_each;    // of floating numbers of 2 bytes: each sum and product is rounded
  const State* state;  // nullptr if indices are not validated
  RowLoop loop[GTH_MAX_NDIM];
};

// The same for the positions of a maximum or minimum. Target and updates are arrays.
struct PositionJob : CombineJob {
  const char *first_target, *first_update;
  int64_t* positions;  // by element of the target
};

// How a scatter by atomic operations combines elements.
struct AtomicJob {
  Numbers numbers;    // of 4 or 8 bytes
  bool in_vectors;    // a unit is four floats
  int32_t reduction;  // GTH_REDUCTION_*
  bool is_validated;
};

static_assert(sizeof(PositionJob) <= 4096, "what a kernel may be given on every device");

}  // namespace gather::cuda
