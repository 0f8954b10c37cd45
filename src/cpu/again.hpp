#pragma once

#include "cpu/job.hpp"

namespace gather::cpu {

// Whether a scatter writes a few rows of its target again and again, which then are in the caches of a core: by a sample of
// its indices, so that it may be wrong. Of few updates it says no.
bool comes_again(const Job& job);

}  // namespace gather::cpu
