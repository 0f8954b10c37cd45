#pragma once

#include <cstdint>

#include "api/fence.hpp"

namespace gather::api {

// Hands a shape out: the rank always, the extents where there is room for them.
int32_t write_shape(int32_t rank, const int64_t* extents, int32_t capacity, int32_t* ndim, int64_t* shape,
                    const Error& error);

}  // namespace gather::api
