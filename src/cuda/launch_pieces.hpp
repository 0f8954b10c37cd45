#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/bodies.hpp"
#include "cuda/gather_kernels.hpp"

// Kernels count in 32 bits. A call with more tuples or a larger output is split here into pieces, which are launched
// one after the other. Each piece covers a range of one loop and everything inside it, at fixed steps of the outer
// loops.
namespace gather::cuda {

inline int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0); }
inline int64_t multiply_saturating(int64_t a, int64_t b) { return a > INT64_MAX / b ? INT64_MAX : a * b; }

// The largest number of threads that share a row or a part of one.
constexpr int64_t most_lanes = int64_t{2} * warp_threads;

inline int64_t chunks_of(int64_t row, int64_t width) { return ceil_divide(ceil_divide(row, width), most_lanes); }

// Sets the fields of a job for rows of this size. If resolving a row is slow, four neighbouring threads resolve rows
// together.
template <class Job>
void fit_row(Copy copy, int64_t row, Job* job) {
  job->row = row;
  job->chunks = chunks_of(row, width_of(copy));
  const int64_t lanes = ceil_divide(ceil_divide(row, width_of(copy)), job->chunks);
  job->lanes = static_cast<uint32_t>(Job::is_direct || lanes < 4 ? lanes : (lanes + 3) / 4 * 4);
  job->lane = make_divider(job->lanes);
  const int64_t divisor = makes_vectors(copy) ? row : job->chunks;
  job->chunk = divisor <= largest_narrow ? make_divider(divisor) : Divider{};
}

// The limits of one launch.
struct Limits {
  int64_t tuples;  // if it validates
  int64_t units;   // if it copies
  int64_t row;     // bytes of a row; longer rows are split, and a piece has a part of one
};

// Kernels that make the vectors of a dense output count the bytes of a row and its vectors. Other kernels count the chunks
// of all rows.
inline Limits limits_of(Copy copy, int64_t row, int64_t counted) {
  const bool is_dense = copy == Copy::unaligned || copy == Copy::words;
  const int64_t bytes = is_dense ? counted / vector_bytes : multiply_saturating(counted, most_lanes * width_of(copy));
  const int64_t longest = bytes / vector_bytes * vector_bytes;
  if (row > longest) return {counted, 1, longest};
  return {counted, counted / (is_dense ? ceil_divide(row, vector_bytes) : chunks_of(row, width_of(copy))), longest};
}

// Returns the size of the first part of a row that exceeds the limit. It is a multiple of a vector, and at least one
// vector remains.
inline int64_t first_part(int64_t left, int64_t longest) {
  return left <= longest ? left : std::min(longest, (left - vector_bytes) / vector_bytes * vector_bytes);
}

template <class Job>
bool goes_through_tuples(const Job& job, int32_t loop) {
  return loop < job.walked && (job.tuple_loops >> loop & 1);
}
template <class Job>
bool goes_through_units(const Job&, int32_t) {
  return true;
}

// Returns the number of steps in the piece that starts at step `first`, at most `most`.
template <class Job>
int64_t steps_from(const Job& job, bool (*goes_through)(const Job&, int32_t), int64_t first, int64_t most) {
  int64_t inside = 1;
  for (int32_t i = job.loops; i-- > 0;) {
    if (!goes_through(job, i)) continue;
    const int64_t extent = job.loop[i].extent;
    if (extent > most / inside) return std::min(extent - first / inside % extent, most / inside) * inside;
    inside *= extent;
  }
  return inside;
}

// Restricts the loops to `steps` steps from `first` on. Returns the combined offset of the new start.
template <class Job>
JobLoop keep_steps(bool (*goes_through)(const Job&, int32_t), int64_t first, int64_t steps, Job* job) {
  JobLoop apart{};
  for (int32_t i = job->loops; i-- > 0;) {
    if (!goes_through(*job, i)) continue;
    JobLoop& loop = job->loop[i];
    const int64_t at = first % loop.extent;
    first /= loop.extent;
    apart.params += at * loop.params;
    apart.index += at * loop.index;
    apart.out += at * loop.out;
    loop.extent = std::min(loop.extent, steps);
    steps /= loop.extent;
    job->divider[i] = make_divider(loop.extent);
  }
  return apart;
}

// Calls launch(piece) for the pieces in which the tuples of a job are validated, in the order of their positions. Stops
// at the first error and returns it.
template <class Job, class Launch>
int each_validated(const Job& job, const Limits& limits, Launch&& launch) {
  if (job.tuples <= limits.tuples) return launch(job);
  int code = 0;
  for (int64_t first = 0; !code && first < job.tuples;) {
    Job piece = job;
    piece.first_tuple = first;
    piece.tuples = steps_from(job, goes_through_tuples<Job>, first, limits.tuples);
    const JobLoop apart = keep_steps(goes_through_tuples<Job>, first, piece.tuples, &piece);
    piece.indices += apart.index;
    piece.first_position = job.units > 0 ? first : apart.out;
    first += piece.tuples;
    code = launch(piece);
  }
  return code;
}

inline bool is_one_piece(const JobHead& job, const Limits& limits) {
  return job.units <= limits.units && job.row <= limits.row;
}

// Does the same for the pieces in which the output is copied.
template <class Job, class Launch>
int each_copied(const Job& job, Copy copy, const Limits& limits, Launch&& launch) {
  if (is_one_piece(job, limits)) return launch(job);
  int code = 0;
  for (int64_t first = 0, byte = 0; !code && first < job.units;) {
    Job piece = job;
    piece.first_unit = first;
    piece.units = steps_from(job, goes_through_units<Job>, first, limits.units);
    const JobLoop apart = keep_steps(goes_through_units<Job>, first, piece.units, &piece);
    piece.params += apart.params + byte;
    piece.indices += apart.index;
    piece.out += apart.out + byte;
    fit_row(copy, first_part(job.row - byte, limits.row), &piece);
    byte += piece.row;
    if (byte == job.row) {
      byte = 0;
      first += piece.units;
    }
    code = launch(piece);
  }
  return code;
}

}  // namespace gather::cuda
