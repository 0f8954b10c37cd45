#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "cuda/strided.hpp"

namespace gather::cuda {

// Runs a scatter in stream order. The target is unchanged if an index is invalid. clear: nullptr, or the target of a
// gradient, which is set to zero after the validation. Precondition: the run has updates.
int32_t run_scatter(Context& context, runtime::Stream stream, const core::Plan& plan, const core::Pointers& pointers,
                    int64_t n, const Place& place, const StridedJob* clear, bool is_captured, const Error& error);

// Clears a tensor without validation. Returns CUDA's error number.
int clear_tensor(const StridedJob& job, const Device& device, runtime::Stream stream);

}  // namespace gather::cuda
