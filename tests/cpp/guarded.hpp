#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "system.hpp"

namespace hostile {

#if defined(_WIN32)
enum : int { readable = PAGE_READONLY, writable = PAGE_READWRITE, inaccessible = PAGE_NOACCESS };

inline size_t page_bytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}
inline void* map_inaccessible(size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}
inline void unmap(void* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }
inline bool protect(void* memory, size_t bytes, int what) {
  DWORD before;
  return VirtualProtect(memory, bytes, static_cast<DWORD>(what), &before);
}
#else
enum : int { readable = PROT_READ, writable = PROT_READ | PROT_WRITE, inaccessible = PROT_NONE };

inline size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
inline void* map_inaccessible(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
inline void unmap(void* memory, size_t bytes) { munmap(memory, bytes); }
inline bool protect(void* memory, size_t bytes, int what) { return mprotect(memory, bytes, what) == 0; }
#endif

// `pages` pages between two inaccessible pages.
class Guarded {
 public:
  explicit Guarded(size_t pages) : page_(page_bytes()), size_(pages * page_) {
    void* all = map_inaccessible(size_ + 2 * page_);
    EXPECT_NE(all, nullptr);
    first_ = static_cast<char*>(all) + page_;
    allow(writable);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { unmap(first_ - page_, size_ + 2 * page_); }

  void allow(int what) { EXPECT_TRUE(protect(first_, size_, what)); }
  // Returns the address of `bytes` bytes that start after the lower inaccessible page, or end before the upper one.
  char* at(int64_t bytes, bool low) const { return low ? first_ : first_ + size_ - bytes; }
  char* first() const { return first_; }
  size_t size() const { return size_; }

 private:
  size_t page_, size_;
  char* first_;
};

}  // namespace hostile
