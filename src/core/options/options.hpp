#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/operation.hpp"
#include "core/options/profile.hpp"

namespace gather::core {

// gth_options after the profile has been applied: no zero stands for a default any more.
struct Settings {
  const Operation* operation;
  const Rules* rules;
  const Definition* definition;  // in force with an ONNX profile, else nullptr
  bool has_definition;           // the opset has one
  bool has_axis;
  bool wraps;           // negative indices count from the end
  bool has_batch_dims;  // the operation has such an attribute in the definition in force
  int32_t bounds;
  int32_t fill;
  int32_t extents;
  BatchRule batch;
  int32_t reduction;
  bool in_float32;  // float16 and bfloat16 are added and multiplied in float32, and rounded once
  int32_t threads;
  int32_t given_opset;
  int64_t given_axis;  // the field, whatever has_axis says
  int64_t axis;
  int64_t batch_dims;
  uint64_t fill_value[2];
};

// Checks the switches of `options` (nullptr: all defaults), and that the operation has them. Its size has been checked.
int32_t check_options(const gth_options* options, int32_t op, const Error& error);

// Applies profile and switches. The struct has been checked. An opset below the first definition is taken for the
// newest until check_definition() refuses it.
void resolve_options(const gth_options* given, int32_t op, Settings* out);

// That the opset has a definition of the operation, and this the reduction. Dtypes are judged before.
int32_t check_definition(const Settings& settings, const Error& error);

}  // namespace gather::core
