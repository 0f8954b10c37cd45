#include "core/meaning/geometry.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/base/checked.hpp"

namespace gather::core {

int32_t fail_extent(int32_t status, int32_t operand, int32_t dim, int64_t value, int64_t limit, const Error& error) {
  return error.fail({status, operand, dim, -1, value, limit}, "%s: dim %" PRId32 " is %" PRId64 ", needed is %" PRId64,
                    operand_name(operand), dim, value, limit);
}

int32_t check_rank(const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (desc.ndim < 0 || desc.ndim > GTH_MAX_NDIM) {
    return error.fail({GTH_E_RANK, operand, -1, -1, desc.ndim, GTH_MAX_NDIM},
                      "%s: rank is %" PRId32 ", valid are 0 to %d", operand_name(operand), desc.ndim, GTH_MAX_NDIM);
  }
  if (desc.ndim > 0 && !desc.shape) {
    return error.fail({GTH_E_NULL, operand}, "%s: shape is NULL", operand_name(operand));
  }
  return GTH_OK;
}

int32_t check_extents(const gth_tensor_desc& desc, int32_t operand, Open open, const Error& error) {
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t extent = desc.shape[i];
    if (extent < 0 && !(extent == GTH_OPEN && open != Open::none)) {
      return error.fail({GTH_E_SHAPE, operand, i, -1, extent, 0}, "%s: dim %" PRId32 " is negative, %" PRId64,
                        operand_name(operand), i, extent);
    }
  }
  return GTH_OK;
}

int32_t check_size(int32_t ndim, const int64_t* shape, int64_t bytes, int32_t operand, const Error& error) {
  int64_t size = std::max<int64_t>(bytes, 1);
  for (int32_t i = 0; i < ndim; ++i) {
    if (!multiply(size, std::max<int64_t>(shape[i], 1), &size)) {
      return error.fail({GTH_E_SIZE, operand, -1, -1, shape[i], INT64_MAX},
                        "%s: more than 2^63 - 1 bytes (dim %" PRId32 " is %" PRId64 ")", operand_name(operand), i,
                        shape[i]);
    }
  }
  return GTH_OK;
}

}  // namespace gather::core
