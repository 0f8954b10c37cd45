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

int64_t plain_bytes(const gth_tensor_desc& desc, int64_t item) {
  int64_t bytes = item;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    if (desc.shape[i] <= 0 || !multiply(bytes, desc.shape[i], &bytes)) return 0;
  }
  return bytes;
}

}  // namespace gather::core
