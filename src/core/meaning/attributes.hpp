#pragma once

#include <cstdint>

#include "core/meaning/geometry.hpp"
#include "core/options/options.hpp"

// Validation of the attributes axis and batch_dims.
namespace gather::core {

// Rejects an axis if has_axis is 0.
int32_t check_stray_axis(const Settings& settings, const Error& error);

// Validates axis and batch_dims against the ranks. Sets batch and axis.
int32_t resolve_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error);

// Reports batch_dims outside [lowest, highest]. `limit` is the bound that it violates.
int32_t fail_batch_dims(int64_t value, int64_t limit, int64_t lowest, int64_t highest, const Error& error);

// Rejects an axis and batch_dims of gather_bags, which has none.
int32_t check_bag_attributes(const Settings& settings, const Error& error);

}  // namespace gather::core
