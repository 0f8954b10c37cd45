#include "cpu/bag_ids.hpp"

#include <algorithm>
#include <atomic>

#include "core/base/checked.hpp"
#include "core/types/resolve_index.hpp"
#include "cpu/pieces.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Returns true if all ids are in bounds or padding, and none is negative. Row 0 is in bounds, so it may be the padding.
bool are_inside_or_padding(const Plan& plan, const int64_t* values, int64_t n) {
  return are_inside(plan.component[0].size, plan.has_padding ? plan.padding : 0, values, n);
}

struct FirstBadId {
  std::atomic<int64_t> position{INT64_MAX};
};

// Validates the ids [first, last). Stops at the first invalid one.
void validate_padded_range(const Bags& on, int64_t first, int64_t last, FirstBadId* found) {
  int64_t values[block_ids];
  while (first < last && first < found->position.load(std::memory_order_relaxed)) {
    const int64_t n = std::min(block_ids, last - first);
    if (const int64_t* array = on.array(); array && are_inside_or_padding(on.plan, array + first, n)) {
      first += n;
      continue;
    }
    load_ids(on, first, n, values);
    const int64_t valid = replace_ids(on.plan, values, n);
    if (valid < n) {
      int64_t before = found->position.load(std::memory_order_relaxed);
      while (first + valid < before && !found->position.compare_exchange_weak(before, first + valid)) {
      }
      return;
    }
    first += n;
  }
}

int32_t fail_bad_id(const Bags& on, int64_t position, const Error& error) {
  int64_t value;
  load_numbers(on.plan.index, on.id_at(position), 0, 1, &value);
  return fail_bad_tuple(on.plan, position, {0, 0, value}, error);
}

// Padding is compared before bounds, so the kernels of other operations cannot validate the ids.
int32_t validate_padded(const Bags& on, int64_t ids, int64_t bytes, const Executor& executor, const Error& error) {
  FirstBadId found;
  if (on.bags.ids_at.is_line && on.bags.ids_at.stride == 0) ids = bytes = 1;  // All ids are the same memory.
  in_pieces(executor, ids, bytes, [&](int64_t first, int64_t last) { validate_padded_range(on, first, last, &found); });
  const int64_t position = found.position.load(std::memory_order_relaxed);
  return position == INT64_MAX ? GTH_OK : fail_bad_id(on, position, error);
}

}  // namespace

Bags::Bags(const Plan& planned, const core::Pointers& given, int64_t open, const Kernels& chosen, FileRows* in_files)
    : plan(planned),
      bags(planned.bags),
      kernels(chosen),
      pointers(given),
      files(in_files),
      n(open),
      count(planned.bags.count.at(open)),
      ids(planned.bags.ids_of(open, given.ids)),
      table(moved(given.table, planned.offset.table)),
      first_id(moved(given.indices, planned.offset.indices)),
      weights(moved(given.weights, planned.offset.weights)),
      rows(moved(given.rows, planned.offset.rows)),
      reader(planned, moved(given.bags, planned.offset.bags), count, ids) {}

const int64_t* Bags::array() const {
  const bool is_array = plan.index == core::IndexType::int64 && bags.ids_at.is_line &&
                        bags.ids_at.stride == int64_t{sizeof(int64_t)} &&
                        reinterpret_cast<uintptr_t>(first_id) % sizeof(int64_t) == 0;
  return is_array ? reinterpret_cast<const int64_t*>(first_id) : nullptr;
}

// Returns the distance of element i of the loops over ids, without the innermost `without` ones.
int64_t Bags::distance(const core::Line& line, core::Scaled core::Loop::* stride, int64_t i, int32_t without) const {
  if (line.is_line) return wrapping_multiply(i, line.stride);
  int64_t sum = 0;
  for (int32_t l = plan.inner_begin - without; l-- > 0;) {
    const core::Loop& loop = plan.loops[l];
    const int64_t step = l == 0 ? i : i % loop.extent.factor;
    sum += wrapping_multiply(step, (loop.*stride).factor);
    if (l > 0) i /= loop.extent.factor;
  }
  return sum;
}

int64_t Bags::next_bag(int64_t bag) const {
  if (bags.format != GTH_BAGS_DENSE) return repeats_id() ? count : bag + 1;
  int64_t step = 1;  // the number of bags in one step of a loop
  for (int32_t l = plan.inner_begin - 1; l-- > 0;) {
    const int64_t extent = plan.loops[l].extent.at(n), at = bag / step % extent;
    if (!plan.loops[l].indices.is(0) && at + 1 < extent) return bag - bag % step + step;
    step *= extent;
  }
  return count;
}

void load_ids(const Bags& on, int64_t first, int64_t count, int64_t* values) {
  if (on.bags.ids_at.is_line) {
    return load_numbers(on.plan.index, on.id_at(first), on.bags.ids_at.stride, count, values);
  }
  for (int64_t i = 0; i < count; ++i) load_numbers(on.plan.index, on.id_at(first + i), 0, 1, values + i);
}

bool are_inside(int64_t size, int64_t padding, const int64_t* values, int64_t n) {
  if (size == 0) return false;
  // The sign is set if an id is negative, or larger than the last one.
  uint64_t outside_any = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto id = static_cast<uint64_t>(values[i]);
    const uint64_t outside = id | (static_cast<uint64_t>(size - 1) - id);
    outside_any |= values[i] == padding ? 0 : outside;
  }
  return static_cast<int64_t>(outside_any) >= 0;
}

int64_t replace_ids(const Plan& plan, int64_t* values, int64_t n) {
  const bool are_rows = !plan.has_padding && are_inside_or_padding(plan, values, n);
  return are_rows ? n : replace_each_id(plan, values, n);
}

int64_t replace_each_id(const Plan& plan, int64_t* values, int64_t n) {
  const int64_t size = plan.component[0].size;
  const bool pads = plan.has_padding;
  const core::IndexPolicy policy = core::policy_of(plan.wraps, core::is_signed(plan.index), plan.bounds);
  const int64_t outside = plan.bounds == GTH_BOUNDS_FILL ? row_of_fill : no_row;
  for (int64_t i = 0; i < n; ++i) {
    if (pads && values[i] == plan.padding) {
      values[i] = no_row;
      continue;
    }
    const int64_t row = core::resolve_index(values[i], size, policy);
    if (row < 0 && policy.outside != Outside::skipped) return i;
    values[i] = row < 0 ? outside : row;
  }
  return n;
}

int32_t validate_ids(const Bags& on, int64_t ids, const Executor& executor, const Error& error) {
  const int32_t bounds = on.plan.bounds;
  if (ids == 0 || !core::reads_indices(on.plan) || bounds == GTH_BOUNDS_FILL || bounds == GTH_BOUNDS_SKIP)
    return GTH_OK;
  int64_t bytes;
  if (!core::multiply(ids, core::index_bytes(on.plan.index), &bytes)) bytes = INT64_MAX;
  // A job skips ids that are the same memory. It validates all ids.
  const bool repeats_bags = on.bags.format == GTH_BAGS_DENSE && !on.bags.ids_at.is_line;
  if (ids != on.ids || (on.plan.has_padding && !repeats_bags)) return validate_padded(on, ids, bytes, executor, error);
  const core::Line& line = on.bags.ids_at;
  const bool is_small = bounds == GTH_BOUNDS_ERROR && line.is_line && bytes < parallel_bytes;
  if (is_small && on.kernels.inside(on.first_id, line.stride, ids)) return GTH_OK;
  return validate_all(on.job(), executor, error);
}

}  // namespace gather::cpu
