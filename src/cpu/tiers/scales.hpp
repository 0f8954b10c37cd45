#pragma once

#include "cpu/tiers/codes.hpp"

// The scales, and the zero points or biases, of packed rows. JobPart of body.hpp.
namespace gather::cpu {
namespace {

using core::CodecOperand;
using core::CodecPart;
using core::PackedPlan;
using core::PackedRows;
using core::Place;
using core::ScaleType;

GATHER_INLINE float half_at(const char* at) { return Halves::template load<1>(at); }

// 2^(exponent - 127). 0 is a subnormal number, and 255 is NaN.
GATHER_INLINE float e8m0_of(uint32_t exponent) {
  return same_bits<float>(exponent == 0 ? 0x400000u : exponent == 255 ? 0x7fc00000u : exponent << 23);
}

// 2^(exponent - 128)
GATHER_INLINE float half_of_e8m0(uint32_t exponent) {
  return same_bits<float>(exponent < 2 ? 0x200000u << exponent : (exponent - 1) << 23);
}

// Returns the scale of a type that has whole bytes.
GATHER_INLINE float scale_at(ScaleType type, const char* at) {
  switch (type) {
    case ScaleType::float32: return load_numbers<float, 1>(at);
    case ScaleType::float16: return half_at(at);
    case ScaleType::bfloat16: return same_bits<float>(uint32_t{load_numbers<uint16_t, 1>(at)} << 16);
    case ScaleType::e4m3fn: return e4m3fn_of(byte_at(at));
    case ScaleType::e8m0: return e8m0_of(static_cast<uint32_t>(byte_at(at)));
    case ScaleType::int8: return static_cast<float>(static_cast<signed char>(*at));
    default: return static_cast<float>(byte_at(at));
  }
}

// The scales, or the zero points or biases, of all rows.
struct Scales {
  const char* base;    // of row 0 and block 0
  int64_t row, block;  // the strides in bytes; of numbers of 4 bits, that of blocks is in halves of a byte
  ScaleType type;
  float constant;  // if they have no place
  float factor;

  // Returns the scale of block b of a row.
  GATHER_INLINE float at(int64_t number, int64_t b) const {
    if (type == ScaleType::none) return constant;
    const char* const first = base + number * row;
    if (type == ScaleType::int4 || type == ScaleType::uint4) {
      const int64_t half = b * block;
      const int32_t bits = byte_at(first + (half >> 1)) >> (half & 1) * 4 & 15;
      return static_cast<float>(type == ScaleType::int4 ? (bits ^ 8) - 8 : bits) * factor;
    }
    return scale_at(type, first + b * block) * factor;
  }
};

GATHER_INLINE Scales find_scales(const PackedPlan& plan, const char* data, const CodecPart& part, const char* operand,
                                 const CodecOperand& strides, float constant, float factor) {
  const bool shares_bytes = part.type == ScaleType::int4 || part.type == ScaleType::uint4;
  const int64_t block = shares_bytes ? 2 * plan.codec.block_bytes : plan.codec.block_bytes;
  switch (part.place) {
    case Place::none: return {nullptr, 0, 0, ScaleType::none, constant * factor, factor};
    case Place::block: return {data + part.at, plan.stride, block, part.type, 0, factor};
    case Place::tail: return {data + plan.codec.tail_at + part.at, plan.stride, 0, part.type, 0, factor};
    default: return {operand, strides.row, strides.block, part.type, 0, factor};
  }
}

GATHER_INLINE Scales scales_of(const PackedRows& rows) {
  const PackedPlan& plan = *rows.plan;
  return find_scales(plan, rows.data, plan.codec.scale, rows.scales, plan.scales, 1, plan.codec.factor);
}

GATHER_INLINE Scales zeros_of(const PackedRows& rows) {
  const PackedPlan& plan = *rows.plan;
  return find_scales(plan, rows.data, plan.codec.zero, rows.zeros, plan.zeros, plan.codec.constant, 1);
}

}  // namespace
}  // namespace gather::cpu
