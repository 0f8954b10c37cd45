#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hostile.hpp"

// Tables in files whose bytes can be computed from their place.
namespace files {

using hostile::Bytes, hostile::Error, hostile::Shape;

constexpr int32_t u8 = GTH_DTYPE_UINT8;
constexpr int32_t modes[] = {GTH_FILES_READ, GTH_FILES_MAP};
constexpr int64_t budget = 8 << 20;  // the least one

// Returns byte j of a row.
inline char byte_at(int64_t row, int64_t j) {
  uint64_t bits = (static_cast<uint64_t>(row) << 20 ^ static_cast<uint64_t>(j)) + 1;
  bits *= 0x9e3779b97f4a7c15;
  return static_cast<char>((bits ^ bits >> 29) >> 32);
}

inline void write_row(int64_t row, int64_t bytes, char* to) {
  for (int64_t j = 0; j < bytes; ++j) to[j] = byte_at(row, j);
}

// A temporary file.
class File {
 public:
  File() : path_(testing::TempDir() + "gather_files_XXXXXX"), descriptor_(mkstemp(path_.data())) {
    EXPECT_GE(descriptor_, 0) << path_;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    close(descriptor_);
    unlink(path_.c_str());
  }

  const char* path() const { return path_.c_str(); }
  int descriptor() const { return descriptor_; }
  bool resize(int64_t bytes) const { return ftruncate(descriptor_, bytes) == 0; }
  void write(int64_t offset, const Bytes& bytes) const {
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n =
          pwrite(descriptor_, bytes.data() + done, bytes.size() - done, offset + static_cast<int64_t>(done));
      ASSERT_GT(n, 0);
      done += static_cast<size_t>(n);
    }
  }
  // Removes the pages from the page cache, as far as the file system can.
  void forget() const {
    fdatasync(descriptor_);
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  }

 private:
  std::string path_;
  int descriptor_;
};

// Returns the content of a segment: `rows` rows from number `first` on. The bytes around them are no part of the table.
inline Bytes content_of(int64_t first, int64_t rows, int64_t row_bytes, int64_t offset, int64_t gap) {
  Bytes bytes(static_cast<size_t>(offset + (rows - 1) * (row_bytes + gap) + row_bytes), '\x5a');
  for (int64_t i = 0; i < rows; ++i) write_row(first + i, row_bytes, bytes.data() + offset + i * (row_bytes + gap));
  return bytes;
}

// A table of rows of uint8.
class Table {
 public:
  explicit Table(int64_t row_bytes, int32_t mode = 0, int64_t resident = 0) : row_bytes_(row_bytes) {
    options_.mode = mode;
    options_.resident = resident;
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { release(); }

  // Adds rows in a file of their own.
  Table& in_file(int64_t rows, int64_t offset = 0, int64_t gap = 0) {
    files_.push_back(std::make_unique<File>());
    files_.back()->write(0, content_of(rows_, rows, row_bytes_, offset, gap));
    gth_segment segment = segment_of(rows, offset, gap);
    segment.path = files_.back()->path();
    return add(segment);
  }

  // Adds rows in memory.
  Table& in_memory(int64_t rows, int64_t offset = 0, int64_t gap = 0) {
    memory_.push_back(content_of(rows_, rows, row_bytes_, offset, gap));
    gth_segment segment = segment_of(rows, offset, gap);
    segment.data = memory_.back().data();
    segment.extent = static_cast<int64_t>(memory_.back().size());
    return add(segment);
  }

  Table& add(const gth_segment& segment) {
    segments_.push_back(segment);
    rows_ += segment.rows;
    return *this;
  }

  gth_segment segment_of(int64_t rows, int64_t offset, int64_t gap) const {
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.rows = rows;
    segment.offset = offset;
    segment.row_stride = gap ? row_bytes_ + gap : 0;
    return segment;
  }

  int32_t open(gth_error* error) {
    std::vector<const gth_segment*> pointers;
    for (const gth_segment& each : segments_) pointers.push_back(&each);
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    shape_ = {rows_, row_bytes_};
    desc.dtype = u8;
    desc.ndim = 2;
    desc.shape = shape_.data();
    return gth_tensor_open(nullptr, &desc, static_cast<int64_t>(pointers.size()), pointers.data(), &options_, &tensor_,
                           error);
  }
  Table& opened() {
    Error error;
    EXPECT_EQ(open(&error), GTH_OK) << error.message;
    return *this;
  }
  void release() {
    EXPECT_EQ(gth_tensor_release(tensor_), GTH_OK);
    tensor_ = nullptr;
  }

  const gth_tensor* get() const { return tensor_; }
  gth_tensor_desc desc() const { return GTH_TENSOR_DESC_HANDLE(tensor_); }
  int64_t rows() const { return rows_; }
  int64_t row_bytes() const { return row_bytes_; }
  File& file(size_t i) const { return *files_[i]; }
  char* memory(size_t i) { return memory_[i].data(); }
  gth_segment& segment(size_t i) { return segments_[i]; }

  // Gathers rows into memory.
  int32_t gather_into(const std::vector<int64_t>& ids, char* to, gth_error* error, int32_t threads = 0) const {
    const gth_tensor_desc table = desc();
    const Shape line{static_cast<int64_t>(ids.size())}, all{line[0], row_bytes_};
    const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids.data());
    const gth_tensor_desc rows = hostile::describe(u8, all, to);
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    return gth_gather(nullptr, &table, &indices, &rows, &options, error);
  }

