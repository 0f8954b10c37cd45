#pragma once

#include "cuda/borders.hpp"

// Where the aligned vectors of a dense output start in its rows.
namespace gather::cuda {

// The place of an output vector in the rows of a dense output.
struct Cut {
  uint32_t number;  // row that contains its first byte
  uint32_t at;      // offset of that byte in the row
};

// Returns the place of the vector at 16 * vectors + bytes after the start of the first row. It takes two steps, so that
// rows and vectors are counted in 32 bits and bytes are not.
template <class Job>
GATHER_SHARED Cut cut(const Job& job, uint32_t vectors, uint32_t bytes) {
  const uint32_t row = static_cast<uint32_t>(job.row);
  const uint32_t whole = divide(vectors, job.chunk);
  const uint32_t begin = (vectors - whole * row) * vector_bytes + bytes;
  const uint32_t more = divide(begin, job.chunk);
  return {whole * vector_bytes + more, begin - more * row};
}

// Returns the place that is `step` after `from`.
GATHER_SHARED Cut advance(const Cut& from, const Cut& step, uint32_t row) {
  const uint32_t at = from.at + step.at;
  const bool is_beyond = at >= row;
  return {from.number + step.number + (is_beyond ? 1 : 0), is_beyond ? at - row : at};
}

}  // namespace gather::cuda
