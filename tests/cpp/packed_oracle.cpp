#include "packed_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fused.hpp"

namespace packed {
namespace {

using Byte = unsigned char;

// ---- Numbers

// Returns the number of a format with a sign, an exponent and a mantissa. Its highest exponent has ordinary numbers.
double value_of(unsigned bits, int exponent_bits, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const int mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
  const bool is_negative = bits >> (exponent_bits + mantissa_bits) & 1;
  const double size = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                    : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return is_negative ? -size : size;
}

// As value_of. The highest exponent means infinity or NaN.
float ieee(unsigned bits, int exponent_bits, int mantissa_bits) {
  const unsigned special = (1u << exponent_bits) - 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if ((bits >> mantissa_bits & special) != special)
    return static_cast<float>(value_of(bits, exponent_bits, mantissa_bits, bias));
  if (bits & ((1u << mantissa_bits) - 1)) return std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return bits >> (exponent_bits + mantissa_bits) & 1 ? -infinity : infinity;
}

float e4m3fn(Byte bits) {
  return (bits & 0x7f) == 0x7f ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value_of(bits, 4, 3, 7));
}

float e8m0(Byte bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(std::ldexp(1.0, bits - 127));
}

unsigned word16(const Byte* at) { return at[0] | static_cast<unsigned>(at[1]) << 8; }
float float16(const Byte* at) { return ieee(word16(at), 5, 10); }

// Rounds a size that is no NaN to a format of 16 bits.
unsigned rounded(double size, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  if (size == 0) return 0;
  if (std::isinf(size)) return infinity;
  int exponent = 0;
  std::frexp(size, &exponent);  // size < 2^exponent
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  // The size in units of the last bit is below 2^25, so that it is exact.
  const double units = std::ldexp(size, mantissa_bits - exponent);
  double whole = std::floor(units);
  const double rest = units - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)) whole += 1;
  const double first = std::ldexp(1.0, mantissa_bits);
  if (whole == 2 * first) exponent += 1, whole = first;
  if (exponent > bias) return infinity;
  if (whole < first) return static_cast<unsigned>(whole);
  return static_cast<unsigned>(exponent + bias) << mantissa_bits | static_cast<unsigned>(whole - first);
}

