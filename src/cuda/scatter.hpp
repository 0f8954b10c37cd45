#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "cuda/strided.hpp"

namespace gather::cuda {

struct Positions;

// Runs a scatter in stream order. The target is unchanged if an index is invalid. clear: nullptr, or what is written after
// the validation, such as zeros to the target of a gradient. positions: nullptr, or what is found instead of the result.
// Precondition: the run has updates.
int32_t run_scatter(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Pointers& pointers,
                    int64_t n, const Place& place, const StridedJob* clear, bool is_captured, const Error& error,
                    const Positions* positions = nullptr);

// Copies the elements of a tensor to one of the same shape and dtype, unless the state, which may be nullptr, refuses the
// call. Precondition: they have elements. Returns CUDA's error number.
int copy_tensor(const gth_tensor_desc& from, const gth_tensor_desc& to, const State* state, const Place& place,
                runtime::Stream stream);

// Clears a tensor without validation. Returns CUDA's error number.
int clear_tensor(const StridedJob& job, const Device& device, runtime::Stream stream);

}  // namespace gather::cuda
