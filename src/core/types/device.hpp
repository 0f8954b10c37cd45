#pragma once

#include <cstdint>

#include "core/base/error.hpp"

namespace gather::core {

// Returns true for memory that kernels of a CUDA device cannot access.
inline bool is_pageable(int32_t device) { return device == 0 || device == GTH_DEVICE_CPU; }

// Returns true for memory that the CPU accesses.
inline bool is_host(int32_t device) { return is_pageable(device) || device == GTH_DEVICE_CUDA_HOST; }

// Returns true if `device` is one of GTH_DEVICE_*.
inline bool is_known_device(int32_t device) {
  return is_host(device) || device == GTH_DEVICE_CUDA || device == GTH_DEVICE_CUDA_MANAGED;
}

inline int32_t fail_device(int32_t operand, int32_t device, int32_t needed, const Error& error) {
  return error.fail({GTH_E_DEVICE, operand, -1, -1, device, needed}, "%s: device %d, needed is %d",
                    operand_name(operand), static_cast<int>(device), static_cast<int>(needed));
}

}  // namespace gather::core
