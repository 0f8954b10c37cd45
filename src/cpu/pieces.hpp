#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/limits.hpp"
#include "cpu/executor.hpp"

namespace gather::cpu {

// A *piece* is a range of work items that one task processes. Work of less than parallel_bytes is not cut into pieces,
// because waking other threads would take as long as the work. Each row counts row_overhead bytes in addition to its
// size, and each sum or other reduction sum_overhead bytes. Test builds cut all work into pieces.
constexpr int64_t row_overhead = 16, sum_overhead = 64;
// There are more pieces than threads, so that a delayed thread does not delay the call.
constexpr int64_t pieces_per_thread = 16;

// The items [0, count) in pieces of equal size, except that the last piece may be smaller.
struct Pieces {
  int64_t items, size, count;

  int64_t first(int64_t piece) const { return piece * size; }
  int64_t last(int64_t piece) const { return std::min(items, (piece + 1) * size); }
};

// Cuts the items into at most `wanted` pieces, whose sizes are multiples of `unit`.
inline Pieces split(int64_t count, int64_t wanted, int64_t unit = 1) {
  const int64_t size = std::max(unit, ((count - 1) / wanted / unit + 1) * unit);
  return {count, size, (count - 1) / size + 1};
}

// Cuts the items into pieces for all threads. Returns one piece if the work, of `bytes` bytes, is too small.
inline Pieces cut(const Executor& executor, int64_t count, int64_t bytes) {
  const int64_t threads = bytes < parallel_bytes ? 1 : thread_count(executor);
  if (threads <= 1) return {count, count, 1};
  return split(count, std::max<int64_t>(1, std::min({count, threads * pieces_per_thread, bytes / piece_bytes})));
}

// Calls body(piece) for each piece. A single piece runs on the calling thread.
template <class Body>
void for_each_piece(const Executor& executor, const Pieces& pieces, Body&& body) {
  if (pieces.count == 1) return body(int64_t{0});
  parallel_for(executor, pieces.count, [](void* arg, int64_t i) { (*static_cast<Body*>(arg))(i); }, &body);
}

// Calls body(first, last) for pieces of [0, count).
template <class Body>
void in_pieces(const Executor& executor, int64_t count, int64_t bytes, Body&& body) {
  const Pieces pieces = cut(executor, count, bytes);
  for_each_piece(executor, pieces, [&](int64_t i) { body(pieces.first(i), pieces.last(i)); });
}

}  // namespace gather::cpu
