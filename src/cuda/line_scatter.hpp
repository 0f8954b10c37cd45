#pragma once

#include "cuda/line_job.hpp"
#include "cuda/scatter_call.hpp"

namespace gather::cuda {

// Returns true if the target of a scatter has so many lines that threads process lines. The choice depends on shapes,
// strides and addresses alone.
bool make_lines(const ScatterCall& call, LineJob* out);

int32_t run_lines(const ScatterCall& call, const LineJob& lines, const Error& error);

}  // namespace gather::cuda
