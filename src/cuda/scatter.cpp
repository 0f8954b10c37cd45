#include "cuda/scatter.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "cuda/failure.hpp"
#include "cuda/numbering.hpp"
#include "cuda/queue.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/sort.hpp"

namespace gather::cuda {
namespace {

using core::Number;
using core::Plan;
using core::Pointers;

// Blocks of a multiprocessor. A kernel with more threads than data has blocks that end at once.
constexpr int64_t blocks_per_multiprocessor = 8;

uint32_t blocks_of(int64_t threads, int32_t multiprocessors) {
  const int64_t most = multiprocessors * blocks_per_multiprocessor;
  return static_cast<uint32_t>(std::clamp<int64_t>(ceil_divide(threads, block_threads), 1, most));
}

Numbers number_type(const Plan& plan) {
  const auto of_bytes = [&](Numbers smallest) {
    return static_cast<Numbers>(static_cast<int>(smallest) + __builtin_ctzll(static_cast<uint64_t>(plan.item.bytes())));
  };
  const bool is_wide = core::is_widened(plan);
  switch (plan.reducing.number) {
    case Number::boolean: return Numbers::boolean;
    case Number::signed_integer: return of_bytes(Numbers::int8);
    case Number::unsigned_integer: return of_bytes(Numbers::uint8);
    case Number::complex: return plan.item.bytes() == 8 ? Numbers::complex64 : Numbers::complex128;
    case Number::brain_floating: return is_wide ? Numbers::brain_half_in_float : Numbers::brain_half;
    default: break;
  }
  if (plan.item.bytes() == 2) return is_wide ? Numbers::half_in_float : Numbers::half;
  if (plan.item.bytes() == 8) return Numbers::float64;
  return is_wide ? Numbers::float32_in_double : Numbers::float32;
}

bool is_validated(const Plan& plan) { return plan.bounds == GTH_BOUNDS_ERROR && plan.components > 0; }

// Returns the first loop through the rows of a slice that threads divide between them. Rows of a tuple without
// components may be combined with one row of the target. They are then updates of their own.
int32_t first_row_loop(const Plan& plan, int64_t n) {
  const bool repeats = std::any_of(plan.loops + plan.inner_begin, plan.loops + plan.end, [n](const core::Loop& loop) {
    return loop.table.at(n) == 0 && loop.extent.at(n) > 1;
  });
  return repeats ? plan.end : plan.inner_begin;
}

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
  uint64_t bits = uint64_t{vector_bytes} | reinterpret_cast<uintptr_t>(job.target) |
                  reinterpret_cast<uintptr_t>(job.updates) | static_cast<uint64_t>(job.slice_bytes) |
                  static_cast<uint64_t>(job.update_bytes) | static_cast<uint64_t>(plan.row.out);
  for (int32_t i = 0; i < job.loops; ++i) {
    if (job.loop[i].extent > 1) bits |= static_cast<uint64_t>(job.loop[i].target | job.loop[i].updates);
  }
  return static_cast<int64_t>(bits & (~bits + 1));
}

// A reduction needs vectors of whole numbers, and a copy does not.
Width choose_width(const Plan& plan, const CombineJob& job) {
  const int64_t alignment = alignment_of(plan, job), item = plan.item.bytes();
  if (!core::reduces(plan) || alignment == vector_bytes) return {static_cast<int>(alignment), true};
  return {static_cast<int>(item), alignment >= item};
}

void fit_columns(const Plan& plan, int bytes, CombineJob* job) {
  job->vectors = plan.row.out / bytes;
  job->columns = job->vectors * (job->loops > 0 ? plan.inner : 1);
  job->lanes = 1;
  while (job->lanes < most_lanes_of_row && int64_t{job->lanes} < job->columns) job->lanes *= 2;
  job->chunks = ceil_divide(job->columns, job->lanes);
}

Width fill_combine(const Plan& plan, const Pointers& pointers, int64_t n, const Numberings& numbered,
                   const Place& place, CombineJob* job) {
  *job = {};
  job->slices = static_cast<uint64_t>(numbered.slices.count());
  job->target = pointers.table + plan.offset.table + numbered.slices.low();
  job->updates = pointers.rows + plan.offset.rows + numbered.updates.low();
  job->slice_bytes = numbered.slices.step();
  job->update_bytes = numbered.updates.step();
  job->reduction = plan.reducing.reduction;
  job->is_mean = plan.reducing.is_mean;
  job->starts_with_update = plan.reducing.starts_with_update;
  for (int64_t at = 0; at < vector_bytes; at += plan.item.bytes()) {
    std::memcpy(reinterpret_cast<char*>(job->identity) + at, plan.fill, static_cast<size_t>(plan.item.bytes()));
  }
  job->state = is_validated(plan) ? place.state : nullptr;
  const int32_t first = first_row_loop(plan, n);
  job->loops = plan.end - first;
  for (int32_t i = 0; i < job->loops; ++i) {
    const core::Loop& loop = plan.loops[first + i];
    job->loop[i] = {loop.extent.at(n), loop.table.at(n), loop.rows.at(n)};
  }
  const Width width = choose_width(plan, *job);
  job->is_aligned = width.is_aligned;
  fit_columns(plan, width.bytes, job);
  return width;
}

// The parts of an allocation.
class Parts {
 public:
  int64_t add(int64_t bytes) {
    const int64_t at = size_;
    size_ += (bytes + 255) / 256 * 256;
    return at;
  }
  int64_t size() const { return size_; }

