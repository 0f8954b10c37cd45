#pragma once

#include <cstdint>

#include "core/options/operation.hpp"

namespace gather::core {

// When index values are judged although the output is empty because ... (columns may be combined)
enum EmptyCheck : uint8_t {
  check_never = 0,
  check_empty_row = 1,      // ... the selected rows are empty
  check_empty_outer = 2,    // ... a params dim in front of the axis is empty
  check_empty_dim = 4,      // ... or an indexed dim has size 0
  check_single_tuple = 8,   // ... and indices are one tuple, of rank 1
  check_single_empty = 16,  // ... or both at once
  check_always = check_empty_row | check_empty_outer,
};

enum class BatchRule : uint8_t {
  equal,      // batch extents of params and indices agree dim by dim
  divisible,  // ONNX Runtime's GatherND: the number of tuples is a multiple of the number of params batches
};

// Dtypes of params beside the ones that every system has.
enum ParamsTypes : uint8_t {
  with_bfloat16 = 1,
  with_float8_e5m2_e4m3fn = 2,
  with_other_float8 = 4,
  with_strings = 8,
  any_numbers = with_bfloat16 | with_float8_e5m2_e4m3fn | with_other_float8,
  any_params = any_numbers | with_strings,
};

enum class IndexTypes : uint8_t { any, int32_int64, int16_int32_int64, int64 };

// Every switch of a profile, public or not, for one operation.
struct Rules {
  int32_t negative;
  int32_t bounds;
  int32_t fill;
  int32_t extents;
  uint8_t empty_check;
  bool allows_no_components;  // K = 0
  bool refuses_empty_params;  // any tuple into params without elements is an error
  bool allows_scalars;        // params of rank 0 are gathered from: one element
  BatchRule batch;
  uint8_t params;  // ParamsTypes
  IndexTypes indices;
  int32_t accumulate;

  // No default but for what scatters alone have, so that a profile without rules for an operation does not compile.
  constexpr Rules(int32_t negative_, int32_t bounds_, int32_t fill_, int32_t extents_, uint8_t empty_check_,
                  bool allows_no_components_, bool refuses_empty_params_, bool allows_scalars_, BatchRule batch_,
                  uint8_t params_, IndexTypes indices_, int32_t accumulate_ = GTH_ACCUMULATE_DTYPE)
      : negative(negative_),
        bounds(bounds_),
        fill(fill_),
        extents(extents_),
        empty_check(empty_check_),
        allows_no_components(allows_no_components_),
        refuses_empty_params(refuses_empty_params_),
        allows_scalars(allows_scalars_),
        batch(batch_),
        params(params_),
        indices(indices_),
        accumulate(accumulate_) {}
};

// Whether a profile follows ONNX's definitions by opset.
enum class Opsets : uint8_t {
  none,
  types,  // their dtypes and attributes
  text,   // ... and what they say of negative indices
};

// One row of the table of profiles: all that tells one from another.
struct Profile {
  Opsets opsets;
  Rules rules[ruled_count];
};

// profile: 0 or GTH_PROFILE_*, which check_options sees to.
const Profile& profile_of(int32_t profile);

// The kernels would take every dtype; the systems differ for reasons of their own. dtype is one of ours.
bool allows_params(const Rules& rules, int32_t dtype);
// dtype is one of the eight integer types.
bool allows_indices(const Rules& rules, int32_t dtype);

}  // namespace gather::core
