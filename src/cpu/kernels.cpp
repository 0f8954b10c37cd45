#include "cpu/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/limits.hpp"
#include "core/types/resolve_index.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/tiers/choice.hpp"

namespace gather::cpu {
namespace {

// Returns true if a number fits int32. The tiers multiply 32-bit integers.
bool is_narrow(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// Rows are prefetched from a table of at least prefetch_bytes, by calls that read at least prefetch_read_bytes from it.
// Processors hide the latency of smaller tables themselves. The hardware prefetcher detects long rows, so these are
// prefetched only from larger tables. An operand of at least large_bytes exceeds the L2 cache. An operand of at least
// streaming_bytes exceeds all caches. In test builds almost all operands exceed these limits.
constexpr int64_t long_row = 2048, cache_line = 64;
#ifdef GATHER_TESTING
constexpr double prefetch_bytes = 256, prefetch_bytes_of_long_rows = 4096, prefetch_read_bytes = 0;
#else
constexpr double prefetch_bytes = 32 << 20, prefetch_bytes_of_long_rows = 64 << 20, prefetch_read_bytes = 1 << 20;
#endif

// Returns the size of a reach. It is unsigned, because it may exceed int64.
uint64_t bytes_of(const core::Reach& reach) {
  return static_cast<uint64_t>(reach.high) - static_cast<uint64_t>(reach.low);
}

// Returns the number of bytes of the table in which the tuples of one line select.
double selected_bytes(const core::Plan& plan) {
  double bytes = 0;
  for (int32_t c = 0; c < plan.components; ++c) {
    bytes += static_cast<double>(plan.component[c].size) * std::fabs(static_cast<double>(plan.component[c].stride));
  }
  return bytes;
}

// Classifies an operand by its size.
Written written_of(double bytes) {
  if (bytes >= static_cast<double>(streaming_bytes)) return Written::streamed;
  return bytes >= static_cast<double>(large_bytes) ? Written::large : Written::cached;
}

// Returns true if the rows of the table that a call reads exceed the caches. The open extent is unknown here. If the
// size of the table depends on it, the table counts as small. If the number of slices depends on it, it counts as large.
bool exceeds_cache(const core::Plan& plan) {
  const double slices = plan.slices.by_n ? prefetch_read_bytes : static_cast<double>(plan.slices.factor);
  return slices * static_cast<double>(std::max(plan.row.in, cache_line)) >= prefetch_read_bytes &&
         selected_bytes(plan) >= (plan.row.in < long_row ? prefetch_bytes : prefetch_bytes_of_long_rows);
}

// Chooses the kernel that combines the rows of a scatter.
WriteRows choose_update(const core::Plan& plan, const Tier& tier) {
  const Written written = std::min(written_of(selected_bytes(plan)), Written::large);
  if (!core::reduces(plan)) return tier.choose_write(plan.row.out, written);
  return tier.choose_reduce(plan.reducing.number, plan.item.bytes(), plan.reducing.reduction, plan.row.out);
}

// Chooses the kernel with non-temporal stores. Returns NULL if the target may be in the caches, or if rows are not
// whole cache lines.
WriteRows choose_stream(const core::Plan& plan, const Tier& tier) {
  const Written written = written_of(selected_bytes(plan));
  const bool streams = !core::reduces(plan) && written == Written::streamed && plan.row.out % 64 == 0;
  return streams ? tier.choose_write(plan.row.out, written) : nullptr;
}

// Returns true if the plan has several lines of few tuples. Preparing blocks of updates then takes longer than
// combining them.
bool has_short_lines(const core::Plan& plan) {
  const core::Scaled& extent = plan.loops[plan.line].extent;
  return plan.inner_begin > 1 && !extent.by_n && extent.factor <= 8;
}

// Chooses the kernel that moves or combines rows of one element, or adds the rows of short lines. Returns NULL for all
// other plans.
MoveRows choose_scatter(const core::Plan& plan, const Tier& tier) {
  if (plan.inner_begin != plan.end || core::is_widened(plan)) return nullptr;
  if (!core::reduces(plan)) return tier.choose_scatter(plan.row.out);
  const bool is_element = plan.row.out == plan.item.bytes();
  if (plan.reducing.reduction != GTH_REDUCTION_ADD) {
    const bool has_kernel = is_element && !exceeds_cache(plan);
    return has_kernel ? tier.choose_scatter_element(plan.reducing.number, plan.item.bytes(), plan.reducing.reduction)
                      : nullptr;
  }
  if (!is_element && !has_short_lines(plan)) return nullptr;
  return tier.choose_scatter_sum(plan.reducing.number, plan.item.bytes(), plan.row.out);
}

// Returns true if a kernel that resolves indices is faster than two passes. This was measured for
// - lines that have a stride in the table,
// - sums into contiguous elements,
// - writes with indices that are not contiguous,
// - writes with indices of 8 bytes in long lines.
bool gains_from_fusion(const core::Plan& plan) {
  const core::Loop& line = plan.loops[plan.line];
  const int64_t bytes = core::index_bytes(plan.index);
  if (!line.table.is(0)) return true;
  if (core::reduces(plan)) return plan.components == 1 && plan.component[0].stride == plan.row.out;
  const bool is_long = line.extent.by_n || line.extent.factor >= block_tuples;
  return !line.indices.is(bytes) || (is_long && bytes == 8);
}

// Chooses the kernel of a scatter that resolves indices itself.
MoveFused choose_fused_scatter(const core::Plan& plan, const Kernels& kernels) {
  const core::Loop& line = plan.loops[plan.line];
  if (!kernels.move || !kernels.is_supported_by_tier || line.indices.by_n || kernels.prefetches) return nullptr;
  if (core::reduces(plan) && plan.reducing.reduction != GTH_REDUCTION_ADD) return nullptr;
  if (!gains_from_fusion(plan)) return nullptr;
  return kernels.tier->choose_fused_scatter(kernels.selection, line.indices.factor, plan.reducing.number,
                                            plan.item.bytes(), plan.row.out);
}

// Chooses the kernels of a gather that resolve indices themselves. They need contiguous indices and slices of one row.
void choose_fused(const core::Plan& plan, Kernels* kernels) {
  const core::Loop& line = plan.loops[plan.line];
  const int64_t row = plan.row.in, step = line.indices.factor;
  const bool has_one_row = plan.inner_begin == plan.end && plan.item.kind == core::ItemKind::value;
  if (!kernels->is_supported_by_tier || !has_one_row || line.indices.by_n) return;
  const Tier& tier = *kernels->tier;
  kernels->fused = tier.choose_fused_gather(kernels->selection, step, row, kernels->prefetches);
  if (line.table.is(0) && line.rows.is(row)) kernels->look_up = tier.choose_look_up(kernels->selection, step, row);
}

}  // namespace

bool describe_components(const core::Component* component, int32_t count, Selection* selection) {
  if (count < 1 || count > Selection::max_components) return false;
  selection->components = count;
  for (int32_t c = 0; c < count; ++c) {
    if (component[c].size < 1 || !is_narrow(component[c].size - 1) || !is_narrow(component[c].stride)) return false;
    selection->size[c] = component[c].size;
    selection->stride[c] = component[c].stride;
  }
  return true;
}

bool describe_selection(const core::Plan& plan, Selection* selection) {
  const bool is_uint64 = plan.index == core::IndexType::uint64;
  selection->wraps = plan.wraps && !is_uint64;
  selection->type = plan.index;
  selection->outside = core::outside_of(plan.bounds);
  selection->index_step = plan.index_step;
  return describe_components(plan.component, plan.components, selection);
}

Resolved Kernels::resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                          BadTuple* bad) const {
  if (is_supported_by_tier && n > max_scalar_tuples) {
    const Resolved resolved = tier->resolve(selection, tuples, stride, n, offsets);
    if (resolved != Resolved::bad) return resolved;
  }
  return gather::cpu::resolve(plan, tuples, stride, n, offsets, bad);
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
  const Tier& best = tier();
  kernels.tier = &best;
  // Padding is compared before bounds, which the tiers do not do.
  kernels.is_supported_by_tier =
      describe_selection(plan, &kernels.selection) && (core::has_bags(plan) || !plan.has_padding);
  kernels.fused = nullptr;
  kernels.look_up = nullptr;
  kernels.update = kernels.stream = nullptr;
  if (core::has_bags(plan)) {
    kernels.move = nullptr;
    kernels.prefetches = false;
    if (plan.packed.is_packed()) {
      kernels.decode = best.choose_decode_row(plan.packed.codec);
      kernels.pooling = kernels.last_pooling = choose_packed_pooling(plan, best);
    } else {
      choose_pooling(plan, best, &kernels.pooling, &kernels.last_pooling);
    }
    return kernels;
  }
  if (core::is_scatter(plan)) {
    kernels.move = choose_scatter(plan, best);
    kernels.update = choose_update(plan, best);
    kernels.stream = choose_stream(plan, best);
    // Rows that are only written need no prefetch, because stores do not wait for memory.
    kernels.prefetches = core::reduces(plan) && exceeds_cache(plan);
    kernels.fused = choose_fused_scatter(plan, kernels);
    return kernels;
  }
  if (plan.packed.is_packed()) {
    kernels.move = best.choose_decode(plan.packed.codec, plan.packed.number, plan.item.bytes());
    kernels.prefetches = false;  // The decoders prefetch.
    return kernels;
  }
  kernels.move = best.choose_copy(plan.row.in, written_of(static_cast<double>(bytes_of(plan.reach.rows))));
  kernels.prefetches = exceeds_cache(plan);
  choose_fused(plan, &kernels);
  return kernels;
}

}  // namespace gather::cpu