 private:
  int64_t size_ = 0;
};

// The memory of a scatter. That of a captured call is kept until its graph is destroyed.
struct Scratch : Retired, core::Allocated {
  Room* owner = nullptr;
  SortRoom sort{};
  LongSlices long_slices{};
  WideUpdate* wide = nullptr;
};

// Keeps the memory until the graph of the capture is destroyed. After a failure, the memory has been released.
int keep_for_capture(Context& context, runtime::Stream stream, Scratch* scratch) {
  scratch->owner = context.room;
  scratch->owner->retain();
  scratch->finish = [](Retired* self) { delete static_cast<Scratch*>(self); };
  const auto release = [](void* user) {
    auto* const unused = static_cast<Scratch*>(user);
    Room* const room = unused->owner;
    room->device->retire_unused(unused);
    room->release();
  };
  return runtime::retain_by_capture(stream, release, scratch);
}

// Frees the memory behind the work of the call. If that fails now, it is freed later. Returns CUDA's error number.
int free_behind(Context& context, runtime::Stream stream, Scratch* scratch) {
  scratch->finish = [](Retired* self) { delete static_cast<Scratch*>(self); };
  const int code = context.device->deallocate(scratch->device_memory, stream);
  if (code)
    context.queue->retire(scratch);
  else
    delete scratch;
  return code;
}

// Allocates the memory of `count` updates. After a failure, nothing remains.
int allocate(Context& context, runtime::Stream stream, int64_t count, bool is_wide, bool is_captured,
             Scratch** out) {
  int64_t sort_bytes = 0;
  if (const int code = sort_scratch(count, &sort_bytes)) return code;
  Parts parts;
  const int64_t numbers = count * int64_t{sizeof(uint32_t)};
  const int64_t at[] = {parts.add(numbers), parts.add(numbers), parts.add(numbers), parts.add(numbers)};
  const int64_t wide = parts.add(is_wide ? count * int64_t{sizeof(WideUpdate)} : 0), sort = parts.add(sort_bytes);
  const int64_t long_count = parts.add(sizeof(uint64_t));
  const int64_t firsts = parts.add((count / least_long) * int64_t{sizeof(uint32_t)});
  auto* const scratch = new (std::nothrow) Scratch;
  if (!scratch) return runtime::code::no_memory;
  const int code = is_captured ? context.device->allocate_zeroed(&scratch->device_memory, parts.size())
                               : context.device->allocate(&scratch->device_memory, parts.size(), stream);
  if (code) {
    if (scratch->device_memory) context.device->deallocate_unused(scratch->device_memory);
    delete scratch;
    return code;
  }
  char* const base = static_cast<char*>(scratch->device_memory);
  const auto numbers_at = [&](int i) { return reinterpret_cast<uint32_t*>(base + at[i]); };
  scratch->sort = {{numbers_at(0), numbers_at(1)}, {numbers_at(2), numbers_at(3)}, base + sort, sort_bytes};
  scratch->long_slices = {reinterpret_cast<uint64_t*>(base + long_count), reinterpret_cast<uint32_t*>(base + firsts)};
  if (is_wide) scratch->wide = reinterpret_cast<WideUpdate*>(base + wide);
  *out = scratch;
  return is_captured ? keep_for_capture(context, stream, scratch) : 0;
}

int32_t bits_of(uint64_t number) { return number == 0 ? 1 : 64 - __builtin_clzll(number); }

// The launches of a scatter, after its indices have been validated.
class Scatter {
 public:
  Scatter(const Plan& plan, const Pointers& pointers, int64_t n, const Place& place, const ClearJob* clear,
          runtime::Stream stream)
      : plan_(plan), place_(place), clear_(clear), stream_(stream), numbered_(number_slices(plan, n)) {
    width_ = fill_combine(plan, pointers, n, numbered_, place, &combine_);
    is_wide_ = std::max(numbered_.slices.count(), numbered_.updates.count()) > most_numbered();
  }

