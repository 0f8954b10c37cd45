#include "core/plan/line.hpp"

#include <algorithm>

namespace gather::core {
namespace {

// Below this length, the set-up of a line costs more than its tuples.
constexpr int64_t min_line = 16;

int64_t length_of(const Loop& loop) { return loop.extent.by_n ? INT64_MAX : loop.extent.factor; }

// Returns true if executors resolve the tuples of several lines at once. They do if the lines are contiguous in indices
// or have the same tuples. The set-up of a short line then costs little.
bool are_lines_merged(const Plan& plan, int32_t line) {
  if (line == 0) return false;
  const Loop &loop = plan.loops[line], &outer = plan.loops[line - 1];
  Scaled span;
  return outer.indices.is(0) || (multiply(loop.indices, loop.extent, &span) && span == outer.indices);
}

// Returns true if a loop may become the line of a scatter. The writes to each slice must stay in the order of
// positions. This holds if the loop, or each later tuple loop, has a stride in the table, because its steps then write
// different slices.
bool may_move_inside(const Plan& plan, int32_t loop) {
  if (!plan.loops[loop].table.is(0)) return true;
  return std::all_of(plan.loops + loop + 1, plan.loops + plan.end,
                     [](const Loop& later) { return !is_tuple_loop(later) || !later.table.is(0); });
}

int32_t last_tuple_loop(const Plan& plan) {
  int32_t loop = plan.end;
  do --loop;
  while (loop >= 0 && !is_tuple_loop(plan.loops[loop]));
  return loop;
}

}  // namespace

void choose_line(const Request& request, Plan* plan) {
  int32_t& line = plan->line;
  line = last_tuple_loop(*plan);
  if (line < 0) {
    line = plan->end;
    plan->loops[plan->end++] = {fixed(1), fixed(0), fixed(0), fixed(0), fixed(0)};
    return;
  }
  if (plan->split.ndim > 0 || are_lines_merged(*plan, line)) return;
  const bool in_order = request.in_order || request.operation->direction == Direction::scatter;
  for (int32_t i = line; i-- > 0 && length_of(plan->loops[line]) < min_line;) {
    const Loop& loop = plan->loops[i];
    const bool is_longer = is_tuple_loop(loop) && length_of(loop) > length_of(plan->loops[line]);
    if (is_longer && (!in_order || may_move_inside(*plan, i))) line = i;
  }
}

}  // namespace gather::core
