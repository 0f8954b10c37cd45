#include "cuda/sorted_scatter.hpp"

#include <algorithm>

#include "cuda/alignment.hpp"
#include "cuda/column_launch.hpp"
#include "cuda/failure.hpp"
#include "cuda/numbering.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/scratch.hpp"
#include "cuda/sort.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Pointers;

// The numbers of the slices of the target and of updates.
struct Numberings {
  Numbering slices, updates;
};

Numberings number_slices(const Plan& plan, int64_t n) {
  Numberings all;
  for (int32_t i = 0; i < first_row_loop(plan, n); ++i) {
    const core::Loop& loop = plan.loops[i];
    all.slices.add(loop.extent.at(n), loop.table.at(n));
    all.updates.add(loop.extent.at(n), loop.rows.at(n));
  }
  for (int32_t i = 0; i < plan.components; ++i) all.slices.add(plan.component[i].size, plan.component[i].stride);
  for (int32_t i = 0; plan.split.count > 1 && i < plan.split.ndim; ++i) {
    all.slices.add(plan.split.extents[i], plan.split.strides[i]);
  }
  return all;
}

// Divides the strides of a job, so that addresses become numbers. Strides that no step uses may be anything.
template <class Job>
void divide_strides(const Numberings& by, Job* job) {
  for (int32_t i = 0; i < job->loops; ++i) {
    job->loop[i].params /= by.slices.step();
    job->loop[i].out /= by.updates.step();
  }
  for (int32_t i = 0; i < job->components + job->batch_split_dims; ++i) job->component[i].stride /= by.slices.step();
}

// The bytes that a thread loads and stores at once.
struct Width {
  int bytes;
  bool is_aligned;
};

int64_t alignment_of(const Plan& plan, const CombineJob& job) {
  Alignment common;
  common.note(job.target);
  common.note(job.updates);
  common.note(job.slice_bytes | job.update_bytes | plan.row.out);
  for (int32_t i = 0; i < job.loops; ++i) common.note(job.loop[i].extent, job.loop[i].target | job.loop[i].updates);
  return common.value();
}

Width choose_element(const Plan& plan, const CombineJob& job) {
  const int64_t item = plan.item.bytes();
  return {static_cast<int>(item), alignment_of(plan, job) >= item};
}

// A reduction needs vectors of whole numbers, and a copy does not.
Width choose_width(const Plan& plan, const CombineJob& job) {
  const int64_t alignment = alignment_of(plan, job);
  if (!core::reduces(plan)) return {static_cast<int>(alignment), true};
  const int vector = bytes_of_vector(plan.item.bytes());
  return alignment >= vector ? Width{vector, true} : choose_element(plan, job);
}

Width fill_combine(const ScatterCall& call, const Numberings& numbered, CombineJob* job) {
  const Plan& plan = call.plan;
  const Pointers& pointers = call.pointers;
  const int64_t n = call.n;
  *job = {};
  job->slices = static_cast<uint64_t>(numbered.slices.count());
  job->target = pointers.table + plan.offset.table + numbered.slices.low();
  job->updates = pointers.rows + plan.offset.rows + numbered.updates.low();
  job->slice_bytes = numbered.slices.step();
  job->update_bytes = numbered.updates.step();
  job->reduction = plan.reducing.reduction;
  job->is_mean = plan.reducing.is_mean;
  job->is_signed = plan.reducing.number == core::Number::signed_integer;
  job->sign_bits = sign_bits_of(plan.reducing.number, plan.item.bytes(), is_extreme(plan.reducing.reduction));
  job->rounds_each = core::is_floating(plan.reducing.number) && !core::is_widened(plan);
  job->starts_with_update = plan.reducing.starts_with_update;
  repeat_element(plan.fill, plan.item.bytes(), job->identity);
  job->state = is_validated(plan) ? call.place.state : nullptr;
  const int32_t first = first_row_loop(plan, n);
  job->loops = plan.end - first;
  for (int32_t i = 0; i < job->loops; ++i) {
    const core::Loop& loop = plan.loops[first + i];
    job->loop[i] = {loop.extent.at(n), loop.table.at(n), loop.rows.at(n)};
  }
  const Width width = call.positions ? choose_element(plan, *job) : choose_width(plan, *job);
  job->is_aligned = width.is_aligned;
  fit_columns(plan.row.out, plan.inner, width.bytes, job);
  return width;
}

// The memory of a scatter.
struct ScatterRoom {
  Scratch* memory = nullptr;
  SortRoom sort{};
  LongSlices long_slices{};
  WideUpdate* wide = nullptr;
};

