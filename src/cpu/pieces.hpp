#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/executor.hpp"

namespace gather::cpu {

// Work below this many bytes, which one thread does in the time that a sleeping one takes to wake and be waited for, is done
// alone; a row counts as some bytes however small it is. Test builds cut everything into pieces.
#ifdef GATHER_TESTING
constexpr int64_t parallel_bytes = 1, piece_bytes = 1;
#else
constexpr int64_t parallel_bytes = 1024 * 1024, piece_bytes = 64 * 1024;
#endif
constexpr int64_t row_overhead = 16;
// More pieces than threads, so that a thread that was held up does not hold up the call.
constexpr int64_t pieces_per_thread = 16;

// [0, count) in pieces of equal size, but the last.
struct Pieces {
  int64_t count, size, number;

  int64_t first(int64_t piece) const { return piece * size; }
  int64_t last(int64_t piece) const { return std::min(count, (piece + 1) * size); }
};

// As many pieces as are wanted, or some fewer.
inline Pieces split(int64_t count, int64_t wanted) {
  const int64_t size = std::max<int64_t>(1, (count - 1) / wanted + 1);
  return {count, size, (count - 1) / size + 1};
}

// One piece where `bytes` of work are not worth more.
inline Pieces cut(const Executor& executor, int64_t count, int64_t bytes) {
  const int64_t threads = bytes < parallel_bytes ? 1 : thread_count(executor);
  if (threads <= 1) return {count, count, 1};
  return split(count, std::max<int64_t>(1, std::min({count, threads * pieces_per_thread, bytes / piece_bytes})));
}

// Calls body(piece) for each, the calling thread alone where there is but one.
template <class Body>
void for_each_piece(const Executor& executor, const Pieces& pieces, Body&& body) {
  if (pieces.number == 1) return body(int64_t{0});
  parallel_for(executor, pieces.number, [](void* arg, int64_t i) { (*static_cast<Body*>(arg))(i); }, &body);
}

// Calls body(first, last) for pieces of [0, count).
template <class Body>
void in_pieces(const Executor& executor, int64_t count, int64_t bytes, Body&& body) {
  const Pieces pieces = cut(executor, count, bytes);
  for_each_piece(executor, pieces, [&](int64_t i) { body(pieces.first(i), pieces.last(i)); });
}

}  // namespace gather::cpu
