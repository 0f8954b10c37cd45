#include "cpu/kernels.hpp"

#include <atomic>
#include <cmath>
#include <cstring>

#include "core/types/resolve_index.hpp"
#include "cpu/tiers/choice.hpp"

namespace gather::cpu {
namespace {

// Returns true if a number fits int32. The tiers multiply 32-bit integers.
bool is_narrow(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// Rows are prefetched from a table of at least prefetch_bytes, which exceeds the L2 cache. The hardware prefetcher
// detects long rows, so these are prefetched only if the table also exceeds the L3 cache. An operand of at least
// streaming_bytes exceeds all caches, so it is written with non-temporal stores. In test builds almost all tables
// exceed these limits.
constexpr int64_t long_row = 2048;
#ifdef GATHER_TESTING
constexpr double prefetch_bytes = 256, prefetch_bytes_of_long_rows = 4096;
constexpr uint64_t streaming_bytes = 256;
#else
constexpr double prefetch_bytes = 3 << 20, prefetch_bytes_of_long_rows = 64 << 20;
constexpr uint64_t streaming_bytes = 64 << 20;
#endif

// Returns the size of a reach. It is unsigned, because it may exceed int64.
uint64_t bytes_of(const core::Reach& reach) {
  return static_cast<uint64_t>(reach.high) - static_cast<uint64_t>(reach.low);
}

// Returns the size of the part of the table that the tuples of a line select from.
double selected_bytes(const core::Plan& plan) {
  double bytes = 0;
  for (int32_t c = 0; c < plan.components; ++c) {
    bytes += static_cast<double>(plan.component[c].size) * std::fabs(static_cast<double>(plan.component[c].stride));
  }
  return bytes;
}

// Describes the rows of a plan. A size that depends on the open extent counts as small.
RowTraits describe_rows(const core::Plan& plan) {
  const double limit = plan.row.in < long_row ? prefetch_bytes : prefetch_bytes_of_long_rows;
  return {plan.row.in, selected_bytes(plan) >= limit, bytes_of(plan.rows_reach) >= streaming_bytes};
}

Addend integer_of(int64_t bytes) {
  switch (bytes) {
    case 1: return Addend::integer8;
    case 2: return Addend::integer16;
    case 4: return Addend::integer32;
    default: return Addend::integer64;
  }
}

// Chooses the element type of a vectorised addition. A complex number counts as two elements. Returns false if the plan
// adds nothing, or if the tiers do not add its elements.
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

// Chooses the kernel that combines the rows of a scatter.
WriteRows choose_update(const core::Plan& plan, const Tier& tier, const RowTraits& rows) {
  if (plan.number == core::Number::none) return tier.choose_write({rows.bytes, rows.exceeds_cache, false});
  return tier.choose_reduce(plan.number, plan.item.bytes(), plan.reduction, rows.bytes);
}

// Chooses the kernel with non-temporal stores. Returns NULL if the target may be in the caches, or if rows are not
// whole cache lines.
WriteRows choose_stream(const core::Plan& plan, const Tier& tier, const RowTraits& rows) {
  const bool exceeds_caches = selected_bytes(plan) >= static_cast<double>(streaming_bytes);
  const bool streams = plan.number == core::Number::none && exceeds_caches && rows.bytes % 64 == 0;
  return streams ? tier.choose_write({rows.bytes, rows.exceeds_cache, true}) : nullptr;
}

// Returns true if a scatter prefetches rows of its target. Rows that are only written need no prefetch, because stores
// do not wait for memory.
bool prefetches_target(const core::Plan& plan, const RowTraits& rows) {
  return plan.number != core::Number::none && rows.exceeds_cache;
}

// Chooses the fused kernel of a scatter. Returns NULL if tuples may be skipped, a slice has several rows, or no kernel
// supports the rows. Tuples are then resolved in blocks.
FusedKernel choose_fused_scatter(const core::Plan& plan, const Kernels& kernels, const RowTraits& rows) {
  const bool is_plain = kernels.has_tier_form && plan.bounds == GTH_BOUNDS_ERROR && plan.inner_begin == plan.end;
  if (!is_plain || plan.in_float32) return nullptr;
  if (plan.number == core::Number::none) return kernels.tier->choose_fused_scatter(kernels.selection, rows);
  Addend addend;
  return describe_addend(plan, &addend) ? kernels.tier->choose_fused_scatter_sum(kernels.selection, addend, rows)
                                        : nullptr;
}

// Returns the byte step in the table from a tuple of the line to the next, independent of index values. It does not
// depend on the open extent, because only the outermost dim may be open.
int64_t table_step(const core::Plan& plan) { return plan.loops[plan.line].table.factor; }

void add_table_steps(int64_t step, int64_t n, int64_t* offsets) {
  if (step == 0) return;
  for (int64_t i = 0; i < n; ++i) offsets[i] += offsets[i] == no_row ? 0 : i * step;
}

// Returns true if a slice is one row that is copied unchanged.
bool has_one_row(const core::Plan& plan) {
  return plan.inner_begin == plan.end && plan.item.kind == core::ItemKind::value;
}

// Returns true if tuples are resolved and rows copied by one fused kernel. Tuples of several components that select
// long rows are resolved in blocks, because copying dominates and the resolving code slows it down.
bool uses_fused_gather(const core::Plan& plan) {
  constexpr int64_t long_row_of_components = 64;
  return has_one_row(plan) && (plan.components == 1 || plan.row.in < long_row_of_components);
}

}  // namespace

bool describe_selection(const core::Plan& plan, Selection* selection) {
  if (plan.components < 1 || plan.components > Selection::max_components) return false;
  const bool is_uint64 = plan.index == core::IndexType::uint64;
  selection->wraps = plan.wraps && !is_uint64;
  selection->type = plan.index;
  selection->outside = core::outside_of(plan.bounds);
  selection->components = plan.components;
  selection->index_step = plan.index_step;
  const core::Scaled& step = plan.loops[plan.line].indices;
  selection->tuple_step = step.by_n ? 0 : step.factor;
  selection->table_step = table_step(plan);
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
  if (has_tier_form && n > max_scalar_tuples) {
    const Resolved resolved = tier->resolve(selection, tuples, stride, n, offsets);
    if (resolved != Resolved::bad) return resolved;
  }
  const Resolved resolved = gather::cpu::resolve(plan, tuples, stride, n, offsets, bad);
  if (resolved != Resolved::bad) add_table_steps(table_step(plan), n, offsets);
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
  kernels.has_tier_form = describe_selection(plan, &kernels.selection);
  kernels.copy = nullptr;
  kernels.fused_gather = nullptr;
  kernels.update = kernels.stream = nullptr;
  kernels.prefetches = false;
  kernels.fused_scatter = kernels.fused_scatter_prefetched = nullptr;
  const RowTraits rows = describe_rows(plan);
  if (core::is_scatter(plan)) {
    kernels.update = choose_update(plan, *kernels.tier, rows);
    kernels.stream = choose_stream(plan, *kernels.tier, rows);
    kernels.prefetches = prefetches_target(plan, rows);
    kernels.fused_scatter = choose_fused_scatter(plan, kernels, {rows.bytes, false, false});
    kernels.fused_scatter_prefetched =
        kernels.prefetches ? choose_fused_scatter(plan, kernels, {rows.bytes, true, false}) : nullptr;
    return kernels;
  }
  kernels.copy = kernels.tier->choose_copy(rows);
  kernels.fused_gather = kernels.has_tier_form && uses_fused_gather(plan)
                             ? kernels.tier->choose_fused_gather(kernels.selection, rows)
                             : nullptr;
  return kernels;
}

// Every call of a few rows calls this function. Choosing costs as much as copying a row, so the choices for short rows
// are stored.
CopyRows choose_copy(int64_t row) {
  constexpr int64_t max_kept = 512;
  static std::atomic<CopyRows> kept[max_kept + 1] = {};
  if (row > max_kept) return tier().choose_copy({row, false, false});
  CopyRows copy = kept[row].load(std::memory_order_relaxed);
  if (!copy) {
    copy = tier().choose_copy({row, false, false});
    kept[row].store(copy, std::memory_order_relaxed);
  }
  return copy;
}

}  // namespace gather::cpu
