#include "cuda/line_scatter.hpp"

#include "cuda/alignment.hpp"
#include "cuda/failure.hpp"

namespace gather::cuda {
namespace {

using core::Plan;

// A line combines its updates one after the other with the target.
bool combines_one_by_one(const Plan& plan) { return !core::sorts_updates(plan) && !plan.reducing.starts_with_update; }

bool add_line_loop(const LineLoop& loop, LineJob* out) {
  if (loop.extent == 1) return true;
  if (out->line_loops == LineJob::most_line_loops) return false;
  out->line[out->line_loops++] = loop;
  out->lines = multiply_saturating(out->lines, loop.extent);
  return true;
}

// Loops that step through the target are lines. One other loop steps through the updates of a line.
bool add_loops(const Plan& plan, int64_t n, LineJob* out) {
  bool walks = false;
  for (int32_t i = 0; i < plan.end; ++i) {
    const core::Loop& from = plan.loops[i];
    const LineLoop loop{from.extent.at(n), from.table.at(n), from.indices.at(n), from.rows.at(n)};
    if (loop.extent == 1) continue;
    if (loop.target != 0) {
      if (!add_line_loop(loop, out)) return false;
    } else {
      if (walks) return false;
      walks = true;
      out->walk = loop;
    }
  }
  const int64_t item = plan.item.bytes();
  return add_line_loop({plan.row.out / item, item, 0, item}, out);
}

bool are_elements_aligned(const Plan& plan, const LineJob& job) {
  Alignment common;
  common.note(job.target);
  common.note(job.updates);
  common.note(job.walk.updates);
  for (int32_t i = 0; i < job.line_loops; ++i) common.note(job.line[i].target | job.line[i].updates);
  for (int32_t i = 0; i < plan.components; ++i) common.note(plan.component[i].size, plan.component[i].stride);
  return common.value() >= plan.item.bytes();
}

}  // namespace

bool make_lines(const ScatterCall& call, LineJob* out) {
  const Plan& plan = call.plan;
  if (call.launch.form == Form::any || !combines_one_by_one(plan)) return false;
  copy_small_job(call.launch, out);
  out->target = call.pointers.table + plan.offset.table;
  out->updates = call.pointers.rows + plan.offset.rows;
  out->lines = 1;
  out->line_loops = 0;
  out->walk = {1, 0, 0, 0};
  if (!add_loops(plan, call.n, out) || out->lines < least_lines() || !are_elements_aligned(plan, *out)) return false;
  out->validation = Validation::none;
  out->is_validated = is_validated(plan);
  out->reduction = plan.reducing.reduction;
  if (core::reduces(plan)) out->numbers = number_type(plan.reducing.number, plan.item.bytes(), false);
  return true;
}

int32_t run_lines(const ScatterCall& call, const LineJob& lines, const Error& error) {
  const int code = launch_after_validation(call, [&] {
    const uint32_t blocks = blocks_of(lines.lines, call.place.multiprocessors);
    return launch_lines(static_cast<int>(call.plan.item.bytes()), lines, blocks, call.stream);
  });
  return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
}

}  // namespace gather::cuda
