#include "core/profile.hpp"

#include "gather/gather.h"

namespace gather::core {
namespace {

constexpr int32_t reject = GTH_NEGATIVE_REJECT, wrap = GTH_NEGATIVE_WRAP;
constexpr int32_t error = GTH_BOUNDS_ERROR, fill = GTH_BOUNDS_FILL, clamp = GTH_BOUNDS_CLAMP;
constexpr int32_t modulo = GTH_BOUNDS_MODULO;
constexpr int32_t zero = GTH_FILL_ZERO, by_dtype = GTH_FILL_BY_DTYPE;
constexpr BatchRule equal = BatchRule::equal, divisible = BatchRule::divisible;

constexpr int profiles = GTH_PROFILE_JAX_CLIP + 1;

// clang-format off
//                                                   empty output   K = 0  empty   batch
//    negative bounds  fill      checked                            params  dims    rule
constexpr Rules gather_rules[profiles] = {
    {reject, error,  zero,     check_never,                  true,  false, true,  equal},  // none
    {reject, error,  zero,     check_never,                  true,  false, true,  equal},  // tensorflow
    {reject, fill,   zero,     check_never,                  true,  false, true,  equal},  // tensorflow_gpu
    {wrap,   error,  zero,     check_always,                 true,  false, false, equal},  // onnx
    {wrap,   error,  zero,     check_always,                 true,  false, false, equal},  // ort
    {wrap,   error,  zero,     check_empty_row,              true,  false, true,  equal},  // numpy_raise
    {wrap,   modulo, zero,     check_never,                  true,  false, true,  equal},  // numpy_wrap
    {reject, clamp,  zero,     check_never,                  true,  false, true,  equal},  // numpy_clip
    {reject, error,  zero,     check_always,                 true,  false, true,  equal},  // torch
    {wrap,   fill,   by_dtype, check_empty_dim,              true,  false, true,  equal},  // jax_fill
    {reject, clamp,  zero,     check_empty_dim,              true,  false, true,  equal},  // jax_clip
};
constexpr Rules gather_nd_rules[profiles] = {
    {reject, error,  zero,     check_never,                  true,  false, true,  equal},  // none
    {reject, error,  zero,     check_never,                  true,  true,  true,  equal},  // tensorflow
    {reject, fill,   zero,     check_never,                  true,  true,  true,  equal},  // tensorflow_gpu
    {wrap,   error,  zero,     check_always,                 false, false, true,  equal},  // onnx
    {wrap,   error,  zero,     check_never,                  true,  false, true,  divisible},  // ort
    {wrap,   error,  zero,     check_empty_row,              true,  false, true,  equal},  // numpy_raise
    {wrap,   modulo, zero,     check_never,                  true,  false, true,  equal},  // numpy_wrap
    {reject, clamp,  zero,     check_never,                  true,  false, true,  equal},  // numpy_clip
    {wrap,   error,  zero,     check_empty_dim | check_single_tuple, true, false, true, equal},  // torch
    {wrap,   fill,   by_dtype, check_single_empty,           true,  false, true,  equal},  // jax_fill
    {wrap,   clamp,  zero,     check_single_empty,           true,  false, true,  equal},  // jax_clip
};
// clang-format on

}  // namespace

const Rules* find_rules(int32_t profile, Op op) {
  if (profile < 0 || profile >= profiles) return nullptr;
  return op == Op::gather ? &gather_rules[profile] : &gather_nd_rules[profile];
}

}  // namespace gather::core
