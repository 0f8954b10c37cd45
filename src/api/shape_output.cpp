#include "api/shape_output.hpp"

#include <algorithm>
#include <cinttypes>

namespace gather::api {

int32_t write_shape(int32_t rank, const int64_t* extents, int32_t capacity, int32_t* ndim, int64_t* shape,
                    const Error& error) {
  *ndim = rank;
  if (rank > capacity) {
    return error.fail({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, capacity, rank},
                      "out: rank is %" PRId32 ", the shape has room for %" PRId32, rank, capacity);
  }
  if (rank > 0 && !shape) return error.fail({GTH_E_NULL}, "shape is NULL");
  std::copy_n(extents, rank, shape);
  return GTH_OK;
}

}  // namespace gather::api
