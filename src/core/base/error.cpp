#include "core/base/error.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gather::core {
namespace {

// Sets every field except size, which the caller has set. Fields that a later header has become zero.
void store(gth_error& target, const Fault& fault) {
  target.status = fault.status;
  target.operand = fault.operand;
  target.component = fault.component;
  target.native = fault.native;
  target.flags = fault.flags;
  target.position = fault.position;
  target.value = fault.value;
  target.limit = fault.limit;
  target.sequence = 0;
  target.count = 0;
  target.item = -1;
  if (target.size > sizeof target) std::memset(static_cast<void*>(&target + 1), 0, target.size - sizeof target);
}

}  // namespace

int32_t Error::fail(const Fault& fault, const char* format, ...) const noexcept {
  if (!target_) return fault.status;
  store(*target_, fault);
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(target_->message, sizeof target_->message, format, arguments);
  va_end(arguments);
  if (length < 0) target_->message[0] = '\0';
  if (length >= static_cast<int>(sizeof target_->message)) target_->flags |= GTH_ERROR_CUT;
  return fault.status;
}

void Error::rename_operand(int32_t from, int32_t to) const noexcept {
  if (!target_ || target_->operand != from) return;
  target_->operand = to;
  const size_t name = std::strlen(operand_name(from));
  if (std::strncmp(target_->message, operand_name(from), name) != 0) return;
  char message[sizeof target_->message] = {};
  const int length = std::snprintf(message, sizeof message, "%s%s", operand_name(to), target_->message + name);
  if (length >= static_cast<int>(sizeof message)) target_->flags |= GTH_ERROR_CUT;
  std::memcpy(target_->message, message, sizeof message);
}

// A copy of the names in each caller would be useless, because only failures need them.
__attribute__((noinline)) const char* operand_name(int32_t operand) {
  switch (operand) {
    case GTH_OPERAND_PARAMS: return "params";
    case GTH_OPERAND_INDICES: return "indices";
    case GTH_OPERAND_OUT: return "out";
    case GTH_OPERAND_OPTIONS: return "options";
    case GTH_OPERAND_CONTEXT: return "context";
    case GTH_OPERAND_PLAN: return "plan";
    case GTH_OPERAND_TENSOR: return "tensor";
    case GTH_OPERAND_TARGET: return "target";
    case GTH_OPERAND_UPDATES: return "updates";
    case GTH_OPERAND_REQUEST: return "request";
    case GTH_OPERAND_BAGS: return "bags";
    case GTH_OPERAND_WEIGHTS: return "weights";
    case GTH_OPERAND_CODEC: return "codec";
    case GTH_OPERAND_FILE: return "file";
    case GTH_OPERAND_SCALES: return "scales";
    case GTH_OPERAND_ZEROS: return "zeros";
    default: return "argument";
  }
}

int32_t fail_null(int32_t operand, const Error& error) {
  return error.fail({GTH_E_NULL, operand}, "%s is NULL", operand_name(operand));
}

int32_t fail_memory(int64_t bytes, const Error& error) {
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, bytes, 0}, "cannot allocate %" PRId64 " bytes", bytes);
}

int32_t fail_index(const Error& error, const Fault& fault) {
  const char* low = fault.flags & GTH_ERROR_WRAP ? "-" : "";
  const int64_t bottom = fault.flags & GTH_ERROR_WRAP ? fault.limit : 0;
  if (fault.flags & GTH_ERROR_UNSIGNED) {
    return error.fail(fault,
                      "indices: component %" PRId32 " of tuple %" PRId64 " is %" PRIu64 ", valid are [%s%" PRId64
                      ", %" PRId64 ")",
                      fault.component, fault.position, static_cast<uint64_t>(fault.value), low, bottom, fault.limit);
  }
  return error.fail(fault,
                    "indices: component %" PRId32 " of tuple %" PRId64 " is %" PRId64 ", valid are [%s%" PRId64
                    ", %" PRId64 ")",
                    fault.component, fault.position, fault.value, low, bottom, fault.limit);
}

int32_t fail_empty_table(const Error& error, int32_t operand, int32_t dim) {
  return error.fail({GTH_E_INDEX, operand, dim, -1, 0, 1},
                    "%s: has no elements (dim %" PRId32 " is 0), but indices select in it", operand_name(operand), dim);
}

int32_t fail_index_race(const Error& error) {
  return error.fail({GTH_E_RACE, GTH_OPERAND_INDICES}, "indices: changed by another thread during the call");
}

}  // namespace gather::core
