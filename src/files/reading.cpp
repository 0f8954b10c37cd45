#include "files/reading.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "core/base/limits.hpp"
#include "core/base/noinline.hpp"

namespace gather::files {
namespace {

core::FileRange range_of(const Piece& piece) { return {piece.segment.offset + piece.at, piece.bytes}; }

// ---- Maps

void note(const Table& table, const Piece& piece, int32_t native, Failure* failure) {
  const core::FileRange range = range_of(piece);
  int64_t size;
  const bool is_short =
      !core::measure_file(table.file(piece.segment).handle, &size) && size < range.offset + range.bytes;
  // The system reports an access that would raise SIGBUS as EFAULT.
  *failure = {table.number_of(piece.segment), range, is_short ? 0 : native == EFAULT ? EIO : native};
}

// Pages of rows that are loaded together.
class Pages {
 public:
  Pages(const Table& table, Failure* failure) : table_(table), failure_(failure) {}

  // Adds the pages of a piece of row `row`. Returns false if pages cannot be loaded.
  bool add(const Piece& piece, int64_t row) {
    if (!piece.segment.map) return true;
    return piece.segment.map->for_unseen(piece.segment.memory + piece.at, piece.bytes,
                                         [&](const core::PageRange& range) {
                                           ranges_[count_] = range;
                                           pieces_[count_] = {&piece.segment, piece.at, piece.bytes};
                                           rows_[count_] = static_cast<int16_t>(row);
                                           return ++count_ < brought_ranges || load();
                                         });
  }

  // Loads the pages that were added. Returns false if some of them cannot be loaded.
  bool load() {
    if (count_ == 0) return true;
    if (count_ > 1) core::request_pages(ranges_, count_);
    int64_t done;
    const int32_t native = core::populate_pages(ranges_, count_, &done);
    for (int64_t i = 0; i < done; ++i) pieces_[i].segment->map->note_seen(ranges_[i]);
    table_.counters().requested.fetch_add(done, std::memory_order_relaxed);
    if (native) {
      bad_row_ = rows_[done];
      note(table_, {*pieces_[done].segment, pieces_[done].at, pieces_[done].bytes}, native, failure_);
    }
    count_ = 0;
    return native == 0;
  }

  int64_t bad_row() const { return bad_row_; }

 private:
  struct Added {
    const Segment* segment;
    int64_t at, bytes;
  };

  const Table& table_;
  Failure* const failure_;
  int64_t count_ = 0, bad_row_ = 0;
  core::PageRange ranges_[brought_ranges];
  Added pieces_[brought_ranges];
  int16_t rows_[brought_ranges];
};

// ---- Files that are read

// Copies the parts of a row that are in memory, and calls read(Piece, to) for the others, while it returns true.
template <class Read>
bool read_row(const Table& table, const Wanted& row, int64_t bytes, Read&& read) {
  char* to = row.to;
  return table.for_pieces(row.at, bytes, [&](const Piece& piece) {
    char* const at = to;
    to += piece.bytes;
    if (!piece.segment.memory) return read(piece, at);
    std::memcpy(at, piece.segment.memory + piece.at, static_cast<size_t>(piece.bytes));
    return true;
  });
}

// Returns false if the system would have to wait for a part of the row.
bool read_without_waiting(const Table& table, const Wanted& row, int64_t bytes) {
  return read_row(table, row, bytes, [&](const Piece& piece, char* to) {
    File& file = table.file(piece.segment);
    if (!file.reads_cached.load(std::memory_order_relaxed)) return false;
    const core::Cached cached = core::read_cached(file.handle, range_of(piece), to);
    if (cached == core::Cached::unknown) file.reads_cached.store(false, std::memory_order_relaxed);
    return cached == core::Cached::all;
  });
}

bool read_now(const Table& table, const Wanted& row, int64_t bytes, Failure* failure) {
  return read_row(table, row, bytes, [&](const Piece& piece, char* to) {
    int64_t done;
    const core::FileRange range = range_of(piece);
    const int32_t native = core::read_file(table.file(piece.segment).handle, range, to, &done);
    if (!native && done == range.bytes) return true;
    *failure = {table.number_of(piece.segment), range, native};
    return false;
  });
}

void request_piece(const Table& table, const Piece& piece) {
  if (!piece.segment.memory) core::request_file(table.file(piece.segment).handle, range_of(piece));
}

void request_row(const Table& table, int64_t first, int64_t bytes) {
  table.for_pieces(first, bytes, [&](const Piece& piece) {
    request_piece(table, piece);
    return true;
  });
}

int64_t read_files(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure) {
  int16_t missed[requested_rows];
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (n == 1 || !read_without_waiting(table, rows[i], bytes)) missed[count++] = static_cast<int16_t>(i);
  }
  if (count > 1) {
    for (int64_t i = 0; i < count; ++i) request_row(table, rows[missed[i]].at, bytes);
    table.counters().requested.fetch_add(count, std::memory_order_relaxed);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!read_now(table, rows[missed[i]], bytes, failure)) return missed[i];
  }
  return n;
}

