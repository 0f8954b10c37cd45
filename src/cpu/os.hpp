#pragma once

#include <cstdint>

// What the library asks of the operating system.
namespace gather::cpu {

// CPUs that this process may use: its affinity mask, within its cgroup's quota. At least 1.
int32_t available_cpus();

// Asks for huge pages behind new memory that is large enough for them: a fresh output costs more than the gather into
// it, page by page. A wish; nothing depends on it.
void advise_huge_pages(void* data, int64_t bytes);

}  // namespace gather::cpu
