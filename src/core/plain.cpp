#include "core/plain.hpp"

#include "core/checked.hpp"

namespace gather::core {

bool is_plain(const gth_tensor_desc& desc, uint32_t allowed_flags) {
  static_assert(GTH_DEVICE_CPU == 1, "0 and 1 are the CPU");
  return desc.size == sizeof desc && !desc.strides && !(desc.flags & ~allowed_flags) && !desc.reserved &&
         static_cast<uint32_t>(desc.device) <= GTH_DEVICE_CPU && static_cast<uint32_t>(desc.ndim) <= GTH_MAX_NDIM &&
         (desc.shape || desc.ndim == 0) && desc.offset >= 0 && desc.extent >= 0;
}

bool find_plain_end(const gth_tensor_desc& desc, int64_t bytes, int64_t* end) {
  return add(desc.offset, bytes, end) && (desc.extent == 0 || *end <= desc.extent);
}

int64_t plain_product(const int64_t* extents, int32_t begin, int32_t end, int64_t size) {
  for (int32_t i = begin; i < end; ++i) {
    if (extents[i] <= 0 || !multiply(size, extents[i], &size)) return 0;
  }
  return size;
}

int64_t plain_bytes(const gth_tensor_desc& desc, int64_t item) { return plain_product(desc.shape, 0, desc.ndim, item); }

}  // namespace gather::core
