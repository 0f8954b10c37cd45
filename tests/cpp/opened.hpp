#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gather/gather.h"
#include "unnamed_file.hpp"

// Tables in segments, for tests that compare them with the same table in memory.
namespace opened {

// How the rows of a table lie in segments.
struct Form {
  int32_t mode = 0;
  int64_t resident = 0;
  bool is_memory = false;  // all segments are memory
};

// Each form. The budget is the smallest one.
constexpr Form forms[] = {
    {GTH_FILES_READ, 0, false}, {GTH_FILES_MAP, 0, false}, {GTH_FILES_MAP, 8 << 20, false}, {0, 0, true}};

// A table whose segments have a copy of the rows of a description.
class Table {
 public:
  // `row_bytes` are those of an entry of dim 0, which begins at row(i). `draw` returns a random number below its argument.
  template <class Draw, class Row>
  Table(const gth_tensor_desc& desc, int64_t row_bytes, const Form& form, Draw&& draw, Row&& row) {
    const int64_t rows = desc.shape[0];
    for (int64_t first = 0, number = 0; first < rows; ++number) {
      const int64_t left = rows - first, count = number == 3 ? left : 1 + draw(left);
      add(first, count, row_bytes, form, number > 0 && draw(4) == 0, draw, row);
      first += count;
    }
    gth_files_options options = GTH_FILES_OPTIONS_INIT;
    options.mode = form.mode;
    options.resident = form.resident;
    std::vector<const gth_segment*> pointers;
    for (const gth_segment& each : segments_) pointers.push_back(&each);
    gth_tensor_desc table = desc;
    table.data = table.strides = nullptr;
    table.offset = table.extent = 0;
    table.flags = 0;
    gth_error error = GTH_ERROR_INIT;
    status_ = gth_tensor_open(nullptr, &table, static_cast<int64_t>(pointers.size()), pointers.data(),
                              form.is_memory && draw(2) ? nullptr : &options, &tensor_, &error);
    EXPECT_EQ(status_, GTH_OK) << error.message;
    for (const int64_t file : files_) unnamed::close_file(file);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { gth_tensor_release(tensor_); }

  const gth_tensor* get() const { return tensor_; }
  gth_tensor_desc desc() const { return GTH_TENSOR_DESC_HANDLE(tensor_); }

 private:
  // Adds a segment. Bytes before, between and behind the rows are no part of the table.
  template <class Draw, class Row>
  void add(int64_t first, int64_t count, int64_t row_bytes, const Form& form, bool is_memory, Draw&& draw, Row&& row) {
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.rows = count;
    segment.offset = draw(3) ? draw(100) : draw(3) * 4096;
    const int64_t stride = row_bytes + (draw(2) ? draw(70) : 0);
    segment.row_stride = stride == row_bytes && draw(2) ? 0 : stride;
    std::vector<char> bytes(static_cast<size_t>(segment.offset + (count - 1) * stride + row_bytes), '\x5a');
    for (int64_t i = 0; i < count && row_bytes > 0; ++i) {
      std::memcpy(bytes.data() + segment.offset + i * stride, row(first + i), static_cast<size_t>(row_bytes));
    }
    if (form.is_memory || is_memory) {
      memory_.push_back(std::move(bytes));
      segment.data = memory_.back().empty() ? "" : memory_.back().data();
    } else {
      files_.push_back(unnamed::make_file(bytes));
      segment.file = files_.back(), segment.flags = GTH_SEGMENT_FILE;
    }
    segments_.push_back(segment);
  }

  std::vector<gth_segment> segments_;
  std::vector<std::vector<char>> memory_;
  std::vector<int64_t> files_;
  gth_tensor* tensor_ = nullptr;
  int32_t status_ = GTH_OK;
};

}  // namespace opened
