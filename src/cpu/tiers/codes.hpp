#pragma once

#include <utility>

#include "cpu/tiers/numbers.hpp"

// Converts codes of packed rows to float32. Part of body.hpp.
//
// A class of codes has
//   bits           the bits of a code
//   step           the numbers from one whole byte to the next one
//   at<n>(at, j)   returns the codes of the numbers j to j + n - 1. n is 1, or the number of lanes. Then j is a multiple
//                  of `step`.
//   chunk(at)      returns the codes of the first `chunk_numbers` numbers, divided by chunk_divisor
//   is_frequent(formula)   returns true if known formats have this formula, so that it has code of its own
// `at` is the first byte of the codes of a block. If they are not in halves, it is the byte at which any number begins.
// No byte is read that has none of these codes.
namespace gather::cpu {
namespace {

using core::Code;
using core::Codec;
using core::CodePacking;
using core::Rule;

constexpr int64_t lanes = Wide::count;

// How a number is computed from a code, a scale, and a zero point or bias.
enum class Formula {
  product,  // The zero point is 0.
  scaled,
  fused,
};

// The tables of a codec: of float32, and of bytes if all numbers are bytes.
struct Tables {
  const float* numbers;
  const int8_t* bytes;
};

// The functions of Wide in templates for vectors. Without the argument, a tier without vectors would not compile.
template <int64_t n>
struct WideOf : Wide {};

template <int64_t n>
using F = Numbers<float, n>;
template <int64_t n>
using I = Numbers<int32_t, n>;
template <int64_t n>
using U = Numbers<uint32_t, n>;

using Values = F<lanes>;
using Bits = I<lanes>;

// A register of bytes. Numbers of few bits are unpacked to bytes before they are widened.
constexpr int64_t octets = Wide::octets;
using Octets = Numbers<uint8_t, octets>;

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

template <int64_t n>
GATHER_INLINE I<n> signed_bytes_at(const char* at) {
  if constexpr (n == 1) {
    return static_cast<signed char>(*at);
  } else {
    return WideOf<n>::signed_bytes(at);
  }
}

// ---- Chunks

// The vectors of some successive numbers.
struct Chunk {
  static constexpr int64_t count = chunk_numbers / lanes;
  Values vectors[static_cast<size_t>(count)];
};

// The bytes of a chunk.
struct ChunkOfBytes {
  static constexpr int64_t count = chunk_numbers / octets;
  Octets registers[static_cast<size_t>(count)];

  // Converts the bytes, which are unsigned or signed integers.
  template <class T>
  GATHER_INLINE Chunk widened() const {
    Chunk chunk;
    Bits integers[static_cast<size_t>(Chunk::count)];
    for (int64_t i = 0; i < count; ++i) {
      WideOf<lanes>::template widen_bytes<(T(-1) < T(0))>(registers[i], integers + i * (octets / lanes));
    }
    for (int64_t i = 0; i < Chunk::count; ++i) chunk.vectors[i] = floats_of<lanes>(integers[i]);
    return chunk;
  }
};

// Returns the 4 low bits of 16 bytes, and then the 4 high bits.
GATHER_INLINE ChunkOfBytes bytes_of_halves(const char* at) {
  ChunkOfBytes chunk;
  WideOf<lanes>::unpack_halves(at, chunk.registers);
  return chunk;
}

struct UndividedChunks {
  static constexpr float chunk_divisor = 1;
  static constexpr bool has_float16_scales = false, has_half_chunks = false;
};

// Makes a chunk of vectors.
template <class Codes>
struct InTurn : UndividedChunks {
  GATHER_INLINE Chunk chunk(const char* at) const {
    Chunk chunk;
    for (int64_t i = 0; i < Chunk::count; ++i) {
      chunk.vectors[i] = static_cast<const Codes*>(this)->template at<lanes>(at, i * lanes);
    }
    return chunk;
  }
};

// ---- Numbers that share bytes

// What the other bits of an integer are: unspecified, 0, or copies of its highest bit.
enum class Extended { not_at_all, by_zeros, by_sign };

// Returns the distances of numbers of `bits` bits from the low end of their 32 bits, or from the high end, in the
// order of the numbers.
template <int32_t bits, CodePacking packing, bool is_from_high, size_t... i>
GATHER_INLINE auto shifts_of(std::index_sequence<i...>) {
  constexpr uint32_t size = bits, flipped = packing == CodePacking::high_first ? 8 / size - 1 : 0;
  constexpr uint32_t last = 32 - size;
  return U<int64_t{sizeof...(i)}>{(is_from_high ? last - (static_cast<uint32_t>(i) ^ flipped) * size % 32
                                                : (static_cast<uint32_t>(i) ^ flipped) * size % 32)...};
}

// Returns the 32 bits that have the number of each lane.
template <int64_t n, int64_t bits>
GATHER_INLINE U<n> words_at(const char* at) {
  if constexpr (n * bits > 32) {
    return WideOf<n>::nibbles(at);
  } else {
    uint32_t word = 0;
    __builtin_memcpy(&word, at, static_cast<size_t>(n * bits / 8));
    return word - U<n>{};
  }
}

// Returns numbers of `bits` bits from number j on.
template <int32_t bits, CodePacking packing, Extended extended, int64_t n>
GATHER_INLINE I<n> fields_at(const char* at, int64_t j) {
  constexpr int32_t each = 8 / bits, mask = (1 << bits) - 1;
  constexpr bool has_sign = extended == Extended::by_sign;
  if constexpr (n == 1) {
    const int32_t place = static_cast<int32_t>(j % each);
    const int32_t field =
        byte_at(at + j / each) >> (packing == CodePacking::high_first ? each - 1 - place : place) * bits & mask;
    return has_sign ? (field ^ 1 << (bits - 1)) - (1 << (bits - 1)) : field;
  } else {
    const U<n> shifts = shifts_of<bits, packing, has_sign>(std::make_index_sequence<size_t{n}>());
    const U<n> words = words_at<n, bits>(at + j / each);
    if constexpr (has_sign) {
      return same_bits<I<n>>(words << shifts) >> (32 - bits);
    } else {
      const I<n> fields = same_bits<I<n>>(words >> shifts);
      return extended == Extended::by_zeros ? fields & mask : fields;
    }
  }
}

struct Integers {
  Bits vectors[static_cast<size_t>(Chunk::count)];
};

// Numbers of 4 bits.
template <CodePacking packing, Extended extended>
struct Nibbles {
  static constexpr int64_t step = 2;

