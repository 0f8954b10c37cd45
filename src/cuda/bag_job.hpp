#pragma once

#include <cstdint>

#include "cuda/kernel_job.hpp"
#include "cuda/scatter_job.hpp"

// The kernels of gather_bags first validate the operand bags and the ids. Then a group of neighbouring threads pools
// each bag: it adds the rows of the ids in their order, and each thread has its own columns.
namespace gather::cuda {

// Integers of any type at one distance.
struct IntegerLine {
  const char* first;
  int64_t stride;
  uint8_t index_bytes;
  bool index_signed, index_aligned;
};

// A loop over bags. The offsets are those of the first id of a bag, of its weight, and of the row of the output.
struct BagLoop {
  int64_t extent;
  int64_t ids, weights, out;
};

// Bags and their ids.
struct BagsJob {
  int32_t format;   // GTH_BAGS_*
  bool ends_early;  // see core::BagPlan
  bool has_padding;
  bool skips;     // An id out of bounds is not read.
  int64_t count;  // of bags
  int64_t ids_count;
  int64_t length;       // the number of ids of a dense bag
  IntegerLine numbers;  // the operand bags
  IntegerLine ids;      // of dense bags: those of the first bag
  uint64_t* begin;      // of lengths: bag i has the ids from begin[i] to begin[i + 1]. Other formats have none.
  uint64_t* sums;       // of lengths: the sums of the runs
  int64_t padding;
  JobComponent rows;  // of params
  core::IndexPolicy policy;
  State* state;  // nullptr if nothing is validated
  gth_error_record* record;
  int64_t sequence;
  int32_t bag_loops;
  BagLoop bag_loop[GTH_MAX_NDIM];
};

// Returns the number of positions of bags that have a rule.
GATHER_SHARED int64_t positions_of(const BagsJob& job) {
  switch (job.format) {
    case GTH_BAGS_DENSE: return 0;
    case GTH_BAGS_SEGMENTS: return job.ids_count;
    default: return job.count + 1;
  }
}

struct PoolJob : BagsJob {
  const char* table;
  const char* weights;  // nullptr: each weight is 1
  int64_t weight_stride;
  char* out;
  int32_t pool;  // GTH_POOL_*
  bool has_float32_weights;
  bool weights_aligned;
  bool rounds_each;     // each sum of numbers of 2 bytes
  bool widens;          // The output has float32, and the table numbers of 2 bytes.
  bool fills;           // An id out of bounds counts as a row of `fill`.
  bool refuses;         // An id out of bounds has been changed after the validation.
  bool replaces_empty;  // The row of a bag without ids is `empty`, otherwise `start`.
  bool zeroes;          // The library owns the output, so the rows of a refused call become zeros.
  bool is_aligned;      // vectors of the table and of the output are aligned
  uint32_t lanes;       // see CombineJob
  int64_t columns, vectors, chunks;
  uint64_t start[2], fill[2], empty[2];  // numbers, repeated to 16 bytes
  uint64_t sign_bits;                    // see invert_signs
  int32_t loops;
  RowLoop loop[GTH_MAX_NDIM];  // `updates` is the stride in the table
};

static_assert(sizeof(PoolJob) <= 4096, "what a kernel may be given on every device");

}  // namespace gather::cuda