  // Gathers rows, and compares them with their bytes. Returns true if they are equal.
  bool gathers(const std::vector<int64_t>& ids, int32_t threads = 0) const {
    Bytes out(ids.size() * static_cast<size_t>(row_bytes_), '#');
    Error error;
    const int32_t status = gather_into(ids, out.data(), &error, threads);
    EXPECT_EQ(status, GTH_OK) << error.message;
    return status == GTH_OK && out == expected(ids);
  }

  Bytes expected(const std::vector<int64_t>& ids) const {
    Bytes bytes(ids.size() * static_cast<size_t>(row_bytes_));
    char* to = bytes.data();
    for (int64_t id : ids) {
      write_row(id, row_bytes_, to);
      to += row_bytes_;
    }
    return bytes;
  }

  gth_files_stats stats() const {
    gth_files_stats stats = GTH_FILES_STATS_INIT;
    EXPECT_EQ(gth_tensor_stats(tensor_, &stats, nullptr), GTH_OK);
    return stats;
  }

 private:
  const int64_t row_bytes_;
  int64_t rows_ = 0;
  Shape shape_;
  gth_files_options options_ = GTH_FILES_OPTIONS_INIT;
  std::vector<gth_segment> segments_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<Bytes> memory_;
  gth_tensor* tensor_ = nullptr;
};

// Opens a file of rows that are float32, or decoded to it, from its first byte on.
inline int32_t open_floats(const File& file, const Shape& shape, int32_t mode, int64_t resident, gth_tensor** out,
                           gth_error* error, const gth_codec* codec = nullptr) {
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.path = file.path();
  segment.rows = shape[0];
  const gth_segment* const given[] = {&segment};
  gth_tensor_desc desc = hostile::describe(GTH_DTYPE_FLOAT32, shape, nullptr);
  desc.codec = codec;
  const gth_files_options options = {sizeof options, mode, resident};
  return gth_tensor_open(nullptr, &desc, 1, given, &options, out, error);
}

// Returns `count` numbers below `rows`, some of which are equal.
inline std::vector<int64_t> scattered(int64_t count, int64_t rows) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  uint64_t bits = 88172645463325252;
  for (int64_t& id : ids) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    id = static_cast<int64_t>(bits % static_cast<uint64_t>(rows));
  }
  return ids;
}

// Returns the numbers from `first` on.
inline std::vector<int64_t> counted(int64_t first, int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = first + static_cast<int64_t>(i);
  return ids;
}

}  // namespace files
