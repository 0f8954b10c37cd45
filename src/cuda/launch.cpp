#include "cuda/launch.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/alignment.hpp"
#include "cuda/gather_kernels.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Pointers;

// Properties of the addresses and sizes of a launch.
struct Shape {
  int64_t alignment;  // common alignment of every row on both sides and of its size, at most 16
  bool is_dense;      // rows of the output are contiguous
  bool index_aligned;
  int64_t units;
  int64_t tuples;
};

int64_t copy_alignment(const Plan& plan, const Pointers& pointers, int64_t n) {
  Alignment common;
  common.note(plan.row.in | plan.row.out);
  common.note(pointers.table + plan.offset.table);
  common.note(pointers.rows + plan.offset.rows);
  for (int32_t i = 0; i < plan.end; ++i) {
    common.note(plan.loops[i].table.at(n));
    common.note(plan.loops[i].rows.at(n));
  }
  for (int32_t i = 0; i < plan.components; ++i) common.note(plan.component[i].size, plan.component[i].stride);
  for (int32_t i = 0; i < plan.split.ndim; ++i) common.note(plan.split.extents[i], plan.split.strides[i]);
  return common.value();
}

bool is_index_aligned(const Plan& plan, const Pointers& pointers, int64_t n) {
  Alignment common;
  common.note(pointers.indices + plan.offset.indices);
  for (int32_t i = 0; i < plan.inner_begin; ++i) common.note(plan.loops[i].indices.at(n));
  if (plan.components > 1) common.note(plan.index_step);
  return common.value() % core::index_bytes(plan.index) == 0;
}

bool has_dense_output(const Plan& plan, int64_t n) {
  int64_t expected = plan.row.out;
  for (int32_t i = plan.end; i-- > 0;) {
    const int64_t extent = plan.loops[i].extent.at(n);
    if (extent == 1) continue;
    if (plan.loops[i].rows.at(n) != expected) return false;
    expected *= extent;
  }
  return true;
}

// Returns true for loops that step through tuples. A launch that only validates skips loops that repeat tuples, because
// no memory size limits their extents.
bool is_enumerated(const core::Loop& loop, bool only_validates) {
  return core::is_tuple_loop(loop) && !(only_validates && loop.indices.factor == 0);
}

uint64_t tuple_loops(const Plan& plan, bool only_validates) {
  uint64_t bits = 0;
  for (int32_t i = 0; i < plan.inner_begin; ++i) {
    if (is_enumerated(plan.loops[i], only_validates)) bits |= uint64_t{1} << i;
  }
  return bits;
}

int64_t count_tuples(const Plan& plan, int64_t n, bool only_validates) {
  if (!only_validates) return plan.tuples.at(n);
  int64_t tuples = 1;
  for (int32_t i = 0; i < plan.inner_begin; ++i) {
    if (is_enumerated(plan.loops[i], true)) tuples *= plan.loops[i].extent.at(n);
  }
  return tuples;
}

Shape measure(const Plan& plan, const Pointers& pointers, int64_t n) {
  Shape shape;
  shape.alignment = plan.is_empty ? 1 : copy_alignment(plan, pointers, n);
  shape.is_dense = has_dense_output(plan, n);
  shape.index_aligned = plan.components == 0 || is_index_aligned(plan, pointers, n);
  shape.units = plan.is_empty ? 0 : plan.slices.at(n) * plan.inner;
  shape.tuples = count_tuples(plan, n, shape.units == 0);
  return shape;
}

Form choose_form(const Plan& plan, const Shape& shape) {
  if (gathers_padding(plan) || plan.split.count > 1 || plan.end > SmallJob::most_loops ||
      plan.components > SmallJob::most_components) {
    return Form::any;
  }
  const int64_t bytes = core::index_bytes(plan.index);
  const bool is_direct = plan.end == 1 && plan.loops[0].table.is(0) && plan.components == 1;
  return is_direct && shape.index_aligned && bytes >= 4 ? Form::direct : Form::small;
}

