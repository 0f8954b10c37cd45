#pragma once

#include "cuda/scatter_call.hpp"

namespace gather::cuda {

// Returns true if a scatter may run by atomic operations, and makes its job. Those of integers have one result in every
// order. Sums of floating numbers are only made so if the call allows any order.
bool make_atomic(const ScatterCall& call, SmallJob* job, AtomicJob* how);

int32_t run_atomic(const ScatterCall& call, const SmallJob& job, const AtomicJob& how, const Error& error);

}  // namespace gather::cuda