// Allocates the memory of `count` updates. After a failure, nothing remains.
int allocate(Context& context, runtime::Stream stream, int64_t count, bool is_wide, bool is_captured,
             ScatterRoom* out) {
  int64_t sort_bytes = 0;
  if (const int code = sort_scratch(count, &sort_bytes)) return code;
  ScratchParts parts;
  const int64_t numbers = count * int64_t{sizeof(uint32_t)};
  const int64_t at[] = {parts.add(numbers), parts.add(numbers), parts.add(numbers), parts.add(numbers)};
  const int64_t wide = parts.add(is_wide ? count * int64_t{sizeof(WideUpdate)} : 0), sort = parts.add(sort_bytes);
  const int64_t long_count = parts.add(sizeof(uint64_t));
  const int64_t firsts = parts.add((count / least_long) * int64_t{sizeof(uint32_t)});
  if (const int code = allocate_scratch(context, stream, parts.size(), is_captured, &out->memory)) return code;
  char* const base = out->memory->data();
  const auto numbers_at = [&](int i) { return reinterpret_cast<uint32_t*>(base + at[i]); };
  out->sort = {{numbers_at(0), numbers_at(1)}, {numbers_at(2), numbers_at(3)}, base + sort, sort_bytes};
  out->long_slices = {reinterpret_cast<uint64_t*>(base + long_count), reinterpret_cast<uint32_t*>(base + firsts)};
  if (is_wide) out->wide = reinterpret_cast<WideUpdate*>(base + wide);
  return 0;
}

int32_t bits_of(uint64_t number) { return number == 0 ? 1 : 64 - __builtin_clzll(number); }

// The launches of a scatter, after its indices have been validated.
class SortedScatter {
 public:
  explicit SortedScatter(const ScatterCall& call)
      : plan_(call.plan),
        place_(call.place),
        positions_(call.positions),
        stream_(call.stream),
        numbered_(number_slices(call.plan, call.n)) {
    width_ = fill_combine(call, numbered_, &combine_);
    is_wide_ = std::max(numbered_.slices.count(), numbered_.updates.count()) > most_numbered();
  }

  bool is_wide() const { return is_wide_; }

  // Precondition: `job` is that of a gather that would read the slices of the target.
  template <class Job>
  int run(const Job& given, Reading reading, ScatterRoom* room) const {
    const KeyJob keys = keys_of(*room);
    return each_of_units(numbered(given), [&](const Job& piece, const JobLoop& apart) {
      KeyJob from = keys;
      from.first_slice -= apart.params;
      from.first_update -= apart.out;
      return run_piece(piece, reading, from, room);
    });
  }

  // Validates the indices, and sorts the updates. Precondition: there are at most most_few, none wide.
  template <class Job>
  int sort_few(const Job& given, Reading reading, const ScatterRoom& room) const {
    return launch_few_keys(reading, numbered(given), keys_of(room), room.sort.in, stream_);
  }

  // Combines sorted updates.
  int combine(int64_t count, const ScatterRoom& room) const {
    CombineJob job = combine_;
    job.keys = room.sort.in;
    job.wide = room.wide;
    job.long_slices = room.long_slices;
    job.count = static_cast<uint32_t>(count);
    const uint32_t blocks = blocks_of(multiply_saturating(multiply_saturating(count, job.chunks), job.lanes));
    if (positions_) return find_positions(job, blocks);
    if (!core::reduces(plan_)) return launch_replace(width_.bytes, job, blocks, stream_);
    const Numbers numbers = number_type(plan_.reducing.number, plan_.item.bytes(), core::is_widened(plan_));
    const bool is_vector = width_.bytes == bytes_of_vector(plan_.item.bytes());
    const int code = launch_combine(numbers, is_vector, job, blocks, stream_);
    if (code || count < least_long) return code;
    const bool has_vectors = is_vector && has_long_vectors(numbers);
    if (!has_vectors) fit_columns(plan_.row.out, plan_.inner, static_cast<int>(plan_.item.bytes()), &job);
    return launch_combine_long(numbers, has_vectors, job, static_cast<uint32_t>(place_.multiprocessors), stream_);
  }

 private:
  // The job with numbers instead of addresses.
  template <class Job>
  Job numbered(const Job& given) const {
    Job job = given;
    divide_strides(numbered_, &job);
    job.validation = Validation::none;
    return job;
  }

