#include "core/options/profile.hpp"

#include <iterator>

#include "core/base/option_list.hpp"
#include "gather/gather.h"

namespace gather::core {
namespace {

constexpr uint32_t bit_of(int32_t op) { return 1u << (op - 1); }

// Sets of operations for Profile::set().
struct On {
  static constexpr uint32_t gather = bit_of(GTH_OP_GATHER), scatter = bit_of(GTH_OP_SCATTER);
  static constexpr uint32_t gather_nd = bit_of(GTH_OP_GATHER_ND), scatter_nd = bit_of(GTH_OP_SCATTER_ND);
  static constexpr uint32_t nd = gather_nd | scatter_nd;
  static constexpr uint32_t elements = bit_of(GTH_OP_GATHER_ELEMENTS) | bit_of(GTH_OP_SCATTER_ELEMENTS);
  static constexpr uint32_t gathers = gather | gather_nd | bit_of(GTH_OP_GATHER_ELEMENTS);
  static constexpr uint32_t scatters = scatter | scatter_nd | bit_of(GTH_OP_SCATTER_ELEMENTS);
  static constexpr uint32_t all = gathers | scatters;
};
static_assert(On::all == (1u << ruled_count) - 1, "each operation with rules needs a bit");

constexpr uint8_t tensorflow_gpu_types = with_bfloat16 | with_float8_e5m2_e4m3fn;
constexpr uint8_t tensorflow_types = tensorflow_gpu_types | with_strings;
constexpr uint8_t onnx_types = with_bfloat16 | with_strings;  // The definition also decides about bfloat16.

// Each entry sets only the fields that differ from the defaults of Rules. Later calls of set() override earlier ones.
constexpr Profile profiles[] = {
    // no profile
    Profile{}.set(On::all, &Rules::empty_check, check_always),
    // tensorflow
    Profile{}
        .set(On::scatters, &Rules::repeats_updates, false)
        .set(On::all, &Rules::table, tensorflow_types)
        .set(On::all, &Rules::indices, IndexTypes::int16_int32_int64)
        .set(On::gather_nd, &Rules::refuses_empty_table, true)
        .set(On::scatter | On::scatter_nd, &Rules::empty_check, check_always),
    // tensorflow_gpu
    Profile{}
        .set(On::scatters, &Rules::repeats_updates, false)
        .set(On::all, &Rules::table, tensorflow_gpu_types)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gathers, &Rules::bounds, GTH_BOUNDS_FILL)
        .set(On::scatters, &Rules::bounds, GTH_BOUNDS_SKIP)
        .set(On::gather_nd, &Rules::refuses_empty_table, true),
    // onnx
    Profile{Opsets::text}
        .set(On::scatters, &Rules::repeats_updates, false)
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::all, &Rules::table, onnx_types)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather | On::scatter | On::nd, &Rules::empty_check, check_always)
        .set(On::nd, &Rules::indices, IndexTypes::int64)
        .set(On::nd, &Rules::allows_no_components, false)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_PREFIX),
    // ort
    Profile{Opsets::types}
        .set(On::scatters, &Rules::repeats_updates, false)
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::all, &Rules::table, onnx_types)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather | On::scatter | On::scatter_nd, &Rules::empty_check, check_always)
        .set(On::nd, &Rules::indices, IndexTypes::int64)
        .set(On::gather_nd, &Rules::allows_scalars, true)
        .set(On::gather_nd, &Rules::batch, BatchRule::divisible)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_PREFIX),
    // numpy_raise
    Profile{}
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::gather | On::gather_nd, &Rules::empty_check, check_empty_row)
        .set(On::scatter | On::scatter_nd, &Rules::empty_check, check_always)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_BROADCAST),
    // numpy_wrap
    Profile{}
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::all, &Rules::bounds, GTH_BOUNDS_MODULO)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_BROADCAST),
    // numpy_clip
    Profile{}.set(On::all, &Rules::bounds, GTH_BOUNDS_CLAMP).set(On::elements, &Rules::extents, GTH_EXTENTS_BROADCAST),
    // torch
    Profile{}
        .set(On::scatters, &Rules::repeats_updates, false)
        .set(On::all, &Rules::table, any_numbers)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather, &Rules::empty_check, check_always)
        .set(On::scatter, &Rules::empty_check, check_reduction)
        .set(On::nd, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::nd, &Rules::empty_check, check_empty_dim | check_single_tuple)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_PREFIX)
        .set(On::elements, &Rules::allows_scalars, true)
        .set(On::elements, &Rules::accumulate, GTH_ACCUMULATE_FLOAT32),
    // jax_fill
    Profile{}
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::all, &Rules::table, any_numbers)
        .set(On::gathers, &Rules::bounds, GTH_BOUNDS_FILL)
        .set(On::gathers, &Rules::fill, GTH_FILL_BY_DTYPE)
        .set(On::scatters, &Rules::bounds, GTH_BOUNDS_SKIP)
        .set(On::gather, &Rules::empty_check, check_empty_dim)
        .set(On::gather_nd, &Rules::empty_check, check_single_empty)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_BROADCAST),
    // jax_clip
    Profile{}
        .set(On::all, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::gather, &Rules::negative, GTH_NEGATIVE_REJECT)
        .set(On::all, &Rules::bounds, GTH_BOUNDS_CLAMP)
        .set(On::all, &Rules::table, any_numbers)
        .set(On::gather, &Rules::empty_check, check_empty_dim)
        .set(On::gather_nd, &Rules::empty_check, check_single_empty)
        .set(On::elements, &Rules::extents, GTH_EXTENTS_BROADCAST),
};

