#pragma once

#include <cstdint>

#include "api/api_boundary.hpp"
#include "execution/context.hpp"

namespace gather::api {

extern const Context default_context;

// Finds the context of a handle. For NULL, find_context returns the default CPU context.
int32_t find_live_context(gth_context* handle, const Context** out, const Error& error);
inline int32_t find_context(gth_context* handle, const Context** out, const Error& error) {
  *out = &default_context;
  return handle ? find_live_context(handle, out, error) : GTH_OK;
}

}  // namespace gather::api
