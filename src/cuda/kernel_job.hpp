#pragma once

#include <cstdint>

#include "core/types/resolve_index.hpp"
#include "cuda/divider.hpp"
#include "gather/gather.h"

// The form of a plan that is passed to a kernel by value. Pointers and the open extent are filled in. If a call is
// split into pieces (cuda/launch_pieces.hpp), a job is one piece.
namespace gather::cuda {

// A loop of the plan, in output order. If a job only validates indices, it has no rows, and `out` is the increment of
// the position.
struct JobLoop {
  int64_t extent;
  int64_t params, index, out;
};

// An indexed dim of params.
struct JobComponent {
  int64_t size;
  int64_t stride;
};

// An invalid tuple. Position -1 means none.
struct Finding {
  int64_t position;
  int64_t value;
  int64_t component;
};

// The place where indices are validated before rows are written.
enum class Validation : uint8_t {
  none,      // not at all, because bounds maps every index
  inside,    // in every block of the copying kernel, which validates all indices
  in_front,  // in a separate kernel
  behind,    // by the copying kernel as it copies. If an index is invalid, a kernel behind it finds the first one.
};

// The state that the blocks of a call share, in device memory. `finished` and `worst` are zero between kernels, because
// the last block of a kernel resets them. This also holds after two calls that share a state overlapped by mistake.
struct State {
  uint64_t finished;  // sum of what the finished blocks have added, see with_share()
  uint64_t worst;     // ~number of the first invalid tuple that the validating kernel has found, some_invalid, or 0
  // The results of in_front, which the first validating kernel of a call initializes.
  uint64_t is_refused;  // 1 if a tuple is invalid, so that nothing is copied
  uint64_t raced;       // number of blocks that found an invalid tuple while copying
  uint64_t read_ids;    // of bags: the number of ids of all bags. Ids behind them are not validated.
};

// What State::worst is if a copying kernel has found an invalid tuple. It is lower than ~number of every tuple.
constexpr uint64_t some_invalid = 1;

struct JobHead {
  const char* params;  // address of the element at offset 0
  const char* indices;
  char* out;
  const char* params_begin;  // lowest byte of params that elements use
  int64_t loadable;          // bytes from params_begin at which three words of 8 bytes can be loaded
  int64_t units;             // rows in the output
  int64_t tuples;            // tuples in indices
  int64_t first_unit;        // first unit of the piece, counted in the call
  int64_t first_tuple;
  int64_t first_position;  // position of that tuple in errors
  int64_t row;             // bytes
  int64_t chunks;          // pieces that a row is split into
  int64_t index_step;
  int64_t batch_split_units;  // units in one batch of params
  int64_t padding;            // if has_padding: a tuple whose components all equal it selects no row and is valid
  uint64_t fill[2];           // the element of bounds = fill, repeated to 16 bytes
  Divider chunk;              // divides by chunks, or by row in a stream
  Divider lane;               // divides by lanes
  uint32_t lanes;             // threads that share a row or a piece of one
  int32_t loops;
  int32_t walked;        // loops outside the inner ones
  uint64_t tuple_loops;  // a bit for each of these loops: 1 if it steps through tuples, 0 if it repeats them
  int32_t components;
  int32_t batch_split_dims;  // batch dims of params, stored after the components
  core::IndexPolicy policy;
  uint8_t index_bytes;
  bool index_signed;
  bool index_aligned;
  uint8_t wraps_flag;  // flag of errors for negative values: GTH_ERROR_WRAP or 0
  bool evicts_first;   // the cache evicts lines of the output first, because it is too large for the cache
  bool zeroes;         // the library owns the output, so rows without a source become zeros
  bool fills;          // rows without a source become `fill`; otherwise they are not written
  bool has_padding;
  bool fills_padding;  // rows of a gather that are padding become `fill`; otherwise they are not written
  bool is_few;         // every thread copies at most one vector of a row
  bool follows_bags;   // The indices are ids of bags, whose validation has initialized the results in the state.
  Validation validation;
  State* state;
  gth_error_record* record;
  int64_t sequence;
};

template <int loops_, int components_>
struct Job : JobHead {
  static constexpr int most_loops = loops_;
  static constexpr int most_components = components_;
  // One line of tuples and one component, so no loop runs over either.
  static constexpr bool is_direct = loops_ == 1 && components_ == 1;
  // Gathers with padding are rare, so they always have the largest job.
  static constexpr bool takes_padding = loops_ > GTH_MAX_NDIM;
  // The numbers of loops and of components if the kernel knows them, otherwise 0.
  static constexpr int exact_loops = is_direct ? 1 : 0, exact_components = is_direct ? 1 : 0;

  Divider divider[size_t{loops_}];
  JobLoop loop[size_t{loops_}];
  JobComponent component[size_t{components_}];
};

using DirectJob = Job<1, 1>;
using SmallJob = Job<4, 8>;
using AnyJob = Job<GTH_MAX_NDIM + 1, GTH_MAX_NDIM>;

// A small job of which the kernel knows the number of loops and, unless it is 0, that of components. Its indices are
// aligned and have 4 or 8 bytes. Such a kernel needs fewer registers and up to half of the instructions. It loads the
// components that it knows at once.
template <int loops_, int components_>
struct ExactJob : SmallJob {
  static constexpr int exact_loops = loops_, exact_components = components_;
};

static_assert(sizeof(AnyJob) <= 4096, "what a kernel may be given on every device");

}  // namespace gather::cuda
