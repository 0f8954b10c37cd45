#pragma once

#include "../emulation/emulation.hpp"
#include "gather/gather.h"
#include "grid.hpp"

extern "C" {

// The host reads this record while kernels run: as soon as it finds a count, all of the rest. nullptr: it reads none.
GTH_EMULATION void gth_ptx_poll(const gth_error_record* record);
}

namespace ptx {

// Whether it is a part of the record that is polled.
bool is_polled(uint64_t at);
// What the host may have read while the grid ran. False: it may have read what was half written.
bool poll(Grid* grid);

}  // namespace ptx