  template <int64_t n>
  static GATHER_INLINE I<n> at(const char* at, int64_t j) {
    return fields_at<4, packing, extended, n>(at, j);
  }
  static GATHER_INLINE Integers chunk(const char* at) {
    Integers chunk;
    for (int64_t i = 0; i < Chunk::count; ++i) chunk.vectors[i] = Nibbles::at<lanes>(at, i * lanes);
    return chunk;
  }
};

// The 4 low bits of 16 bytes, and then the 4 high bits.
template <Extended extended>
struct Nibbles<CodePacking::halves, extended> {
  static constexpr int64_t step = lanes;

  template <int64_t n>
  static GATHER_INLINE I<n> at(const char* at, int64_t j) {
    return j < 16 ? low_of<n>(bytes_at<n>(at + j)) : high_at<n>(at + j - 16);
  }
  static GATHER_INLINE Integers chunk(const char* at) {
    constexpr int64_t half = Chunk::count / 2;
    Integers chunk;
    for (int64_t i = 0; i < half; ++i) {
      chunk.vectors[i] = low_of<lanes>(bytes_at<lanes>(at + i * lanes));
      chunk.vectors[half + i] = high_at<lanes>(at + i * lanes);
    }
    return chunk;
  }

 private:
  template <int64_t n>
  static GATHER_INLINE I<n> low_of(I<n> bytes) {
    if constexpr (extended == Extended::by_sign) return bytes << 28 >> 28;
    return extended == Extended::by_zeros || n == 1 ? bytes & 15 : bytes;
  }
  template <int64_t n>
  static GATHER_INLINE I<n> high_at(const char* at) {
    return (extended == Extended::by_sign ? signed_bytes_at<n>(at) : bytes_at<n>(at)) >> 4;
  }
};

// ---- Integers

struct Uint8Codes : InTurn<Uint8Codes> {
  static constexpr int64_t bits = 8, step = 1;
  static constexpr bool is_frequent(Formula) { return true; }
  explicit Uint8Codes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return floats_of<n>(bytes_at<n>(at + j));
  }
};

struct Int8Codes : InTurn<Int8Codes> {
  static constexpr int64_t bits = 8, step = 1;
  static constexpr bool is_frequent(Formula formula) { return formula != Formula::fused; }
  explicit Int8Codes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return floats_of<n>(signed_bytes_at<n>(at + j));
  }
};

