#pragma once

#include <cstdint>

#include "cuda/divider.hpp"
#include "gather/gather.h"

// A plan as a kernel gets it: by value, with pointers and the open extent filled in. Of a call that is cut into pieces
// (cuda/pieces.hpp), one piece.
namespace gather::cuda {

// A loop of the plan, in output order. out: of a job without rows, which only judges, the step in position.
struct JobLoop {
  int64_t extent;
  int64_t params, index, out;
};

// An indexed dim of params.
struct JobComponent {
  int64_t size;
  int64_t stride;
};

// A bad tuple. position -1: none.
struct Finding {
  int64_t position;
  int64_t value;
  int64_t component;
};

// Who judges indices before anything is written.
enum class Validation : uint8_t {
  none,      // nobody: bounds has an answer for every index
  inside,    // every block of the copying kernel, all of them
  in_front,  // a kernel of its own
};

// What the blocks of a call share, in device memory. All zero between calls: the last block of a call's last kernel
// leaves it so, and so does the last one of two calls that overlapped, which must not share one.
struct State {
  uint32_t finished;  // the shares of the blocks that are done, see share_of()
  uint32_t bad;       // blocks of these that found a bad tuple
  uint32_t raced;     // ... or that found one while copying
  uint32_t unused;
  uint64_t worst;  // ~position of the first bad tuple that in_front has found: nothing is copied. 0: none
};

struct JobHead {
  const char* params;  // of the element from which offsets count
  const char* indices;
  char* out;
  const char* params_begin;  // memory of params that is described, as far as elements reach
  int64_t loadable;          // bytes of it from which on three words can be loaded
  int64_t units;             // rows in the output
  int64_t tuples;            // in indices
  int64_t first_unit;        // of the call, that the piece begins with
  int64_t first_tuple;
  int64_t first_position;  // what an error calls that tuple
  int64_t row;             // bytes
  int64_t chunks;          // pieces that a row is cut into
  int64_t index_step;
  int64_t dealt_units;  // units that one batch of params is dealt
  uint64_t fill[2];     // the element that bounds = fill writes, repeated to 16 bytes
  Divider chunk;        // divides by chunks; of a stream, by row
  Divider lane;         // by lanes
  uint32_t lanes;       // threads that share a row, or a piece of one
  int32_t loops;
  int32_t walked;        // loops in front of the inner ones
  uint64_t tuple_loops;  // a bit for each of these that goes from tuple to tuple; the others repeat tuples
  int32_t components;
  int32_t dealt_dims;  // params dims, behind the components, that tuples are dealt out to
  int32_t bounds;
  uint8_t index_bytes;
  bool index_signed;
  bool index_aligned;
  bool has_negatives;  // values below zero are negative, not huge
  bool wraps;
  uint8_t wraps_flag;  // what an error says of it: GTH_ERROR_WRAP or 0
  bool streams;        // the output is too large to stay in the cache
  bool zeroes;         // the output is ours: rows that nothing is copied to become zeros
  Validation validation;
  bool sets_skip;  // of the validating kernel: another one of the call follows, which asks what it has found
  bool has_next;   // of the copying kernel: another piece follows
  State* state;
  gth_error_record* record;
  int64_t sequence;
};

template <int loops_, int components_>
struct Job : JobHead {
  static constexpr int most_loops = loops_;
  static constexpr int most_components = components_;
  // One line of tuples, one component: neither is looped over.
  static constexpr bool is_direct = loops_ == 1 && components_ == 1;

  Divider divider[size_t{loops_}];
  JobLoop loop[size_t{loops_}];
  JobComponent component[size_t{components_}];
};

using DirectJob = Job<1, 1>;
using SmallJob = Job<4, 8>;
using AnyJob = Job<GTH_MAX_NDIM + 1, GTH_MAX_NDIM>;

static_assert(sizeof(AnyJob) <= 4096, "what a kernel may be given on every device");

}  // namespace gather::cuda