constexpr BagRules bag_rules[] = {
#define GATHER_PROFILE(name, empty, end, check) {EmptyBag::empty, BagEnd::end, BagCheck::check},
    GATHER_PROFILES(GATHER_PROFILE)
#undef GATHER_PROFILE
};
static_assert(std::size(profiles) == std::size(bag_rules), "each profile needs an entry in both lists");

constexpr int32_t GTH_PROFILE_NONE = 0;
constexpr int32_t profile_numbers[] = {
#define GATHER_PROFILE(name, ...) GTH_PROFILE_##name,
    GATHER_PROFILES(GATHER_PROFILE)
#undef GATHER_PROFILE
};

constexpr bool profiles_are_in_order() {
  for (int32_t i = 0; i < static_cast<int32_t>(std::size(profile_numbers)); ++i) {
    if (profile_numbers[i] != i) return false;
  }
  return true;
}
static_assert(profiles_are_in_order(), "the profiles of the list are in the order of their numbers");

// Precondition: dtype is not GTH_DTYPE_STRING. The float8 dtypes have the largest numbers.
bool is_float8(int32_t dtype) { return dtype >= GTH_DTYPE_FLOAT8_E3M4; }

// Returns the flag of TableTypes that a dtype needs, or 0 if every system has the dtype.
uint8_t flag_of(int32_t dtype) {
  if (dtype == GTH_DTYPE_STRING) return with_strings;
  if (dtype == GTH_DTYPE_BFLOAT16) return with_bfloat16;
  if (dtype == GTH_DTYPE_FLOAT8_E5M2 || dtype == GTH_DTYPE_FLOAT8_E4M3FN) return with_float8_e5m2_e4m3fn;
  return is_float8(dtype) ? with_other_float8 : 0;
}

}  // namespace

const Profile& profile_of(int32_t profile) { return profiles[profile]; }

const BagRules& bag_rules_of(int32_t profile) { return bag_rules[profile]; }

bool allows_table(const Rules& rules, int32_t dtype) { return (flag_of(dtype) & ~rules.table) == 0; }

bool allows_indices(const Rules& rules, int32_t dtype) {
  const bool is_32 = dtype == GTH_DTYPE_INT32, is_64 = dtype == GTH_DTYPE_INT64;
  switch (rules.indices) {
    case IndexTypes::any: return true;
    case IndexTypes::int32_int64: return is_32 || is_64;
    case IndexTypes::int16_int32_int64: return is_32 || is_64 || dtype == GTH_DTYPE_INT16;
    default: return is_64;
  }
}

}  // namespace gather::core
