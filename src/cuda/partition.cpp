#include "cuda/partition.hpp"

#include <algorithm>

#include "cuda/column_launch.hpp"
#include "cuda/failure.hpp"
#include "cuda/partition_kernels.hpp"
#include "cuda/scatter.hpp"
#include "cuda/scratch.hpp"
#include "cuda/sort.hpp"
#include "cuda/strided.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Shards;

static_assert(most_partitioned < no_id);

int32_t bits_of(int64_t number) { return number == 0 ? 1 : 64 - __builtin_clzll(static_cast<uint64_t>(number)); }

// One call.
class PartitionCall {
 public:
  PartitionCall(const Plan& plan, const gth_tensor_desc& ids, const Shards& shards, const gth_parts& parts,
                const Place& place)
      : plan_(plan), ids_(ids), shards_(shards), place_(place) {
    job_.ids_count = plan.tuples.at(GTH_OPEN);
    job_.rows = shards.rows;
    job_.policy = core::policy_of(plan.wraps, core::is_signed(plan.index), plan.bounds);
    job_.refuses = plan.bounds != GTH_BOUNDS_FILL && plan.bounds != GTH_BOUNDS_SKIP &&
                   !(core::is_total(core::outside_of(plan.bounds)) && shards.rows > 0);
    job_.once = parts.flags & GTH_PARTS_ONCE;
    job_.kind = shards.kind;
    job_.shards = shards.count;
    job_.divisor = shards.divisor;
    job_.counts = parts.counts;
    job_.local = parts.local;
    job_.order = parts.order;
    job_.place = parts.place;
    job_.record = place.record;
    job_.sequence = place.sequence;
  }

  int64_t ids() const { return job_.ids_count; }

  // Distributes memory. Returns its size.
  int64_t distribute(char* memory, int64_t sort_bytes) {
    Distribution parts(memory);
    const int64_t item = core::index_bytes(plan_.index);
    char* sort = nullptr;
    dense_ = nullptr;
    borders_ = nullptr;
    parts.take(true, 1, &place_.state);
    parts.take(ids() > 0 && !is_array(ids_, item), ids() * item, &dense_);
    parts.take(shards_.kind == GTH_SHARDS_BORDERS, shards_.count + 1, &borders_);
    for (uint32_t** keys : {&sort_.in.slices, &sort_.in.updates, &sort_.spare.slices, &sort_.spare.updates}) {
      parts.take(true, ids(), keys);
    }
    parts.take(true, sort_bytes, &sort);
    parts.take(job_.once, ids(), &job_.first_ids);
    parts.take(true, ids(), &job_.locals);
    sort_.scratch = sort;
    sort_.scratch_bytes = sort_bytes;
    job_.borders = borders_;
    job_.state = job_.refuses && ids() > 0 ? place_.state : nullptr;
    return parts.size();
  }

  // Returns CUDA's error number.
  int launch(runtime::Stream stream) {
    stream_ = stream;
    int code = runtime::zero_async(place_.state, sizeof(State), stream);
    if (!code) code = put_borders();
    if (!code && ids() > 0) code = partition();
    return code ? code : step(PartitionStep::counts, shards_.count);
  }

 private:
  uint32_t blocks_of(int64_t threads) const { return cuda::blocks_of(threads, place_.multiprocessors); }
  int step(PartitionStep which, int64_t threads) const {
    return launch_partition(which, job_, blocks_of(threads), stream_);
  }

  int put_borders() const {
    int code = 0;
    for (int64_t first = 0; borders_ && !code && first <= shards_.count; first += borders_at_once) {
      BorderJob job;
      job.to = borders_ + first;
      job.count = static_cast<int32_t>(std::min<int64_t>(borders_at_once, shards_.count + 1 - first));
      std::copy_n(shards_.borders + first, job.count, job.borders);
      code = launch_borders(job, stream_);
    }
    return code;
  }

  // Makes the ids dense.
  int find_ids() {
    const int64_t item = core::index_bytes(plan_.index);
    const char* const first = dense_ ? dense_ : first_byte(ids_);
    job_.ids = {first, item, static_cast<uint8_t>(item), core::is_signed(plan_.index), true};
    if (!dense_) return 0;
    const gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(ids_.dtype, ids_.ndim, ids_.shape, dense_);
    return copy_tensor(ids_, array, nullptr, place_, stream_);
  }

  // The gather whose tuples are the ids.
  int validate() const {
    if (!job_.state) return 0;
    Plan ids = plan_;
    ids.bounds = GTH_BOUNDS_ERROR;  // Others refuse every index of an empty dim.
    ids.is_empty = ids.checks_when_empty = true;
    Launch launch;
    plan_launch(ids, core::pointers_of(nullptr, ids_.data, nullptr), GTH_OPEN, place_, &launch);
    return visit_form(launch, [&](const auto& job) { return launch_validating(launch, job, stream_); });
  }

  int partition() {
    int code = validate();
    if (!code) code = find_ids();
    job_.keys = job_.rows_of_ids = sort_.in;
    if (!code) code = step(PartitionStep::keys, ids());
    if (!code && job_.once) code = find_first_ids();
    if (!code) code = sort_keys(&sort_, ids(), bits_of(shards_.count), stream_);
    job_.keys = sort_.in;
    if (!code) code = step(PartitionStep::parts, ids());
    return code || !job_.once ? code : step(PartitionStep::places, ids());
  }

  // Sorts the ids by row, and gives the first id of each row a shard.
  int find_first_ids() {
    int code = sort_keys(&sort_, ids(), bits_of(shards_.rows), stream_);
    job_.rows_of_ids = sort_.in;
    job_.keys = sort_.spare;
    if (!code) code = step(PartitionStep::first_ids, ids());
    std::swap(sort_.in, sort_.spare);
    return code;
  }

  const Plan& plan_;
  const gth_tensor_desc& ids_;
  const Shards& shards_;
  Place place_;
  PartitionJob job_{};
  SortRoom sort_{};
  char* dense_ = nullptr;
  int64_t* borders_ = nullptr;
  runtime::Stream stream_ = nullptr;
};

}  // namespace

int32_t run_partition(Context& context, runtime::Stream stream, const Plan& plan, const gth_tensor_desc& ids,
                      const Shards& shards, const gth_parts& parts, const Place& place, bool is_captured,
                      const Error& error) {
  PartitionCall call(plan, ids, shards, parts, place);
  int64_t sort_bytes = 0;
  const int code = sort_scratch(call.ids(), &sort_bytes);
  if (code) return fail_cuda(code, "partition", 0, error);
  const int64_t bytes = call.distribute(nullptr, sort_bytes);
  return run_in_scratch(context, stream, bytes, is_captured, "partition", error, [&](char* memory) {
    call.distribute(memory, sort_bytes);
    return call.launch(stream);
  });
}

}  // namespace gather::cuda
