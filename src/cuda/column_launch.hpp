#pragma once

#include <algorithm>

#include "cuda/launch_pieces.hpp"
#include "cuda/numbers.hpp"

// Decisions of the host about kernels that combine rows of numbers (cuda/columns.hpp).
namespace gather::cuda {

// Blocks of a multiprocessor. A kernel with more threads than data has blocks that end at once.
constexpr int64_t blocks_per_multiprocessor = 8;

inline uint32_t blocks_of(int64_t threads, int32_t multiprocessors) {
  const int64_t most = multiprocessors * blocks_per_multiprocessor;
  return static_cast<uint32_t>(std::clamp<int64_t>(ceil_divide(threads, block_threads), 1, most));
}

// Returns the type of numbers of `bytes` bytes. is_widened: sums have a wider type.
inline Numbers number_type(core::Number number, int64_t bytes, bool is_widened) {
  const auto of_bytes = [bytes](Numbers smallest) {
    return static_cast<Numbers>(static_cast<int>(smallest) + __builtin_ctzll(static_cast<uint64_t>(bytes)));
  };
  switch (number) {
    case core::Number::boolean: return Numbers::boolean;
    case core::Number::signed_integer: return of_bytes(Numbers::int8);
    case core::Number::unsigned_integer: return of_bytes(Numbers::uint8);
    case core::Number::complex: return bytes == 8 ? Numbers::complex64 : Numbers::complex128;
    case core::Number::brain_floating: return is_widened ? Numbers::brain_half_in_float : Numbers::brain_half;
    default: break;
  }
  if (bytes == 2) return is_widened ? Numbers::half_in_float : Numbers::half;
  if (bytes == 8) return Numbers::float64;
  return is_widened ? Numbers::float32_in_double : Numbers::float32;
}

// Returns true for GTH_REDUCTION_MAX and GTH_REDUCTION_MIN.
inline bool is_extreme(int32_t reduction) { return reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN; }

// Returns the bits that signed integers of `bytes` bytes have inverted while they are compared, for 8 bytes of numbers.
inline uint64_t sign_bits_of(core::Number number, int64_t bytes, bool compares) {
  if (number != core::Number::signed_integer || !compares) return 0;
  return bytes == 1   ? 0x8080808080808080
         : bytes == 2 ? 0x8000800080008000
         : bytes == 4 ? 0x8000000080000000
                      : 0x8000000000000000;
}

// Divides slices of `rows` rows of `row` bytes into columns of `bytes` bytes, and these between threads.
template <class Job>
void fit_columns(int64_t row, int64_t rows, int bytes, Job* job) {
  job->vectors = row / bytes;
  job->columns = job->vectors * (job->loops > 0 ? rows : 1);
  job->lanes = 1;
  while (job->lanes < most_lanes_of_row && int64_t{job->lanes} < job->columns) job->lanes *= 2;
  job->chunks = ceil_divide(job->columns, job->lanes);
}

}  // namespace gather::cuda
