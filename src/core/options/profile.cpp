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

// The values that the names in the columns of GATHER_PROFILES stand for.
namespace column {

struct Numbers {
  static constexpr uint8_t all = any_numbers, bfloat16 = with_bfloat16;
  static constexpr uint8_t tensorflow = with_bfloat16 | with_float8_e5m2_e4m3fn;
};
struct Strings {
  static constexpr uint8_t yes = with_strings, no = 0;
};
struct Negative {
  static constexpr int32_t reject = GTH_NEGATIVE_REJECT, wrap = GTH_NEGATIVE_WRAP;
};
struct Bounds {
  static constexpr int32_t error = GTH_BOUNDS_ERROR, clamp = GTH_BOUNDS_CLAMP, modulo = GTH_BOUNDS_MODULO;
  static constexpr int32_t dropped = GTH_BOUNDS_FILL;
};
struct Fill {
  static constexpr int32_t zero = GTH_FILL_ZERO, by_dtype = GTH_FILL_BY_DTYPE;
};
struct Extents {
  static constexpr int32_t equal = GTH_EXTENTS_EQUAL, prefix = GTH_EXTENTS_PREFIX, broadcast = GTH_EXTENTS_BROADCAST;
};
struct Repeats {
  static constexpr bool yes = true, no = false;
};

}  // namespace column

constexpr int32_t GTH_PROFILE_NONE = 0;

// The columns of one profile that are rules of all operations, and those of bags.
struct Columns {
  int32_t number;
  uint8_t table;  // TableTypes
  int32_t negative, bounds, fill, extents;
  bool repeats;
  BagRules bags;
};

constexpr Columns columns[] = {
#define GATHER_PROFILE(name, numbers, strings, foreign, negative, bounds, fill, extents, empty, end, repeats, check) \
  {GTH_PROFILE_##name,         column::Numbers::numbers | column::Strings::strings,                                  \
   column::Negative::negative, column::Bounds::bounds,                                                               \
   column::Fill::fill,         column::Extents::extents,                                                             \
   column::Repeats::repeats,   {EmptyBag::empty, BagEnd::end, BagCheck::check}},
    GATHER_PROFILES(GATHER_PROFILE)
#undef GATHER_PROFILE
};

// Returns a profile with the rules of its columns.
constexpr Profile profile_of_columns(int32_t profile, Opsets opsets = Opsets::none) {
  const Columns& own = columns[profile];
  return Profile{opsets}
      .set(On::all, &Rules::table, own.table)
      .set(On::all, &Rules::negative, own.negative)
      .set(On::all, &Rules::bounds, own.bounds)
      .set(own.bounds == column::Bounds::dropped ? On::scatters : 0, &Rules::bounds, GTH_BOUNDS_SKIP)
      .set(On::gathers, &Rules::fill, own.fill)
      .set(On::elements, &Rules::extents, own.extents)
      .set(On::scatters, &Rules::repeats_updates, own.repeats);
}

// Each entry sets only the fields that differ from the defaults of Rules. Later calls of set() override earlier ones.
constexpr Profile profiles[] = {
    profile_of_columns(GTH_PROFILE_NONE).set(On::all, &Rules::empty_check, check_always),
    profile_of_columns(GTH_PROFILE_TENSORFLOW)
        .set(On::all, &Rules::indices, IndexTypes::int16_int32_int64)
        .set(On::gather_nd, &Rules::refuses_empty_table, true)
        .set(On::scatter | On::scatter_nd, &Rules::empty_check, check_always),
    profile_of_columns(GTH_PROFILE_TENSORFLOW_GPU)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather_nd, &Rules::refuses_empty_table, true),
    profile_of_columns(GTH_PROFILE_ONNX, Opsets::text)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather | On::scatter | On::nd, &Rules::empty_check, check_always)
        .set(On::nd, &Rules::indices, IndexTypes::int64)
        .set(On::nd, &Rules::allows_no_components, false),
    profile_of_columns(GTH_PROFILE_ORT, Opsets::types)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather | On::scatter | On::scatter_nd, &Rules::empty_check, check_always)
        .set(On::nd, &Rules::indices, IndexTypes::int64)
        .set(On::gather_nd, &Rules::allows_scalars, true)
        .set(On::gather_nd, &Rules::batch, BatchRule::divisible)
        .set(On::gather | On::gather_nd, &Rules::packed_bounds, GTH_BOUNDS_FILL),  // as GatherBlockQuantized
    profile_of_columns(GTH_PROFILE_NUMPY_RAISE)
        .set(On::gather | On::gather_nd, &Rules::empty_check, check_empty_row)
        .set(On::scatter | On::scatter_nd, &Rules::empty_check, check_always),
    profile_of_columns(GTH_PROFILE_NUMPY_WRAP),
    profile_of_columns(GTH_PROFILE_NUMPY_CLIP),
    profile_of_columns(GTH_PROFILE_TORCH)
        .set(On::all, &Rules::indices, IndexTypes::int32_int64)
        .set(On::gather, &Rules::empty_check, check_always)
        .set(On::gather, &Rules::adds_bias_first, true)
        .set(On::scatter, &Rules::empty_check, check_reduction)
        .set(On::nd, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::nd, &Rules::empty_check, check_empty_dim | check_single_tuple)
        .set(On::elements, &Rules::allows_scalars, true)
        .set(On::elements, &Rules::accumulate, GTH_ACCUMULATE_FLOAT32),
    profile_of_columns(GTH_PROFILE_JAX_FILL)
        .set(On::gather, &Rules::empty_check, check_empty_dim)
        .set(On::gather_nd, &Rules::empty_check, check_single_empty),
    profile_of_columns(GTH_PROFILE_JAX_CLIP)
        .set(On::all & ~On::gather, &Rules::negative, GTH_NEGATIVE_WRAP)
        .set(On::gather, &Rules::empty_check, check_empty_dim)
        .set(On::gather_nd, &Rules::empty_check, check_single_empty),
};

static_assert(std::size(profiles) == std::size(columns), "each profile of the list needs an entry");

constexpr bool profiles_are_in_order() {
  for (int32_t i = 0; i < static_cast<int32_t>(std::size(columns)); ++i) {
    if (columns[i].number != i) return false;
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

const BagRules& bag_rules_of(int32_t profile) { return columns[profile].bags; }

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
