#include "cuda/failure.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "cuda/runtime.hpp"

namespace gather::cuda {

using core::Error;

int32_t fail_cuda(int code, const char* what, int64_t bytes, const Error& error) {
  const int32_t status = runtime::means_no_memory(code) ? GTH_E_NOMEM
                         : runtime::means_capture(code) ? GTH_E_CAPTURE
                                                        : GTH_E_CUDA;
  error.fail({status, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "%s: CUDA error %d, %s", what, code,
             runtime::error_name(code));
  if (error.target()) error.target()->native = code;
  return status;
}

int32_t fail_capture(const char* what, const Error& error) {
  return error.fail({GTH_E_CAPTURE, GTH_OPERAND_CONTEXT}, "context: its stream is being captured, %s", what);
}

int32_t fail_capture_order(const Error& error) {
  return error.fail({GTH_E_CAPTURE, GTH_OPERAND_CONTEXT},
                    "context: a stream that is being captured can only wait for streams of its capture");
}

int32_t fail_fork(const Error& error) {
  return error.fail({GTH_E_FORK, GTH_OPERAND_CONTEXT}, "context: CUDA cannot be used in a child process after fork");
}

int32_t fail_no_device(int32_t offset, int64_t value, int64_t limit, const char* why, const Error& error) {
  return error.fail({GTH_E_DEVICE, GTH_OPERAND_OPTIONS, offset, -1, value, limit}, "options: %s", why);
}

namespace {

// Returns advice for the error numbers of machines and processes that are not set up correctly.
const char* advice_for(int code) {
  switch (code) {
    case runtime::code::not_initialized: return ": CUDA cannot be used in a child process after fork";
    case runtime::code::insufficient_driver: return ": the driver is older than the CUDA of this library";
    case runtime::code::devices_unavailable: return ": other processes have the devices";
    case runtime::code::system_not_ready: return ": the fabric manager of the machine may not be running";
    case runtime::code::system_driver_mismatch: return ": the driver was updated, and not loaded again";
    default: return "";
  }
}

}  // namespace

int32_t fail_unusable(int code, const Error& error) {
  const bool is_fork = code == runtime::code::not_initialized;
  const int32_t status =
      is_fork ? error.fail({GTH_E_FORK, GTH_OPERAND_CONTEXT}, "context: CUDA error %d, %s%s", code,
                           runtime::error_name(code), advice_for(code))
              : error.fail({GTH_E_DEVICE, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, device), -1,
                            GTH_DEVICE_CUDA, GTH_DEVICE_CPU},
                           "options: CUDA error %d, %s%s", code, runtime::error_name(code), advice_for(code));
  if (error.target()) error.target()->native = code;
  return status;
}

namespace {

// The record does not have the format of the bags.
int32_t fail_bags(const core::Fault& fault, const Error& error) {
  if (fault.status == GTH_E_RACE) return error.fail(fault, "bags: changed during the call");
  const bool is_large = fault.flags & GTH_ERROR_UNSIGNED;
  char number[24];
  std::snprintf(number, sizeof number, is_large ? "%" PRIu64 : "%" PRId64, static_cast<uint64_t>(fault.value));
  return error.fail(fault, "bags: %s at position %" PRId64 " is invalid, the limit is %" PRId64, number, fault.position,
                    fault.limit);
}

int32_t fail_room(const core::Fault& fault, const Error& error) {
  return error.fail(fault, "out: room for %" PRId64 " rows, needed are %" PRId64, fault.value, fault.limit);
}

}  // namespace

int32_t fail_recorded(const gth_error_record& record, const Error& error) {
  const core::Fault fault{record.status, record.operand, record.component, record.position,
                          record.value,  record.limit,   record.flags};
  const int32_t status = record.operand == GTH_OPERAND_BAGS ? fail_bags(fault, error)
                         : record.status == GTH_E_SIZE      ? fail_room(fault, error)
                         : record.status == GTH_E_INDEX     ? core::fail_index(error, fault)
                                                            : core::fail_index_race(error);
  if (gth_error* target = error.target()) {
    target->sequence = record.sequence;
    target->count = record.count;
  }
  return status;
}

}  // namespace gather::cuda
