#include "core/meaning/codec_formats.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace gather::core {
namespace {

namespace format_list {

// ---- Tables of codes of 4 bits

constexpr float e2m1[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};
constexpr float iq4_nl[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// Of bitsandbytes. Those of fp4 are multiples of 1/12, rounded to float32.
constexpr float nf4[] = {-1.0f,
                         -0.6961928009986877f,
                         -0.5250730514526367f,
                         -0.39491748809814453f,
                         -0.28444138169288635f,
                         -0.18477343022823334f,
                         -0.09105003625154495f,
                         0.0f,
                         0.07958029955625534f,
                         0.16093020141124725f,
                         0.24611230194568634f,
                         0.33791524171829224f,
                         0.44070982933044434f,
                         0.5626170039176941f,
                         0.7229568362236023f,
                         1.0f};
constexpr float fp4[] = {0, .0625f / 12,  8.f / 12,  1,  4.f / 12,  6.f / 12,  2.f / 12,  3.f / 12,
                         0, -.0625f / 12, -8.f / 12, -1, -4.f / 12, -6.f / 12, -2.f / 12, -3.f / 12};

// ---- Formats

// A scale, zero point or bias of a format: its place, its dtype, and its byte in the block or tail.
struct Part {
  int32_t place, dtype;
  int64_t at;
};

constexpr Part none{GTH_PLACE_NONE, 0, 0}, operand{GTH_PLACE_OPERAND, 0, 0};
constexpr Part half_in_block{GTH_PLACE_BLOCK, GTH_DTYPE_FLOAT16, 0};
constexpr Part second_half_in_block{GTH_PLACE_BLOCK, GTH_DTYPE_FLOAT16, 2};
constexpr Part float_in_tail{GTH_PLACE_TAIL, GTH_DTYPE_FLOAT32, 0};
constexpr Part second_float_in_tail{GTH_PLACE_TAIL, GTH_DTYPE_FLOAT32, 4};
constexpr Part half_in_tail{GTH_PLACE_TAIL, GTH_DTYPE_FLOAT16, 0};
constexpr Part second_half_in_tail{GTH_PLACE_TAIL, GTH_DTYPE_FLOAT16, 2};

constexpr int32_t low = GTH_PACKING_LOW, high = GTH_PACKING_HIGH, halves = GTH_PACKING_HALVES;
constexpr int32_t scaled = GTH_RULE_SCALED, fused = GTH_RULE_FUSED;

// A format whose fields describe it. 0 values or bytes: those of the row, or of the codes.
struct Format {
  const char* name;
  int32_t code, packing, rule;
  int64_t values, bytes, code_at, tail;
  Part scale, zero;
  float constant;
  const float* table;
};

// clang-format off
constexpr Format formats[] = {
    // name        code              packing rule    values bytes code_at tail  scale, zero, constant, table
    {"q8_0",       GTH_CODE_INT8,    low,    scaled, 32, 34, 2, 0, half_in_block, none, 0,  nullptr},
    {"q4_0",       GTH_CODE_UINT4,   halves, scaled, 32, 18, 2, 0, half_in_block, none, 8,  nullptr},
    {"q4_1",       GTH_CODE_UINT4,   halves, fused,  32, 20, 4, 0, half_in_block, second_half_in_block, 0, nullptr},
    {"q5_0",       GTH_CODE_UINT5,   halves, scaled, 32, 22, 2, 0, half_in_block, none, 16, nullptr},
    {"q5_1",       GTH_CODE_UINT5,   halves, fused,  32, 24, 4, 0, half_in_block, second_half_in_block, 0, nullptr},
    {"iq4_nl",     GTH_CODE_TABLE4,  halves, scaled, 32, 18, 2, 0, half_in_block, none, 0,  iq4_nl},
    {"rowwise8",   GTH_CODE_UINT8,   low,    fused,  0,  0,  0, 8, float_in_tail, second_float_in_tail, 0, nullptr},
    {"rowwise4",   GTH_CODE_UINT4,   low,    fused,  0,  0,  0, 4, half_in_tail,  second_half_in_tail,  0, nullptr},
    {"rowwise2",   GTH_CODE_UINT2,   low,    fused,  0,  0,  0, 4, half_in_tail,  second_half_in_tail,  0, nullptr},
    {"int8",       GTH_CODE_INT8,    low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"uint8",      GTH_CODE_UINT8,   low,    scaled, 0,  0,  0, 0, operand, none, 128, nullptr},
    {"int4",       GTH_CODE_INT4,    low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"uint4",      GTH_CODE_UINT4,   low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"int2",       GTH_CODE_INT2,    low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"uint2",      GTH_CODE_UINT2,   low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"fp8_e4m3fn", GTH_CODE_E4M3FN,  low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"fp8_e5m2",   GTH_CODE_E5M2,    low,    scaled, 0,  0,  0, 0, operand, none, 0,   nullptr},
    {"e2m1",       GTH_CODE_TABLE4,  low,    scaled, 0,  0,  0, 0, operand, none, 0,   e2m1},
    {"nf4",        GTH_CODE_TABLE4,  high,   scaled, 64, 0,  0, 0, operand, none, 0,   nf4},
    {"fp4",        GTH_CODE_TABLE4,  high,   scaled, 64, 0,  0, 0, operand, none, 0,   fp4},
    {"affine8",    GTH_CODE_UINT8,   low,    fused,  64, 0,  0, 0, operand, operand, 0, nullptr},
    {"affine4",    GTH_CODE_UINT4,   low,    fused,  64, 0,  0, 0, operand, operand, 0, nullptr},
    {"affine2",    GTH_CODE_UINT2,   low,    fused,  64, 0,  0, 0, operand, operand, 0, nullptr},
};
// clang-format on

struct NamedStructure {
  const char* name;
  int32_t structure;
};
constexpr NamedStructure structures[] = {
    {"q2_k", GTH_CODEC_Q2_K}, {"q3_k", GTH_CODEC_Q3_K},     {"q4_k", GTH_CODEC_Q4_K},   {"q5_k", GTH_CODEC_Q5_K},
    {"q6_k", GTH_CODEC_Q6_K}, {"iq4_xs", GTH_CODEC_IQ4_XS}, {"mxfp4", GTH_CODEC_MXFP4}, {"nvfp4", GTH_CODEC_NVFP4}};

}  // namespace format_list

template <class Entries>
auto find_entry(const Entries& entries, const char* name) {
  const auto end = std::end(entries);
  const auto found =
      std::find_if(std::begin(entries), end, [&](const auto& each) { return std::strcmp(each.name, name) == 0; });
  return found == end ? nullptr : &*found;
}

}  // namespace

bool find_format(const char* name, gth_codec* out) {
  *out = GTH_CODEC_INIT;
  if (const format_list::NamedStructure* found = find_entry(format_list::structures, name)) {
    out->structure = found->structure;
    return true;
  }
  const format_list::Format* found = find_entry(format_list::formats, name);
  if (!found) return false;
  out->code = found->code;
  out->packing = found->packing;
  out->rule = found->rule;
  out->scale_place = found->scale.place;
  out->scale_dtype = found->scale.dtype;
  out->scale_at = found->scale.at;
  out->zero_place = found->zero.place;
  out->zero_dtype = found->zero.dtype;
  out->zero_at = found->zero.at;
  out->zero = found->constant;
  out->block_values = found->values;
  out->block_bytes = found->bytes;
  out->code_at = found->code_at;
  out->row_tail = found->tail;
  out->code_table = found->table;
  return true;
}

}  // namespace gather::core
