#pragma once

#include <cstdint>

// Sizes that determine how a launch is divided. Tests draw sizes beside them.
namespace gather::cuda {

constexpr uint32_t block_threads = 256;

// The number of loads that a thread has in flight. It determines the speed.
constexpr int loads_in_flight = 4;

// The updates of a slice that a thread loads at once.
constexpr int updates_at_once = loads_in_flight;

// The largest number of threads that share a row of a scatter.
constexpr uint32_t most_lanes_of_row = 32;

// Up to this number of index values, every block of the copying kernel validates all of them. A separate kernel
// validates more. On an H100, both took the same time at about 4,000 values of tuples and 6,000 single ones.
constexpr int64_t validated_inside = 4096;

}  // namespace gather::cuda
