#include "cuda/atomic_scatter.hpp"

#include "cuda/alignment.hpp"
#include "cuda/failure.hpp"

namespace gather::cuda {
namespace {

using core::Number;
using core::Plan;

// Returns the type of the elements or of their parts, or none if there is no atomic operation.
bool find_type(const Plan& plan, Numbers* out) {
  const core::Reducing& reducing = plan.reducing;
  if (core::sorts_updates(plan) || reducing.starts_with_update) return false;
  const bool adds = reducing.reduction == GTH_REDUCTION_ADD;
  const bool is_integer = reducing.number == Number::signed_integer || reducing.number == Number::unsigned_integer;
  if (is_integer) {
    if (plan.item.bytes() < 4 || reducing.reduction == GTH_REDUCTION_MUL) return false;
    *out = number_type(reducing.number, plan.item.bytes(), false);
    return true;
  }
  if (!adds || !reducing.any_order) return false;
  if (reducing.number == Number::complex) {
    *out = plan.item.bytes() == 8 ? Numbers::float32 : Numbers::float64;
    return true;
  }
  if (reducing.number != Number::floating || plan.item.bytes() < 4) return false;
  *out = plan.item.bytes() == 4 ? Numbers::float32 : Numbers::float64;
  return true;
}

int64_t bytes_of(Numbers numbers) {
  return numbers == Numbers::float64 || numbers == Numbers::int64 || numbers == Numbers::uint64 ? 8 : 4;
}

bool add_loop(const JobLoop& loop, SmallJob* job) {
  if (loop.extent == 1) return true;
  if (job->loops == SmallJob::most_loops) return false;
  job->loop[job->loops] = loop;
  job->divider[job->loops] = loop.extent <= largest_narrow ? make_divider(loop.extent) : Divider{};
  ++job->loops;
  return true;
}

// Makes each item of a row a unit. The loops are those of the plan, and one through the items of a row.
bool add_loops(const Plan& plan, int64_t n, int64_t item, SmallJob* job) {
  job->loops = 0;
  job->units = 1;
  for (int32_t i = 0; i < plan.end; ++i) {
    const core::Loop& from = plan.loops[i];
    const JobLoop loop{from.extent.at(n), from.table.at(n), from.indices.at(n), from.rows.at(n)};
    job->units *= loop.extent;
    if (!add_loop(loop, job)) return false;
  }
  const int64_t items = plan.row.out / item;
  job->units *= items;
  return add_loop({items, item, 0, item}, job);
}

bool are_aligned(const SmallJob& job, int64_t item) {
  Alignment common;
  common.note(job.params);
  common.note(job.out);
  for (int32_t i = 0; i < job.loops; ++i) common.note(job.loop[i].params | job.loop[i].out);
  for (int32_t i = 0; i < job.components; ++i) common.note(job.component[i].size, job.component[i].stride);
  return common.value() >= item;
}

// Makes units of this size. Returns false if there are too many loops, or if they are not aligned.
bool make_units(const ScatterCall& call, int64_t bytes, SmallJob* job) {
  copy_small_job(call.launch, job);
  return add_loops(call.plan, call.n, bytes, job) && are_aligned(*job, bytes);
}

}  // namespace

bool make_atomic(const ScatterCall& call, SmallJob* job, AtomicJob* how) {
  Numbers numbers;
  if (call.launch.form == Form::any || !find_type(call.plan, &numbers)) return false;
  const bool in_vectors = numbers == Numbers::float32 && call.place.capacity->is_for_9_0 &&
                          call.plan.row.out % vector_bytes == 0 && make_units(call, vector_bytes, job);
  if (!in_vectors && !make_units(call, bytes_of(numbers), job)) return false;
  job->validation = Validation::none;
  *how = {numbers, in_vectors, call.plan.reducing.reduction, is_validated(call.plan)};
  return true;
}

int32_t run_atomic(const ScatterCall& call, const SmallJob& job, const AtomicJob& how, const Error& error) {
  const int64_t bytes = how.in_vectors ? vector_bytes : bytes_of(how.numbers);
  const int code = launch_after_validation(call, [&] {
    return each_of_units(job, [&](SmallJob piece, const JobLoop& apart) {
      piece.params += apart.params;
      piece.out += apart.out;
      const uint32_t blocks = blocks_of(ceil_divide(piece.units, updates_at_once), call.place.multiprocessors);
      return launch_atomic(static_cast<int>(bytes), piece, how, blocks, call.stream);
    });
  });
  return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
