#pragma once

#include "core/meaning/request.hpp"

namespace gather::core {

// The functions of request.hpp for requests of Form::bags.
int32_t resolve_bags_meaning(const Request& request, Meaning* out, const Error& error);
int32_t query_bags_geometry(const Request& request, Geometry* out, const Error& error);

// Returns the format of the bags of a request.
inline int32_t bag_format_of(const Request& request, const Settings& settings) {
  if (settings.bags.format) return settings.bags.format;
  return request.bags ? GTH_BAGS_OFFSETS : GTH_BAGS_DENSE;
}

}  // namespace gather::core
