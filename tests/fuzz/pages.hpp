#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "report.hpp"

namespace fuzz {

// Memory between two inaccessible pages. It is allocated once and used for every input.
class Pages {
 public:
  static constexpr size_t usual = 4096;

  explicit Pages(size_t size = usual) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* all = mmap(nullptr, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(all != MAP_FAILED, "no memory for the fuzzer itself");
    first_ = static_cast<char*>(all) + page;
    require(mprotect(first_, size, PROT_READ | PROT_WRITE) == 0, "no memory for the fuzzer itself");
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* first() const { return first_; }
  char* end() const { return first_ + size_; }
  size_t size() const { return size_; }

  // Returns `bytes` bytes directly before the upper inaccessible page, or directly after the lower one.
  char* place(size_t bytes, bool low = false) const { return low ? first_ : end() - bytes; }
  // Copies bytes to the upper end and returns their address.
  char* put(const void* from, size_t bytes) const {
    char* to = place(bytes);
    if (bytes) std::memcpy(to, from, bytes);
    return to;
  }
  // Fills the memory with a pattern, so that writes can be detected.
  void paint(uint8_t seed) const {
    for (size_t i = 0; i < size_; i += sizeof(uint64_t)) {
      const uint64_t word = (i + seed) * 0x9e3779b97f4a7c15;
      std::memcpy(first_ + i, &word, sizeof word);
    }
  }

 private:
  size_t size_;
  char* first_;
};

}  // namespace fuzz
