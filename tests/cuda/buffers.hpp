#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace device {

// Keeps small buffers for later allocations of exactly the same size, because an allocation of CUDA takes long. A checker
// of memory accesses still finds every access beyond a buffer. Any thread can use the object.
class Buffers {
 public:
  static constexpr int64_t largest = 64 * 1024;

  // Returns a kept buffer, or nullptr.
  void* take(int64_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    std::vector<void*>& kept = kept_[bytes];
    if (kept.empty()) return nullptr;
    void* const memory = kept.back();
    kept.pop_back();
    return memory;
  }

  // Records the size of a new buffer, if it can be kept.
  void note(void* memory, int64_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (bytes <= largest) sizes_[memory] = bytes;
  }

  // Keeps a buffer that is released. Returns false if the caller must free it.
  bool keep(void* memory) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return false;
    kept_[found->second].push_back(memory);
    return true;
  }

 private:
  std::mutex lock_;
  std::map<void*, int64_t> sizes_;
  std::map<int64_t, std::vector<void*>> kept_;
};

}  // namespace device
