#pragma once

#include "cuda/bag_job.hpp"
#include "cuda/scatter_job.hpp"

// The kernels of the gradients and positions of bags. The gradient of params is a scatter: each id adds the gradient of
// its bag to the row that the bag has read.
namespace gather::cuda {

// Ids have numbers in 32 bits: for dense bags the row-major ones.
struct BagStepsJob : PoolJob {
  Numbers numbers;
  int64_t item;            // bytes of a number
  void* divisors;          // by bag, in the type of the sums. nullptr: they are 1
  Keys keys;               // by sorted id: the row, or rows.size if there is none, and the number of the id
  uint32_t* bag_of;        // by id
  uint32_t* sorted_bags;   // by sorted id
  void* scales;            // by sorted id: weight / divisor. nullptr: they are 1
  uint32_t* winners;       // by element of the output: the number of the id that has it, or no_id
  int64_t* positions;      // the same, or -1
  const char* gradient;    // of the output, dense
  char* divided;           // the same, as complex numbers that a kernel divides
  void* products;          // by id: the gradient of the weight, in the type of the sums
  char* weight_gradients;  // by id, in the dtype of the weights
};

static_assert(sizeof(BagStepsJob) <= 4096, "what a kernel may be given on every device");

// The kernels of a job that depend on its numbers.
enum class BagStep : uint8_t { divisors, scales, winners, products, divided_products, weights };
constexpr int bag_steps = static_cast<int>(BagStep::weights) + 1;

// The gradient of a maximum or minimum: a scatter of the gradients of bags, of which each element counts for one id.
struct WonJob : CombineJob {
  const uint32_t* ids;      // by update
  const uint32_t* winners;  // see BagStepsJob
};

// Sorted ids whose rows are replaced by their ranks.
struct RankJob {
  Keys keys;
  uint32_t* ranks;        // by sorted id. Ids without a row have no_id.
  uint64_t* heads;        // by run: the number of rows whose first id is in the run
  int64_t ids, capacity;  // capacity: the most rows
  uint32_t no_row;
  char* unique;  // int64
  int64_t unique_stride;
  bool is_aligned;
  int64_t* written_count;
  State* state;
  bool is_validated;  // kernels before this one have set is_refused
  gth_error_record* record;
  int64_t sequence;
};

}  // namespace gather::cuda
