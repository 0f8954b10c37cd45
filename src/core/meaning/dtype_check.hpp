#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"

namespace gather::core {

// Checks the dtypes of params, indices and out by the rules of the profile.
int32_t check_dtypes(const Settings& settings, int32_t params, int32_t indices, int32_t out, const Error& error);
// The same as check_dtypes for a shape query, in which a dtype may be 0 (unknown).
int32_t check_known_dtypes(const Settings& settings, int32_t params, int32_t indices, const Error& error);

}  // namespace gather::core
