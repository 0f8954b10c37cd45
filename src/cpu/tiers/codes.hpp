#pragma once

#include <utility>

#include "cpu/tiers/numbers.hpp"

// Converts codes of packed rows to float32. JobPart of body.hpp.
//
// A class of codes has at<n>(codes, j), which returns the codes of the numbers j to j + n - 1 of a block. n is 1, or the
// number of lanes. Then j is a multiple of `step`, and the codes end within the block. `codes` is the first byte of
// codes of the block.
namespace gather::cpu {
namespace {

using core::Code;
using core::CodeOrder;
using core::Codec;
using core::Rule;

constexpr int64_t lanes = Wide::count;

// The functions of Wide in templates for vectors. Without the argument, a tier without vectors would not compile.
template <int64_t n>
struct WideOf : Wide {};

template <int64_t n>
using F = Numbers<float, n>;
template <int64_t n>
using I = Numbers<int32_t, n>;
template <int64_t n>
using U = Numbers<uint32_t, n>;

// Returns a number in all lanes. 0 is subtracted, because its sum with -0 is 0.
template <int64_t n>
GATHER_INLINE F<n> all_of(float value) {
  return value - F<n>{};
}

template <int64_t n>
GATHER_INLINE F<n> floats_of(I<n> v) {
  return convert_numbers<float, n>(v);
}

GATHER_INLINE int32_t byte_at(const char* at) { return static_cast<unsigned char>(*at); }

template <int64_t n>
GATHER_INLINE I<n> bytes_at(const char* at) {
  if constexpr (n == 1) {
    return byte_at(at);
  } else {
    return WideOf<n>::unsigned_bytes(at);
  }
}

// ---- Numbers that share bytes

// Returns the places of numbers of `bits` bits in their bytes, in the order of the numbers.
template <int32_t bits, CodeOrder order, size_t... i>
GATHER_INLINE auto shifts_of(std::index_sequence<i...>) {
  constexpr uint32_t size = bits, flipped = order == CodeOrder::high_first ? 8 / size - 1 : 0;
  return U<int64_t{sizeof...(i)}>{((static_cast<uint32_t>(i) ^ flipped) * size)...};
}

// Returns unsigned numbers of `bits` bits from number j on.
template <int32_t bits, CodeOrder order, int64_t n>
GATHER_INLINE I<n> fields_at(const char* codes, int64_t j) {
  constexpr int32_t each = 8 / bits, mask = (1 << bits) - 1;
  if constexpr (n == 1) {
    const int32_t place = static_cast<int32_t>(j % each);
    return byte_at(codes + j / each) >> (order == CodeOrder::high_first ? each - 1 - place : place) * bits & mask;
  } else {
    uint32_t word = 0;
    __builtin_memcpy(&word, codes + j / each, static_cast<size_t>(n * bits / 8));
    const U<n> shifts = shifts_of<bits, order>(std::make_index_sequence<size_t{n}>());
    return same_bits<I<n>>((word - U<n>{}) >> shifts) & mask;
  }
}

// The 4 low bits of 16 bytes, and then the 4 high bits.
template <int64_t n>
GATHER_INLINE I<n> halves_at(const char* codes, int64_t j) {
  return bytes_at<n>(codes + j % 16) >> (j >= 16 ? 4 : 0) & 15;
}

template <CodeOrder order, int64_t n>
GATHER_INLINE I<n> nibbles_at(const char* codes, int64_t j) {
  if constexpr (order == CodeOrder::halves) {
    return halves_at<n>(codes, j);
  } else {
    return fields_at<4, order, n>(codes, j);
  }
}

template <CodeOrder order>
constexpr int64_t step_of_nibbles = order == CodeOrder::halves ? lanes : 2;

// ---- Integers

struct Uint8Codes {
  static constexpr int64_t step = 1;
  explicit Uint8Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return floats_of<n>(bytes_at<n>(codes + j));
  }
};

struct Int8Codes {
  static constexpr int64_t step = 1;
  explicit Int8Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    if constexpr (n == 1) {
      return static_cast<float>(static_cast<signed char>(codes[j]));
    } else {
      return floats_of<n>(WideOf<n>::signed_bytes(codes + j));
    }
  }
};

