#pragma once

#include <cstdint>
#include <type_traits>

#include "core/options/operation.hpp"

namespace gather::core {

// The cases in which indices are validated although the output has no elements. Flags may be combined.
enum EmptyCheck : uint8_t {
  check_never = 0,
  check_empty_row = 1,      // The selected slices are empty.
  check_empty_outer = 2,    // A dim of the table before the axis is empty.
  check_empty_dim = 4,      // An indexed dim has size 0.
  check_single_tuple = 8,   // Indices have rank 1 and contain one tuple.
  check_single_empty = 16,  // Indices contain one tuple as above, and an indexed dim has size 0.
  check_reduction = 32,     // A scatter has a reduction other than add.
  check_always = check_empty_row | check_empty_outer,
};

enum class BatchRule : uint8_t {
  equal,      // Each batch extent is equal in table and indices.
  divisible,  // The number of tuples is a multiple of the number of batches of the table (GatherND of ONNX Runtime).
};

// The dtypes of the table that only some systems have.
enum TableTypes : uint8_t {
  with_bfloat16 = 1,
  with_float8_e5m2_e4m3fn = 2,
  with_other_float8 = 4,
  with_strings = 8,
  any_numbers = with_bfloat16 | with_float8_e5m2_e4m3fn | with_other_float8,
  any_types = any_numbers | with_strings,
};

enum class IndexTypes : uint8_t { any, int32_int64, int16_int32_int64, int64 };

// All switches of a profile for one operation. Some of them are not in gth_options. The defaults are the rules of most
// profiles.
struct Rules {
  int32_t negative = GTH_NEGATIVE_REJECT;
  int32_t bounds = GTH_BOUNDS_ERROR;
  int32_t fill = GTH_FILL_ZERO;
  int32_t extents = GTH_EXTENTS_EQUAL;
  uint8_t empty_check = check_never;  // EmptyCheck
  bool allows_no_components = true;   // K may be 0.
  bool refuses_empty_table = false;   // Tuples that select in a table without elements are an error.
  bool allows_scalars = false;        // The table may have rank 0.
  BatchRule batch = BatchRule::equal;
  uint8_t table = any_types;  // TableTypes
  IndexTypes indices = IndexTypes::any;
  int32_t accumulate = GTH_ACCUMULATE_DTYPE;
  bool repeats_updates = true;   // The shape of updates may be the end of the shape of the rows.
  int32_t packed_bounds = 0;     // of a packed table; 0: `bounds`
  bool adds_bias_first = false;  // Bags of packed rows add the bias, and then the product of code and scale.
};

// The parts of the definitions of ONNX that a profile follows.
enum class Opsets : uint8_t {
  none,
  types,  // dtypes and attributes
  text,   // dtypes, attributes and the rule for negative indices
};

// One entry of the list of profiles.
struct Profile {
  Opsets opsets = Opsets::none;
  Rules rules[ruled_count] = {};

  // Returns the profile with another value of a field. Bit i of `operations` selects rules[i].
  template <class T>
  constexpr Profile set(uint32_t operations, T Rules::* field, std::common_type_t<T> value) const {
    Profile result = *this;
    for (int32_t i = 0; i < ruled_count; ++i) {
      if (operations >> i & 1) result.rules[i].*field = value;
    }
    return result;
  }
};

// The rules of a profile for bags: the columns of GATHER_PROFILES.
enum class EmptyBag : uint8_t { absent, zero, identity };
enum class BagEnd : uint8_t { last, early };
enum class BagCheck : uint8_t { always, nonempty };

struct BagRules {
  EmptyBag empty;
  BagEnd end;
  BagCheck check;
};

// Returns the entry of a profile. Precondition: `profile` is 0 or one of GTH_PROFILE_*, which check_options validates.
const Profile& profile_of(int32_t profile);
const BagRules& bag_rules_of(int32_t profile);

// Returns true if the profile accepts a table of this dtype. The kernels support every dtype. Precondition:
// find_dtype(dtype).
bool allows_table(const Rules& rules, int32_t dtype);
// Returns true if the profile accepts indices of this dtype. Precondition: dtype is one of the eight integer types.
bool allows_indices(const Rules& rules, int32_t dtype);

}  // namespace gather::core
