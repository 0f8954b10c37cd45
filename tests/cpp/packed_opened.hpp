#pragma once

#include <memory>
#include <vector>

#include "opened.hpp"
#include "packed_cases.hpp"

// Packed tables whose rows are in segments. Their scales and zero points are in segments or in memory.
namespace packed {

// Returns the elements of an array one after the other.
inline std::vector<char> densely(const Array& array) {
  const int64_t item = gth_dtype_size(array.desc.dtype);
  std::vector<char> memory;
  for (int64_t i = 0; i < product(array.shape); ++i) memory.insert(memory.end(), array.at(i), array.at(i) + item);
  return memory;
}

inline std::unique_ptr<opened::Table> open(const gth_tensor_desc& desc, const std::vector<char>& memory,
                                           int64_t row_bytes) {
  return std::make_unique<opened::Table>(desc, row_bytes, pick(opened::forms), below,
                                         [&](int64_t i) { return memory.data() + i * row_bytes; });
}

// A table in memory whose scales and zero points are in segments, or by chance in memory. Precondition: the table has
// rows.
class OpenedParts {
 public:
  explicit OpenedParts(const Table& table, int64_t percent = 100) : described_(table) {
    if (chance(percent)) open_part(table.scales, &described_.codec.scales, &scales_, &named_scales_);
    if (chance(percent)) open_part(table.zeros, &described_.codec.zeros, &zeros_, &named_zeros_);
  }
  OpenedParts(const OpenedParts&) = delete;

  const gth_tensor_desc& params() const { return described_.params; }

 private:
  static void open_part(const Array& array, const gth_tensor_desc** operand, std::unique_ptr<opened::Table>* part,
                        gth_tensor_desc* named) {
    if (!*operand) return;
    const std::vector<char> memory = densely(array);
    *part = open(**operand, memory, static_cast<int64_t>(memory.size()) / array.shape[0]);
    *named = (*part)->desc();
    *operand = named;
  }

  Described described_;
  std::unique_ptr<opened::Table> scales_, zeros_;
  gth_tensor_desc named_scales_, named_zeros_;
};

// A table whose rows are in segments.
class Opened {
 public:
  explicit Opened(const Table& table) : parts_(table, 60) {
    std::vector<char> memory;
    for (int64_t i = 0; i < table.rows(); ++i) {
      const char* const row = row_of(parts_.params(), i).bytes;
      memory.insert(memory.end(), row, row + table.row_bytes);
    }
    rows_ = open(parts_.params(), memory, static_cast<int64_t>(memory.size()) / table.shape[0]);
  }

  gth_tensor_desc desc() const { return rows_->desc(); }

 private:
  const OpenedParts parts_;
  std::unique_ptr<opened::Table> rows_;
};

}  // namespace packed
