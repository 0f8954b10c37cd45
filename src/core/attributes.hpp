#pragma once

#include <cstdint>

#include "core/operation.hpp"
#include "core/options.hpp"

// axis and batch_dims, operation by operation.
namespace gather::core {

// An axis without has_axis is a forgotten has_axis.
int32_t check_stray_axis(const Settings& settings, const Error& error);

int32_t resolve_gather_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error);
int32_t resolve_gather_nd_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error);
int32_t resolve_elements_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error);

// batch_dims is not one of [lowest, highest]; `limit` is the bound it was held against.
int32_t fail_batch_dims(int64_t value, int64_t limit, int64_t lowest, int64_t highest, const Error& error);

}  // namespace gather::core
