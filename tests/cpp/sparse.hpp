#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "guarded.hpp"

// Memory that is larger than the memory of the machine.
namespace hostile {

constexpr int64_t piece = int64_t{64} << 20;

// Returns null if there is no such address space.
inline void* map_sparse(size_t bytes) {
#if defined(_WIN32)
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
#else
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
#endif
}

// Address space that reads as zeros until it is written.
class Sparse {
 public:
  explicit Sparse(int64_t bytes) : bytes_(static_cast<size_t>(bytes)), data_(map_sparse(bytes_)) {}
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() {
    if (data_) unmap(data_, bytes_);
  }

  explicit operator bool() const { return data_ != nullptr; }
  char* data() const { return static_cast<char*>(data_); }
  // Huge pages would allocate the memory of a sparse table.
  void keep_small_pages() const {
#if !defined(_WIN32)
    madvise(data_, bytes_, MADV_NOHUGEPAGE);
#endif
  }

 private:
  size_t bytes_;
  void* data_;
};

// Rows whose addresses are equal in their lowest 32 bits.
class SparseRows {
 public:
  static constexpr int64_t apart = int64_t{1} << 32;

  explicit SparseRows(int64_t most) : memory_(most * apart) {
    if (memory_) memory_.keep_small_pages();
  }
  explicit operator bool() const { return static_cast<bool>(memory_); }
  char* data() const { return memory_.data(); }
  char* at(int64_t row) const { return data() + row * apart; }

  // Copy `count` rows of `bytes` bytes from and to contiguous memory.
  void set(const char* rows, int64_t count, int64_t bytes) const {
    for (int64_t i = 0; i < count; ++i) std::memcpy(at(i), rows + i * bytes, static_cast<size_t>(bytes));
  }
  std::vector<char> get(int64_t count, int64_t bytes) const {
    std::vector<char> rows;
    for (int64_t i = 0; i < count; ++i) rows.insert(rows.end(), at(i), at(i) + bytes);
    return rows;
  }

 private:
  Sparse memory_;
};

// One piece of memory that is mapped repeatedly over a long range of addresses.
#if defined(_WIN32)
class Repeated {
 public:
  explicit Repeated(int64_t bytes) {
    void* const free = VirtualAlloc(nullptr, static_cast<size_t>(bytes + piece), MEM_RESERVE, PAGE_NOACCESS);
    VirtualFree(free, 0, MEM_RELEASE);
    data_ = static_cast<char*>(free);
    const HANDLE file = CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, piece, nullptr);
    ok_ = free && file;
    for (int64_t at = 0; ok_ && at < bytes; at += piece) {
      views_.push_back(MapViewOfFileEx(file, FILE_MAP_ALL_ACCESS, 0, 0, piece, data_ + at));
      ok_ = views_.back() != nullptr;
    }
    CloseHandle(file);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() {
    for (void* view : views_) UnmapViewOfFile(view);
  }

  explicit operator bool() const { return ok_; }
  char* data() const { return data_; }

 private:
  std::vector<void*> views_;
  char* data_ = nullptr;
  bool ok_ = false;
};
#else
class Repeated {
 public:
  explicit Repeated(int64_t bytes) : space_((bytes + piece - 1) / piece * piece) {
    if (!space_) return;
    const int file = memfd_create("repeated", 0);
    ok_ = file >= 0 && ftruncate(file, piece) == 0;
    for (int64_t at = 0; ok_ && at < bytes; at += piece) {
      ok_ = mmap(space_.data() + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    }
    if (file >= 0) close(file);
  }

  explicit operator bool() const { return ok_; }
  char* data() const { return space_.data(); }

 private:
  Sparse space_;
  bool ok_ = false;
};
#endif

#define NEEDS(memory) \
  if (!(memory)) GTEST_SKIP() << "the address space cannot be had"

}  // namespace hostile