  bool is_wide() const { return is_wide_; }

  // Precondition: `job` is that of a gather that would read the slices of the target.
  template <class Job>
  int run(const Job& given, Reading reading, Scratch* scratch) const {
    Job job = given;
    divide_strides(numbered_, &job);
    job.validation = Validation::none;
    KeyJob keys{{},
                scratch->wide,
                numbered_.slices.first(),
                numbered_.updates.first(),
                combine_.slices,
                scratch->long_slices.count,
                is_validated(plan_)};
    int code = clear_ ? clear() : 0;
    for (int64_t first = 0; !code && first < job.units;) {
      Job piece = job;
      piece.first_unit = first;
      piece.units = steps_from(job, goes_through_units<Job>, first, most_counted());
      const JobLoop apart = keep_steps(goes_through_units<Job>, first, piece.units, &piece);
      first += piece.units;
      KeyJob from = keys;
      from.first_slice -= apart.params;
      from.first_update -= apart.out;
      piece.indices += apart.index;
      code = run_piece(piece, reading, from, scratch);
    }
    return code;
  }

 private:
  uint32_t blocks_of(int64_t threads) const { return cuda::blocks_of(threads, place_.multiprocessors); }

  int clear() const {
    ClearJob job = *clear_;
    job.state = combine_.state;
    return launch_clear(job, blocks_of(job.columns), stream_);
  }

  template <class Job>
  int run_piece(const Job& job, Reading reading, const KeyJob& numbers, Scratch* scratch) const {
    KeyJob keys = numbers;
    keys.keys = scratch->sort.in;
    int code = launch_keys(reading, job, keys, blocks_of(ceil_divide(job.units, loads_in_flight)), stream_);
    if (!code) code = sort(job.units, scratch);
    return code ? code : combine(job.units, *scratch);
  }

  int sort(int64_t count, Scratch* scratch) const {
    SortRoom* const room = &scratch->sort;
    if (!is_wide_) return sort_keys(room, count, bits_of(combine_.slices), stream_);
    int code = sort_keys(room, count, 32, stream_);
    const uint32_t blocks = blocks_of(count);
    if (!code) code = launch_lift(room->in, scratch->wide, static_cast<uint32_t>(count), blocks, stream_);
    return code ? code : sort_keys(room, count, bits_of(combine_.slices >> 32), stream_);
  }

