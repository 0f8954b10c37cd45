#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace hostile {

struct ProcessMemory {
  int64_t mapped = 0, resident = 0;  // bytes
};

// Returns the current memory of this process.
inline ProcessMemory process_memory() {
  ProcessMemory pages;
  std::ifstream("/proc/self/statm") >> pages.mapped >> pages.resident;
  const int64_t page = sysconf(_SC_PAGESIZE);
  return {pages.mapped * page, pages.resident * page};
}

}  // namespace hostile