// Loads the pages of rows into the maps of a table. Returns n, or the number of the first row that failed.
GATHER_NOINLINE int64_t load_pages(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure) {
  Pages pages(table, failure);
  for (int64_t i = 0; i < n; ++i) {
    if (!table.for_pieces(rows[i].at, bytes, [&](const Piece& piece) { return pages.add(piece, i); }))
      return pages.bad_row();
  }
  return pages.load() ? n : pages.bad_row();
}

// ---- Budgets

// Removes the pages of all maps if `bytes` more would exceed the budget.
void make_room(const Table& table, int64_t bytes) {
  Residence& residence = table.residence();
  if (residence.measure(bytes) + bytes <= table.budget()) return;
  for (int64_t i = 0; i < table.count(); ++i) {
    if (table.segment(i).map) table.segment(i).map->release();
  }
  residence.note_release();
  table.counters().releases.fetch_add(1, std::memory_order_relaxed);
}

// Returns the mapped memory of some bytes, at most. The system maps whole folios of the page cache, which are smaller than
// 2 MiB in a map of small pages.
int64_t mapped_bytes(int64_t bytes) {
  constexpr int64_t largest_folio = 1 << 20;
  return bytes + 2 * largest_folio;
}

// Returns the size of the parts in which `bytes` bytes are read, so that each part is in one piece. Several rows of the
// table may be far apart.
int64_t part_bytes_of(const Table& table, int64_t bytes) {
  const bool is_dense = table.count() == 1 && table.segment(0).stride == table.row_bytes();
  return is_dense ? bytes : std::min(bytes, table.row_bytes());
}

// Requests rows, and reads them in groups that map at most half of the budget. A larger row is read in parts.
int64_t read_with_budget(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure) {
  const std::lock_guard<Residence> guard(table.residence());
  const int64_t part = std::min(part_bytes_of(table, bytes), table.budget() / parts_of_budget);
  const int64_t group = std::clamp(table.budget() / 2 / mapped_bytes(part), int64_t{1}, brought_ranges);
  if (n > 1) request(table, rows, n, bytes);
  for (int64_t first = 0; first < n; first += group) {
    const int64_t count = std::min(group, n - first);
    for (int64_t done = 0; done < bytes; done += part) {
      Wanted parts[brought_ranges];
      for (int64_t i = 0; i < count; ++i) parts[i] = {rows[first + i].at + done, rows[first + i].to + done};
      const int64_t size = std::min(part, bytes - done);
      make_room(table, count * mapped_bytes(size));
      int64_t good = load_pages(table, parts, count, size, failure);
      if (good == count) good = read_files(table, parts, count, size, failure);
      if (good < count) return first + good;
    }
  }
  table.residence().measure(0);
  return n;
}

}  // namespace

void request(const Table& table, const Wanted* rows, int64_t n, int64_t bytes) {
  core::PageRange ranges[brought_ranges];
  int64_t count = 0;
  const auto flush = [&] {
    core::request_pages(ranges, count);
    count = 0;
    return true;
  };
  for (int64_t i = 0; i < n; ++i) {
    table.for_pieces(rows[i].at, bytes, [&](const Piece& piece) {
      request_piece(table, piece);
      if (!piece.segment.map) return true;
      return piece.segment.map->for_unseen(piece.segment.memory + piece.at, piece.bytes, [&](const auto& range) {
        ranges[count++] = range;
        return count < brought_ranges || flush();
      });
    });
  }
  flush();
}

int64_t bring(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure) {
  table.counters().rows.fetch_add(n, std::memory_order_relaxed);
  return load_pages(table, rows, n, bytes, failure);
}

int64_t read(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure) {
  if (!table.has_addresses()) table.counters().rows.fetch_add(n, std::memory_order_relaxed);
  return table.budget() > 0 ? read_with_budget(table, rows, n, bytes, failure)
                            : read_files(table, rows, n, bytes, failure);
}

}  // namespace gather::files
