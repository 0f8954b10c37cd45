#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/files.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"

namespace gather::files {

// A map of a part of a file, with a bit for each page that was read.
class PageMap : public core::Allocated {
 public:
  ~PageMap();

  // Maps bytes of a file. Returns 0 or the error of the system. *missing receives the bytes that could not be allocated
  // for the bits, or 0.
  int32_t open(core::FileHandle file, const core::FileRange& range, bool small_pages, int64_t* missing);

  const char* data() const { return memory_ + skipped_; }

  // Calls body(PageRange) for each run of pages of some bytes that were not read yet, while it returns true.
  template <class Body>
  bool for_unseen(const char* first, int64_t bytes, Body&& body) const {
    const int64_t last = page_of(first + bytes - 1);
    for (int64_t i = page_of(first); i <= last; ++i) {
      if (is_seen(i)) continue;
      const int64_t begin = i;
      while (i < last && !is_seen(i + 1)) ++i;
      const int64_t from = begin << page_log2_, end = i + 1 < pages_ ? (i + 1) << page_log2_ : bytes_;
      if (!body(core::PageRange{memory_ + from, static_cast<size_t>(end - from)})) return false;
    }
    return true;
  }

  void note_seen(const core::PageRange& range);
  // Removes all pages from the memory of the process.
  void release();

 private:
  int64_t page_of(const char* address) const { return (address - memory_) >> page_log2_; }
  bool is_seen(int64_t page) const { return seen_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1; }
  int64_t words() const { return (pages_ + 63) / 64; }

  char* memory_ = nullptr;
  int64_t bytes_ = 0, skipped_ = 0, pages_ = 0;
  int32_t page_log2_ = 0;
  std::atomic<uint64_t>* seen_ = nullptr;
};

// The memory that the maps of a table with a budget have in the process. It is locked while pages are brought and read.
// A child of fork takes over a lock that a thread of its parent held.
class Residence {
 public:
  void lock() {
    const int64_t self = core::process_id();
    for (int64_t holder = 0; !holder_.compare_exchange_strong(holder, self, std::memory_order_acquire);) {
      if (holder != self) continue;
      core::nap();
      holder = 0;
    }
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

  // Returns the mapped bytes since the last release, at most. Other maps of files in the process count too. Before the
  // next call, at most `next` bytes are mapped.
  int64_t measure(int64_t next) {
    const int64_t all = core::resident_file_bytes();
    if (before_ < 0 || all < before_) before_ = all;
    const int64_t now = all < 0 ? bytes.load(std::memory_order_relaxed) + next_ : all - before_;
    bytes.store(now, std::memory_order_relaxed);
    next_ = next;
    return now;
  }
  void note_release() {
    bytes.store(0, std::memory_order_relaxed);
    before_ = core::resident_file_bytes();
  }

  std::atomic<int64_t> bytes{0};

 private:
  std::atomic<int64_t> holder_{0};  // the process that holds the lock, or 0
  int64_t before_ = -1, next_ = 0;
};

}  // namespace gather::files
