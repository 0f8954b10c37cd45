#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/operation.hpp"
#include "core/options/profile.hpp"

namespace gather::core {

// The settings of an operation of Form::bags.
struct BagSettings {
  int32_t format, pool;    // 0: the default
  int32_t empty;           // GTH_EMPTY_*, or start_if_empty
  int32_t out_dtype;       // 0: that of the table
  bool ends_early;         // The last offset may be smaller than the number of ids.
  bool checks_when_empty;  // Ids are validated also if the output has no elements.
  bool rounds_each;        // Each sum of numbers of 2 bytes is rounded.
  int64_t count;
};

// gth_options after the profile has been applied. Every default has been replaced by a value.
struct Settings {
  const Operation* operation;
  const Rules* rules;
  const Definition* definition;  // the definition of ONNX that applies, or nullptr without an ONNX profile
  bool has_definition;           // The opset has a definition of the operation.
  bool has_axis;
  bool wraps;                // Negative indices count from the end.
  bool has_batch_dims;       // The operation has the attribute batch_dims.
  bool is_partial_on_error;  // After an error, the output may contain some of the results. bounds is error.
  int32_t bounds;
  int32_t fill;
  int32_t extents;
  BatchRule batch;
  int32_t reduction;
  bool in_float32;          // float16 and bfloat16 are added and multiplied in float32, and rounded once.
  bool in_float64;          // float32 is added and multiplied in float64.
  bool starts_with_update;  // A reduction does not begin with the row of the target.
  bool any_order;           // Sums may be made in any order.
  int32_t threads;
  int32_t given_opset;
  int64_t given_axis;  // the field axis, also if has_axis is 0
  int64_t axis;
  int64_t batch_dims;
  uint64_t fill_value[2];
  int32_t fill_dtype;  // 0: not stated
  bool has_padding;    // An index of the value `padding` selects no row.
  int64_t padding;
  BagSettings bags;  // set for Form::bags only
};

// Validates the switches of `options`, and that the operation has them. nullptr means all defaults. Precondition: the
// size of the struct is valid.
int32_t check_options(const gth_options& options, const Operation& operation, const Error& error);

// Applies profile and switches. Precondition: check_options has succeeded. If the opset is below the first definition,
// the newest definition is used until check_definition() rejects the opset.
void resolve_options(const gth_options* given, const Operation& operation, Settings* out);

// Checks that the opset defines the operation, and that the definition has the reduction. Precondition: the dtypes are
// valid.
int32_t check_definition(const Settings& settings, const Error& error);

}  // namespace gather::core
