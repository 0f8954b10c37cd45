#pragma once

#include <cstdint>
#include <vector>

#include "gather/gather.h"

// A slow and simple decoder of packed rows, from the formulas in the header and of the formats by name. It computes one
// number at a time, and shares no code with the library.
namespace packed {

// ---- Types

// The dtypes of zero points. Scales can have the first `scale_dtype_count` ones.
constexpr int32_t part_dtypes[] = {
    GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16, GTH_DTYPE_FLOAT8_E4M3FN, GTH_DTYPE_FLOAT8_E8M0FNU,
    GTH_DTYPE_INT8,    GTH_DTYPE_UINT8,   GTH_ZERO_INT4,      GTH_ZERO_UINT4};
constexpr int64_t scale_dtype_count = 5;

// Returns the bits of a code.
int64_t bits_of(int32_t code);
// Returns true if a byte has two zero points.
inline bool has_nibbles(int32_t dtype) { return dtype == GTH_ZERO_INT4 || dtype == GTH_ZERO_UINT4; }

// ---- Numbers

// Returns the number of a float32, float16, bfloat16, float8_e4m3fn, float8_e8m0fnu, int8 or uint8 at an address.
float decode(int32_t dtype, const void* at);
// Writes a float32, or the nearest float16 or bfloat16. Ties round to even.
void encode(int32_t dtype, float value, void* at);
// Returns true if two numbers have the same bits, or if both are NaN.
bool is_same(int32_t dtype, const void* a, const void* b);

// ---- Rows

// Returns the bytes of a row of `values` numbers. Precondition: the codec is valid.
int64_t row_bytes(const gth_codec& codec, int64_t values);

// A row of a packed table: its address, its place in the dims before the last one, and the dims of the table.
struct Row {
  const char* bytes;
  std::vector<int64_t> place;
  int64_t values;
};

// Returns the row with this row-major number.
Row row_of(const gth_tensor_desc& table, int64_t number);

// What a number is computed from. Formats by name have only `value`.
struct Terms {
  float code, scale, zero;  // zero: the zero point or the bias
  float value;              // the number
};

// Returns the number j of a row with its terms.
Terms terms_of(const gth_codec& codec, const Row& row, int64_t j);

// Returns all numbers of a row as float32.
std::vector<float> decode_row(const gth_tensor_desc& table, int64_t number);

// ---- Bags

// A row of a bag: its number in the table, or -1 for a row of the fill value.
struct Pooled {
  int64_t row;
  float weight;
};

struct Pooling {
  int32_t pool;
  bool has_weights;
  bool is_torch;  // the order of additions with GTH_PROFILE_TORCH
  float fill;
  int32_t rounds_to = 0;  // the dtype to which each sum is rounded, or 0
};

// Returns the number j of a bag as float32. Precondition: the bag is not empty.
float pool(const gth_tensor_desc& table, const std::vector<Pooled>& bag, const Pooling& pooling, int64_t j);

}  // namespace packed
