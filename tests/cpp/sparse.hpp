#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

// Memory that is larger than the memory of the machine.
namespace hostile {

constexpr int64_t piece = int64_t{64} << 20;

// Address space that reads as zeros until it is written.
class Sparse {
 public:
  explicit Sparse(int64_t bytes)
      : bytes_(static_cast<size_t>(bytes)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() {
    if (*this) munmap(data_, bytes_);
  }

  explicit operator bool() const { return data_ != MAP_FAILED; }
  char* data() const { return static_cast<char*>(data_); }
  // Huge pages would allocate the memory of a sparse table.
  void keep_small_pages() const { madvise(data_, bytes_, MADV_NOHUGEPAGE); }

 private:
  size_t bytes_;
  void* data_;
};

// One piece of memory that is mapped repeatedly over a long range of addresses.
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

#define NEEDS(memory) \
  if (!(memory)) GTEST_SKIP() << "the address space cannot be had"

}  // namespace hostile
