#pragma once

#include <cstdint>
#include <functional>

#include "emulation.hpp"

// What the emulated runtime and the emulated kernels share.
namespace emulation {

// CUDA's numbers.
constexpr int invalid_value = 1, out_of_memory = 2, not_initialized = 3, invalid_handle = 400;
constexpr int capture_unsupported = 900, capture_merge = 902, capture_isolation = 905, capture_implicit = 906;

// Gives a stream some work: done at once, kept by a held stream, recorded by one that is being captured.
int enqueue(CUstream_st* stream, std::function<void()> work);

// Counts a call of the runtime; the error it is to fail with, or 0.
int enter_call();

void touch(const void* address, uint64_t bytes);
// Whether it is memory that was allocated on this machine.
bool reaches(const void* address, uint64_t bytes);
// Whether it is memory that the library has allocated.
bool is_of_library(const void* address);
// Something that a device would not have done, or not have survived.
void count_violation(const char* what);
void before_copying(uint32_t block);
uint32_t seed();
void count_launch();

}  // namespace emulation
