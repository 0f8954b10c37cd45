#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/meaning/request.hpp"
#include "core/meaning/shards.hpp"
#include "core/plan/bag_outputs.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cuda/queue.hpp"

// The interface of the CUDA layer for the api layer. Builds without CUDA use stub.cpp.
namespace gather::cuda {

using core::Error;

// Fills the cuda_* and device_* fields.
void describe_machine(gth_capability_info* info);

// Returns true if this build and this machine have the device.
bool has_device(int32_t id);
// Finds the device that owns the memory. The id is 0 for memory that belongs to no single device.
int32_t find_device_of(const void* data, int32_t* id, const Error& error);

// A device, a stream, and the state that calls on them share.
class Context;

int32_t create_context(const gth_context_options& options, Context** out, const Error& error);
void release_context(Context* context);

// Releases what contexts of the process share, if no context is left.
void shut_down();

int32_t synchronize(Context& context, const Error& error);
int32_t wait(Context& context, CUstream_st* stream, const Error& error);
int32_t signal(Context& context, CUstream_st* stream, const Error& error);
int32_t take_error(Context& context, const Error& error);
int32_t enqueue_take_error(Context& context, gth_error_record* record, const Error& error);

// Runs a plan on validated pointers, in stream order. owns_output: the output is new, dense memory of the library, and
// elements that no row is written to become zeros.
int32_t run(Context& context, const core::Plan& plan, const core::Pointers& pointers, int64_t n, bool owns_output,
            const Error& error);

// Runs a gradient: sets the target to zero, and adds the updates. If an index is invalid, the target is unchanged.
int32_t run_gradient(Context& context, const core::Plan& plan, const core::Pointers& pointers,
                     const gth_tensor_desc& target, const Error& error);

// Computes a gradient or the positions of bags from the plan of the forward call. Nothing is written if a number of bags
// or an id is invalid.
int32_t run_bag_outputs(Context& context, const core::Plan& plan, const core::Request& request,
                        const core::BagOutputs& outputs, const Error& error);

// Finds the positions of a scatter. The plan is that of a scatter to an array from an array. Nothing is written if an
// index is invalid.
int32_t run_scatter_positions(Context& context, const core::Plan& plan, const core::Request& request,
                              const gth_tensor_desc& positions, const Error& error);

// The highest number of ids, of shards, and of rows whose ids are sorted.
inline constexpr int64_t most_partitioned = int64_t{UINT32_MAX} - 1;

// Partitions ids. The plan is that of a gather from a table with the rows of the shards. Nothing is written if an id is
// invalid.
int32_t run_partition(Context& context, const core::Plan& plan, const gth_tensor_desc& ids, const core::Shards& shards,
                      const gth_parts& parts, const Error& error);

// Like run, but it only validates indices.
int32_t validate(Context& context, const core::Plan& plan, const core::Pointers& pointers, int64_t n,
                 const Error& error);

// Memory in stream order. These functions fail during a capture. deallocate() is for a call that has allocated the
// memory and has waited for its work.
int32_t check_not_capturing(Context& context, const Error& error);
int32_t allocate(Context& context, int64_t bytes, void** out, const Error& error);
void deallocate(Context& context, void* memory);
int32_t zero(Context& context, void* memory, int64_t bytes, const Error& error);
int32_t copy_bytes(Context& context, void* to, const void* from, int64_t bytes, const Error& error);

// Returns the queue that releases memory after the context's stream has finished using it.
Queue* queue_of(Context& context);

}  // namespace gather::cuda
