#include "core/geometry.hpp"

#include <cinttypes>

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

}  // namespace gather::core
