#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace hostile {

// `pages` pages between two inaccessible pages.
class Guarded {
 public:
  explicit Guarded(size_t pages) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size_(pages * page_) {
    void* all = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    first_ = static_cast<char*>(all) + page_;
    allow(PROT_READ | PROT_WRITE);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(first_ - page_, size_ + 2 * page_); }

  void allow(int what) { EXPECT_EQ(mprotect(first_, size_, what), 0); }
  // Returns the address of `bytes` bytes that start after the lower inaccessible page, or end before the upper one.
  char* at(int64_t bytes, bool low) const { return low ? first_ : first_ + size_ - bytes; }
  char* first() const { return first_; }
  size_t size() const { return size_; }

 private:
  size_t page_, size_;
  char* first_;
};

}  // namespace hostile
