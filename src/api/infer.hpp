#pragma once

#include "api/api_boundary.hpp"

namespace gather::api {

// Writes a dense description to *rows, and the extents to `shape`. If `capacity` is too small, only the rank is
// written, and the error names `operand`. Precondition: check_inferred has succeeded.
int32_t write_inferred(int32_t operand, int32_t dtype, int32_t ndim, const int64_t* extents, gth_tensor_desc* rows,
                       int32_t capacity, int64_t* shape, const Error& error);

// Checks the struct that write_inferred writes.
int32_t check_inferred(const gth_tensor_desc* rows, const Error& error);

}  // namespace gather::api
