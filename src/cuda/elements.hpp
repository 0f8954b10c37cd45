#pragma once

#include "cuda/borders.hpp"

// Copies rows of 1, 2 or 4 bytes into a dense output. A thread makes a vector of neighbouring rows. So it computes the
// place of a line of rows once, and stores 16 bytes at once.
namespace gather::cuda {

constexpr int elements_at_once = loads_in_flight;

// Neighbouring rows of the innermost loop, and the rows at the start of its next line.
struct Lines {
  Placed own, next;
  uint32_t left;  // rows before the next line
};

// Precondition: the rows `number` to number + count - 1 are in at most two lines.
template <int count, class Job>
GATHER_SHARED Lines find_lines(const Job& job, uint32_t number) {
  Lines lines{place(job, number), {}, static_cast<uint32_t>(count)};
  if constexpr (!Job::is_direct) {
    const int32_t inner = loops_of(job) - 1;
    const uint32_t extent = static_cast<uint32_t>(job.loop[inner].extent);
    const uint32_t left = extent - (number - divide(number, job.divider[inner]) * extent);
    lines.next = lines.own;
    if (left >= static_cast<uint32_t>(count) || number + left >= static_cast<uint32_t>(job.units)) return lines;
    lines.next = place(job, number + left);
    lines.next.from -= left * job.loop[inner].params;
    lines.next.tuple -= left * job.loop[inner].index;
    lines.left = left;
  }
  return lines;
}

// Returns the place of the i-th of these rows, except its place in the output.
template <class Job>
GATHER_SHARED Placed row_of(const Job& job, const Lines& lines, uint32_t i) {
  const JobLoop& loop = job.loop[loops_of(job) - 1];
  const Placed& line = Job::is_direct || i < lines.left ? lines.own : lines.next;
  return {line.tuple + i * loop.index, line.from + i * loop.params, nullptr};
}

// Stores the elements whose bits are set.
template <int V>
GATHER_SELDOM void store_some(char* to, Bytes16 made, uint32_t written) {
  for (uint32_t i = 0; i < vector_bytes / V; ++i) {
    if (!(written >> i & 1)) continue;
    const uint64_t half = i * V < 8 ? made.lo : made.hi;
    store_out<V>(to + size_t{i} * V, static_cast<Vector<V>>(half >> (8 * (i * V & 7))), false);
  }
}

// Loads the elements from the i-th to the last of a group. Sets the bits of those that are written.
template <int V, class Index, class Job>
GATHER_SHARED void make_group(const Job& job, const Lines& lines, uint32_t begin, bool blank, Bytes16* made,
                              uint32_t* written, bool* raced) {
  constexpr int count = elements_at_once;
  Placed rows[count];
  Unit units[count];
  Vector<V> loaded[count];
  const int64_t at[count] = {};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) rows[i] = row_of(job, lines, begin + static_cast<uint32_t>(i));
  resolve_units<Index, count>(job, rows, nullptr, blank, units, raced);
  load_vectors<V, count>(job, units, at, loaded);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const uint32_t element = begin + static_cast<uint32_t>(i), byte = element * V;
    (byte < 8 ? made->lo : made->hi) |= uint64_t{loaded[i]} << (8 * (byte & 7));
    *written |= (units[i].source == Source::none ? 0u : 1u) << element;
  }
}

template <int V, class Index, class Job, class Gate>
GATHER_SHARED bool copy_elements(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  constexpr uint32_t count = vector_bytes / V, all = (1u << count) - 1;
  const uint32_t head = head_of(job), units = static_cast<uint32_t>(job.units), end = (units - head / V) / count;
  char* const out = job.out + static_cast<int64_t>(head);
  bool raced = false;
  for (uint32_t vector = thread; vector < end; vector += threads) {
    const Lines lines = find_lines<static_cast<int>(count)>(job, head / V + vector * count);
    Bytes16 made{0, 0};
    uint32_t written = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t i = 0; i < count; i += elements_at_once) {
      make_group<V, Index>(job, lines, i, blank, &made, &written, &raced);
    }
    if (!gate.lets_store()) return raced;
    char* const to = out + static_cast<int64_t>(vector) * vector_bytes;
    if (written == all)
      store_out<16>(to, made, job.evicts_first);
    else
      store_some<V>(to, made, written);
  }
  return copy_borders<Index>(job, blank, thread, head, gate) || raced;
}

}  // namespace gather::cuda
