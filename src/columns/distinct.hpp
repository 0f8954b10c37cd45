#pragma once

#include "columns/room.hpp"
#include "columns/type.hpp"

namespace gather::columns {

// Numbers distinct keys in the order of their first occurrence. It is a hash table with open addressing. The hashes
// depend on a random number, so that no input can be chosen whose keys collide.
class Distinct {
 public:
  // Reserves memory for `count` calls of find. Returns false if there is none. Precondition: it has not been called
  // before.
  bool allocate(int64_t count);

  // Returns the number of a key. is_equal(number) compares it with an earlier key. A new key gets the next number.
  template <class IsEqual>
  int64_t find(const void* key, int64_t bytes, IsEqual&& is_equal) {
    for (uint64_t at = hash(key, bytes);; ++at) {
      int64_t& slot = slots_[static_cast<int64_t>(at & mask_)];
      if (slot < 0) return slot = count_++;
      if (is_equal(slot)) return slot;
    }
  }

 private:
  uint64_t hash(const void* key, int64_t bytes) const;

  Room<int64_t, 16> slots_;
  uint64_t mask_ = 0, seed_ = 0;
  int64_t count_ = 0;
};

// A value of a type without children.
struct Value {
  const char* bytes = nullptr;
  int64_t size = 0;
  bool is_null = false;

  bool operator==(const Value& other) const;
};

// Reads a row of a result. Returns false if its type has children. Its bytes are those of the array, or static.
bool read_value(const Type& type, const ArrowArray& array, int64_t row, Value* out);

}  // namespace gather::columns
