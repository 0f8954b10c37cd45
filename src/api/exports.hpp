#pragma once

#include <cinttypes>

#include "api/tensor.hpp"

// The flags GTH_EXPORT_*, for all kinds of exports.
namespace gather::api {

inline int32_t check_export_flags(uint32_t flags, const Error& error) {
  constexpr uint32_t known = GTH_EXPORT_COPY | GTH_EXPORT_NO_COPY;
  if (flags < known) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, flags, GTH_EXPORT_NO_COPY},
                    "flags are %" PRIu32 ", valid are 0, GTH_EXPORT_COPY and GTH_EXPORT_NO_COPY", flags);
}

// Returns true if an export copies. Borrowed memory cannot be shared.
inline bool wants_copy(const Tensor& tensor, uint32_t flags) { return !tensor.storage || flags & GTH_EXPORT_COPY; }

inline int32_t fail_no_copy(const char* why, const Error& error) {
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "tensor: cannot be exported without a copy: %s", why);
}

}  // namespace gather::api
