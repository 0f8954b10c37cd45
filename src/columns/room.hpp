#pragma once

#include <cstdint>
#include <type_traits>

#include "core/base/checked.hpp"
#include "core/os/memory.hpp"
#include "core/os/os.hpp"

namespace gather::columns {

// An array whose size is set once. Up to `few` elements need no allocation. New elements are uninitialised.
template <class T, int64_t few>
class Room {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Room() = default;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { core::deallocate(more_); }

  // Returns false if there is no memory. Precondition: it has not been called before.
  bool allocate(int64_t count) {
    if (count <= few) return true;
    int64_t bytes;
    if (!core::multiply(count, int64_t{sizeof(T)}, &bytes)) return false;
    more_ = static_cast<T*>(core::allocate(static_cast<size_t>(bytes)));
    core::advise_huge_pages(more_, more_ ? bytes : 0);
    return more_ != nullptr;
  }

  T* data() { return more_ ? more_ : few_; }
  const T* data() const { return more_ ? more_ : few_; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }

 private:
  T few_[static_cast<size_t>(few)];
  T* more_ = nullptr;
};

}  // namespace gather::columns
