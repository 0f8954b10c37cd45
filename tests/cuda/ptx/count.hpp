#pragma once

#include <cstdint>

#include "../emulation/emulation.hpp"

extern "C" {

// From now on instructions are counted, as warps take them; from 0.
GTH_EMULATION void gth_ptx_count(void);
// The count of the kernels that have a text in their names, without more being counted from here on.
GTH_EMULATION int64_t gth_ptx_counted(const char* kernel);
// The whole name of the kernel with such a name that was counted last.
GTH_EMULATION const char* gth_ptx_kernel(const char* kernel);
}
