#pragma once

#include "cpu/tiers/scales.hpp"

// Blocks of the formats by name. JobPart of body.hpp.
//
// A class has the size of its blocks, and decode(block, factor, put), which calls put(j, v) with the numbers j to
// j + lanes - 1 of a block. Only the scales of nvfp4 are multiplied by the factor of the codec.
namespace gather::cpu {
namespace {

using Values = F<lanes>;
using Bits = I<lanes>;

GATHER_INLINE Values all(float value) { return all_of<lanes>(value); }
GATHER_INLINE Values numbers_of(Bits v) { return floats_of<lanes>(v); }
GATHER_INLINE Bits unsigned_at(const char* at) { return bytes_at<lanes>(at); }

// 16 groups of 16 numbers of 2 bits. The scale and the minimum of a group share a byte.
struct BlocksQ2K {
  static constexpr int64_t values = 256, bytes = 84;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const float d = half_at(block + 80), dmin = half_at(block + 82);
    for (int64_t part = 0; part < 2; ++part) {
      const char *const codes = block + 16 + part * 32, *const scales = block + part * 8;
      for (int64_t r = 0; r < 32; r += lanes) {
        const Bits code = unsigned_at(codes + r);
        for (int32_t quarter = 0; quarter < 4; ++quarter) {
          const int32_t scale = byte_at(scales + quarter * 2 + r / 16);
          const Values factor = all(d * static_cast<float>(scale & 15)), least = all(dmin * static_cast<float>(scale >> 4));
          put(part * 128 + quarter * 32 + r, factor * numbers_of(code >> quarter * 2 & 3) - least);
        }
      }
    }
  }
};

// 16 groups of 16 numbers of 3 bits. The high bits of all numbers come first. A scale has 6 bits.
struct BlocksQ3K {
  static constexpr int64_t values = 256, bytes = 110;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const float d = half_at(block + 108);
    const char* const packed = block + 96;
    float scales[16];
    for (int32_t g = 0; g < 16; ++g) {
      const int32_t low = byte_at(packed + g % 8) >> g / 8 * 4 & 15, high = byte_at(packed + 8 + g % 4) >> g / 4 * 2 & 3;
      scales[g] = d * static_cast<float>((low | high << 4) - 32);
    }
    for (int32_t part = 0; part < 2; ++part) {
      for (int64_t r = 0; r < 32; r += lanes) {
        const Bits low = unsigned_at(block + 32 + part * 32 + r), high = unsigned_at(block + r) >> part * 4;
        for (int32_t quarter = 0; quarter < 4; ++quarter) {
          const Bits code = (low >> quarter * 2 & 3) + (high >> quarter & 1) * 4 - 4;
          put(part * 128 + quarter * 32 + r, all(scales[part * 8 + quarter * 2 + r / 16]) * numbers_of(code));
        }
      }
    }
  }
};

// The eight scales and minima of 6 bits in 12 bytes.
struct SixBits {
  float scales[8], least[8];

  GATHER_INLINE explicit SixBits(const char* block) {
    const float d = half_at(block), dmin = half_at(block + 2);
    uint32_t words[3];
    __builtin_memcpy(words, block + 4, sizeof words);
    const uint32_t scale[2] = {words[0] & 0x3f3f3f3f, (words[2] & 0x0f0f0f0f) | (words[0] >> 2 & 0x30303030)};
    const uint32_t minimum[2] = {words[1] & 0x3f3f3f3f, (words[2] >> 4 & 0x0f0f0f0f) | (words[1] >> 2 & 0x30303030)};
    for (int64_t g = 0; g < 8; g += lanes) {
      const auto eight = [g](const uint32_t* at) { return reinterpret_cast<const char*>(at) + g; };
      store_numbers(reinterpret_cast<char*>(scales + g), all(d) * numbers_of(unsigned_at(eight(scale))));
      store_numbers(reinterpret_cast<char*>(least + g), all(dmin) * numbers_of(unsigned_at(eight(minimum))));
    }
  }
};

