#pragma once

#include "core/plan/plan.hpp"
#include "core/meaning/request.hpp"

// Where the memory of a request lies: strides and their reach, devices, permission to write.
namespace gather::core {

struct Placement {
  Layout table, indices, rows;
};

// Checked in the order of the contract; sets the device of the plan. The sizes have been checked.
int32_t resolve_placement(const Request& request, const Meaning& meaning, Placement* out, Plan* plan,
                          const Error& error);

}  // namespace gather::core
