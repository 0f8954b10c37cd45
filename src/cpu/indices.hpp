#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "cpu/tiers/tier.hpp"

namespace gather::cpu {

// Up to this number, tuples are resolved one by one.
constexpr int64_t max_scalar_tuples = 8;

// The first invalid tuple of a block.
struct BadTuple {
  int64_t tuple;  // its number in the block
  int32_t component;
  int64_t value;  // the index as it was read
};

// Resolves tuples as Kernels::resolve does, without a tier. It is the reference for the tiers, and resolves the tuples
// that they do not support. Sets *bad to the first invalid tuple if it returns Resolved::bad, which requires bounds =
// error, clamp or modulo.
Resolved resolve(const core::Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets,
                 BadTuple* bad);

// Loads n numbers, which are `stride` bytes apart, each once. uint64 is loaded as its bit pattern.
void load_numbers(IndexType type, const char* first, int64_t stride, int64_t n, int64_t* values);

// Indices in lines: index i of line l is at first + l * next_line + i * stride.
struct IndexLines {
  const char* first;
  int64_t lines, next_line, n, stride;
};

// Copies indices to contiguous memory, line after line. Each index is loaded once.
void pack_lines(IndexType type, const IndexLines& lines, void* to);

}  // namespace gather::cpu
