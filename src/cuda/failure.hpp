#pragma once

#include "core/base/error.hpp"

namespace gather::cuda {

// A CUDA call failed: GTH_E_NOMEM, GTH_E_CAPTURE or GTH_E_CUDA, with CUDA's number. `bytes` that were asked for, if any.
int32_t fail_cuda(int code, const char* what, int64_t bytes, const core::Error& error);

int32_t fail_capture(const char* what, const core::Error& error);
int32_t fail_capture_order(const core::Error& error);
int32_t fail_fork(const core::Error& error);

// The device is not there; `offset` of the field in gth_context_options.
int32_t fail_no_device(int32_t offset, int64_t value, int64_t limit, const char* why, const core::Error& error);

// CUDA cannot be used at all, and says why: GTH_E_DEVICE, or GTH_E_FORK where it is as in the child of a process that has
// used it, with CUDA's number.
int32_t fail_unusable(int code, const core::Error& error);

// What a record says, as the error of a take.
int32_t fail_recorded(const gth_error_record& record, const core::Error& error);

}  // namespace gather::cuda
