#pragma once

#include <cstdint>
#include <functional>

#include "emulation.hpp"

// What the emulated device and its kernels share.
namespace emulation {

// Gives a stream some work: done at once, kept by a held stream, recorded by one that is being captured. CUDA's number of
// the error.
int enqueue(CUstream_st* stream, std::function<void()> work, bool overlaps = false);
// A kernel that overlaps with the one in front, in a held stream, begins before it. This runs the one in front.
void run_previous();
// Whether kernels are compiled for devices that let them overlap.
bool lets_overlap();

// Counts a call of CUDA; the error it is to fail with, or 0.
int enter_call();

void touch(const void* address, uint64_t bytes);
// Whether kernels may use it: it was allocated on this machine, or the devices read pageable memory.
bool reaches(const void* address, uint64_t bytes);
// Whether it is memory that the library has allocated.
bool is_of_library(const void* address);
// Something that a device would not have done, or not have survived.
void count_violation(const char* what);
void before_copying(uint32_t block);
uint32_t seed();
// How far a launch counts, where that is less than kernels can; else 0.
int64_t counted();
void count_launch();

}  // namespace emulation
