#include "execution/ranges.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace gather::execution {
namespace {

bool share_bytes(const Range& a, const Range& b) {
  if (a.low >= b.high || b.low >= a.high) return false;
  if (a.stride == 0 || a.stride != b.stride) return true;
  const auto distance = [](const Range& from, const Range& to) {
    const uintptr_t columns = to.column() - from.column();
    return to.column() < from.column() ? columns + from.stride : columns;
  };
  return distance(a, b) < a.width || distance(b, a) < b.width;
}

bool by_low(const Range& a, const Range& b) { return a.low < b.low; }

bool found(const Range& a, const Range& b, Range* written, Range* other) {
  *written = a;
  *other = b;
  return true;
}

// Returns true if ranges are different columns of the same stride, or if there is only one. Sorts them by `low`.
bool are_columns(Range* first, Range* last) {
  if (last - first == 1) return true;
  const uintptr_t stride = first->stride;
  if (stride == 0 || std::any_of(first, last, [&](const Range& each) { return each.stride != stride; })) return false;
  std::sort(first, last, [](const Range& a, const Range& b) { return a.column() < b.column(); });
  bool are = first->column() + stride - last[-1].column() >= last[-1].width;
  for (Range* each = first + 1; each < last; ++each) are &= each->column() - each[-1].column() >= each[-1].width;
  std::sort(first, last, by_low);
  return are;
}

// Finds two ranges that share bytes.
bool find_pair(const Range* first, const Range* last, Range* written, Range* other) {
  for (const Range* each = first + 1; each < last; ++each) {
    for (const Range* before = each; before-- > first;) {
      if (share_bytes(*each, *before)) return found(*each, *before, written, other);
    }
  }
  return false;
}

// Finds a written range that overlaps a segment in memory.
bool overlaps_segment(const files::Table& table, const Range* first, const Range* last, Range* written) {
  for (; first < last; ++first) {
    if (!table.overlaps(reinterpret_cast<const char*>(first->low), reinterpret_cast<const char*>(first->high)))
      continue;
    *written = *first;
    return true;
  }
  return false;
}

}  // namespace

void Ranges::add(const core::Plan& plan, const core::Pointers& pointers, int64_t n, int64_t item) {
  const core::Operation& operation = *plan.operation;
  for (core::Role role : core::EachRole{core::accessed_by(plan, n, pointers.ids)}) {
    const bool is_written = operation.operands.written & core::set_of(role);
    const core::Span span = core::span_of(plan, role, n, pointers.ids);
    append(is_written, pointers[role], span, item, operation.name_of(role));
    if (is_written && core::has_bags(plan)) set_columns(plan.bags, n, span);
  }
  for (core::Role role : core::EachRole{plan.in_files}) {
    if (pointers[role]) *--read_ = {0, 0, item, operation.name_of(role), 0, 0, &files::table_at(pointers[role])};
  }
}

void Ranges::add(const core::Spans& spans, const core::Pointers& pointers, int64_t item) {
  for (core::Role role : core::EachRole{core::set_roles(pointers)}) {
    append(role == core::Role::rows, pointers[role], spans[role], item, GTH_OPERAND_NONE);
  }
}

bool Ranges::find_overlap(Range* written, Range* other) {
  Range* end = written_ + writes_;
  for (const Range* range = read_; range < end_; ++range) {
    if (range->table && overlaps_segment(*range->table, written_, end, written)) {
      *other = *range;
      return true;
    }
  }
  if (!std::is_sorted(written_, end, by_low)) std::sort(written_, end, by_low);
  for (Range* first = written_; first < end;) {
    uintptr_t high = first->high;
    Range* last = first + 1;
    for (; last < end && last->low < high; ++last) high = std::max(high, last->high);
    if (!are_columns(first, last) && find_pair(first, last, written, other)) return true;
    for (; first < last; ++first) first->high = high;  // The search below needs ends in increasing order.
  }
  for (const Range* range = read_; range < end_ && writes_ > 0; ++range) {
    if (range->table || range->high <= written_->low || range->low >= end[-1].high) continue;
    // Several written ranges may begin before the end of this range. The last of these has the highest end.
    const Range* next =
        std::lower_bound(written_, end, range->high, [](const Range& each, uintptr_t high) { return each.low < high; });
    if (next > written_ && next[-1].high > range->low) return found(next[-1], *range, written, other);
  }
  return false;
}

// Describes the output of bags, which was appended last, as columns of an array.
void Ranges::set_columns(const core::BagPlan& bags, int64_t n, const core::Span& span) {
  const int64_t count = bags.count.at(n);
  if (!bags.rows_at.is_line || count < 2) return;
  Range& range = written_[writes_ - 1];
  range.stride = core::magnitude(bags.rows_at.stride);
  range.width = static_cast<uintptr_t>(span.high - span.low) - static_cast<uintptr_t>(count - 1) * range.stride;
}

void Ranges::append(bool is_written, const char* data, const core::Span& span, int64_t item, int32_t operand) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  const Range range{
      at + static_cast<uintptr_t>(span.low), at + static_cast<uintptr_t>(span.high), item, operand, 0, 0, nullptr};
  (is_written ? written_[writes_++] : *--read_) = range;
}

}  // namespace gather::execution
