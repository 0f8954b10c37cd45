#pragma once

#include "cuda/scatter_call.hpp"

namespace gather::cuda {

// Runs a scatter by a stable sort of its updates. It allocates memory in proportion to them.
int32_t run_sorted(const ScatterCall& call, const Error& error);

}  // namespace gather::cuda