Copy rows_of(int64_t alignment) {
  switch (alignment) {
    case 16: return Copy::rows16;
    case 8: return Copy::rows8;
    case 4: return Copy::rows4;
    case 2: return Copy::rows2;
    default: return Copy::rows1;
  }
}

Copy elements_of(int64_t bytes) {
  return bytes == 4 ? Copy::elements4 : bytes == 2 ? Copy::elements2 : Copy::elements1;
}

// Returns true if rows are elements of 4, 2 or 1 bytes, and those of a vector are in at most two lines of rows.
bool has_lines_of_elements(const Plan& plan, int64_t n, const Shape& shape) {
  const int64_t row = plan.row.out;
  if (!shape.is_dense || plan.end == 0 || (row != 4 && row != 2 && row != 1) || shape.alignment < row) return false;
  return plan.loops[plan.end - 1].extent.at(n) >= vector_bytes / row;
}

// If a thread copies less than 8 bytes at once, a row takes more instructions than the vectors that contain it.
Copy choose_copy(const Plan& plan, int64_t n, const Shape& shape) {
  if (has_lines_of_elements(plan, n, shape)) return elements_of(plan.row.out);
  if (!shape.is_dense || plan.row.out < vector_bytes || shape.alignment >= 8) return rows_of(shape.alignment);
  return shape.alignment == 4 && plan.row.out >= shortest_words_row ? Copy::words : Copy::unaligned;
}

// Chooses among the few kernels for jobs of any form.
Copy choose_copy_of_any(int64_t alignment) {
  if (alignment < 4) return Copy::rows1;
  return alignment == 16 ? Copy::rows16 : Copy::rows4;
}

uint32_t at_most(int64_t blocks, int64_t most) { return static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, most)); }

Reading choose_reading(const JobHead& job, Copy copy, const Place& place) {
  const bool is_word = job.index_aligned && (job.index_bytes == 4 || job.index_bytes == 8);
  if (!is_word || place.validates_in_front || job.units == 0) return Reading::any;
  Reading wanted = Reading::any;
  if (job.loops == 1 && job.components > 0)
    wanted = job.components == 2 ? Reading::pairs : job.components == 3 ? Reading::triples : Reading::tuples;
  else if (job.components == 1 && (job.loops == 2 || job.loops == 3))
    wanted = job.loops == 2 ? Reading::two_loops : Reading::three_loops;
  return has_kernel<SmallJob>(wanted, copy) ? wanted : Reading::any;
}

// Returns the number of vectors that threads load or make.
int64_t count_vectors(const JobHead& job, Copy copy) {
  if (makes_vectors(copy)) return multiply_saturating(job.units, job.row) / vector_bytes + 1;
  return multiply_saturating(multiply_saturating(job.units, job.chunks), job.lanes);
}

// Starts enough blocks that each thread has its loads in flight. A small call uses fewer loads per thread and more of
// the device.
uint32_t count_blocks(const JobHead& job, Copy copy, const Place& place, int resident) {
  const int64_t threads = count_vectors(job, copy);
  // A vector of elements already has several loads.
  const int64_t full = ceil_divide(threads, int64_t{block_threads} * (is_elements(copy) ? 1 : loads_in_flight));
  const int64_t spread = std::min<int64_t>(ceil_divide(threads, block_threads), place.multiprocessors);
  return at_most(std::max(full, spread), int64_t{place.multiprocessors} * resident);
}

// Returns the number of blocks with a thread for each vector, or 0 if they would not run at once. If one block is not
// enough, there are up to as many as multiprocessors, over which the warps are spread.
uint32_t count_blocks_of_few(const JobHead& job, Copy copy, const Place& place, int resident) {
  const int64_t threads = count_vectors(job, copy), blocks = ceil_divide(threads, block_threads);
  if (blocks > int64_t{place.multiprocessors} * resident) return 0;
  const int64_t spread = std::min<int64_t>(ceil_divide(threads, warp_threads), place.multiprocessors);
  return static_cast<uint32_t>(blocks == 1 ? 1 : std::max(blocks, spread));
}

