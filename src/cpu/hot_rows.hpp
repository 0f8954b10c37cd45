#pragma once

#include "cpu/job.hpp"

namespace gather::cpu {

// Estimates from a sample of 256 indices whether updates concentrate on a few rows of the target, which then stay in
// the caches of a core. The result may be wrong. Returns false for lines of less than 256 updates.
bool has_hot_rows(const Job& job);

}  // namespace gather::cpu
