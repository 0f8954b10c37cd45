#pragma once

#include "cpu/tiers/codes.hpp"

// The scales, and the zero points or biases, of packed rows. They are converted to float32 for some rows at once, so that
// the loops over codes do not depend on their types and places. Part of body.hpp.
namespace gather::cpu {
namespace {

using core::CodecOperand;
using core::CodecPart;
using core::PackedPlan;
using core::PackedRows;
using core::Place;
using core::ScaleType;

GATHER_INLINE float half_at(const char* at) { return Halves::template load<1>(at); }

// ---- Conversion

// The types of scales. Each has the type in memory.
struct Float32Scale {
  using Stored = float;
  static GATHER_INLINE float of(float v) { return v; }
};
struct Float16Scale {
  using Stored = uint16_t;
  static GATHER_INLINE float of(uint16_t v) { return Halves::template load<1>(reinterpret_cast<const char*>(&v)); }
  template <int64_t n>
  static GATHER_INLINE F<n> all_of(Numbers<uint16_t, n> v) {
    return WideOf<n>::widen(v);
  }
};
struct Bfloat16Scale {
  using Stored = uint16_t;
  static GATHER_INLINE float of(uint16_t v) { return same_bits<float>(uint32_t{v} << 16); }
  template <int64_t n>
  static GATHER_INLINE F<n> all_of(Numbers<uint16_t, n> v) {
    return same_bits<F<n>>(convert_numbers<int32_t, n>(v) << 16);
  }
};
struct E4m3fnScale {
  using Stored = uint8_t;
  static GATHER_INLINE float of(uint8_t v) { return e4m3fn_of(v); }
  static GATHER_INLINE Values all_at(const char* at) { return e4m3fn_at<lanes>(at); }
};
// 2^(exponent - 127). 0 is a subnormal number, and 255 is NaN.
struct E8m0Scale {
  using Stored = uint8_t;
  static GATHER_INLINE float of(uint8_t v) { return of_exponents<1>(v); }
  static GATHER_INLINE Values all_at(const char* at) { return of_exponents<lanes>(bytes_at<lanes>(at)); }

 private:
  template <int64_t n>
  static GATHER_INLINE F<n> of_exponents(I<n> exponent) {
    const I<n> least = I<n>{} + 0x400000, nan = I<n>{} + 0x7fc00000, normal = exponent << 23;
    const I<n> finite = exponent == 0 ? least : normal;
    return same_bits<F<n>>(exponent == 255 ? nan : finite);
  }
};
struct Int8Scale {
  using Stored = int8_t;
  static GATHER_INLINE float of(int8_t v) { return static_cast<float>(v); }
  static GATHER_INLINE Values all_at(const char* at) { return floats_of<lanes>(signed_bytes_at<lanes>(at)); }
};
struct Uint8Scale {
  using Stored = uint8_t;
  static GATHER_INLINE float of(uint8_t v) { return static_cast<float>(v); }
  static GATHER_INLINE Values all_at(const char* at) { return floats_of<lanes>(bytes_at<lanes>(at)); }
};

// ---- Places

constexpr int64_t float_bytes = sizeof(float);

// The most scales that are converted at once.
constexpr int64_t most_scales = most_decoded;

// The blocks [first, first + count) of each row. They have n numbers, which begin in the first block behind in_block
// numbers. The first code is at the byte `codes` of a row.
struct SomeBlocks {
  int64_t first, count, block_values, n, in_block, codes;
  bool has_columns;  // Each number gets its own copy of its scale.
};

GATHER_INLINE float float_at(const char* at) { return load_numbers<float, 1>(at); }

// The scales, or the zero points or biases, of some rows. Those of float32 remain where they are, and so do those of
// float16 with keeps_float16. The others are converted to float32. The scale of block b of row i is at at(i) + b * step.
class Scales {
 public:
  __attribute__((noinline)) Scales(const PackedPlan& plan, const CodecPart& part, const char* operand,
                                   const CodecOperand& strides, float constant, float factor, const SomeBlocks& blocks,
                                   bool keeps_float16)
      : type_(part.type), place_(part.place), operand_(operand), row_(strides.row), factor_(factor), blocks_(blocks) {
    const bool shares_bytes = type_ == ScaleType::int4 || type_ == ScaleType::uint4;
    const int64_t block = shares_bytes ? 2 * plan.codec.block_bytes : plan.codec.block_bytes;
    switch (place_) {
      case Place::none: room_[0] = constant; break;
      case Place::block: place(part.at - blocks.codes, block, blocks.first * plan.codec.block_bytes); break;
      case Place::tail: place(plan.codec.tail_at + part.at - blocks.codes, 0, 0); break;
      case Place::operand: place(0, strides.block, shares_bytes ? 0 : blocks.first * strides.block);
    }
    if (shares_bytes && place_ == Place::operand) half_ = blocks.first * block_;
    is_shared_ = place_ == Place::none || (place_ == Place::operand && row_ == 0);
    const bool is_in_columns = blocks.has_columns && block_ == float_bytes && blocks.block_values == 1;
    is_direct_ = (type_ == ScaleType::float32 && factor == 1 && (!blocks.has_columns || is_in_columns)) ||
                 (keeps_float16 && type_ == ScaleType::float16);
    found_ = is_direct_ ? offset_ : 0;
    step_ = is_direct_ ? block_ : block_ == 0 && !blocks.has_columns ? 0 : float_bytes;
  }

