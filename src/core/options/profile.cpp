#include "core/options/profile.hpp"

#include <iterator>

#include "gather/gather.h"

namespace gather::core {
namespace {

constexpr int32_t reject = GTH_NEGATIVE_REJECT, wrap = GTH_NEGATIVE_WRAP;
constexpr int32_t error = GTH_BOUNDS_ERROR, fill = GTH_BOUNDS_FILL, clamp = GTH_BOUNDS_CLAMP;
constexpr int32_t modulo = GTH_BOUNDS_MODULO, skip = GTH_BOUNDS_SKIP;
constexpr int32_t zero = GTH_FILL_ZERO, by_dtype = GTH_FILL_BY_DTYPE;
constexpr int32_t same = GTH_EXTENTS_EQUAL, prefix = GTH_EXTENTS_PREFIX, broadcast = GTH_EXTENTS_BROADCAST;
constexpr int32_t in_float32 = GTH_ACCUMULATE_FLOAT32;
constexpr BatchRule equal = BatchRule::equal, divisible = BatchRule::divisible;
constexpr IndexTypes any = IndexTypes::any, i32_i64 = IndexTypes::int32_int64, i64 = IndexTypes::int64;
constexpr IndexTypes i16_i32_i64 = IndexTypes::int16_int32_int64;
constexpr uint8_t tensorflow_params = with_bfloat16 | with_float8_e5m2_e4m3fn | with_strings;
constexpr uint8_t tensorflow_gpu_params = with_bfloat16 | with_float8_e5m2_e4m3fn;
constexpr uint8_t onnx_params = with_bfloat16 | with_strings;  // bfloat16 by definition

// clang-format off
// By system; in each the rules of gather, of gather_nd, of gather_elements, and of scatter, scatter_nd,
// scatter_elements.
//
// negative bounds fill      extents    empty output   K = 0  empty  rank 0  batch   params                 indices
//                                      judged                params         dims
constexpr Profile profiles[] = {
    {Opsets::none, {  // no profile
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, any_params,            any},
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, any_params,            any},
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, any_params,            any}}},
    {Opsets::none, {  // tensorflow
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, tensorflow_params,     i16_i32_i64},
        {reject, error,  zero,     same,      check_never,     true,  true,  false, equal, tensorflow_params,     i16_i32_i64},
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, tensorflow_params,     i16_i32_i64},
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, tensorflow_params,     i16_i32_i64},
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, tensorflow_params,     i16_i32_i64},
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, tensorflow_params,     i16_i32_i64}}},
    {Opsets::none, {  // tensorflow_gpu
        {reject, fill,   zero,     same,      check_never,     true,  false, false, equal, tensorflow_gpu_params, i32_i64},
        {reject, fill,   zero,     same,      check_never,     true,  true,  false, equal, tensorflow_gpu_params, i32_i64},
        {reject, fill,   zero,     same,      check_never,     true,  false, false, equal, tensorflow_gpu_params, i32_i64},
        {reject, skip,   zero,     same,      check_never,     true,  false, false, equal, tensorflow_gpu_params, i32_i64},
        {reject, skip,   zero,     same,      check_never,     true,  false, false, equal, tensorflow_gpu_params, i32_i64},
        {reject, skip,   zero,     same,      check_never,     true,  false, false, equal, tensorflow_gpu_params, i32_i64}}},
    {Opsets::text, {  // onnx
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_always,    false, false, false, equal, onnx_params,           i64},
        {wrap,   error,  zero,     prefix,    check_never,     true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_always,    false, false, false, equal, onnx_params,           i64},
        {wrap,   error,  zero,     prefix,    check_never,     true,  false, false, equal, onnx_params,           i32_i64}}},
    {Opsets::types, {  // ort
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_never,     true,  false, true,  divisible, onnx_params,       i64},
        {wrap,   error,  zero,     prefix,    check_never,     true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, onnx_params,           i32_i64},
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, onnx_params,           i64},
        {wrap,   error,  zero,     prefix,    check_never,     true,  false, false, equal, onnx_params,           i32_i64}}},
    {Opsets::none, {  // numpy_raise
        {wrap,   error,  zero,     same,      check_empty_row, true,  false, false, equal, any_params,            any},
        {wrap,   error,  zero,     same,      check_empty_row, true,  false, false, equal, any_params,            any},
        {wrap,   error,  zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, any_params,            any},
        {wrap,   error,  zero,     same,      check_always,    true,  false, false, equal, any_params,            any},
        {wrap,   error,  zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any}}},
    {Opsets::none, {  // numpy_wrap
        {wrap,   modulo, zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   modulo, zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   modulo, zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   modulo, zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   modulo, zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {wrap,   modulo, zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any}}},
    {Opsets::none, {  // numpy_clip
        {reject, clamp,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, clamp,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, clamp,  zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any},
        {reject, clamp,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, clamp,  zero,     same,      check_never,     true,  false, false, equal, any_params,            any},
        {reject, clamp,  zero,     broadcast, check_never,     true,  false, false, equal, any_params,            any}}},
    {Opsets::none, {  // torch
        {reject, error,  zero,     same,      check_always,    true,  false, false, equal, any_numbers,           i32_i64},
        {wrap,   error,  zero,     same,      check_empty_dim | check_single_tuple,
                                                               true,  false, false, equal, any_numbers,           i32_i64},
        {reject, error,  zero,     prefix,    check_never,     true,  false, true,  equal, any_numbers,           i32_i64, in_float32},
        {reject, error,  zero,     same,      check_never,     true,  false, false, equal, any_numbers,           i32_i64},
        {wrap,   error,  zero,     same,      check_empty_dim | check_single_tuple,
                                                               true,  false, false, equal, any_numbers,           i32_i64},
        {reject, error,  zero,     prefix,    check_never,     true,  false, true,  equal, any_numbers,           i32_i64, in_float32}}},
    {Opsets::none, {  // jax_fill
        {wrap,   fill,   by_dtype, same,      check_empty_dim, true,  false, false, equal, any_numbers,           any},
        {wrap,   fill,   by_dtype, same,      check_single_empty, true, false, false, equal, any_numbers,         any},
        {wrap,   fill,   by_dtype, broadcast, check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   skip,   zero,     same,      check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   skip,   zero,     same,      check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   skip,   zero,     broadcast, check_never,     true,  false, false, equal, any_numbers,           any}}},
    {Opsets::none, {  // jax_clip
        {reject, clamp,  zero,     same,      check_empty_dim, true,  false, false, equal, any_numbers,           any},
        {wrap,   clamp,  zero,     same,      check_single_empty, true, false, false, equal, any_numbers,         any},
        {wrap,   clamp,  zero,     broadcast, check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   clamp,  zero,     same,      check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   clamp,  zero,     same,      check_never,     true,  false, false, equal, any_numbers,           any},
        {wrap,   clamp,  zero,     broadcast, check_never,     true,  false, false, equal, any_numbers,           any}}},
};
// clang-format on
static_assert(std::size(profiles) == GTH_PROFILE_JAX_CLIP + 1, "a profile without a row");

