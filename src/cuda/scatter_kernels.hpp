#pragma once

#include <cstdint>

#include "cuda/gather_kernels.hpp"
#include "cuda/line_job.hpp"
#include "cuda/scatter_job.hpp"
#include "cuda/strided.hpp"

// Launches of the kernels of scatters. Each function returns CUDA's error number, or 0.
namespace gather::cuda {

template <class Job>
int launch_keys(Reading reading, const Job& job, const KeyJob& keys, uint32_t blocks, CUstream_st* stream);
// Runs one block.
template <class Job>
int launch_few_keys(Reading reading, const Job& job, const KeyJob& keys, const Keys& sorted, CUstream_st* stream);
int launch_lift(const Keys& keys, const WideUpdate* wide, uint32_t count, uint32_t blocks, CUstream_st* stream);

// is_wide: a column is a vector, and not a number. With factors, no numbers are complex.
int launch_combine(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream);
// Combines the long slices that launch_combine has found.
int launch_combine_long(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream);
// bytes: those of a column.
int launch_replace(int bytes, const CombineJob& job, uint32_t blocks, CUstream_st* stream);

// Halves are halves in float.
int launch_positions(Numbers numbers, const PositionJob& job, uint32_t blocks, CUstream_st* stream);

// bytes: those of a number.
int launch_lines(int bytes, const LineJob& job, uint32_t blocks, CUstream_st* stream);
int launch_atomic(int bytes, const SmallJob& job, const AtomicJob& how, uint32_t blocks, CUstream_st* stream);
int launch_strided(const StridedJob& job, uint32_t blocks, CUstream_st* stream);

// Returns the largest number of a slice or an update that fits in a key.
int64_t most_numbered();

// Returns the number of lines from which on threads process lines.
int64_t least_lines();

// Loads every kernel into the current context.
int load_scatter_kernels();

#define GATHER_INSTANTIATE_SCATTERS                                                                             \
  template int launch_keys<DirectJob>(Reading, const DirectJob&, const KeyJob&, uint32_t, CUstream_st*);        \
  template int launch_keys<SmallJob>(Reading, const SmallJob&, const KeyJob&, uint32_t, CUstream_st*);          \
  template int launch_keys<AnyJob>(Reading, const AnyJob&, const KeyJob&, uint32_t, CUstream_st*);              \
  template int launch_few_keys<DirectJob>(Reading, const DirectJob&, const KeyJob&, const Keys&, CUstream_st*); \
  template int launch_few_keys<SmallJob>(Reading, const SmallJob&, const KeyJob&, const Keys&, CUstream_st*);   \
  template int launch_few_keys<AnyJob>(Reading, const AnyJob&, const KeyJob&, const Keys&, CUstream_st*);

}  // namespace gather::cuda
