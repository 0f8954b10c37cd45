#include "core/types.hpp"

#include "gather/gather.h"

namespace gather::core {
namespace {

bool is_float8(int32_t dtype) { return dtype >= GTH_DTYPE_FLOAT8_E3M4 && dtype <= GTH_DTYPE_FLOAT8_E8M0FNU; }

bool is_onnx(int32_t profile) { return profile == GTH_PROFILE_ONNX || profile == GTH_PROFILE_ORT; }

constexpr int32_t gather_opsets[] = {13, 11, 1};
constexpr int32_t gather_nd_opsets[] = {13, 12, 11};

}  // namespace

int32_t resolve_opset(Op op, int32_t opset) {
  for (int32_t definition : op == Op::gather ? gather_opsets : gather_nd_opsets) {
    if (opset == 0 || definition <= opset) return definition;
  }
  return 0;
}

int32_t first_opset(Op op) { return op == Op::gather ? gather_opsets[2] : gather_nd_opsets[2]; }

bool allows_params(int32_t profile, Op op, int32_t opset, int32_t dtype) {
  switch (profile) {
    case GTH_PROFILE_TENSORFLOW:
    case GTH_PROFILE_TENSORFLOW_GPU:
      if (dtype == GTH_DTYPE_STRING) return profile == GTH_PROFILE_TENSORFLOW;
      return !is_float8(dtype) || dtype == GTH_DTYPE_FLOAT8_E5M2 || dtype == GTH_DTYPE_FLOAT8_E4M3FN;
    case GTH_PROFILE_ONNX:
    case GTH_PROFILE_ORT:
      if (dtype == GTH_DTYPE_BFLOAT16) return resolve_opset(op, opset) >= 13;
      return !is_float8(dtype);
    case GTH_PROFILE_TORCH:
    case GTH_PROFILE_JAX_FILL:
    case GTH_PROFILE_JAX_CLIP: return dtype != GTH_DTYPE_STRING;
    default: return true;
  }
}

bool allows_indices(int32_t profile, Op op, int32_t dtype) {
  const bool is_32_or_64 = dtype == GTH_DTYPE_INT32 || dtype == GTH_DTYPE_INT64;
  if (is_onnx(profile)) return op == Op::gather ? is_32_or_64 : dtype == GTH_DTYPE_INT64;
  switch (profile) {
    case GTH_PROFILE_TENSORFLOW: return is_32_or_64 || dtype == GTH_DTYPE_INT16;
    case GTH_PROFILE_TENSORFLOW_GPU:
    case GTH_PROFILE_TORCH: return is_32_or_64;
    default: return true;
  }
}

}  // namespace gather::core
