#pragma once

#include "../emulation/emulation.hpp"
#include "gather/gather.h"
#include "grid.hpp"

extern "C" {

// The host reads this record while kernels run. If it finds a count, the rest must be complete. nullptr disables this.
GTH_EMULATION void gth_ptx_poll(const gth_error_record* record);
}

namespace ptx {

// Returns true if the address is in the polled record.
bool is_polled(uint64_t at);
// Checks what the host may have read while the grid ran. Returns false if that may be incomplete.
bool poll(Grid* grid);

}  // namespace ptx
