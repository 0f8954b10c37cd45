#pragma once

#include <cstdint>

#include "cuda/job.hpp"

struct CUstream_st;

// Launches. Each returns CUDA's number of the error, 0 for none.
namespace gather::cuda {

// How rows are copied: by vectors of so many bytes, or as a stream of bytes that is cut into vectors.
enum class Copy : uint8_t { rows16, rows8, rows4, rows2, rows1, stream };
constexpr int copies = static_cast<int>(Copy::stream) + 1;

// How indices are read: DirectJob by index4 and index8, the others by any.
enum class Reading : uint8_t { index4, index8, any };

constexpr uint32_t block_threads = 256;

// The kernels that differ in the job they take and in how they read indices.
template <class Job>
constexpr int family_of(Reading reading) {
  return Job::most_loops > SmallJob::most_loops ? 3 : static_cast<int>(reading);
}
constexpr int families = 4;

// Kernels count in 32 bits, and a little beyond what there is.
constexpr int64_t largest_count = largest_narrow - 16;
// The tuples that a launch may judge; the units, chunks or vectors that it may copy.
int64_t most_counted();

// What a device has for kernels.
struct Capacity {
  int64_t cache;        // bytes of its L2
  bool overlaps_grids;  // one may begin while the one in front still runs
  // Blocks of a kernel that a multiprocessor holds at once; 0: there is no such kernel.
  uint8_t copying[families][copies];
  uint8_t validating[families];
};

// overlaps: it may begin while the kernel in front, which judges for it, still runs.
template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream);
template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream);
template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream);

// The jobs there are, for who defines the launches.
#define GATHER_INSTANTIATE_LAUNCHES                                                                   \
  template int launch_copy<DirectJob>(Copy, Reading, const DirectJob&, uint32_t, bool, CUstream_st*); \
  template int launch_copy<SmallJob>(Copy, Reading, const SmallJob&, uint32_t, bool, CUstream_st*);   \
  template int launch_copy<AnyJob>(Copy, Reading, const AnyJob&, uint32_t, bool, CUstream_st*);       \
  template int launch_validate<DirectJob>(Reading, const DirectJob&, uint32_t, CUstream_st*);         \
  template int launch_validate<SmallJob>(Reading, const SmallJob&, uint32_t, CUstream_st*);           \
  template int launch_validate<AnyJob>(Reading, const AnyJob&, uint32_t, CUstream_st*);               \
  template int launch_report_first<AnyJob>(const AnyJob&, CUstream_st*);

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream);

// Loads every kernel into the current context, so that a first launch may be a captured one, and asks what the device
// has for them.
int load_kernels(Capacity* capacity);

}  // namespace gather::cuda