// The most frequent zero points of 4 and 5 bits are subtracted from integers.
template <CodePacking packing, Extended extended, int32_t zero = 0>
struct NibbleCodes : UndividedChunks {
  using Numbers = Nibbles<packing, extended>;
  static constexpr int64_t bits = 4, step = Numbers::step;
  static constexpr bool is_frequent(Formula formula) {
    return packing == CodePacking::low_first && (extended == Extended::by_zeros || formula != Formula::fused);
  }
  explicit NibbleCodes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return floats_of<n>(Numbers::template at<n>(at, j) - zero);
  }
  GATHER_INLINE Chunk chunk(const char* at) const {
    const Integers integers = Numbers::chunk(at);
    Chunk chunk;
    for (int64_t i = 0; i < Chunk::count; ++i) chunk.vectors[i] = floats_of<lanes>(integers.vectors[i] - zero);
    return chunk;
  }
};

template <CodePacking packing>
using Uint4Codes = NibbleCodes<packing, Extended::by_zeros>;
template <CodePacking packing>
using Int4Codes = NibbleCodes<packing, Extended::by_sign>;
template <CodePacking packing>
using Uint4LessEight = NibbleCodes<packing, Extended::by_zeros, 8>;

template <CodePacking packing, Extended extended>
struct TwoBitCodes : InTurn<TwoBitCodes<packing, extended>> {
  static constexpr int64_t bits = 2, step = 4;
  static constexpr bool is_frequent(Formula formula) {
    return packing == CodePacking::low_first &&
           (extended == Extended::by_zeros ? formula != Formula::product : formula == Formula::product);
  }
  explicit TwoBitCodes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return floats_of<n>(fields_at<2, packing, extended, n>(at, j));
  }
};

template <CodePacking packing>
using Uint2Codes = TwoBitCodes<packing, Extended::by_zeros>;
template <CodePacking packing>
using Int2Codes = TwoBitCodes<packing, Extended::by_sign>;

// 32 fifth bits, and then the low bits in halves.
template <int32_t zero = 0>
struct Uint5Codes : UndividedChunks {
  static constexpr int64_t bits = 5, step = lanes;
  static constexpr bool is_frequent(Formula) { return false; }
  using Low = Nibbles<CodePacking::halves, Extended::by_zeros>;
  explicit Uint5Codes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    uint32_t fifth;
    __builtin_memcpy(&fifth, at, sizeof fifth);
    return floats_of<n>((Low::at<n>(at + 4, j) | (moved<n>(fifth >> j) & 1) << 4) - zero);
  }
  GATHER_INLINE Chunk chunk(const char* at) const {
    ChunkOfBytes low = bytes_of_halves(at + 4), fifth;
    WideOf<lanes>::spread_bits(at, fifth.registers);
    for (int64_t i = 0; i < ChunkOfBytes::count; ++i) {
      const auto code = static_cast<Octets>(low.registers[i] | (fifth.registers[i] & 16));
      low.registers[i] = static_cast<Octets>(code - static_cast<uint8_t>(zero));
    }
    return low.widened<int8_t>();
  }

 private:
  // Moves bit i of lane i to bit 0.
  template <int64_t n>
  static GATHER_INLINE I<n> moved(uint32_t from) {
    if constexpr (n == 1) {
      return static_cast<int32_t>(from);
    } else {
      const U<n> shifts = shifts_of<1, CodePacking::low_first, false>(std::make_index_sequence<size_t{n}>());
      return same_bits<I<n>>((from - U<n>{}) >> shifts);
    }
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

// Vectors are converted by way of float16, which has the same bits for 1/256 of a number. The high bytes of the lanes are
// the numbers.
template <int64_t n>
GATHER_INLINE Numbers<uint16_t, n> float16_of_e4m3fn(Numbers<uint16_t, n> high) {
  using H = Numbers<uint16_t, n>;
  const H nan = same_bits<H>((high & 0x7fff) == 0x7f00);
  const H moved = same_bits<H>(same_bits<Numbers<int16_t, n>>(high) >> 1);  // begins with two copies of the sign
  return (moved & 0xbfff) | nan;
}

template <int64_t n>
GATHER_INLINE F<n> e4m3fn_at(const char* at) {
  if constexpr (n == 1) {
    return e4m3fn_of(byte_at(at));
  } else {
    return WideOf<n>::widen(float16_of_e4m3fn<n>(WideOf<n>::template high_bytes<n>(at))) * 256.0f;
  }
}

struct E4m3fnCodes : UndividedChunks {
  static constexpr float chunk_divisor = lanes == 1 ? 1 : 256;
  static constexpr int64_t bits = 8, step = 1;
  static constexpr bool is_frequent(Formula formula) { return formula == Formula::product; }
  explicit E4m3fnCodes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return e4m3fn_at<n>(at + j);
  }
  GATHER_INLINE Chunk chunk(const char* at) const { return chunk_of<lanes>(at); }

 private:
  // Twice as many lanes of 16 bits fill a register.
  template <int64_t n>
  static GATHER_INLINE Chunk chunk_of(const char* at) {
    Chunk chunk;
    if constexpr (n == 1) {
      for (int64_t i = 0; i < Chunk::count; ++i) chunk.vectors[i] = e4m3fn_at<n>(at + i);
    } else {
      for (int64_t i = 0; i < Chunk::count; i += 2) {
        WideOf<n>::widen_both(float16_of_e4m3fn<2 * n>(WideOf<n>::template high_bytes<2 * n>(at + i * n)),
                              chunk.vectors + i);
      }
    }
    return chunk;
  }
};

