#pragma once

#include <cstdint>
#include <iterator>

#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "files/table.hpp"

// The memory of the items of a call that runs several of them.
namespace gather::execution {

// The range of addresses that one operand of an item uses. If stride is not 0, it uses only `width` bytes from low on,
// and the same after each multiple of stride.
struct Range {
  uintptr_t low, high;
  int64_t item;
  int32_t operand;
  uintptr_t stride, width;
  const files::Table* table;  // of an operand in files, which has no range. Some of its segments may be memory.

  uintptr_t column() const { return low % stride; }
};

// The ranges of all items. check_run has already compared the ranges of each single item. So the written range of an
// item overlaps none of its read ranges.
class Ranges {
 public:
  static constexpr int64_t most_per_item = std::size(core::ByRole<int>::members);

  // `memory` has room for most_per_item ranges of each of `count` items. Written ranges fill it from the front, and read
  // ones from the back.
  Ranges(Range* memory, int64_t count) : written_(memory), read_(memory + count * most_per_item), end_(read_) {}

  // Adds the ranges of an item.
  void add(const core::Plan& plan, const core::Pointers& pointers, int64_t n, int64_t item);

  // Adds the ranges of an item in short form, which writes its rows.
  void add(const core::Spans& spans, const core::Pointers& pointers, int64_t item);

  // Finds a written range that overlaps a range of another item. Returns false if there is none.
  bool find_overlap(Range* written, Range* other);

 private:
  void set_columns(const core::BagPlan& bags, int64_t n, const core::Span& span);
  void append(bool is_written, const char* data, const core::Span& span, int64_t item, int32_t operand);

  Range *written_, *read_, *end_;
  int64_t writes_ = 0;
};

}  // namespace gather::execution
