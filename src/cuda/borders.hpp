#pragma once

#include "cuda/aligned_rows.hpp"

// The bytes of a dense output before its first aligned vector and after its last one.
namespace gather::cuda {

// Returns the number of bytes before the first aligned vector.
template <class Job>
GATHER_SHARED uint32_t head_of(const Job& job) {
  const uint32_t head = static_cast<uint32_t>((0 - reinterpret_cast<uintptr_t>(job.out)) % vector_bytes);
  return job.units * job.row < int64_t{head} ? static_cast<uint32_t>(job.units * job.row) : head;
}

// Copies these bytes, one per thread. job.chunk divides by the size of a row.
template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_borders(const Job& job, bool blank, uint32_t thread, uint32_t head, Gate& gate) {
  const uint32_t row = static_cast<uint32_t>(job.row);
  const uint32_t tail = static_cast<uint32_t>((job.units * job.row - static_cast<int64_t>(head)) % vector_bytes);
  const bool is_head = thread < vector_bytes;
  const uint32_t offset = thread % vector_bytes;
  if (thread >= 2 * vector_bytes || offset >= (is_head ? head : tail)) return false;
  // The bytes of the tail are counted from the end of the output.
  const uint32_t byte = is_head ? offset : tail - 1 - offset, rows = divide(byte, job.chunk), rest = byte - rows * row;
  const uint32_t number = is_head ? rows : static_cast<uint32_t>(job.units) - 1 - rows;
  const int64_t at = is_head ? rest : row - 1 - rest;
  return copy_vector<1, Index>(job, number, at, blank, gate);
}

}  // namespace gather::cuda