uint32_t count_validating_blocks(int64_t tuples, const Place& place, int resident) {
  const int64_t wanted = ceil_divide(tuples, int64_t{block_threads} * loads_in_flight);
  return at_most(wanted, int64_t{place.multiprocessors} * resident);
}

// Returns true for an output that would displace the table from the cache. Such an output is not kept in the cache.
bool outgrows_cache(const JobHead& job, const Place& place) {
  return multiply_saturating(job.units, job.row) > place.capacity->cache / 2;
}

int64_t params_bytes(const Plan& plan, int64_t n) {
  return plan.reach.table.empty ? 0 : plan.reach.table.at(n).high - plan.reach.table.at(n).low;
}

void fill_head(const Plan& plan, const Pointers& pointers, int64_t n, const Place& place, const Shape& shape,
               JobHead* job) {
  job->params = pointers.table + plan.offset.table;
  job->indices = pointers.indices + plan.offset.indices;
  job->out = pointers.rows + plan.offset.rows;
  job->params_begin = pointers.table + (plan.reach.table.empty ? 0 : plan.reach.table.at(n).low);
  job->loadable = std::max<int64_t>(params_bytes(plan, n) - 3 * 8 + 1, 0);
  job->units = shape.units;
  job->tuples = shape.tuples;
  job->row = plan.row.out;
  job->index_step = plan.index_step;
  job->loops = plan.end;
  job->walked = plan.inner_begin;
  job->tuple_loops = tuple_loops(plan, shape.units == 0);
  job->components = plan.components;
  job->batch_split_dims = plan.split.count > 1 ? plan.split.ndim : 0;
  job->batch_split_units = plan.split.count > 1 ? shape.tuples / plan.split.count * plan.inner : 1;
  job->index_bytes = static_cast<uint8_t>(core::index_bytes(plan.index));
  job->index_signed = core::is_signed(plan.index);
  job->index_aligned = shape.index_aligned;
  job->policy = core::policy_of(plan.wraps, plan.index != core::IndexType::uint64, plan.bounds);
  job->wraps_flag = plan.wraps ? GTH_ERROR_WRAP : 0;
  job->has_padding = plan.has_padding;
  job->padding = plan.padding;
  job->fills_padding = gathers_padding(plan) && plan.bounds != GTH_BOUNDS_SKIP;
  job->zeroes = place.owns_output && plan.bounds == GTH_BOUNDS_ERROR;
  job->fills = plan.bounds == GTH_BOUNDS_FILL || job->zeroes;
  job->state = place.state;
  job->record = place.record;
  job->sequence = place.sequence;
  if (plan.bounds == GTH_BOUNDS_FILL || job->fills_padding) repeat_element(plan.fill, plan.item.bytes(), job->fill);
}

template <class Job>
void fill_loops(const Plan& plan, int64_t n, Job* job) {
  for (int32_t i = 0; i < plan.end; ++i) {
    const core::Loop& loop = plan.loops[i];
    const int64_t out = job->units > 0 ? loop.rows.at(n) : loop.position.at(n);
    job->loop[i] = {loop.extent.at(n), loop.table.at(n), loop.indices.at(n), out};
    // Larger extents are split into pieces. Extents of empty outputs are never walked.
    const bool is_walked = job->loop[i].extent > 0 && job->loop[i].extent <= largest_narrow;
    job->divider[i] = is_walked ? make_divider(job->loop[i].extent) : Divider{};
  }
  for (int32_t i = 0; i < plan.components; ++i) job->component[i] = {plan.component[i].size, plan.component[i].stride};
  for (int32_t i = 0; i < job->batch_split_dims; ++i) {
    job->component[plan.components + i] = {plan.split.extents[i], plan.split.strides[i]};
  }
}

