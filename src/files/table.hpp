#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/os/files.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"
#include "files/page_map.hpp"

// Tables in files or in pieces of memory.
namespace gather::files {

// Some successive rows of a table.
struct Segment {
  int64_t begin, end;      // its bytes in the table
  int64_t rows;            // their number
  int64_t offset, stride;  // the byte of the first row in the file, and the bytes from row to row
  const char* memory;      // of the first row, also if the file is mapped, or NULL if the file is read
  int64_t file;            // the number of the file in Table::files, or -1
  PageMap* map;            // NULL if the file is not mapped
};

// A file of a table.
struct File {
  core::FileHandle handle;
  std::atomic<bool> reads_cached;  // The system may have reads of cached bytes.
};

// Contiguous bytes of a segment, from its first row on.
struct Piece {
  const Segment& segment;
  int64_t at, bytes;
};

// A table, whose bytes are numbered as if its rows were dense. It does not change after it has been opened, except for
// its counters and the pages of maps.
class Table : public core::Allocated {
 public:
  ~Table();

  // Opens a table. Precondition: each segment has rows, their sum and the size of a row fit the shape, and all structs
  // have been read.
  static int32_t open(const gth_segment* const* given, int64_t count, int64_t row_bytes,
                      const gth_files_options& options, Table** out, const core::Error& error);

  int64_t row_bytes() const { return row_bytes_; }
  int64_t rows() const { return rows_; }
  int32_t mode() const { return mode_; }
  // The budget of maps, or 0.
  int64_t budget() const { return budget_; }
  int64_t count() const { return count_; }
  const Segment& segment(int64_t i) const { return segments_[i]; }
  int64_t number_of(const Segment& segment) const { return &segment - segments_; }
  File& file(const Segment& segment) const { return files_[segment.file]; }

  // Returns the segment of a byte.
  const Segment& find(int64_t at) const {
    int64_t i = 0;
    if (count_ <= few_segments) {
      for (int64_t k = 1; k < count_; ++k) i += begins_[k] <= at;
    } else {
      i = std::upper_bound(begins_, begins_ + count_, at) - begins_ - 1;
    }
    return segments_[i];
  }

  // Returns the first contiguous part of some bytes.
  Piece first_piece(int64_t at, int64_t bytes) const {
    const Segment& segment = find(at);
    const int64_t inside = at - segment.begin;
    if (segment.stride == row_bytes_) return {segment, inside, std::min(bytes, segment.end - at)};
    const int64_t rest = inside % row_bytes_;
    return {segment, inside / row_bytes_ * segment.stride + rest, std::min(bytes, row_bytes_ - rest)};
  }

  // Calls body(Piece) for the contiguous parts of some bytes, while it returns true.
  template <class Body>
  bool for_pieces(int64_t at, int64_t bytes, Body&& body) const {
    while (bytes > 0) {
      const Piece piece = first_piece(at, bytes);
      if (!body(piece)) return false;
      at += piece.bytes;
      bytes -= piece.bytes;
    }
    return true;
  }

  // Returns true if all bytes have addresses: memory of the caller, and maps, whose pages must have been brought.
  bool has_addresses() const { return is_memory_ || (mode_ == GTH_FILES_MAP && budget_ == 0); }
  // Returns true if a call brings the pages of its rows before it reads the first one.
  bool is_brought() const { return !is_memory_ && has_addresses(); }

  // Returns the first byte of a dense table of one segment that has addresses, or NULL.
  const char* dense_memory() const {
    const Segment& first = segments_[0];
    return count_ == 1 && first.stride == row_bytes_ && has_addresses() ? first.memory : nullptr;
  }
  // Returns the first of some bytes if they have addresses and are in one piece, or NULL.
  const char* find_address(int64_t at, int64_t bytes) const {
    const Piece piece = first_piece(at, bytes);
    return piece.bytes == bytes ? piece.segment.memory + piece.at : nullptr;
  }

  // Returns true if a segment in memory of the caller overlaps the bytes [low, high).
  bool overlaps(const char* low, const char* high) const;

  struct Counters {
    std::atomic<int64_t> rows{0}, requested{0}, releases{0};
  };
  Counters& counters() const { return counters_; }
  // Of a table with a budget. Its lock is held while pages are brought and read.
  Residence& residence() const { return residence_; }

 private:
  Table() = default;

  int32_t allocate(int64_t count, const core::Error& error);
  int32_t open_segment(int64_t i, const gth_segment* const* given, const core::Error& error);
  int32_t open_file(int64_t i, const gth_segment* const* given, const core::Error& error);
  int32_t check_size(int64_t i, const char* path, int64_t bytes, const core::Error& error);
  int32_t map_segment(int64_t i, int64_t bytes, const core::Error& error);

  int64_t row_bytes_ = 0, rows_ = 0, count_ = 0, opened_ = 0, budget_ = 0, file_count_ = 0;
  int32_t mode_ = 0;
  bool is_memory_ = true;
  Segment* segments_ = nullptr;
  int64_t* begins_ = nullptr;  // of the segments
  File* files_ = nullptr;
  mutable Counters counters_;
  mutable Residence residence_;
};

// Returns the table that the data of a description or a pointer of a run refers to. See core::tensor_in_files.
inline const Table& table_at(const void* data) { return *static_cast<const Table*>(data); }

// Reports that bytes of a segment cannot be read. `native` is the error of the system, or 0 if the file ends.
int32_t fail_read(int64_t segment, int64_t position, const core::FileRange& range, int32_t native,
                  const core::Error& error);

}  // namespace gather::files
