#pragma once

#include <cstdint>

#include "core/base/limits.hpp"
#include "core/types/codec.hpp"
#include "core/types/index_type.hpp"
#include "core/types/reduction.hpp"

#define GATHER_INLINE __attribute__((always_inline)) inline

// The kernels of one instruction set. The file of a tier is compiled for instructions that some processors lack, so it
// shares no code with the rest of the library. Otherwise the linker could merge two copies of a function and keep the
// copy that some processors cannot run. The file includes only this header, which defines only types and numbers, and
// body.hpp, whose functions have internal linkage.
//
// In all kernels, the table is the operand that tuples select rows of. The rows operand is the output of a gather or
// the updates of a scatter.
namespace gather::cpu {

// The number of lines whose sums are computed alternately (add_in_turns).
constexpr int64_t turns = 4;

// The offset of a tuple that selects no row (bounds = fill or skip).
constexpr int64_t no_row = INT64_MIN;

enum class Resolved : uint8_t {
  all,   // every offset selects a row
  some,  // some offsets are no_row
  bad,   // the offsets are unspecified
};

using core::IndexType;
using core::Outside;

// The size of the operand that a kernel writes.
enum class Written : uint8_t {
  cached,    // it may fit the L2 cache
  large,     // it exceeds the L2 cache
  streamed,  // it exceeds all caches, and is written with non-temporal stores
};

// Describes how a tuple of indices selects a row: by the sum of index * stride over its components. Each index is
// validated against the size of its component.
struct Selection {
  static constexpr int32_t max_components = 8;

  IndexType type;
  Outside outside;
  bool wraps;  // negative indices count from the end; always false for uint64
  int32_t components;
  int64_t index_step;  // bytes between the components of a tuple
  int64_t size[max_components], stride[max_components];
};

// Rows at offsets in a table, for one or several lines. Row i of line l is at
// table + l * next_table + offsets[l * next_offsets + i] in the table, and at rows + l * next_rows + i * row_stride in
// the rows operand. Addresses need no alignment.
struct RowBlock {
  char* rows;
  int64_t row_stride;
  const char* table;
  const int64_t* offsets;
  int64_t n, row_bytes;
  int64_t lines, next_rows, next_table;
  int64_t ahead;  // the number of rows by which rows of the table are prefetched; 0 if there are several lines
  int64_t next_offsets = 0;  // 0 if all lines have the same offsets
  // Packed rows, or NULL. `table`, `next_table` and the offsets are then numbers of rows.
  const core::PackedRows* packed = nullptr;
};

// Returns the number of the packed row at which `table` is.
inline int64_t row_number(const char* table) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(table)); }

// Moves the rows of a block. A gather copies them from the table. A scatter writes them to the table, or adds them to
// it. The updates of one row of the table are processed in the order of i.
using MoveRows = void (*)(const RowBlock& block);

// Copies rows from a table that fits the registers of the processor. Indices and rows are contiguous. Returns the
// number of rows that were copied before the first index that is out of bounds.
using LookUp = int64_t (*)(const Selection& selection, const char* indices, const char* table, char* rows, int64_t n);

// Resolves indices, which are `stride` bytes apart, and moves their rows. Most kernels do this a group at a time, so the
// processor resolves a group while it waits for the rows of earlier groups. steps[i] is added to the i-th offset; NULL
// adds nothing. The offsets of the block are not used. The last group may overlap the one before it. Returns the number
// of rows that were moved. If there are more, the kernel does not resolve the next index or group.
using MoveFused = int64_t (*)(const Selection& selection, const char* indices, int64_t stride, const int64_t* steps,
                              const RowBlock& block);

// Combines n rows of `row` bytes in order: the row at updates + from[i] with the row at target + offsets[i], which is
// overwritten with the result. Addresses need no alignment.
using WriteRows = void (*)(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                           int64_t row);

// Kernels that accumulate n >= 1 elements of 2 bytes in float32.
struct Accumulate {
  void (*load)(const char* row, int64_t n, float* values);
  void (*combine)(const char* row, int64_t n, float* values);
  void (*store)(const float* values, int64_t n, char* row);  // rounded to nearest, ties to even
};

// Adds a row of n >= 1 elements, multiplied by a weight, to sums. The weight is a number of the type of the sums.
using AddWeighted = void (*)(const char* row, int64_t n, const void* weight, void* sums);

// The way in which the rows of a bag become one.
enum class Pool : uint8_t { sum, weighted_sum, max, min };

// The numbers of a table whose rows are pooled. Sums have the type of the numbers, and are float32 for floating numbers
// of 2 bytes.
struct Pooled {
  core::Number number;
  int64_t item;
  bool rounds_each;  // floating numbers of 2 bytes: each sum is rounded to their type
  Pool pool;
};

// The memory of the sums of a row. The last vector overlaps the vector before it, so the last sums may be stored twice.
constexpr int64_t pooled_sums_bytes = most_pooled_bytes + 64;

// The number of ids by which rows are prefetched.
constexpr int64_t pooled_ahead = 16;

