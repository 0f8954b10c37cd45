#include "cpu/rows.hpp"

#include <cstring>

namespace gather::cpu {
namespace {

// memcpy of a constant size is one or two instructions and asks for no alignment.
template <int64_t bytes>
void copy_fixed(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t) {
  if (stride == bytes) {
    for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * bytes, base + offsets[i], bytes);
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * stride, base + offsets[i], bytes);
}

// Rows of more than `bytes` and at most 2 * bytes: both ends, which overlap in the middle. Never a byte beyond the row.
template <int64_t bytes>
void copy_two_ends(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  const int64_t tail = row - bytes;
  for (int64_t i = 0; i < n; ++i) {
    struct Piece {
      char content[bytes];
    } head, end;
    const char* from = base + offsets[i];
    char* to = out + i * stride;
    std::memcpy(&head, from, bytes);
    std::memcpy(&end, from + tail, bytes);
    std::memcpy(to, &head, bytes);
    std::memcpy(to + tail, &end, bytes);
  }
}

// Longer rows are left to memcpy, which knows the machine: up to 64 bytes a call costs more than wider registers win.
void copy_any(char* out, int64_t stride, const char* base, const int64_t* offsets, int64_t n, int64_t row) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * stride, base + offsets[i], static_cast<size_t>(row));
}

}  // namespace

CopyRows choose_copy(int64_t row) {
  switch (row) {
    case 1: return copy_fixed<1>;
    case 2: return copy_fixed<2>;
    case 3: return copy_fixed<3>;
    case 4: return copy_fixed<4>;
    case 8: return copy_fixed<8>;
    case 12: return copy_fixed<12>;
    case 16: return copy_fixed<16>;
    case 24: return copy_fixed<24>;
    case 32: return copy_fixed<32>;
    case 48: return copy_fixed<48>;
    case 64: return copy_fixed<64>;
    default: break;
  }
  if (row < 8) return copy_two_ends<4>;
  if (row < 16) return copy_two_ends<8>;
  if (row < 32) return copy_two_ends<16>;
  if (row < 64) return copy_two_ends<32>;
  return copy_any;
}

}  // namespace gather::cpu
