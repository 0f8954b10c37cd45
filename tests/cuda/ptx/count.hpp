#pragma once

#include <cstdint>

#include "../emulation/emulation.hpp"

extern "C" {

// From now on instructions are counted, as warps take them.
GTH_EMULATION void gth_ptx_count(void);
// The count, which ends here.
GTH_EMULATION int64_t gth_ptx_counted(void);
}