// Bags of rows of a table. Bag b has the ids [begin[b], begin[b + 1]) and writes the row at out + b * out_stride. The
// elements of rows, ids and weights are contiguous. Addresses of rows need no alignment.
struct BagRows {
  const char* table;     // of packed rows, a number of rows like `stride`
  int64_t rows, stride;  // the number of rows, and the bytes between them
  int64_t elements;      // of each row, at least 1
  const int64_t* ids;
  int64_t readable;     // Ids up to this one may be read. Ids behind the bags are only prefetched.
  const void* weights;  // one number of the type of the sums for each id
  const int64_t* begin;
  int64_t bags;
  const void* divisors;  // one number of the type of the sums for each bag, or NULL
  char* out;
  int64_t out_stride;
  bool widens;  // numbers of 2 bytes: the output is float32
  // A part of one bag begins with the sums of the part before it, unless it is the first part, and stores them for the
  // next one, unless it is the last part. If there are several bags, they are whole.
  bool is_first, is_last;
  void* sums;                                // pooled_sums_bytes, aligned to 64 bytes
  const core::PackedRows* packed = nullptr;  // or NULL
  int64_t first = 0;  // the number of the first element in each packed row, a multiple of most_decoded
};

// Decodes the numbers [first, first + n) of the packed row `number`. `first` is a multiple of most_decoded.
using DecodeRow = void (*)(const core::PackedRows& rows, int64_t number, int64_t first, int64_t n, float* out);

// Pools bags. Returns NULL, or the first id that is out of bounds. Some rows of the output are then written.
using PoolBags = const int64_t* (*)(const BagRows& bags);

struct Tier {
  uint32_t bit;  // GTH_TIER_*

  // Returns true if n tuples are all inside. The first tuple is at `tuples`, and they are `stride` bytes apart. Returns
  // false if a tuple is out of bounds, and may return false if the fast test is not sufficient.
  bool (*inside)(const Selection& selection, const char* tuples, int64_t stride, int64_t n);

  // Resolves n <= block_tuples tuples to offsets. Loads every index exactly once. Returns `bad` if an index is out of
  // bounds and refused, or if this tier has no fast form for the tuples.
  Resolved (*resolve)(const Selection& selection, const char* tuples, int64_t stride, int64_t n, int64_t* offsets);

  // Returns the kernel that copies rows of a table.
  MoveRows (*choose_copy)(int64_t row, Written written);
  // Returns the fused kernel, or NULL if there is none for these tuples. Tuples are `stride` bytes apart.
  MoveFused (*choose_fused_gather)(const Selection& selection, int64_t stride, int64_t row, bool prefetches);
  // Returns the fused kernel that writes rows of one element to a table, or adds them to it, or NULL.
  MoveFused (*choose_fused_scatter)(const Selection& selection, int64_t stride, core::Number number, int64_t item,
                                    int64_t row);
  // Returns the kernel for a small table, or NULL. Tuples are `stride` bytes apart.
  LookUp (*choose_look_up)(const Selection& selection, int64_t stride, int64_t row);
  // Return the kernel that writes rows of one element to a table, the one that adds rows of one or few elements of
  // `item` bytes, and the one that combines rows of one element by another reduction. Each returns NULL if there is none
  // for rows of this size and type.
  MoveRows (*choose_scatter)(int64_t row);
  MoveRows (*choose_scatter_sum)(core::Number number, int64_t item, int64_t row);
  MoveRows (*choose_scatter_element)(core::Number number, int64_t item, int32_t reduction);

  // Returns the kernel that overwrites rows of the target.
  WriteRows (*choose_write)(int64_t row, Written written);
  // Returns the kernel that combines rows of elements of `item` bytes by a GTH_REDUCTION_*. Precondition:
  // is_reducible(). Updates do not overlap the target.
  WriteRows (*choose_reduce)(core::Number number, int64_t item, int32_t reduction, int64_t row);
  // Returns the kernels that accumulate float16 or bfloat16 in float32.
  Accumulate (*choose_accumulate)(core::Number number, int32_t reduction);
  // Returns the kernel that adds weighted rows. Precondition: the numbers are integers or floating.
  AddWeighted (*choose_weighted)(core::Number number, int64_t item);
  // Returns the kernel that pools rows of `elements` numbers. Returns NULL if the other kernels pool them as fast. It is
  // NULL if there are no such kernels. A complex number is two numbers.
  PoolBags (*choose_pooling)(const Pooled& pooled, int64_t elements);

  // Returns the kernel that decodes the packed rows of a block to numbers of `item` bytes.
  MoveRows (*choose_decode)(const core::Codec& codec, core::Number number, int64_t item);
  // Returns the kernel that decodes a part of one packed row.
  DecodeRow (*choose_decode_row)(const core::Codec& codec);
  // Returns the kernel that adds packed rows, with weights or without, and writes float32. as_torch: The bias is added
  // to the sum before the product of scale and code. Returns NULL if other kernels are as fast.
  PoolBags (*choose_packed_pooling)(const core::Codec& codec, bool weighs, bool as_torch);
};

// The kernels of a tier that pool bags. All others are those of another tier. So are those for which a function returns
// NULL.
struct PoolingTier {
  PoolBags (*choose_pooling)(const Pooled& pooled, int64_t elements);
  PoolBags (*choose_packed_pooling)(const core::Codec& codec, bool weighs, bool as_torch);
};

extern const Tier portable_tier, avx2_tier, neon_tier;
extern const PoolingTier avx512_pooling;

}  // namespace gather::cpu
