#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::core {

// The facts of a failure, as gth_error has them.
struct Fault {
  int32_t status;
  int32_t operand = GTH_OPERAND_NONE;
  int32_t component = -1;
  int64_t position = -1;
  int64_t value = 0;
  int64_t limit = 0;
  uint32_t flags = 0;
};

// Writes failures into the caller's gth_error, which may be absent. Costs nothing until something fails.
class Error {
 public:
  explicit Error(gth_error* target) : target_(target) {}

  // Records a failure with its message and returns its status.
  __attribute__((format(printf, 3, 4), cold)) int32_t fail(const Fault& fault, const char* format, ...) const noexcept;

  // Replaces the role of the operand of a recorded failure, in the message too.
  void rename_operand(int32_t from, int32_t to) const noexcept;

  // Hands the caller's struct to the device half, which writes records and sequences.
  gth_error* target() const { return target_; }

 private:
  gth_error* target_;
};

// "params", "indices", ... for messages.
const char* operand_name(int32_t operand);

// The facts and the message of a bad index.
int32_t fail_index(const Error& error, const Fault& fault);

// Rows are asked of a tensor without elements, and the profile refuses that; dim is the first empty one.
int32_t fail_empty_params(const Error& error, int32_t operand, int32_t dim);

// An index that was good is bad now.
int32_t fail_index_race(const Error& error);

}  // namespace gather::core
