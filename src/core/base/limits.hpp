#pragma once

#include <cstdint>

// The numbers at which a call takes another path: the sizes of blocks, and the limits of short forms, kernels and
// threads. The oracles of tests/cpp draw sizes around each of them, so a new number needs a test there. Test builds use
// small limits where a limit decides about threads or prefetches.
namespace gather {
inline namespace limits {

// ---- Short forms: a second thread does not make calls of so many bytes faster.

constexpr int64_t short_tuples = 1024, short_row_bytes = 32 * 1024, short_bytes = 8 * short_row_bytes;
constexpr int64_t short_bags = 32, short_bag_ids = 128, short_bag_bytes = 256 * 1024;
constexpr int64_t short_items = 64;        // of a call of several requests or plans
constexpr int64_t min_kernel_tuples = 16;  // From this number on, kernels are faster than a loop over the tuples.

// ---- Tuples and rows

constexpr int64_t block_tuples = 256;    // that a tier resolves at once; their offsets fit the L1 cache
constexpr int64_t max_packed = 64;       // of a line that is resolved together with others
constexpr int64_t sum_elements = 512;    // that are converted at once for sums of another type
constexpr int64_t divided_halves = 512;  // that are converted at once for quotients

// ---- Bags

constexpr int64_t block_ids = 256;           // that are copied before their rows are pooled
constexpr int64_t block_bags = 256;          // that are read at once
constexpr int64_t bag_parts = 128;           // for threads
constexpr int64_t block_rows = 64;           // that one call of a kernel combines
constexpr int64_t most_pooled_bytes = 4096;  // of the sums of a row, at once
constexpr int64_t block_elements = 512;      // of a gradient that are converted at once
constexpr int64_t compared_ids = 64;         // of a bag, before the places of their elements are looked up

// ---- Packed rows

constexpr int64_t most_decoded = 1024;  // numbers of a row that are decoded at once; a multiple of each block by name
constexpr int64_t chunk_numbers = 32;   // that a decoder reads at once
constexpr int64_t step_rows = 64;       // of a step, at most
constexpr int64_t step_bytes = 4096, bag_step_bytes = 16 * 1024;  // of the rows of a step, if it has 4 rows or more
constexpr int64_t prefetched_row_bytes = 4096;  // After them the hardware prefetcher has detected the row.

// ---- Tables in files

constexpr int64_t few_segments = 16;          // that are compared one by one with the byte of a row
constexpr int64_t requested_rows = 256;       // of a call, before the first of them is read
constexpr int64_t brought_ranges = 128;       // of pages, that one call of the system loads
constexpr int64_t staged_bytes = 256 * 1024;  // of packed rows that are read before they are decoded
constexpr int64_t least_budget = 8 << 20;     // of mapped memory
constexpr int64_t parts_of_budget = 8;        // A larger row is read in such parts.

// ---- Columns

constexpr int64_t min_shared_views = 64 * 1024;  // bytes of long strings; fewer are copied
constexpr int64_t unit_of_rows = 64;             // The first row of a piece is a multiple.

// ---- Partition

constexpr int64_t most_partition_pieces = 16;
#ifdef GATHER_TESTING
constexpr int64_t min_piece_ids = 1;
#else
constexpr int64_t min_piece_ids = 64 * 1024;
#endif

// ---- Threads, and memory that exceeds caches

#ifdef GATHER_TESTING
constexpr int64_t parallel_bytes = 1, piece_bytes = 1;
constexpr int64_t min_striped = 16, multi_thread_bytes = 1, large_target = 256;
constexpr uint64_t large_bytes = 128, streaming_bytes = 256;
#else
constexpr int64_t parallel_bytes = 1024 * 1024, piece_bytes = 64 * 1024;
constexpr int64_t min_striped = 2048, multi_thread_bytes = 16 << 20, large_target = 1 << 20;
constexpr uint64_t large_bytes = 1 << 20, streaming_bytes = 64 << 20;
#endif

}  // namespace limits
}  // namespace gather
