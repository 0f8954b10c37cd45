#pragma once

#include "core/meaning/request.hpp"
#include "core/plan/plan.hpp"

// The memory of a request: strides, reach, devices, and permission to write.
namespace gather::core {

struct Placement : ByRole<Layout> {};

// Returns the operands that have memory: those of the request, and those whose shape is a result.
inline RoleSet laid_out(const Request& request) { return request.roles | request.operation->operands.results; }

// Checks that a call on a device can use the memory of an operand.
int32_t check_operand_device(const gth_tensor_desc& desc, int32_t operand, int32_t device, int32_t device_id,
                             const Error& error);

// Validates the memory of a request in the order that gather.h promises. Sets the device and the packed rows of the
// plan. Precondition: resolve_meaning has succeeded.
int32_t resolve_placement(const Request& request, const Meaning& meaning, Placement* out, Plan* plan,
                          const Error& error);

}  // namespace gather::core