  int combine(int64_t count, const Scratch& scratch) const {
    CombineJob job = combine_;
    job.keys = scratch.sort.in;
    job.wide = scratch.wide;
    job.long_slices = scratch.long_slices;
    job.count = static_cast<uint32_t>(count);
    const uint32_t blocks = blocks_of(multiply_saturating(multiply_saturating(count, job.chunks), job.lanes));
    if (!core::reduces(plan_)) return launch_replace(width_.bytes, job, blocks, stream_);
    const Numbers numbers = number_type(plan_);
    const bool is_vector = width_.bytes == vector_bytes;
    const int code = launch_combine(numbers, is_vector, job, blocks, stream_);
    if (code || count < least_long) return code;
    return launch_combine_long(numbers, is_vector, job, static_cast<uint32_t>(place_.multiprocessors), stream_);
  }

  const Plan& plan_;
  const Place& place_;
  const ClearJob* clear_;
  runtime::Stream stream_;
  Numberings numbered_;
  CombineJob combine_;
  Width width_;
  bool is_wide_;
};

// A reduction whose result is not that of its parts, one after the other.
bool needs_all_updates(const Plan& plan) { return core::sorts_updates(plan) || plan.reducing.starts_with_update; }

int32_t check_count(const Plan& plan, int64_t count, const Error& error) {
  if (count <= most_counted() || !needs_all_updates(plan)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_UPDATES, -1, -1, count, most_counted()},
                    "updates: on CUDA devices, this reduction takes at most %lld slices, there are %lld",
                    static_cast<long long>(most_counted()), static_cast<long long>(count));
}

// The plan of a gather of whole slices. Its job finds the slices of the target.
void keep_slices(const Plan& plan, int64_t n, Plan* out) {
  *out = plan;
  out->end = first_row_loop(plan, n);
  if (out->end == plan.inner_begin) out->inner = 1;
}

template <class Job>
int launch_all(const Launch& launch, const Job& job, const Scatter& scatter, Scratch* scratch,
               runtime::Stream stream) {
  int code = 0;
  if (job.validation != Validation::none) {
    code = each_validated(job, launch.limits, [&](const Job& piece) {
      return launch_validate(launch.reading, piece, launch.validating_blocks, stream);
    });
  }
  return code ? code : scatter.run(job, launch.reading, scratch);
}

// A target with an empty dim has no elements to write.
int report_first(const Launch& launch, Context& context, runtime::Stream stream) {
  context.launching.lock();
  const int code = launch_report_first(launch.any, stream);
  context.launching.unlock();
  return code;
}

int launch_all(const Launch& launch, const Scatter& scatter, Scratch* scratch, runtime::Stream stream) {
  switch (launch.form) {
    case Form::direct: return launch_all(launch, launch.direct, scatter, scratch, stream);
    case Form::small: return launch_all(launch, launch.small, scatter, scratch, stream);
    default: return launch_all(launch, launch.any, scatter, scratch, stream);
  }
}

}  // namespace

int32_t run_scatter(Context& context, runtime::Stream stream, const Plan& plan, const Pointers& pointers, int64_t n,
                    const Place& place, const ClearJob* clear, bool is_captured, const Error& error) {
  Plan slices;
  keep_slices(plan, n, &slices);
  Place apart = place;
  apart.validates_in_front = true;
  Launch launch;
  plan_launch(slices, pointers, n, apart, &launch);
  if (launch.reports_first) {
    const int code = report_first(launch, context, stream);
    return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
  }
  const int64_t count = plan.slices.at(n) * slices.inner;
  if (int32_t status = check_count(plan, count, error)) return status;
  const Scatter scatter(plan, pointers, n, place, clear, stream);
  Scratch* scratch = nullptr;
  int code = allocate(context, stream, std::min(count, most_counted()), scatter.is_wide(), is_captured, &scratch);
  if (code) return fail_cuda(code, "scatter", count, error);
  context.launching.lock();
  code = launch_all(launch, scatter, scratch, stream);
  context.launching.unlock();
  if (!is_captured) {
    const int freed = free_behind(context, stream, scratch);
    if (!code) code = freed;
  }
  return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
}

int clear_tensor(const ClearJob& job, const Device& device, runtime::Stream stream) {
  return launch_clear(job, blocks_of(job.columns, device.multiprocessors()), stream);
}

}  // namespace gather::cuda