Validation choose_validation(const Plan& plan, const JobHead& job, const Limits& limits, const Place& place) {
  if (plan.bounds != GTH_BOUNDS_ERROR || plan.components == 0) return Validation::none;
  const bool is_copied_at_once = job.units > 0 && is_one_piece(job, limits);
  if (place.validates_in_front || !is_copied_at_once) return Validation::in_front;
  if (job.tuples <= validated_inside / plan.components) return Validation::inside;
  const bool may_write = place.owns_output || plan.is_partial_on_error;
  return may_write ? Validation::behind : Validation::in_front;
}

// Chooses the number of blocks. If a direct job has few elements, a thread copies one instead of a vector of them.
template <class Job>
void choose_blocks(const Place& place, Launch* out, Job* job) {
  job->evicts_first = outgrows_cache(*job, place);
  const uint8_t* const resident = place.capacity->copying[family_of<Job>(out->reading)];
  const Copy rows = is_elements(out->copy) ? rows_of(job->row) : out->copy;
  if (Job::is_direct && !makes_vectors(rows)) {
    fit_row(rows, job->row, job);
    out->copying_blocks = count_blocks_of_few(*job, rows, place, resident[static_cast<int>(rows)]);
    job->is_few = out->copying_blocks > 0;
    if (job->is_few) out->copy = rows;
  }
  if (job->is_few) return;
  fit_row(out->copy, job->row, job);
  out->copying_blocks = count_blocks(*job, out->copy, place, resident[static_cast<int>(out->copy)]);
}

template <class Job>
void finish(const Plan& plan, const Place& place, int64_t n, Launch* out, Job* job) {
  fill_loops(plan, n, job);
  out->copying_blocks = 0;
  if (job->units > 0 && !out->reports_first) choose_blocks(place, out, job);
  out->limits = {most_counted(), 0, 0};
  if (job->units > 0) out->limits = limits_of(out->copy, job->row, most_counted());
  job->validation = choose_validation(plan, *job, out->limits, place);
  out->validating_blocks = 0;
  if (job->validation != Validation::in_front && job->validation != Validation::behind) return;
  const int resident = place.capacity->validating[family_of<Job>(out->reading)];
  out->validating_blocks = count_validating_blocks(job->tuples, place, resident);
}

}  // namespace

bool meets_empty_dim(const Plan& plan) {
  if (!core::is_total(core::outside_of(plan.bounds))) return false;
  return std::any_of(plan.component, plan.component + plan.components,
                     [](const core::Component& component) { return component.size == 0; });
}

void repeat_element(const void* element, int64_t bytes, uint64_t to[2]) {
  for (int64_t at = 0; at < vector_bytes; at += bytes) {
    std::memcpy(reinterpret_cast<char*>(to) + at, element, static_cast<size_t>(bytes));
  }
}

void plan_launch(const Plan& plan, const Pointers& pointers, int64_t n, const Place& place, Launch* out) {
  const Shape shape = measure(plan, pointers, n);
  out->reports_first = meets_empty_dim(plan);
  out->form = out->reports_first ? Form::any : choose_form(plan, shape);
  out->copy = out->form == Form::any ? choose_copy_of_any(shape.alignment) : choose_copy(plan, n, shape);
  out->reading = Reading::any;
  JobHead head{};
  fill_head(plan, pointers, n, place, shape, &head);
  switch (out->form) {
    case Form::direct:
      out->reading = head.index_bytes == 4 ? Reading::index4 : Reading::index8;
      static_cast<JobHead&>(out->direct) = head;
      return finish(plan, place, n, out, &out->direct);
    case Form::small:
      out->reading = choose_reading(head, out->copy, place);
      static_cast<JobHead&>(out->small) = head;
      return finish(plan, place, n, out, &out->small);
    case Form::any: static_cast<JobHead&>(out->any) = head; return finish(plan, place, n, out, &out->any);
  }
}

}  // namespace gather::cuda