// The product of two float32 is exact in double, so that these functions round once.
float times(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
float minus(float a, float b) {
  const volatile float difference = a - b;
  return difference;
}

// ---- Formats by name

float q2_k(const Byte* block, int64_t j) {
  const Byte sc = block[j / 16];
  const unsigned q = block[16 + j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2) & 3;
  const float d = float16(block + 80), dmin = float16(block + 82);
  return minus(times(times(d, static_cast<float>(sc & 15)), static_cast<float>(q)),
               times(dmin, static_cast<float>(sc >> 4)));
}

float q3_k(const Byte* block, int64_t j) {
  const Byte* const scales = block + 96;
  const int64_t k = j / 16;
  const int low = scales[k % 8] >> (k < 8 ? 0 : 4) & 15, high = scales[8 + k % 4] >> (k / 4 * 2) & 3;
  const int q = block[32 + j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2) & 3;
  const bool is_set = block[j % 32] >> (j / 32) & 1;
  const float d = float16(block + 108);
  return times(times(d, static_cast<float>((low | high << 4) - 32)), static_cast<float>(q - (is_set ? 0 : 4)));
}

struct ScaleAndMin {
  int scale, min;
};

// Returns the scale and the minimum of a group of 32 numbers of q4_k and q5_k, from their 12 bytes.
ScaleAndMin scale_and_min(const Byte* bytes, int64_t group) {
  if (group < 4) return {bytes[group] & 63, bytes[group + 4] & 63};
  const int64_t g = group - 4;
  return {(bytes[8 + g] & 15) | bytes[g] >> 6 << 4, bytes[8 + g] >> 4 | bytes[4 + g] >> 6 << 4};
}

float q4_or_q5_k(const Byte* block, int64_t j, const Byte* nibbles, const Byte* fifth) {
  const int64_t group = j / 32;
  const ScaleAndMin of = scale_and_min(block + 4, group);
  int q = nibbles[group / 2 * 32 + j % 32] >> (group % 2 * 4) & 15;
  if (fifth) q |= (fifth[j % 32] >> group & 1) << 4;
  return minus(times(times(float16(block), static_cast<float>(of.scale)), static_cast<float>(q)),
               times(float16(block + 2), static_cast<float>(of.min)));
}

float q6_k(const Byte* block, int64_t j) {
  // Each half of the block has 64 bytes of low bits and 32 bytes of high bits.
  const int64_t half = j / 128, in_half = j % 128;
  const int low = block[half * 64 + in_half % 64] >> (in_half / 64 * 4) & 15;
  const int high = block[128 + half * 32 + in_half % 32] >> (in_half / 32 * 2) & 3;
  const auto sc = static_cast<signed char>(block[192 + j / 16]);
  return times(times(float16(block + 208), static_cast<float>(sc)), static_cast<float>((low | high << 4) - 32));
}

constexpr int iq4_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

float iq4_xs(const Byte* block, int64_t j) {
  const int64_t group = j / 32;
  const int low = block[4 + group / 2] >> (group % 2 * 4) & 15;
  const int high = static_cast<int>(word16(block + 2) >> (2 * group) & 3);
  const int code = block[8 + group * 16 + j % 16] >> (j % 32 / 16 * 4) & 15;
  return times(times(float16(block), static_cast<float>((low | high << 4) - 32)), static_cast<float>(iq4_table[code]));
}

// The numbers of e2m1, twice as large. Code 8 is 0 without a sign.
constexpr int doubled_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

float mxfp4(const Byte* block, int64_t j) {
  const int code = block[1 + j % 16] >> (j / 16 * 4) & 15;
  const float half_scale = static_cast<float>(std::ldexp(1.0, block[0] - 128));
  return times(half_scale, static_cast<float>(doubled_e2m1[code]));
}

float nvfp4(const Byte* block, int64_t j, float factor) {
  const int64_t group = j / 16;
  const Byte scale = block[group];
  const int code = block[4 + group * 8 + j % 8] >> (j % 16 / 8 * 4) & 15;
  const double size = scale == 0x7f ? 0.0 : value_of(scale & 0x7f, 4, 3, 7);  // The sign is ignored.
  return times(times(static_cast<float>(size / 2), factor), static_cast<float>(doubled_e2m1[code]));
}

struct Named {
  int64_t values, bytes;
};

Named named_of(int32_t structure) {
  switch (structure) {
    case GTH_CODEC_Q2_K: return {256, 84};
    case GTH_CODEC_Q3_K: return {256, 110};
    case GTH_CODEC_Q4_K: return {256, 144};
    case GTH_CODEC_Q5_K: return {256, 176};
    case GTH_CODEC_Q6_K: return {256, 210};
    case GTH_CODEC_IQ4_XS: return {256, 136};
    case GTH_CODEC_MXFP4: return {32, 17};
    default: return {64, 36};
  }
}

float named_number(const gth_codec& codec, const Byte* row, int64_t number) {
  const Named named = named_of(codec.structure);
  const Byte* const block = row + number / named.values * named.bytes;
  const int64_t j = number % named.values;
  switch (codec.structure) {
    case GTH_CODEC_Q2_K: return q2_k(block, j);
    case GTH_CODEC_Q3_K: return q3_k(block, j);
    case GTH_CODEC_Q4_K: return q4_or_q5_k(block, j, block + 16, nullptr);
    case GTH_CODEC_Q5_K: return q4_or_q5_k(block, j, block + 48, block + 16);
    case GTH_CODEC_Q6_K: return q6_k(block, j);
    case GTH_CODEC_IQ4_XS: return iq4_xs(block, j);
    case GTH_CODEC_MXFP4: return mxfp4(block, j);
    default: return nvfp4(block, j, codec.factor == 0 ? 1 : codec.factor);
  }
}

// ---- Blocks by fields

// Returns the bits of the code j of a block, whose codes of `bits` bits begin at `codes`.
int packed_bits(const Byte* codes, int64_t j, int64_t bits, int32_t packing) {
  const int64_t per_byte = 8 / bits, bytes = 32 / per_byte;  // bytes: of a block of 32
  const int64_t at = packing == GTH_PACKING_HALVES ? j % bytes : j / per_byte;
  const int64_t place = packing == GTH_PACKING_HALVES ? j / bytes : j % per_byte;
  const int64_t shift = (packing == GTH_PACKING_HIGH ? per_byte - 1 - place : place) * bits;
  return codes[at] >> shift & ((1 << bits) - 1);
}

int with_sign(int bits, int count) { return bits >= 1 << (count - 1) ? bits - (1 << count) : bits; }

float code_of(const gth_codec& codec, const Byte* codes, int64_t j) {
  const auto packed_code = [&](int64_t bits) { return packed_bits(codes, j, bits, codec.packing); };
  switch (codec.code) {
    case GTH_CODE_UINT8: return static_cast<float>(codes[j]);
    case GTH_CODE_INT8: return static_cast<float>(with_sign(codes[j], 8));
    case GTH_CODE_UINT4: return static_cast<float>(packed_code(4));
    case GTH_CODE_INT4: return static_cast<float>(with_sign(packed_code(4), 4));
    case GTH_CODE_UINT2: return static_cast<float>(packed_code(2));
    case GTH_CODE_INT2: return static_cast<float>(with_sign(packed_code(2), 2));
    case GTH_CODE_UINT5: {
      const int fifth = codes[j / 8] >> (j % 8) & 1;
      return static_cast<float>(packed_bits(codes + 4, j, 4, GTH_PACKING_HALVES) | fifth << 4);
    }
    case GTH_CODE_E4M3FN: return e4m3fn(codes[j]);
    case GTH_CODE_E5M2: return ieee(codes[j], 5, 2);
    default: return codec.code_table[packed_code(4)];
  }
}

struct Layout {
  int64_t block_values, block_bytes, tail_at;
};

Layout layout_of(const gth_codec& codec, int64_t values) {
  const int64_t bits = bits_of(codec.code);
  const int64_t in_block = codec.block_values ? std::min(codec.block_values, values) : values;
  if (codec.block_bytes == 0) return {in_block, in_block * bits / 8, values * bits / 8};
  return {in_block, codec.block_bytes, in_block ? values / in_block * codec.block_bytes : 0};
}

// Returns the address of an element of `scales` or `zeros`. An extent of 1 is repeated.
const char* operand_at(const gth_tensor_desc& desc, const std::vector<int64_t>& place, int64_t last) {
  const int64_t item = gth_dtype_size(desc.dtype);
  int64_t at = desc.offset, dense = item;
  for (int64_t d = desc.ndim; d-- > 0;) {
    const int64_t extent = desc.shape[d], stride = desc.strides ? desc.strides[d] : dense;
    const int64_t i = d == desc.ndim - 1 ? last : place[static_cast<size_t>(d)];
    if (extent > 1) at += i * stride;
    dense *= extent;
  }
  return static_cast<const char*>(desc.data) + at;
}

// A scale, or a zero point or bias, as the codec describes it.
struct Part {
  int32_t place, dtype;
  int64_t at;
  const gth_tensor_desc* desc;
};

float nibble_of(int32_t dtype, Byte byte, int64_t which) {
  const int bits = byte >> (which % 2 * 4) & 15;
  return static_cast<float>(dtype == GTH_ZERO_INT4 ? with_sign(bits, 4) : bits);
}

bool has_nibbles(int32_t dtype) { return dtype == GTH_ZERO_INT4 || dtype == GTH_ZERO_UINT4; }

float part_of(const Part& part, const Row& row, const char* block, const char* tail, int64_t number, float otherwise) {
  if (part.place == GTH_PLACE_NONE) return otherwise;
  if (part.place == GTH_PLACE_OPERAND && has_nibbles(part.dtype))
    return nibble_of(part.dtype, static_cast<Byte>(*operand_at(*part.desc, row.place, number / 2)), number);
  if (part.place == GTH_PLACE_OPERAND)
    return decode(part.dtype ? part.dtype : part.desc->dtype, operand_at(*part.desc, row.place, number));
  const char* const at = (part.place == GTH_PLACE_BLOCK ? block : tail) + part.at;
  return has_nibbles(part.dtype) ? nibble_of(part.dtype, static_cast<Byte>(*at), 0) : decode(part.dtype, at);
}

Terms block_terms(const gth_codec& codec, const Row& row, int64_t j) {
  const Layout layout = layout_of(codec, row.values);
  const int64_t number = j / layout.block_values;
  const char *const block = row.bytes + number * layout.block_bytes, *const tail = row.bytes + layout.tail_at;
  Terms terms;
  terms.code = code_of(codec, reinterpret_cast<const Byte*>(block + codec.code_at), j % layout.block_values);
  const Part scale{codec.scale_place, codec.scale_dtype, codec.scale_at, codec.scales};
  const Part zero{codec.zero_place, codec.zero_dtype, codec.zero_at, codec.zeros};
  terms.scale = part_of(scale, row, block, tail, number, 1);
  if (codec.factor != 0) terms.scale = times(terms.scale, codec.factor);
  terms.zero = part_of(zero, row, block, tail, number, codec.zero);
  terms.value = codec.rule == GTH_RULE_FUSED ? fused(terms.code, terms.scale, terms.zero)
                                             : times(minus(terms.code, terms.zero), terms.scale);
  return terms;
}

}  // namespace

