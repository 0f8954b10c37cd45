#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/os/memory.hpp"

namespace gather::cpu {

// Memory for the updates of all parts of a scatter.
template <class T>
class UpdateRoom {
 public:
  UpdateRoom() = default;
  UpdateRoom(const UpdateRoom&) = delete;
  UpdateRoom& operator=(const UpdateRoom&) = delete;
  ~UpdateRoom() { core::deallocate(objects_); }

  // Allocates `each` objects for each update. Returns GTH_OK or GTH_E_NOMEM.
  int32_t allocate(int64_t updates, int64_t each, const core::Error& error) {
    int64_t bytes;
    if (core::multiply(updates, each * int64_t{sizeof(T)}, &bytes)) {
      objects_ = static_cast<T*>(core::allocate(static_cast<size_t>(bytes)));
      count_ = updates * each;
    } else {
      bytes = INT64_MAX;
    }
    if (objects_) return GTH_OK;
    return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "no memory to sort the updates");
  }

  // Threads may call this at once. Returns nullptr if there is no room for n objects.
  T* take(int64_t n) {
    const int64_t begin = used_.fetch_add(n, std::memory_order_relaxed);
    return n > count_ - begin ? nullptr : objects_ + begin;
  }

 private:
  T* objects_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> used_{0};
};

}  // namespace gather::cpu
