#pragma once

#include <cstdint>

// The functions that os.cpp calls and each system defines in its own file, os_linux.cpp or os_macos.cpp. These files
// also define the other functions of os.hpp that differ between systems.
namespace gather::core {

// Returns the number that available_cpus() stores for one second.
int32_t count_cpus();

// Returns the size of the thread-local memory that the system allocates on the stack of a thread.
int64_t thread_local_bytes();

// Sets nice value and scheduling policy of the calling thread as start_thread() describes.
void apply_process_scheduling();

}  // namespace gather::core