int64_t bits_of(int32_t code) {
  switch (code) {
    case GTH_CODE_UINT4:
    case GTH_CODE_INT4:
    case GTH_CODE_TABLE4: return 4;
    case GTH_CODE_UINT2:
    case GTH_CODE_INT2: return 2;
    case GTH_CODE_UINT5: return 5;
    default: return 8;
  }
}

float decode(int32_t dtype, const void* at) {
  const Byte* const bytes = static_cast<const Byte*>(at);
  float value = 0;
  switch (dtype) {
    case GTH_DTYPE_FLOAT16: return float16(bytes);
    case GTH_DTYPE_BFLOAT16: return ieee(word16(bytes), 8, 7);
    case GTH_DTYPE_FLOAT8_E4M3FN: return e4m3fn(*bytes);
    case GTH_DTYPE_FLOAT8_E8M0FNU: return e8m0(*bytes);
    case GTH_DTYPE_INT8: return static_cast<float>(with_sign(*bytes, 8));
    case GTH_DTYPE_UINT8: return static_cast<float>(*bytes);
    default: std::memcpy(&value, at, sizeof value); return value;
  }
}

void encode(int32_t dtype, float value, void* at) {
  if (dtype == GTH_DTYPE_FLOAT32) {
    std::memcpy(at, &value, sizeof value);
    return;
  }
  const bool is_half = dtype == GTH_DTYPE_FLOAT16;
  const unsigned size = std::isnan(value) ? (is_half ? 0x7e00 : 0x7fc0)
                        : is_half         ? rounded(std::fabs(static_cast<double>(value)), 5, 10)
                                          : rounded(std::fabs(static_cast<double>(value)), 8, 7);
  const auto bits = static_cast<uint16_t>(size | (std::signbit(value) ? 0x8000 : 0));
  std::memcpy(at, &bits, sizeof bits);
}

