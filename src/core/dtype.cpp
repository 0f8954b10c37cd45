#include "core/dtype.hpp"

namespace gather::core {
namespace {

// One row is all that a dtype is to the library: kernels see bytes.
constexpr DtypeInfo table[] = {
    {GTH_DTYPE_BOOL, 1, "bool", false, {0x01, 0}},
    {GTH_DTYPE_INT8, 1, "int8", true, {0x80, 0}},
    {GTH_DTYPE_INT16, 2, "int16", true, {0x8000, 0}},
    {GTH_DTYPE_INT32, 4, "int32", true, {0x80000000, 0}},
    {GTH_DTYPE_INT64, 8, "int64", true, {0x8000000000000000, 0}},
    {GTH_DTYPE_UINT8, 1, "uint8", true, {0xff, 0}},
    {GTH_DTYPE_UINT16, 2, "uint16", true, {0xffff, 0}},
    {GTH_DTYPE_UINT32, 4, "uint32", true, {0xffffffff, 0}},
    {GTH_DTYPE_UINT64, 8, "uint64", true, {0xffffffffffffffff, 0}},
    {GTH_DTYPE_FLOAT16, 2, "float16", false, {0x7e00, 0}},
    {GTH_DTYPE_BFLOAT16, 2, "bfloat16", false, {0x7fc0, 0}},
    {GTH_DTYPE_FLOAT32, 4, "float32", false, {0x7fc00000, 0}},
    {GTH_DTYPE_FLOAT64, 8, "float64", false, {0x7ff8000000000000, 0}},
    {GTH_DTYPE_COMPLEX64, 8, "complex64", false, {0x7fc00000, 0}},
    {GTH_DTYPE_COMPLEX128, 16, "complex128", false, {0x7ff8000000000000, 0}},
    {GTH_DTYPE_FLOAT8_E3M4, 1, "float8_e3m4", false, {0x78, 0}},
    {GTH_DTYPE_FLOAT8_E4M3, 1, "float8_e4m3", false, {0x7c, 0}},
    {GTH_DTYPE_FLOAT8_E4M3B11FNUZ, 1, "float8_e4m3b11fnuz", false, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E4M3FN, 1, "float8_e4m3fn", false, {0x7f, 0}},
    {GTH_DTYPE_FLOAT8_E4M3FNUZ, 1, "float8_e4m3fnuz", false, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E5M2, 1, "float8_e5m2", false, {0x7f, 0}},
    {GTH_DTYPE_FLOAT8_E5M2FNUZ, 1, "float8_e5m2fnuz", false, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E8M0FNU, 1, "float8_e8m0fnu", false, {0xff, 0}},
    {GTH_DTYPE_STRING, 0, "string", false, {0, 0}},
};

}  // namespace

const DtypeInfo* find_dtype(int32_t dtype) {
  for (const DtypeInfo& info : table) {
    if (info.dtype == dtype) return &info;
  }
  return nullptr;
}

const char* dtype_name(int32_t dtype) {
  const DtypeInfo* info = find_dtype(dtype);
  return info ? info->name : "unknown dtype";
}

}  // namespace gather::core
