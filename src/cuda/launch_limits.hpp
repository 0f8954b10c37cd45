#pragma once

#include <cstdint>

// Sizes that determine how a launch is divided. Tests draw sizes beside them.
namespace gather::cuda {

constexpr uint32_t block_threads = 256;

// The number of loads that a thread has in flight. It determines the speed.
constexpr int loads_in_flight = 4;

// The updates of a slice that a thread loads at once.
constexpr int updates_at_once = loads_in_flight;

// The largest number of threads that share a row of a scatter or of bags.
constexpr uint32_t most_lanes_of_row = 32;

// A slice with this number of updates or more is long: a block combines each strip of its columns.
constexpr uint32_t least_long = 512;

// Up to this number of slices of updates, one block validates the indices and sorts the updates.
constexpr int64_t most_few = 1024;

// From this number of lines on, each thread processes the updates of a line, and no updates are sorted.
constexpr int64_t few_lines = 30'000;

// The shared memory for the updates of a long slice that are combined while the next ones are loaded into as much memory.
constexpr uint32_t tile_bytes = 16 * 1024;

// The shared memory of a block that combines a long slice: two tiles, and the row of each thread of a group.
constexpr uint32_t stage_bytes = 2 * tile_bytes + most_lanes_of_row * 32;

// The prefix sums of the lengths of bags are computed in this number of runs, each by one thread.
constexpr uint32_t sum_runs = 1024;

// The sums of a dot product of a row and a gradient, as on the CPU.
constexpr int64_t dot_lanes = 16;

// The borders of shards that a kernel takes.
constexpr int32_t borders_at_once = 256;

// Up to this number of index values, every block of the copying kernel validates all of them. A separate kernel
// validates more. On an H100, both took the same time at about 4,000 values of tuples and 6,000 single ones.
constexpr int64_t validated_inside = 4096;

}  // namespace gather::cuda
