#pragma once

#include <cstdint>

#include "core/base/noinline.hpp"
#include "cpu/job.hpp"

// Gathers from a small table whose slices are not contiguous. Panels of the table are copied to contiguous memory on
// the stack, and are gathered from there.
namespace gather::cpu {

// Returns true if the tuples of each line read the table several times, and panels of it fit on the stack.
bool has_panels(const Job& job);

// Copies the slices [first, last) of a packable job in the order of the rows. Returns false if an index is invalid.
GATHER_NOINLINE bool move_panels(const Job& job, int64_t first, int64_t last);

}  // namespace gather::cpu
