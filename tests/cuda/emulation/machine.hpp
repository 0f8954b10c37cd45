#pragma once

#include <cstdint>
#include <functional>

#include "emulation.hpp"

// Declarations that the emulated device and its kernels share.
namespace emulation {

// Enqueues work on a stream. It runs at once, is kept by a held stream, or is recorded by a capture. Returns CUDA's
// error number.
int enqueue(CUstream_st* stream, std::function<void()> work, bool overlaps = false);
// Runs the kernel before one that may overlap it. In a held stream, the later kernel starts first, and calls this
// function where it waits for the earlier one.
void run_previous();
// Returns true if kernels are compiled for devices with overlapping grids.
bool lets_overlap();

// Counts a CUDA call. Returns the error with which it must fail, or 0.
int enter_call();

void touch(const void* address, uint64_t bytes);
// Returns true if kernels may access the memory: it was allocated on this machine, or devices can access pageable
// memory.
bool reaches(const void* address, uint64_t bytes);
// Returns true if the library has allocated the memory.
bool is_of_library(const void* address);
// Counts an access or a call that is an error on a real device.
void count_violation(const char* what);
void before_copying(uint32_t block);
uint32_t seed();
// Returns the limit of the counts of a launch if a test has set one, otherwise 0.
int64_t counted();
// Returns the number of lines from which on a thread processes a line if a test has set one, otherwise 0.
int64_t least_lines();
void count_launch();
// Lets another thread that uses the device run between two kernels of a call.
void let_others_run();

}  // namespace emulation
