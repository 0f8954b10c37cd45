#include "core/types/dtype.hpp"

#include <iterator>

namespace gather::core {

// All properties of each dtype. Kernels get only the size in bytes. Kernels that reduce also get the kind of number.
constexpr DtypeInfo dtypes[] = {
    {GTH_DTYPE_STRING, 0, "string", false, Number::none, {0, 0}},  // must be first
    {GTH_DTYPE_BOOL, 1, "bool", false, Number::boolean, {0x01, 0}},
    {GTH_DTYPE_INT8, 1, "int8", true, Number::signed_integer, {0x80, 0}},
    {GTH_DTYPE_INT16, 2, "int16", true, Number::signed_integer, {0x8000, 0}},
    {GTH_DTYPE_INT32, 4, "int32", true, Number::signed_integer, {0x80000000, 0}},
    {GTH_DTYPE_INT64, 8, "int64", true, Number::signed_integer, {0x8000000000000000, 0}},
    {GTH_DTYPE_UINT8, 1, "uint8", true, Number::unsigned_integer, {0xff, 0}},
    {GTH_DTYPE_UINT16, 2, "uint16", true, Number::unsigned_integer, {0xffff, 0}},
    {GTH_DTYPE_UINT32, 4, "uint32", true, Number::unsigned_integer, {0xffffffff, 0}},
    {GTH_DTYPE_UINT64, 8, "uint64", true, Number::unsigned_integer, {0xffffffffffffffff, 0}},
    {GTH_DTYPE_FLOAT16, 2, "float16", false, Number::floating, {0x7e00, 0}},
    {GTH_DTYPE_BFLOAT16, 2, "bfloat16", false, Number::brain_floating, {0x7fc0, 0}},
    {GTH_DTYPE_FLOAT32, 4, "float32", false, Number::floating, {0x7fc00000, 0}},
    {GTH_DTYPE_FLOAT64, 8, "float64", false, Number::floating, {0x7ff8000000000000, 0}},
    {GTH_DTYPE_COMPLEX64, 8, "complex64", false, Number::complex, {0x7fc00000, 0}},
    {GTH_DTYPE_COMPLEX128, 16, "complex128", false, Number::complex, {0x7ff8000000000000, 0}},
    {GTH_DTYPE_FLOAT8_E3M4, 1, "float8_e3m4", false, Number::none, {0x78, 0}},
    {GTH_DTYPE_FLOAT8_E4M3, 1, "float8_e4m3", false, Number::none, {0x7c, 0}},
    {GTH_DTYPE_FLOAT8_E4M3B11FNUZ, 1, "float8_e4m3b11fnuz", false, Number::none, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E4M3FN, 1, "float8_e4m3fn", false, Number::none, {0x7f, 0}},
    {GTH_DTYPE_FLOAT8_E4M3FNUZ, 1, "float8_e4m3fnuz", false, Number::none, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E5M2, 1, "float8_e5m2", false, Number::none, {0x7f, 0}},
    {GTH_DTYPE_FLOAT8_E5M2FNUZ, 1, "float8_e5m2fnuz", false, Number::none, {0x80, 0}},
    {GTH_DTYPE_FLOAT8_E8M0FNU, 1, "float8_e8m0fnu", false, Number::none, {0xff, 0}},
};

namespace {

constexpr DtypePlaces find_places() {
  DtypePlaces places{};
  for (size_t i = 1; i < std::size(dtypes); ++i) {
    int32_t size = 0;
    while (8 << size < dtypes[i].dtype % 256) ++size;
    places.of[dtypes[i].dtype / 256][size] = static_cast<int8_t>(i);
  }
  return places;
}

}  // namespace

constexpr DtypePlaces dtype_places = find_places();

const char* dtype_name(int32_t dtype) {
  const DtypeInfo* info = find_dtype(dtype);
  return info ? info->name : "unknown dtype";
}

}  // namespace gather::core
