#pragma once

#include <cstdint>

// What os.cpp, which holds for every POSIX system, asks of the file of one of them: os_linux.cpp, os_macos.cpp. The rest
// of os.hpp that they differ in, they define themselves.
namespace gather::core {

// What available_cpus() keeps for a second.
int32_t count_cpus();

// Thread-local memory that the system takes from the stack that a thread is given.
int64_t thread_local_bytes();

// Gives the calling thread, which another one has made, the ways of the process: see start_thread().
void take_on_ways_of_process();

}  // namespace gather::core
