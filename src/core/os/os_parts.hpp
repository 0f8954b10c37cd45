#pragma once

#include <cstdint>

// The functions that os.cpp and os_posix.cpp call and each system defines in its own file. These files also define the
// functions of os.hpp that differ between systems.
namespace gather::core {

// Returns the time of a clock that never goes back. The clock in milliseconds takes less time to read, and may be some
// milliseconds late.
int64_t now_in_nanoseconds();
int64_t now_in_milliseconds();

// Makes the next available_cpus() count again.
void count_again();

// Returns the number that available_cpus() stores for one second.
int32_t count_cpus();

// Returns the size of the thread-local memory that the system allocates on the stack of a thread.
int64_t thread_local_bytes();

// Sets nice value and scheduling policy of the calling thread as start_thread() describes.
void apply_process_scheduling();

}  // namespace gather::core
