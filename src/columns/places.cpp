#include "columns/places.hpp"

namespace gather::columns {
namespace {

// Returns the part of a row by binary search.
uint32_t find_part(const Column& column, int64_t row) {
  const int64_t* const first = column.starts() + 1;
  return static_cast<uint32_t>(std::upper_bound(first, first + column.parts().count - 1, row) - first);
}

// A table from the upper bits of a row number to the part of the first such row.
class PartTable {
 public:
  bool build(const Column& column) {
    const int64_t length = column.length(), parts = column.parts().count;
    while (length >> shift_ > 4 * parts + 64) ++shift_;
    const int64_t entries = (length >> shift_) + 1;
    if (!first_.allocate(entries)) return false;
    int64_t part = 0;
    for (int64_t i = 0; i < entries; ++i) {
      while (part + 1 < parts && column.starts()[part + 1] <= i << shift_) ++part;
      first_[i] = static_cast<uint32_t>(part);
    }
    return true;
  }

  // Returns the part of a row. `first` is the result of entries().
  uint32_t find(const uint32_t* first, const int64_t* starts, int64_t row) const {
    uint32_t part = first[row >> shift_];
    part += row >= starts[part + 1];  // For most rows this finds the part, without a jump.
    while (__builtin_expect(row >= starts[part + 1], 0)) ++part;
    return part;
  }
  const uint32_t* entries() const { return first_.data(); }

 private:
  int32_t shift_ = 0;
  Room<uint32_t, 128> first_;
};

}  // namespace

int32_t Located::locate(const Column& column, int64_t count, int64_t* rows, bool has_nulls, Trouble* trouble) {
  parts_ = column.parts();
  places_ = {count, rows, nullptr, has_nulls};
  if (parts_.count <= 1) return GTH_OK;
  if (parts_.count > UINT32_MAX) return trouble->fail(GTH_E_SIZE, "the number of chunks", parts_.count, UINT32_MAX);
  if (!part_.allocate(count)) return trouble->fail_memory(count * int64_t{sizeof(uint32_t)});
  places_.parts = part_.data();
  return count < parts_.count ? locate_few(column, count, rows, trouble) : locate_many(column, count, rows, trouble);
}

int32_t Located::locate_few(const Column& column, int64_t count, int64_t* rows, Trouble* trouble) {
  if (!used_.allocate(count) || !few_parts_.allocate(count)) {
    return trouble->fail_memory(count * int64_t{sizeof(Part)});
  }
  int64_t used = 0;
  for (int64_t i = 0; i < count; ++i) {
    part_[i] = rows[i] < 0 ? 0 : find_part(column, rows[i]);
    if (rows[i] >= 0) used_[used++] = part_[i];
  }
  uint32_t* const first = used_.data();
  std::sort(first, first + used);
  uint32_t* const end = std::unique(first, first + used);
  for (uint32_t* at = first; at < end; ++at) few_parts_[at - first] = parts_[*at];
  for (int64_t i = 0; i < count; ++i) {
    if (rows[i] < 0) continue;
    rows[i] -= column.starts()[part_[i]];
    part_[i] = static_cast<uint32_t>(std::lower_bound(first, end, part_[i]) - first);
  }
  parts_ = {few_parts_.data(), end - first};
  if (parts_.count <= 1) places_.parts = nullptr;
  return GTH_OK;
}

int32_t Located::locate_many(const Column& column, int64_t count, int64_t* rows, Trouble* trouble) {
  PartTable table;
  if (!table.build(column)) return trouble->fail_memory(parts_.count * int64_t{sizeof(uint32_t)});
  const int64_t* const starts = column.starts();
  const uint32_t* const first = table.entries();
  uint32_t* const parts = part_.data();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = std::max<int64_t>(rows[i], 0);
    parts[i] = table.find(first, starts, row);
    rows[i] = rows[i] < 0 ? no_row : row - starts[parts[i]];
  }
  return GTH_OK;
}

}  // namespace gather::columns