  GATHER_INLINE const char* at(int64_t i) const { return rows_[i] + found_; }
  GATHER_INLINE const char* const* rows() const { return rows_; }
  GATHER_INLINE int64_t offset() const { return found_; }
  GATHER_INLINE int64_t step() const { return step_; }
  // Returns true if a scale can exceed 2^100.
  bool may_be_large() const {
    return factor_ != 1 || (type_ != ScaleType::float16 && type_ != ScaleType::e4m3fn && type_ != ScaleType::none);
  }
  // Returns the number of scales of a row that are converted.
  int64_t converted() const { return is_direct_ || is_shared_ ? 0 : blocks_.has_columns ? blocks_.n : scales_of_row(); }
  int64_t scales_of_row() const { return block_ == 0 ? 1 : blocks_.count; }

  // Finds the scales of the rows that are read next, at most step_rows, and prefetches them.
  void find_next(const int64_t* numbers, int64_t count) {
    if (place_ != Place::operand) return;
    const char** const to = operands_[step_of_rows_];
    const char *const first = operand_ + offset_, *const base = operand_;
    const int64_t row = row_, bytes = blocks_.count * block_;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = base + numbers[i] * row;
      __builtin_prefetch(first + numbers[i] * row, 0, 3);
      for (int64_t line = 64; line < bytes; line += 64) __builtin_prefetch(first + numbers[i] * row + line, 0, 3);
    }
  }

  // Reads the scales of the rows whose codes are at `codes`. find_next() was called with the same rows.
  void read(const char* const* codes, int64_t count) {
    rows_ = codes;
    if (place_ == Place::operand) {
      rows_ = operands_[step_of_rows_];
      step_of_rows_ ^= 1;
    }
    if (is_direct_) return;
    if (is_shared_ && has_read_) {
      rows_ = converted_rows_;
      return;
    }
    has_read_ = true;
    convert(is_shared_ ? 1 : count);
    for (int64_t i = 1; is_shared_ && i < step_rows; ++i) converted_rows_[i] = converted_rows_[0];
  }

 private:
  void place(int64_t at, int64_t block, int64_t first) { block_ = block, offset_ = at + first; }

  __attribute__((noinline)) void convert(int64_t rows) {
    switch (type_) {
      case ScaleType::none: break;
      case ScaleType::float32: convert_all<Float32Scale>(rows); break;
      case ScaleType::float16: convert_all<Float16Scale>(rows); break;
      case ScaleType::bfloat16: convert_all<Bfloat16Scale>(rows); break;
      case ScaleType::e4m3fn: convert_all<E4m3fnScale>(rows); break;
      case ScaleType::e8m0: convert_all<E8m0Scale>(rows); break;
      case ScaleType::int8: convert_all<Int8Scale>(rows); break;
      case ScaleType::uint8: convert_all<Uint8Scale>(rows); break;
      default: convert_nibbles(rows);
    }
    const int64_t n = rows * scales_of_row();
    for (int64_t i = 0; factor_ != 1 && i < n; ++i) room_[i] *= factor_;
    if (blocks_.has_columns) spread(rows);
    const int64_t each = blocks_.has_columns ? blocks_.n : scales_of_row();
    for (int64_t i = 0; i < rows; ++i) converted_rows_[i] = reinterpret_cast<const char*>(room_ + i * each);
    rows_ = converted_rows_;
  }

