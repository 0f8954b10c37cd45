#include "cpu/kernels.hpp"

#include <atomic>
#include <cmath>
#include <cstring>

#include "cpu/tiers/choice.hpp"

namespace gather::cpu {
namespace {

// Tiers multiply 32-bit numbers.
bool is_narrow(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// Rows that lie so many bytes apart are not in the nearer caches of one core. The processor itself sees long rows coming, and
// is helped only where they come from memory. What is written in flooding_bytes is in none of the machine's caches. In test
// builds everything but the least is far, and floods.
constexpr int64_t long_row = 2048;
#ifdef GATHER_TESTING
constexpr double far_bytes = 256, far_bytes_of_long_rows = 4096;
constexpr uint64_t flooding_bytes = 256;
#else
constexpr double far_bytes = 3 << 20, far_bytes_of_long_rows = 64 << 20;
constexpr uint64_t flooding_bytes = 64 << 20;
#endif

// As unsigned numbers, which a reach from one end of int64 to the other does not leave.
uint64_t bytes_of(const core::Reach& reach) {
  return static_cast<uint64_t>(reach.high) - static_cast<uint64_t>(reach.low);
}

// How far apart the rows may lie that the tuples of a line select.
double selected_bytes(const core::Plan& plan) {
  double bytes = 0;
  for (int32_t c = 0; c < plan.components; ++c) {
    bytes += static_cast<double>(plan.component[c].size) * std::fabs(static_cast<double>(plan.component[c].stride));
  }
  return bytes;
}

// Of what depends on the open extent, only that it is not known to be large.
Rows describe_rows(const core::Plan& plan) {
  const double far = plan.row.in < long_row ? far_bytes : far_bytes_of_long_rows;
  return {plan.row.in, selected_bytes(plan) >= far, bytes_of(plan.rows_reach) >= flooding_bytes};
}

Addend integer_of(int64_t bytes) {
  switch (bytes) {
    case 1: return Addend::integer8;
    case 2: return Addend::integer16;
    case 4: return Addend::integer32;
    default: return Addend::integer64;
  }
}

// What a tier adds up; of a complex number both parts. False: nothing is added, or the elements are none of its numbers.
bool describe_addend(const core::Plan& plan, Addend* addend) {
  if (plan.reduction != GTH_REDUCTION_ADD) return false;
  const int64_t bytes = plan.item.bytes() / (plan.number == core::Number::complex ? 2 : 1);
  switch (plan.number) {
    case core::Number::signed_integer:
    case core::Number::unsigned_integer: *addend = integer_of(bytes); return true;
    case core::Number::floating:
    case core::Number::complex: *addend = bytes == 4 ? Addend::float32 : Addend::float64; return bytes >= 4;
    default: return false;
  }
}

// What a scatter does with its rows.
WriteRows choose_update(const core::Plan& plan, const Tier& tier, const Rows& rows) {
  if (plan.number == core::Number::none) return tier.choose_write({rows.bytes, rows.is_far, false});
  Addend addend;
  const WriteRows sum = describe_addend(plan, &addend) ? tier.choose_sum(addend, rows.bytes) : nullptr;
  return sum ? sum : choose_reduce(plan);
}

// NULL: its target may be in the caches, or rows are written in parts of a cache line.
WriteRows choose_stream(const core::Plan& plan, const Tier& tier, const Rows& rows) {
  const bool is_flooding = selected_bytes(plan) >= static_cast<double>(flooding_bytes);
  const bool streams = plan.number == core::Number::none && is_flooding && rows.bytes % 64 == 0;
  return streams ? tier.choose_write({rows.bytes, rows.is_far, true}) : nullptr;
}

// Whether a scatter waits for rows of its target. What it only writes the processor takes care of by itself.
bool is_read_far(const core::Plan& plan, const Rows& rows) { return plan.number != core::Number::none && rows.is_far; }

// NULL: tuples are resolved by the block. Where none is left out, and a slice is one row.
TakeRows choose_give(const core::Plan& plan, const Kernels& kernels, const Rows& rows) {
  const bool is_plain = kernels.is_quick && plan.bounds == GTH_BOUNDS_ERROR && plan.inner_begin == plan.end;
  if (!is_plain || plan.in_float32) return nullptr;
  if (plan.number == core::Number::none) return kernels.tier->choose_give(kernels.selection, rows);
  Addend addend;
  return describe_addend(plan, &addend) ? kernels.tier->choose_give_sum(kernels.selection, addend, rows) : nullptr;
}

// What each next tuple of the line lies further on in params, whatever it says. Only the outermost dim may be open, and no
// stride of params lies in front of it: the step is a number.
int64_t row_step(const core::Plan& plan) { return plan.loops[plan.line].table.factor; }

void add_row_steps(int64_t step, int64_t n, int64_t* offsets) {
  if (step == 0) return;
  for (int64_t i = 0; i < n; ++i) offsets[i] += offsets[i] == no_row ? 0 : i * step;
}

// Whether a slice is one row, and copying it all that is to be done.
bool has_one_row(const core::Plan& plan) {
  return plan.inner_begin == plan.end && plan.item.kind == core::ItemKind::value;
}

// Whether tuples are resolved and rows copied a few at a time. Tuples of several components that select long rows are
// resolved by the block instead: the copies are the longer part, and what resolves tuples stands in their way.
bool is_taken(const core::Plan& plan) {
  constexpr int64_t long_beside_tuples = 64;
  return has_one_row(plan) && (plan.components == 1 || plan.row.in < long_beside_tuples);
}

}  // namespace

bool describe_selection(const core::Plan& plan, Selection* selection) {
  if (plan.components < 1 || plan.components > Selection::most_components) return false;
  const bool is_uint64 = plan.index == core::IndexType::uint64;
  selection->wraps = plan.wraps && !is_uint64;
  selection->type = plan.index;
  selection->outside = outside_of(plan.bounds);
  selection->components = plan.components;
  selection->index_step = plan.index_step;
  const core::Scaled& step = plan.loops[plan.line].indices;
  selection->tuple_step = step.by_n ? 0 : step.factor;
  selection->row_step = row_step(plan);
  for (int32_t c = 0; c < plan.components; ++c) {
    const core::Component& component = plan.component[c];
    if (component.size < 1 || !is_narrow(component.size - 1) || !is_narrow(component.stride)) return false;
    selection->size[c] = component.size;
    selection->stride[c] = component.stride;
  }
  return true;
}

Resolved Kernels::resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                          BadTuple* bad) const {
  if (is_quick && n > few_tuples) {
    const Resolved resolved = tier->resolve(selection, tuples, stride, n, offsets);
    if (resolved != Resolved::bad) return resolved;
  }
  const Resolved resolved = gather::cpu::resolve(plan, tuples, stride, n, offsets, bad);
  if (resolved != Resolved::bad) add_row_steps(row_step(plan), n, offsets);
  return resolved;
}

void Kernels::fill(const core::Plan& plan, char* out) const {
  const uint64_t* value = plan.fill;
  const int64_t item = plan.item.bytes();
  if ((value[0] | value[1]) == 0 || item == 1) {
    std::memset(out, static_cast<int>(value[0] & 0xff), static_cast<size_t>(plan.row.out));
    return;
  }
  for (int64_t at = 0; at < plan.row.out; at += item) std::memcpy(out + at, value, static_cast<size_t>(item));
}

Kernels choose_kernels(const core::Plan& plan) {
  Kernels kernels;
  kernels.tier = &tier();
  kernels.is_quick = describe_selection(plan, &kernels.selection);
  kernels.copy = nullptr;
  kernels.take = nullptr;
  kernels.update = kernels.stream = nullptr;
  kernels.fetches = false;
  kernels.give = kernels.give_far = nullptr;
  const Rows rows = describe_rows(plan);
  if (core::is_scatter(plan)) {
    kernels.update = choose_update(plan, *kernels.tier, rows);
    kernels.stream = choose_stream(plan, *kernels.tier, rows);
    kernels.fetches = is_read_far(plan, rows);
    kernels.give = choose_give(plan, kernels, {rows.bytes, false, false});
    kernels.give_far = kernels.fetches ? choose_give(plan, kernels, {rows.bytes, true, false}) : nullptr;
    return kernels;
  }
  kernels.copy = kernels.tier->choose_copy(rows);
  kernels.take = kernels.is_quick && is_taken(plan) ? kernels.tier->choose_take(kernels.selection, rows) : nullptr;
  return kernels;
}

// Asked by every call of a few rows, for which the asking costs as much as a row: the answers for short rows are kept.
CopyRows choose_copy(int64_t row) {
  constexpr int64_t most_kept = 512;
  static std::atomic<CopyRows> kept[most_kept + 1] = {};
  if (row > most_kept) return tier().choose_copy({row, false, false});
  CopyRows copy = kept[row].load(std::memory_order_relaxed);
  if (!copy) {
    copy = tier().choose_copy({row, false, false});
    kept[row].store(copy, std::memory_order_relaxed);
  }
  return copy;
}

}  // namespace gather::cpu
