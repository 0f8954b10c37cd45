#pragma once

#include <algorithm>

#include "columns/column.hpp"
#include "core/base/limits.hpp"
#include "cpu/pieces.hpp"

namespace gather::columns {

// The row number of a place that is null.
constexpr int64_t no_row = -1;

// The number of rows by which memory is prefetched ahead.
constexpr int64_t prefetch_rows = 16;

// The rows of some parts that are taken at one level of nesting.
struct Places {
  int64_t count;
  const int64_t* rows;    // numbers of rows in their parts, or no_row
  const uint32_t* parts;  // the number of the part of each row; nullptr: all rows are in part 0
  bool has_nulls;         // Some rows are no_row.

  int64_t part(int64_t i) const { return parts ? parts[i] : 0; }
};

// Places in new memory.
class NewPlaces {
 public:
  // Returns false if there is no memory.
  bool allocate(int64_t count, bool has_parts) {
    has_parts_ = has_parts;
    return rows_.allocate(count) && (!has_parts || parts_.allocate(count));
  }
  int64_t* rows() { return rows_.data(); }
  uint32_t* parts() { return has_parts_ ? parts_.data() : nullptr; }

 private:
  Room<int64_t, 8> rows_;
  Room<uint32_t, 8> parts_;
  bool has_parts_ = false;
};

// The selected rows of a column by part. If few rows are selected, parts without selected rows are left out.
class Located {
 public:
  // Replaces row numbers of the column by numbers in their parts. `rows` must outlive this object. Precondition: it has
  // not been called before.
  int32_t locate(const Column& column, int64_t count, int64_t* rows, bool has_nulls, Trouble* trouble);

  const Parts& parts() const { return parts_; }
  const Places& places() const { return places_; }

 private:
  int32_t locate_few(const Column& column, int64_t count, int64_t* rows, Trouble* trouble);
  int32_t locate_many(const Column& column, int64_t count, int64_t* rows, Trouble* trouble);

  Parts parts_{};
  Places places_{};
  Room<Part, 8> few_parts_;
  Room<uint32_t, 8> used_;
  Room<uint32_t, 64> part_;
};

// Cuts rows into pieces for threads, whose bits share no byte. Calls body(first, last) for each.
template <class Body>
void in_row_pieces(const cpu::Executor& executor, int64_t count, int64_t bytes_of_row, Body&& body) {
  if (count == 0) return;
  int64_t bytes;
  if (!core::multiply(count, bytes_of_row + cpu::row_overhead, &bytes)) bytes = INT64_MAX;
  cpu::Pieces pieces = cpu::cut(executor, count, bytes);
  if (pieces.count > 1) pieces = cpu::split(count, pieces.count, unit_of_rows);
  cpu::for_each_piece(executor, pieces, [&](int64_t i) { body(pieces.first(i), pieces.last(i)); });
}

}  // namespace gather::columns