bool is_same(int32_t dtype, const void* a, const void* b) {
  if (std::isnan(decode(dtype, a)) && std::isnan(decode(dtype, b))) return true;
  return std::memcmp(a, b, static_cast<size_t>(gth_dtype_size(dtype))) == 0;
}

int64_t row_bytes(const gth_codec& codec, int64_t values) {
  if (codec.structure == GTH_CODEC_BLOCKS) return layout_of(codec, values).tail_at + codec.row_tail;
  const Named named = named_of(codec.structure);
  return values / named.values * named.bytes;
}

Row row_of(const gth_tensor_desc& table, int64_t number) {
  const auto dims = static_cast<size_t>(table.ndim - 1);
  Row row{static_cast<const char*>(table.data) + table.offset, std::vector<int64_t>(dims), table.shape[dims]};
  int64_t rest = number;
  for (size_t d = dims; d-- > 0; rest /= table.shape[d]) row.place[d] = rest % table.shape[d];
  if (!table.strides) row.bytes += number * row_bytes(*table.codec, row.values);
  for (size_t d = 0; d < dims && table.strides; ++d) row.bytes += row.place[d] * table.strides[d];
  return row;
}

Terms terms_of(const gth_codec& codec, const Row& row, int64_t j) {
  if (codec.structure == GTH_CODEC_BLOCKS) return block_terms(codec, row, j);
  const float value = named_number(codec, reinterpret_cast<const Byte*>(row.bytes), j);
  return {value, 1, 0, value};
}

