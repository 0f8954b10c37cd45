#pragma once

#include <cstdint>

#include "core/types/reduction.hpp"

// Formats of packed rows. The tiers include this file, so it defines only types.
namespace gather::core {

// blocks: as the other fields of a codec describe them. The others are formats by name, whose blocks have 256, 64
// (nvfp4) or 32 (mxfp4) numbers.
enum class Structure : uint8_t { none, blocks, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_xs, mxfp4, nvfp4 };
enum class Code : uint8_t { none, uint8, int8, uint4, int4, uint2, int2, uint5, e4m3fn, e5m2, table4 };
enum class CodePacking : uint8_t { none, low_first, high_first, halves };
enum class Rule : uint8_t { none, scaled, fused };
enum class Place : uint8_t { none, block, tail, operand };
enum class ScaleType : uint8_t { none, float32, float16, bfloat16, e4m3fn, e8m0, int8, uint8, int4, uint4 };

// A scale, or a zero point or bias, of a codec. int4 and uint4 share bytes, low bits first.
struct CodecPart {
  Place place;
  ScaleType type;  // none if it has no place
  int64_t at;      // its byte in the block or the tail

  // The tiers do not call it, because their functions must have internal linkage.
  bool shares_bytes() const { return type == ScaleType::int4 || type == ScaleType::uint4; }
};

// A gth_codec that has been validated for rows of one size.
struct Codec {
  Structure structure;  // none: The table is not packed.
  Code code;
  CodePacking packing;  // none for codes of 8 bits
  Rule rule;
  CodecPart scale, zero;
  float constant;                     // the zero point or bias without a place
  float factor;                       // of every scale; 1 if there is none
  int64_t values;                     // of a row
  int64_t block_values, block_bytes;  // The last block of a row may be shorter if its bytes are only codes.
  int64_t code_at;
  int64_t tail_at, row_bytes;
  float table[16];
};

// The strides of an operand of the codec: by row in bytes; by block in bytes, for int4 and uint4 in halves of a byte.
struct CodecOperand {
  int64_t row, block;
};

// The packed rows of a plan. Offsets in the table count rows.
struct PackedPlan {
  Codec codec;
  Number number;   // the kind of the decoded numbers
  int64_t stride;  // bytes from row to row
  CodecOperand scales, zeros;

  bool is_packed() const { return codec.structure != Structure::none; }
};

// The packed rows of a run.
struct PackedRows {
  const PackedPlan* plan;
  const char *data, *scales, *zeros;  // of row 0
};

}  // namespace gather::core