template <CodeOrder order>
struct Uint4Codes {
  static constexpr int64_t step = step_of_nibbles<order>;
  explicit Uint4Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return floats_of<n>(nibbles_at<order, n>(codes, j));
  }
};

template <CodeOrder order>
struct Int4Codes {
  static constexpr int64_t step = step_of_nibbles<order>;
  explicit Int4Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return floats_of<n>((nibbles_at<order, n>(codes, j) ^ 8) - 8);
  }
};

template <CodeOrder order>
struct Uint2Codes {
  static constexpr int64_t step = 4;
  explicit Uint2Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return floats_of<n>(fields_at<2, order, n>(codes, j));
  }
};

template <CodeOrder order>
struct Int2Codes {
  static constexpr int64_t step = 4;
  explicit Int2Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return floats_of<n>((fields_at<2, order, n>(codes, j) ^ 2) - 2);
  }
};

// 32 fifth bits, and then the low bits in halves.
struct Uint5Codes {
  static constexpr int64_t step = lanes;
  explicit Uint5Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    const I<n> low = halves_at<n>(codes + 4, j);
    if constexpr (n == 1) {
      return floats_of<n>(low | (byte_at(codes + j / 8) >> j % 8 & 1) << 4);
    } else {
      uint32_t fifth;
      __builtin_memcpy(&fifth, codes, sizeof fifth);
      return floats_of<n>(low | fields_in<n>(fifth >> j) << 4);
    }
  }

 private:
  template <int64_t n>
  static GATHER_INLINE I<n> fields_in(uint32_t bits) {
    const U<n> shifts = shifts_of<1, CodeOrder::low_first>(std::make_index_sequence<size_t{n}>());
    return same_bits<I<n>>((bits - U<n>{}) >> shifts) & 1;
  }
};

// ---- Floating numbers

// Returns a number of 8 bits: a sign, 4 bits of the exponent and 3 of the fraction. 0x7f and 0xff are NaN.
GATHER_INLINE float e4m3fn_of(int32_t bits) {
  const int32_t magnitude = bits & 0x7f;
  const int32_t normal = magnitude == 0x7f ? 0x7fc00000 : (magnitude << 20) + (120 << 23);
  const float subnormal = static_cast<float>(magnitude) * 0x1p-9f;
  return same_bits<float>((magnitude < 8 ? same_bits<int32_t>(subnormal) : normal) | (bits & 0x80) << 24);
}

// Vectors are converted from float16. Its exponents of the same bits are 8 smaller.
struct E4m3fnCodes {
  static constexpr int64_t step = 1;
  explicit E4m3fnCodes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    if constexpr (n == 1) {
      return e4m3fn_of(byte_at(codes + j));
    } else {
      using H = Numbers<uint16_t, n>;
      const H bits = WideOf<n>::bytes_as_16(codes + j), magnitude = bits & 0x7f;
      const H nan = same_bits<H>(magnitude == 0x7f) & 0x7fff;
      return WideOf<n>::widen(static_cast<H>(magnitude << 7 | (bits & 0x80) << 8 | nan)) * 256.0f;
    }
  }
};

// The numbers are the high bytes of float16.
struct E5m2Codes {
  static constexpr int64_t step = 1;
  explicit E5m2Codes(const Codec&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    if constexpr (n == 1) {
      const uint16_t half = static_cast<uint16_t>(byte_at(codes + j) << 8);
      return Halves::template load<1>(reinterpret_cast<const char*>(&half));
    } else {
      using H = Numbers<uint16_t, n>;
      return WideOf<n>::widen(static_cast<H>(WideOf<n>::bytes_as_16(codes + j) << 8));
    }
  }
};

// ---- Entries of a table of 16 numbers

struct Table {
  const float* entries;

  template <int64_t n>
  GATHER_INLINE F<n> at(I<n> number) const {
    if constexpr (n == 1) {
      return entries[number];
    } else {
      return WideOf<n>::look_up(entries, number);
    }
  }
};

template <CodeOrder order>
struct TableCodes {
  static constexpr int64_t step = step_of_nibbles<order>;
  Table table;
  explicit TableCodes(const Codec& codec) : table{codec.table} {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* codes, int64_t j) const {
    return table.at<n>(nibbles_at<order, n>(codes, j));
  }
};

}  // namespace
}  // namespace gather::cpu
