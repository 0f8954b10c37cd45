#pragma once

#include "cpu/tiers/scales.hpp"

// Blocks of the formats by name. Part of body.hpp.
//
// A class describes a block of `values` numbers in `bytes` bytes. Each group of values / groups numbers has a scale, and
// a minimum that is subtracted if has_least.
//   scales(block, factor, scales, least)   computes them. Only the scales of nvfp4 are multiplied by the factor of the
//                                          codec.
//   chunk(block, c)                        returns the codes of chunk c
namespace gather::cpu {
namespace {

// The most groups of a block, and the bytes behind them that a vector may write.
constexpr int64_t most_groups = 16;

GATHER_INLINE Octets octets_at(const char* at) { return load_numbers<uint8_t, octets>(at); }

// Returns bits of each byte, moved to the right, or to the left if the distance is negative. No instruction moves the
// bits of bytes, so pairs of bytes are moved. The mask removes the bits of the other byte.
template <int64_t n>
GATHER_INLINE Numbers<uint8_t, n> moved_bits(Numbers<uint8_t, n> v, int32_t distance, int32_t mask) {
  const auto bits = static_cast<uint8_t>(mask);
  if constexpr (n == 1) {
    return static_cast<uint8_t>((distance < 0 ? v << -distance : v >> distance) & bits);
  } else {
    const auto pairs = same_bits<Numbers<uint16_t, n / 2>>(v);
    return same_bits<Numbers<uint8_t, n>>(distance < 0 ? pairs << -distance : pairs >> distance) & bits;
  }
}
GATHER_INLINE Octets bits_of(Octets v, int32_t distance, int32_t mask) { return moved_bits<octets>(v, distance, mask); }

// Converts n numbers to float32 and multiplies them.
template <class T, int64_t n>
GATHER_INLINE void multiply_bytes(const char* from, float by, float* to) {
  const Values factor = all_of<lanes>(by);
  for (int64_t i = 0; i < n; i += lanes) {
    const Bits integers = T(-1) < T(0) ? signed_bytes_at<lanes>(from + i) : bytes_at<lanes>(from + i);
    store_numbers(reinterpret_cast<char*>(to + i), factor * floats_of<lanes>(integers));
  }
}

// Makes a chunk of bytes: of(r) returns those from byte r on.
template <class Of>
GATHER_INLINE ChunkOfBytes chunk_of_bytes(Of of) {
  ChunkOfBytes chunk;
  for (int64_t i = 0; i < ChunkOfBytes::count; ++i) chunk.registers[i] = of(i * octets);
  return chunk;
}

// Numbers of 2 bits. The scale and the minimum of a group share a byte.
struct BlockQ2K {
  static constexpr int64_t values = 256, bytes = 84, groups = 16;
  static constexpr bool has_least = true;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float* least) {
    uint64_t both[2], low[2], high[2];
    __builtin_memcpy(both, block, sizeof both);
    for (int32_t i = 0; i < 2; ++i) low[i] = both[i] & nibbles, high[i] = both[i] >> 4 & nibbles;
    multiply_bytes<uint8_t, 16>(reinterpret_cast<const char*>(low), half_at(block + 80), scales);
    multiply_bytes<uint8_t, 16>(reinterpret_cast<const char*>(high), half_at(block + 82), least);
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    const char* const codes = block + 16 + c / 4 * 32;
    return chunk_of_bytes([=](int64_t r) { return bits_of(octets_at(codes + r), c % 4 * 2, 3); })
        .template widened<uint8_t>();
  }

 private:
  static constexpr uint64_t nibbles = 0x0f0f0f0f0f0f0f0f;
};

// Numbers of 3 bits. The high bits of all numbers come first. A scale has 6 bits.
struct BlockQ3K {
  static constexpr int64_t values = 256, bytes = 110, groups = 16;
  static constexpr bool has_least = false;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float*) {
    uint32_t words[3], integers[4];
    __builtin_memcpy(words, block + 96, sizeof words);
    for (int32_t i = 0; i < 4; ++i) {  // the high bits of four scales share a byte
      const uint32_t low = words[i % 2] >> i / 2 * 4 & 0x0f0f0f0f, high = (words[2] >> 2 * i & 0x03030303) << 4;
      integers[i] = ((low | high) + 0x60606060) ^ 0x80808080;  // less 32 in each byte: plus 96 and less 128
    }
    multiply_bytes<int8_t, 16>(reinterpret_cast<const char*>(integers), half_at(block + 108), scales);
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    const char* const codes = block + 32 + c / 4 * 32;
    return chunk_of_bytes([=](int64_t r) {
             const Octets low = bits_of(octets_at(codes + r), c % 4 * 2, 3),
                          high = bits_of(octets_at(block + r), c - 2, 4);
             return static_cast<Octets>((low | high) - static_cast<uint8_t>(4));
           })
        .template widened<int8_t>();
  }
};

