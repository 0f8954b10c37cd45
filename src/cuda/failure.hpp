#pragma once

#include "core/base/error.hpp"

namespace gather::cuda {

// Reports a failed CUDA call as GTH_E_NOMEM, GTH_E_CAPTURE or GTH_E_CUDA, with CUDA's number. `bytes` is the requested
// size, or 0.
int32_t fail_cuda(int code, const char* what, int64_t bytes, const core::Error& error);

int32_t fail_capture(const char* what, const core::Error& error);
int32_t fail_capture_order(const core::Error& error);
int32_t fail_fork(const core::Error& error);

// Reports that the device does not exist. `offset` is that of the field in gth_context_options.
int32_t fail_no_device(int32_t offset, int64_t value, int64_t limit, const char* why, const core::Error& error);

// Reports that CUDA cannot be used, with CUDA's number and the reason. Returns GTH_E_FORK in a forked child of a
// process that used CUDA, and GTH_E_DEVICE otherwise.
int32_t fail_unusable(int code, const core::Error& error);

// Returns the content of a record as the error of a take.
int32_t fail_recorded(const gth_error_record& record, const core::Error& error);

}  // namespace gather::cuda