// Eight groups of 32 numbers of 4 bits, or of 5 bits whose fifth bits come first.
template <bool has_fifth>
struct BlocksOfSixBits {
  static constexpr int64_t values = 256, bytes = has_fifth ? 176 : 144;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const SixBits six(block);
    const char *const fifth = block + 16, *codes = block + (has_fifth ? 48 : 16);
    for (int32_t g = 0; g < 8; g += 2, codes += 32) {
      const Values scale = all(six.scales[g]), least = all(six.least[g]);
      const Values next_scale = all(six.scales[g + 1]), next_least = all(six.least[g + 1]);
      for (int64_t r = 0; r < 32; r += lanes) {
        const Bits code = unsigned_at(codes + r);
        Bits low = code & 15, high = code >> 4;
        if constexpr (has_fifth) {
          const Bits bits = unsigned_at(fifth + r) >> g;
          low |= (bits & 1) << 4;
          high |= (bits & 2) << 3;
        }
        put(g * 32 + r, scale * numbers_of(low) - least);
        put(g * 32 + 32 + r, next_scale * numbers_of(high) - next_least);
      }
    }
  }
};

// 16 groups of 16 numbers of 6 bits, with scales of 8 bits.
struct BlocksQ6K {
  static constexpr int64_t values = 256, bytes = 210;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const float d = half_at(block + 208);
    for (int64_t part = 0; part < 2; ++part) {
      const char *const low = block + part * 64, *const high = block + 128 + part * 32;
      const char* const scales = block + 192 + part * 8;
      for (int64_t r = 0; r < 32; r += lanes) {
        const Bits a = unsigned_at(low + r), b = unsigned_at(low + 32 + r), bits = unsigned_at(high + r);
        const Bits codes[4] = {(a & 15) | (bits & 3) << 4, (b & 15) | (bits & 12) << 2, a >> 4 | (bits & 48),
                               b >> 4 | (bits & 192) >> 2};
        for (int64_t quarter = 0; quarter < 4; ++quarter) {
          const float scale = d * static_cast<float>(static_cast<signed char>(scales[quarter * 2 + r / 16]));
          put(part * 128 + quarter * 32 + r, all(scale) * numbers_of(codes[quarter] - 32));
        }
      }
    }
  }
};

constexpr float iq4_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// Twice the numbers of e2m1. Code 8 is +0.
constexpr float fp4_table[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Eight groups of 32 numbers, with scales of 6 bits.
struct BlocksIq4Xs {
  static constexpr int64_t values = 256, bytes = 136;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const float d = half_at(block);
    const int32_t high = load_numbers<uint16_t, 1>(block + 2);
    const Table table{iq4_table};
    for (int32_t g = 0; g < 8; ++g) {
      const int32_t low = byte_at(block + 4 + g / 2) >> g % 2 * 4 & 15;
      const Values scale = all(d * static_cast<float>((low | (high >> 2 * g & 3) << 4) - 32));
      for (int64_t j = 0; j < 32; j += lanes) {
        put(g * 32 + j, scale * table.at<lanes>(halves_at<lanes>(block + 8 + g * 16, j)));
      }
    }
  }
};

struct BlocksMxfp4 {
  static constexpr int64_t values = 32, bytes = 17;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float, Put&& put) {
    const Values scale = all(half_of_e8m0(static_cast<uint32_t>(byte_at(block))));
    const Table table{fp4_table};
    for (int64_t j = 0; j < 32; j += lanes) put(j, scale * table.at<lanes>(halves_at<lanes>(block + 1, j)));
  }
};

// Four groups of 16 numbers, with scales of the type e4m3 without a sign.
struct BlocksNvfp4 {
  static constexpr int64_t values = 64, bytes = 36;

  template <class Put>
  static GATHER_INLINE void decode(const char* block, float factor, Put&& put) {
    const Table table{fp4_table};
    for (int64_t g = 0; g < 4; ++g) {
      const Values scale = all(scale_of(byte_at(block + g)) * factor);
      const char* const codes = block + 4 + g * 8;
      for (int64_t r = 0; r < 8; r += lanes) {
        const Bits code = unsigned_at(codes + r);
        put(g * 16 + r, scale * table.at<lanes>(code & 15));
        put(g * 16 + 8 + r, scale * table.at<lanes>(code >> 4));
      }
    }
  }

 private:
  // Returns half of the number, because the table has twice the numbers. 0x7f is 0, and bit 7 has no meaning otherwise.
  static GATHER_INLINE float scale_of(int32_t bits) {
    const int32_t magnitude = bits & 0x7f;
    if (bits == 0x7f) return 0;
    return magnitude < 8 ? static_cast<float>(magnitude) * 0x1p-10f : same_bits<float>((magnitude << 20) + (119 << 23));
  }
};

}  // namespace
}  // namespace gather::cpu