// Numbers of 4 bits, or of 5 bits whose fifth bits come first. The eight scales and minima of 6 bits have 12 bytes.
template <bool has_fifth>
struct BlockOfSixBits {
  static constexpr int64_t values = 256, bytes = has_fifth ? 176 : 144, groups = 8;
  static constexpr bool has_least = true;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float* least) {
    uint32_t words[3];
    __builtin_memcpy(words, block + 4, sizeof words);
    const uint32_t scale[2] = {words[0] & 0x3f3f3f3f, (words[2] & 0x0f0f0f0f) | (words[0] >> 2 & 0x30303030)};
    const uint32_t minimum[2] = {words[1] & 0x3f3f3f3f, (words[2] >> 4 & 0x0f0f0f0f) | (words[1] >> 2 & 0x30303030)};
    multiply_bytes<uint8_t, 8>(reinterpret_cast<const char*>(scale), half_at(block), scales);
    multiply_bytes<uint8_t, 8>(reinterpret_cast<const char*>(minimum), half_at(block + 2), least);
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    const char *const fifth = block + 16, *const codes = block + (has_fifth ? 48 : 16) + c / 2 * 32;
    if constexpr (has_fifth) {
      return chunk_of_bytes([=](int64_t r) {
               const Octets low = bits_of(octets_at(codes + r), c % 2 * 4, 15);
               return static_cast<Octets>(low | bits_of(octets_at(fifth + r), c - 4, 16));
             })
          .template widened<uint8_t>();
    } else {
      Chunk chunk;
      for (int64_t i = 0; i < Chunk::count; ++i) {
        const Bits both = bytes_at<lanes>(codes + i * lanes);
        chunk.vectors[i] = floats_of<lanes>(c % 2 == 0 ? both & 15 : both >> 4);
      }
      return chunk;
    }
  }
};

// Numbers of 6 bits, with scales of 8 bits.
struct BlockQ6K {
  static constexpr int64_t values = 256, bytes = 210, groups = 16;
  static constexpr bool has_least = false;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float*) {
    multiply_bytes<int8_t, 16>(block + 192, half_at(block + 208), scales);
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    const int32_t part = c / 4, quarter = c % 4;
    const char *const low = block + part * 64 + quarter % 2 * 32, *const high = block + 128 + part * 32;
    return chunk_of_bytes([=](int64_t r) {
             const Octets four = bits_of(octets_at(low + r), quarter / 2 * 4, 15);
             const Octets two = bits_of(octets_at(high + r), quarter * 2 - 4, 48);
             return static_cast<Octets>((four | two) - static_cast<uint8_t>(32));
           })
        .template widened<int8_t>();
  }
};

// Entries of a table, with scales of 6 bits.
struct BlockIq4Xs {
  static constexpr int64_t values = 256, bytes = 136, groups = 8;
  static constexpr bool has_least = false;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float*) {
    const float d = half_at(block);
    const int32_t high = load_numbers<uint16_t, 1>(block + 2);
    const int32_t low = load_numbers<int32_t, 1>(block + 4);
    for (int32_t g = 0; g < 8; ++g) {
      scales[g] = d * static_cast<float>(((low >> 4 * g & 15) | (high >> 2 * g & 3) << 4) - 32);
    }
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    return look_up(iq4_table, bytes_of_halves(block + 8 + c * 16)).template widened<int8_t>();
  }
};

// The scale is 2^(exponent - 128), because the table has twice the numbers.
struct BlockMxfp4 {
  static constexpr int64_t values = 32, bytes = 17, groups = 1;
  static constexpr bool has_least = false;

  static GATHER_INLINE void scales(const char* block, float, float* scales, float*) {
    const auto exponent = static_cast<uint32_t>(byte_at(block));
    *scales = same_bits<float>(exponent < 2 ? 0x200000u << exponent : (exponent - 1) << 23);
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t) {
    return look_up(fp4_table, bytes_of_halves(block + 1)).template widened<int8_t>();
  }
};

// Scales have the type e4m3 without a sign. The 4 low bits of the 8 bytes of a group come first.
struct BlockNvfp4 {
  static constexpr int64_t values = 64, bytes = 36, groups = 4;
  static constexpr bool has_least = false;

  static GATHER_INLINE void scales(const char* block, float factor, float* scales, float*) {
    for (int64_t g = 0; g < groups; g += lanes) {
      store_numbers(reinterpret_cast<char*>(scales + g), scales_of<lanes>(block + g) * factor);
    }
  }
  static GATHER_INLINE Chunk chunk(const char* block, int32_t c) {
    ChunkOfBytes numbers;
    WideOf<lanes>::unpack_halves_of_eight(block + 4 + c * 16, numbers.registers);
    return look_up(fp4_table, numbers).template widened<int8_t>();
  }

 private:
  // Returns half of the numbers, because the table has twice the numbers. 0x7f is 0, and bit 7 has no meaning otherwise.
  template <int64_t n>
  static GATHER_INLINE F<n> scales_of(const char* at) {
    if constexpr (n == 1) {
      const int32_t bits = byte_at(at);
      return bits == 0x7f ? 0 : (bits & 0x7f) == 0x7f ? 240 : e4m3fn_of(bits & 0x7f) * 0.5f;
    } else {
      using H = Numbers<uint16_t, n>;
      const H high = WideOf<n>::template high_bytes<n>(at), other = same_bits<H>(high != 0x7f00);
      return WideOf<n>::widen(static_cast<H>((high & 0x7f00 & other) >> 1)) * 128.0f;
    }
  }
};

// The scales and minima of a block.
template <class Block>
struct BlockScales {
  alignas(32) float scales[most_groups];
  alignas(32) float least[Block::has_least ? most_groups : 1];

  GATHER_INLINE void compute(const char* block, float factor) { Block::scales(block, factor, scales, least); }

  // Returns vector i of chunk c, whose codes are given.
  GATHER_INLINE Values value(int64_t c, int64_t i, Values code) const {
    const int64_t group = (c * chunk_numbers + i * lanes) / (Block::values / Block::groups);
    const Values product = all_of<lanes>(scales[group]) * code;
    if constexpr (Block::has_least) return product - all_of<lanes>(least[group]);
    return product;
  }
};

}  // namespace
}  // namespace gather::cpu
