#include "columns/distinct.hpp"

#include <algorithm>
#include <cstring>

#include "columns/check.hpp"
#include "columns/take.hpp"
#include "core/os/os.hpp"

namespace gather::columns {
namespace {

// The first 4 bytes of a view are its length. Then follow the bytes of a short string, or 4 of them, the number of a data
// buffer and an offset.
void read_view(const ArrowArray& array, int64_t row, Value* out) {
  constexpr int64_t longest_inline = 12;
  const char* const view = static_cast<const char*>(array.buffers[1]) + row * 16;
  int32_t length, buffer, offset;
  std::memcpy(&length, view, sizeof length);
  std::memcpy(&buffer, view + 8, sizeof buffer);
  std::memcpy(&offset, view + 12, sizeof offset);
  out->size = length;
  out->bytes = length <= longest_inline ? view + 4 : static_cast<const char*>(array.buffers[2 + buffer]) + offset;
}

}  // namespace

bool Distinct::allocate(int64_t count) {
  int64_t slots = 16;
  while (slots / 2 < count && slots < INT64_MAX / 4) slots *= 2;
  if (!slots_.allocate(slots)) return false;
  std::fill_n(slots_.data(), slots, int64_t{-1});
  mask_ = static_cast<uint64_t>(slots) - 1;
  seed_ = core::random_bits();
  return true;
}

uint64_t Distinct::hash(const void* key, int64_t bytes) const {
  constexpr uint64_t multiplier = 0x9e3779b97f4a7c15u;
  const char* at = static_cast<const char*>(key);
  uint64_t mixed = (seed_ ^ static_cast<uint64_t>(bytes)) * multiplier;
  for (int64_t left = bytes; left > 0; left -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, static_cast<size_t>(std::min<int64_t>(left, 8)));
    mixed = (mixed ^ mixed >> 32 ^ word) * multiplier;
  }
  return (mixed ^ mixed >> 29) * multiplier >> 16;
}

bool Value::operator==(const Value& other) const {
  if (is_null != other.is_null || size != other.size) return false;
  return size == 0 || std::memcmp(bytes, other.bytes, static_cast<size_t>(size)) == 0;
}

bool read_value(const Type& type, const ArrowArray& array, int64_t row, Value* out) {
  static constexpr char bits[2] = {0, 1};
  *out = {};
  out->is_null = type.kind == Kind::nothing || is_null(validity_of(type, array), row);
  if (out->is_null) return true;
  switch (type.kind) {
    case Kind::bits: *out = {bits + bit_at(array.buffers[1], row), 1, false}; return true;
    case Kind::fixed:
      *out = {static_cast<const char*>(array.buffers[1]) + row * type.width, type.width, false};
      return true;
    case Kind::bytes:
      out->size = offset_at(type, array.buffers[1], row + 1) - offset_at(type, array.buffers[1], row);
      out->bytes = static_cast<const char*>(array.buffers[2]) + offset_at(type, array.buffers[1], row);
      return true;
    case Kind::view: read_view(array, row, out); return true;
    default: return false;
  }
}

}  // namespace gather::columns
