#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "thread.hpp"

namespace ptx {

// Finds a kernel by its name in C++. Returns nullptr if there is none.
Run find_kernel(const std::string& name);

// Runs all blocks one after the other, in the order of the emulated machine.
void run_grid(Run run, uint32_t blocks, uint32_t threads, std::vector<char> arguments);

}  // namespace ptx
