#pragma once

#include "core/meaning/shards.hpp"
#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

namespace gather::cuda {

// Partitions ids in stream order. Nothing is written if an id is invalid. The plan is that of a gather from a table with
// the rows of the shards. The place has no state, because the call has its own.
int32_t run_partition(Context& context, runtime::Stream stream, const core::Plan& plan, const gth_tensor_desc& ids,
                      const core::Shards& shards, const gth_parts& parts, const Place& place, bool is_captured,
                      const Error& error);

}  // namespace gather::cuda
