#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"
#include "core/types/dtype.hpp"

namespace gather::core {

// The dtypes of a request. table and rows have the same one.
struct Dtypes {
  const DtypeInfo* table;
  const DtypeInfo* indices;
};

// Looks up the dtypes of params, indices and out, and checks them by the rules of the profile.
int32_t resolve_dtypes(const Settings& settings, int32_t params, int32_t indices, int32_t out, Dtypes* result,
                       const Error& error);
// Checks the dtypes of a shape query, in which a dtype may be 0 (unknown).
int32_t check_known_dtypes(const Settings& settings, int32_t params, int32_t indices, const Error& error);

}  // namespace gather::core
