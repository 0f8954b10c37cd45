#pragma once

#include <cstdint>

#include "../emulation/emulation.hpp"

extern "C" {

// Starts to count the instructions that warps issue, from 0.
GTH_EMULATION void gth_ptx_count(void);
// Stops counting. Returns the count of the kernels whose names contain the text.
GTH_EMULATION int64_t gth_ptx_counted(const char* kernel);
}