std::vector<float> decode_row(const gth_tensor_desc& table, int64_t number) {
  const Row row = row_of(table, number);
  std::vector<float> values;
  for (int64_t j = 0; j < row.values; ++j) values.push_back(terms_of(*table.codec, row, j).value);
  return values;
}

namespace {

float larger(float a, float b) { return std::isnan(a) || b <= a ? a : b; }
float smaller(float a, float b) { return std::isnan(a) || b >= a ? a : b; }

float add(float sum, float value, float weight, bool has_weights) {
  return has_weights ? fused(weight, value, sum) : sum + value;
}

// Adds the bias, and then the product, as torch does.
float add_terms(float sum, const Terms& terms, float weight, bool has_weights) {
  const float scale = has_weights ? times(weight, terms.scale) : terms.scale;
  const float bias = has_weights ? times(weight, terms.zero) : terms.zero;
  const volatile float begun = sum + bias;
  return fused(scale, terms.code, begun);
}

}  // namespace

float pool(const gth_tensor_desc& table, const std::vector<Pooled>& bag, const Pooling& pooling, int64_t j) {
  const gth_codec& codec = *table.codec;
  const bool has_terms = codec.structure == GTH_CODEC_BLOCKS && codec.rule == GTH_RULE_FUSED && pooling.is_torch;
  const float infinity = std::numeric_limits<float>::infinity();
  float sum = pooling.pool == GTH_POOL_MAX ? -infinity : pooling.pool == GTH_POOL_MIN ? infinity : 0, divisor = 0;
  for (const Pooled& each : bag) {
    Terms terms{};
    if (each.row >= 0) terms = terms_of(codec, row_of(table, each.row), j);
    const float value = each.row < 0 ? pooling.fill : terms.value;
    const volatile float square = each.weight * each.weight;
    divisor += pooling.pool == GTH_POOL_SQRTN ? square : each.weight;
    if (pooling.pool == GTH_POOL_MAX) {
      sum = larger(sum, value);
    } else if (pooling.pool == GTH_POOL_MIN) {
      sum = smaller(sum, value);
    } else if (has_terms && each.row >= 0) {
      sum = add_terms(sum, terms, each.weight, pooling.has_weights);
    } else {
      sum = add(sum, value, each.weight, pooling.has_weights);
    }
    if (pooling.rounds_to) {
      char rounded_sum[4];
      encode(pooling.rounds_to, sum, rounded_sum);
      sum = decode(pooling.rounds_to, rounded_sum);
    }
  }
  if (pooling.pool != GTH_POOL_MEAN && pooling.pool != GTH_POOL_SQRTN) return sum;
  if (pooling.pool == GTH_POOL_SQRTN) divisor = std::sqrt(divisor);
  return divisor == 0 ? 0 : sum / divisor;
}

}  // namespace packed