  KeyJob keys_of(const ScatterRoom& room) const {
    return {{},
            room.wide,
            numbered_.slices.first(),
            numbered_.updates.first(),
            combine_.slices,
            room.long_slices.count,
            is_validated(plan_)};
  }

  uint32_t blocks_of(int64_t threads) const { return cuda::blocks_of(threads, place_.multiprocessors); }

  // Halves are compared as float32.
  int find_positions(const CombineJob& sorted, uint32_t blocks) const {
    PositionJob job{};
    static_cast<CombineJob&>(job) = sorted;
    job.first_target = positions_->target;
    job.first_update = positions_->updates;
    job.positions = positions_->out;
    return launch_positions(number_type(plan_.reducing.number, plan_.item.bytes(), false), job, blocks, stream_);
  }

  template <class Job>
  int run_piece(const Job& job, Reading reading, const KeyJob& numbers, ScatterRoom* room) const {
    KeyJob keys = numbers;
    keys.keys = room->sort.in;
    int code = launch_keys(reading, job, keys, blocks_of(ceil_divide(job.units, loads_in_flight)), stream_);
    if (!code) code = sort(job.units, room);
    return code ? code : combine(job.units, *room);
  }

  int sort(int64_t count, ScatterRoom* room) const {
    SortRoom* const keys = &room->sort;
    if (!is_wide_) return sort_keys(keys, count, bits_of(combine_.slices), stream_);
    int code = sort_keys(keys, count, 32, stream_);
    const uint32_t blocks = blocks_of(count);
    if (!code) code = launch_lift(keys->in, room->wide, static_cast<uint32_t>(count), blocks, stream_);
    return code ? code : sort_keys(keys, count, bits_of(combine_.slices >> 32), stream_);
  }

  const Plan& plan_;
  const Place& place_;
  const Positions* positions_;
  runtime::Stream stream_;
  Numberings numbered_;
  CombineJob combine_;
  Width width_;
  bool is_wide_;
};

// A reduction whose result is not that of its parts, one after the other.
bool needs_all_updates(const Plan& plan) { return core::sorts_updates(plan) || plan.reducing.starts_with_update; }

int32_t check_count(const ScatterCall& call, int64_t count, const Error& error) {
  if (count <= most_counted() || (!needs_all_updates(call.plan) && !call.positions)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_UPDATES, -1, -1, count, most_counted()},
                    "updates: on CUDA devices, this reduction takes at most %lld slices, there are %lld",
                    static_cast<long long>(most_counted()), static_cast<long long>(count));
}

// The memory of few updates: that of the context, or the own one of a captured call.
int find_few_room(const ScatterCall& call, ScatterRoom* out) {
  FewKeys* keys = &call.context.workspace->few;
  if (call.is_captured) {
    const int code = allocate_scratch(call.context, call.stream, sizeof(FewKeys), true, &out->memory);
    if (code) return code;
    keys = reinterpret_cast<FewKeys*>(out->memory->data());
  }
  out->sort.in = {keys->slices, keys->updates};
  out->long_slices = {&keys->long_count, keys->long_firsts};
  return 0;
}

// Three launches at most, and no memory.
int32_t run_few(const ScatterCall& call, const SortedScatter& scatter, int64_t count, const Error& error) {
  ScatterRoom room;
  int code = find_few_room(call, &room);
  if (code) return fail_cuda(code, "scatter", sizeof(FewKeys), error);
  call.context.launching.lock();
  code = visit_form(call.launch, [&](const auto& job) { return scatter.sort_few(job, call.launch.reading, room); });
  if (!code) code = launch_clear_of(call);
  if (!code) code = scatter.combine(count, room);
  call.context.launching.unlock();
  return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
}

}  // namespace

int32_t run_sorted(const ScatterCall& call, const Error& error) {
  const int64_t count = visit_form(call.launch, [](const auto& job) { return job.units; });
  if (int32_t status = check_count(call, count, error)) return status;
  const SortedScatter scatter(call);
  if (count <= std::min(most_few, most_counted()) && !scatter.is_wide()) return run_few(call, scatter, count, error);
  ScatterRoom room;
  int code =
      allocate(call.context, call.stream, std::min(count, most_counted()), scatter.is_wide(), call.is_captured, &room);
  if (code) return fail_cuda(code, "scatter", count, error);
  code = launch_after_validation(call, [&] {
    return visit_form(call.launch, [&](const auto& job) { return scatter.run(job, call.launch.reading, &room); });
  });
  if (!call.is_captured) {
    const int freed = free_behind(call.context, call.stream, room.memory);
    if (!code) code = freed;
  }
  return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
