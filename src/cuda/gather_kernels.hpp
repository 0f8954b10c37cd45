#pragma once

#include <cstdint>

#include "cuda/kernel_job.hpp"
#include "cuda/launch_limits.hpp"

struct CUstream_st;

// Kernel launches. Each function returns CUDA's error number, or 0.
namespace gather::cuda {

// The way in which rows are copied. rows* copy vectors of 16 to 1 bytes, which are aligned on both sides. unaligned and
// words make aligned vectors of a dense output, from bytes or from whole words of its rows. elements* put elements of 4
// to 1 bytes together to vectors.
enum class Copy : uint8_t { rows16, rows8, rows4, rows2, rows1, unaligned, words, elements4, elements2, elements1 };
constexpr int copies = static_cast<int>(Copy::elements1) + 1;

// Returns true if the copy stores aligned vectors of 16 bytes to a dense output with rows of any size.
GATHER_SHARED constexpr bool makes_vectors(Copy copy) { return copy >= Copy::unaligned; }
GATHER_SHARED constexpr bool is_elements(Copy copy) { return copy >= Copy::elements4; }

// What a kernel knows of its job. index4 and index8 are the width of the indices of a DirectJob, and any is nothing. The
// others are for small jobs whose indices are aligned words: two or three loops, as of a gather along an axis or with
// batch dims, and one loop over tuples of two, three or any number of components.
enum class Reading : uint8_t { index4, index8, any, two_loops, three_loops, pairs, triples, tuples };

// Returns the number of the kernel family. Families differ in the type of the job and in the reading.
template <class Job>
constexpr int family_of(Reading reading) {
  return Job::most_loops > SmallJob::most_loops ? static_cast<int>(Reading::tuples) + 1 : static_cast<int>(reading);
}
constexpr int families = family_of<AnyJob>(Reading::any) + 1;

// Returns true if the reading has a kernel for this copy. Jobs of any form are rare and slow to decode, so they have few
// kernels. Small jobs of a known form have those for the usual rows.
template <class Job>
constexpr bool has_kernel(Reading reading, Copy copy) {
  const bool is_usual = copy == Copy::rows16 || copy == Copy::rows8 || copy == Copy::rows4 || copy == Copy::elements4;
  switch (reading) {
    case Reading::two_loops:
    case Reading::three_loops: return is_usual || copy == Copy::elements2;
    case Reading::pairs:
    case Reading::triples:
    case Reading::tuples: return is_usual;
    default:
      return Job::most_loops <= SmallJob::most_loops || copy == Copy::rows16 || copy == Copy::rows4 ||
             copy == Copy::rows1;
  }
}

// Kernels count in 32 bits, and may count slightly beyond the last item.
constexpr int64_t largest_count = largest_narrow - 16;
// Returns the largest count of one launch: tuples if it validates, otherwise units, chunks or vectors.
int64_t most_counted();

// The capacity of a device.
struct Capacity {
  int64_t cache;  // bytes of the L2 cache
  // The code is for 9.0 or newer. So a grid may start while the previous one still runs, and four floats are added at
  // once.
  bool is_for_9_0;
  // Blocks of a kernel that a multiprocessor runs at once. 0 means that the kernel does not exist.
  uint8_t copying[families][copies];
  uint8_t validating[families];
};

// overlaps: the kernel may start while the validating kernel before it still runs.
template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream);
template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream);
template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream);

// Instantiates the launches for all types of jobs.
#define GATHER_INSTANTIATE_LAUNCHES                                                                   \
  template int launch_copy<DirectJob>(Copy, Reading, const DirectJob&, uint32_t, bool, CUstream_st*); \
  template int launch_copy<SmallJob>(Copy, Reading, const SmallJob&, uint32_t, bool, CUstream_st*);   \
  template int launch_copy<AnyJob>(Copy, Reading, const AnyJob&, uint32_t, bool, CUstream_st*);       \
  template int launch_validate<DirectJob>(Reading, const DirectJob&, uint32_t, CUstream_st*);         \
  template int launch_validate<SmallJob>(Reading, const SmallJob&, uint32_t, CUstream_st*);           \
  template int launch_validate<AnyJob>(Reading, const AnyJob&, uint32_t, CUstream_st*);               \
  template int launch_report_first<AnyJob>(const AnyJob&, CUstream_st*);

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream);

// Loads every kernel into the current context, so that a first launch may be captured. Writes the capacity of the
// device. The calls of CUDA would invalidate a capture by this thread, unless its mode is relaxed.
int load_kernels(Capacity* capacity);

}  // namespace gather::cuda
