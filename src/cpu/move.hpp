#pragma once

#include <cstdint>

#include "cpu/block.hpp"
#include "cpu/job.hpp"

// Moves the rows of tuples with Kernels::move. A gather copies them from the table. A scatter writes them to the table.
namespace gather::cpu {

// Returns true if kernels move several lines, each with offsets of its own. The offsets then do not include the distance
// of the line in the table.
bool has_own_offsets(const Job& job, bool prefetches);

// Moves the rows of a resolved block. `table` and `rows` belong to its first tuple.
void move_block(const Job& job, const BlockResolver& resolver, const TupleBlock& block, const char* table, char* rows,
                bool prefetches);

// Moves the slices [first, last) in the order of the rows. `table` replaces that of the job. Returns false if an index
// is invalid.
bool move_range(const Job& job, const char* table, int64_t first, int64_t last, bool prefetches);

}  // namespace gather::cpu