// The numbers are the high bytes of float16.
struct E5m2Codes : InTurn<E5m2Codes> {
  static constexpr int64_t bits = 8, step = 1;
  static constexpr bool is_frequent(Formula formula) { return formula == Formula::product; }
  explicit E5m2Codes(const Tables&) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    if constexpr (n == 1) {
      const uint16_t half = static_cast<uint16_t>(byte_at(at + j) << 8);
      return Halves::template load<1>(reinterpret_cast<const char*>(&half));
    } else {
      return WideOf<n>::widen(WideOf<n>::template high_bytes<n>(at + j));
    }
  }
};

// ---- Entries of a table of 16 numbers

// Only the 4 low bits of a vector of numbers of entries are used.
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

template <CodePacking packing>
struct TableCodes : UndividedChunks {
  using Entries = Nibbles<packing, Extended::not_at_all>;
  static constexpr int64_t bits = 4, step = Entries::step;
  static constexpr bool is_frequent(Formula formula) {
    return packing != CodePacking::halves && formula == Formula::product;
  }
  static constexpr bool has_half_chunks = packing == CodePacking::low_first;
  Table table;
  explicit TableCodes(const Tables& tables) : table{tables.numbers} {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    return table.at<n>(Entries::template at<n>(at, j));
  }
  GATHER_INLINE Chunk chunk(const char* at) const {
    const Integers entries = Entries::chunk(at);
    Chunk chunk;
    for (int64_t i = 0; i < Chunk::count; ++i) chunk.vectors[i] = table.at<lanes>(entries.vectors[i]);
    return chunk;
  }
};

// ---- Entries of a table of 16 integers of 8 bits

GATHER_INLINE ChunkOfBytes look_up(const int8_t* entries, ChunkOfBytes numbers) {
  for (int64_t i = 0; i < ChunkOfBytes::count; ++i) {
    numbers.registers[i] = WideOf<lanes>::look_up_bytes(entries, numbers.registers[i]);
  }
  return numbers;
}

alignas(16) constexpr int8_t iq4_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// Twice the numbers of e2m1. Code 8 is +0.
alignas(16) constexpr int8_t fp4_table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Converts the table of a codec to integers of 8 bits. Returns false if they are not the same numbers. -0 is none.
__attribute__((noinline)) bool convert_table(const Codec& codec, int8_t* to) {
  bool is_exact = true;
  for (int64_t i = 0; i < 16; ++i) {
    const float entry = codec.table[i];
    const bool is_near = entry >= -128 && entry <= 127;
    to[i] = static_cast<int8_t>(is_near ? static_cast<int32_t>(entry) : 0);
    is_exact &= same_bits<uint32_t>(static_cast<float>(to[i])) == same_bits<uint32_t>(entry);
  }
  return is_exact;
}

// Codes in halves.
struct ByteTableCodes : UndividedChunks {
  using Entries = Nibbles<CodePacking::halves, Extended::by_zeros>;
  static constexpr int64_t bits = 4, step = Entries::step;
  static constexpr bool is_frequent(Formula) { return false; }
  const int8_t* entries;
  explicit ByteTableCodes(const Tables& tables) : entries(tables.bytes) {}

  template <int64_t n>
  GATHER_INLINE F<n> at(const char* at, int64_t j) const {
    F<n> values{};
    if constexpr (n == 1) {
      values = entries[Entries::at<1>(at, j)];
    } else {
      for (int64_t i = 0; i < n; ++i) values[i] = entries[Entries::at<1>(at, j + i)];
    }
    return values;
  }
  GATHER_INLINE Chunk chunk(const char* at) const { return look_up(entries, bytes_of_halves(at)).widened<int8_t>(); }
};

// Codes of blocks of GGUF, whose scales remain float16.
template <class Codes>
struct OfGguf : Codes {
  static constexpr bool has_float16_scales = true;
  static constexpr bool is_frequent(Formula) { return true; }
  using Codes::Codes;
};

}  // namespace
}  // namespace gather::cpu