  template <class Type>
  void convert_all(int64_t rows) {
    const int64_t block = block_, count = scales_of_row(), offset = offset_;
    const char* const* const at = rows_;
    float* to = room_;
    if (count == 1 && sizeof(typename Type::Stored) > 1) {
      return convert_some<Type>(rows, to, [=](int64_t i) { return at[i] + offset; });
    }
    for (int64_t i = 0; i < rows; ++i, to += count) {
      const char* const first = at[i] + offset;
      const int64_t done = block == 1 ? convert_bytes<Type>(first, count, to) : 0;
      convert_some<Type>(count - done, to + done, [=](int64_t b) { return first + (done + b) * block; });
    }
  }

  // Converts whole vectors of n successive bytes. Returns the number of converted ones.
  template <class Type>
  static GATHER_INLINE int64_t convert_bytes(const char* at, int64_t n, float* to) {
    int64_t i = 0;
    if constexpr (lanes > 1 && sizeof(typename Type::Stored) == 1) {
      for (; i + lanes <= n; i += lanes) store_numbers(reinterpret_cast<char*>(to + i), Type::all_at(at + i));
    }
    return i;
  }

  // Converts n scales. The i-th one is at at(i). Numbers of 2 bytes are converted as vectors.
  template <class Type, class At>
  static GATHER_INLINE void convert_some(int64_t n, float* to, At at) {
    using Stored = typename Type::Stored;
    int64_t i = 0;
    if constexpr (lanes > 1 && sizeof(Stored) == 2) {
      for (; i + lanes <= n; i += lanes) {
        Numbers<Stored, lanes> stored;
        for (int64_t k = 0; k < lanes; ++k) stored[k] = load_numbers<Stored, 1>(at(i + k));
        store_numbers(reinterpret_cast<char*>(to + i), Type::template all_of<lanes>(stored));
      }
    }
    for (; i < n; ++i) to[i] = Type::of(load_numbers<Stored, 1>(at(i)));
  }

  void convert_nibbles(int64_t rows) {
    float* to = room_;
    const bool is_signed = type_ == ScaleType::int4;
    const auto number_of = [=](int32_t bits) { return static_cast<float>(is_signed ? (bits ^ 8) - 8 : bits); };
    const int64_t count = scales_of_row();
    for (int64_t i = 0; i < rows; ++i) {
      const char* const at = rows_[i] + offset_;
      int64_t b = 0, half = half_;
      if (block_ == 1 && half % 2 == 0) {  // two numbers of each byte
        for (; b + 2 <= count; b += 2, half += 2) {
          const int32_t both = byte_at(at + half / 2);
          to[b] = number_of(both & 15);
          to[b + 1] = number_of(both >> 4);
        }
      }
      for (; b < count; ++b, half += block_) to[b] = number_of(byte_at(at + (half >> 1)) >> (half & 1) * 4 & 15);
      to += count;
    }
  }

  // Copies the scale of each block to its numbers.
  void spread(int64_t rows) {
    const int64_t count = scales_of_row();
    for (int64_t i = rows; i-- > 0;) {
      int64_t k = blocks_.n;
      for (int64_t b = blocks_.count; b-- > 0;) {
        const float value = room_[i * count + (count == 1 ? 0 : b)];
        const int64_t begin = b == 0 ? 0 : b * blocks_.block_values - blocks_.in_block;
        while (k > begin) room_[i * blocks_.n + --k] = value;
      }
    }
  }

  const ScaleType type_;
  const Place place_;
  const char* const operand_;
  const int64_t row_;  // the stride of rows of the operand
  const float factor_;
  const SomeBlocks& blocks_;
  // Of the first scale, from the codes or the beginning of the operand's row, and from block to block. Numbers of 4 bits
  // count halves of a byte from block to block.
  int64_t offset_ = 0, block_ = 0, half_ = 0;
  bool is_shared_, is_direct_, has_read_ = false;
  int64_t found_, step_;
  const char* const* rows_ = nullptr;
  int64_t step_of_rows_ = 0;
  const char* operands_[2][step_rows];
  const char* converted_rows_[step_rows];
  alignas(64) float room_[static_cast<size_t>(most_scales + lanes)];
};

}  // namespace
}  // namespace gather::cpu
