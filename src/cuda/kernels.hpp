#pragma once

#include <cstdint>

#include "cuda/job.hpp"

struct CUstream_st;

// Launches. Each returns CUDA's number of the error, 0 for none.
namespace gather::cuda {

enum class Copy : uint8_t;
enum class Reading : uint8_t;

constexpr uint32_t block_threads = 256;

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream);
template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream);
template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream);
// The jobs there are, for who defines the launches.
#define GATHER_INSTANTIATE_LAUNCHES                                                             \
  template int launch_copy<DirectJob>(Copy, Reading, const DirectJob&, uint32_t, CUstream_st*); \
  template int launch_copy<SmallJob>(Copy, Reading, const SmallJob&, uint32_t, CUstream_st*);   \
  template int launch_copy<AnyJob>(Copy, Reading, const AnyJob&, uint32_t, CUstream_st*);       \
  template int launch_validate<DirectJob>(Reading, const DirectJob&, uint32_t, CUstream_st*);   \
  template int launch_validate<SmallJob>(Reading, const SmallJob&, uint32_t, CUstream_st*);     \
  template int launch_validate<AnyJob>(Reading, const AnyJob&, uint32_t, CUstream_st*);         \
  template int launch_report_first<AnyJob>(const AnyJob&, CUstream_st*);

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream);

// Loads every kernel into the current context, so that a first launch may be a captured one.
int load_kernels();

}  // namespace gather::cuda
