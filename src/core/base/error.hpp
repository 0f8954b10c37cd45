#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::core {

// The fields of gth_error that describe a failure.
struct Fault {
  int32_t status;
  int32_t operand = GTH_OPERAND_NONE;
  int32_t component = -1;
  int64_t position = -1;
  int64_t value = 0;
  int64_t limit = 0;
  uint32_t flags = 0;
  int32_t native = 0;
};

// Writes failures into the caller's gth_error, which may be NULL. It costs nothing until a failure.
class Error {
 public:
  explicit Error(gth_error* target) : target_(target) {}

  // Records a failure with its message and returns its status.
  __attribute__((format(printf, 3, 4), cold)) int32_t fail(const Fault& fault, const char* format, ...) const noexcept;

  // Replaces the role of the operand in a recorded failure and in its message.
  void rename_operand(int32_t from, int32_t to) const noexcept;

  // Returns the caller's struct. The device code writes records and sequence numbers into it.
  gth_error* target() const { return target_; }

 private:
  gth_error* target_;
};

// Returns the name of an operand for messages, such as "params".
const char* operand_name(int32_t operand);

// Reports a required pointer that is NULL.
int32_t fail_null(int32_t operand, const Error& error);

// Reports memory that cannot be allocated.
int32_t fail_memory(int64_t bytes, const Error& error);

// Reports an index out of bounds.
int32_t fail_index(const Error& error, const Fault& fault);

// Reports tuples that select in a tensor without elements, if the profile rejects this. `dim` is the first empty dim.
int32_t fail_empty_table(const Error& error, int32_t operand, int32_t dim);

// Reports that another thread made an index invalid after its validation.
int32_t fail_index_race(const Error& error);

}  // namespace gather::core