// Precondition: dtype is not GTH_DTYPE_STRING. The float8 dtypes have the largest numbers.
bool is_float8(int32_t dtype) { return dtype >= GTH_DTYPE_FLOAT8_E3M4; }

// Returns the flag of ParamsTypes that a dtype needs, or 0 if every system has the dtype.
uint8_t flag_of(int32_t dtype) {
  if (dtype == GTH_DTYPE_STRING) return with_strings;
  if (dtype == GTH_DTYPE_BFLOAT16) return with_bfloat16;
  if (dtype == GTH_DTYPE_FLOAT8_E5M2 || dtype == GTH_DTYPE_FLOAT8_E4M3FN) return with_float8_e5m2_e4m3fn;
  return is_float8(dtype) ? with_other_float8 : 0;
}

}  // namespace

const Profile& profile_of(int32_t profile) { return profiles[profile]; }

bool allows_params(const Rules& rules, int32_t dtype) { return (flag_of(dtype) & ~rules.params) == 0; }

bool allows_indices(const Rules& rules, int32_t dtype) {
  const bool is_32 = dtype == GTH_DTYPE_INT32, is_64 = dtype == GTH_DTYPE_INT64;
  switch (rules.indices) {
    case IndexTypes::any: return true;
    case IndexTypes::int32_int64: return is_32 || is_64;
    case IndexTypes::int16_int32_int64: return is_32 || is_64 || dtype == GTH_DTYPE_INT16;
    default: return is_64;
  }
}

}  // namespace gather::core
