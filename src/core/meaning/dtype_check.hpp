#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"

namespace gather::core {

// Dtypes of params, indices and out under the profile.
int32_t check_dtypes(const Settings& settings, int32_t params, int32_t indices, int32_t out, const Error& error);
// As check_dtypes for a shape query, which may leave a dtype out as 0.
int32_t check_known_dtypes(const Settings& settings, int32_t params, int32_t indices, const Error& error);

}  // namespace gather::core
