#pragma once

#include "core/types/resolve_index.hpp"
#include "cuda/kernel_job.hpp"
#include "cuda/shared.hpp"

// Loads each index once, validates it, and converts it to an offset. The results are those of the CPU.
namespace gather::cuda {

// The ways in which a kernel loads indices. `job` has their type.
struct Index4 {  // 4 bytes, aligned
  template <class Job>
  static GATHER_SHARED int64_t load(const Job& job, const char* at) {
    const uint32_t bits = load_index_bits<4>(at);
    return job.index_signed ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits};
  }
};

struct Index8 {  // 8 bytes, aligned; uint64 is kept as its bit pattern
  template <class Job>
  static GATHER_SHARED int64_t load(const Job&, const char* at) {
    return static_cast<int64_t>(load_index_bits<8>(at));
  }
};

// Returns the lowest `bytes` bytes of `bits` as a number.
GATHER_SHARED int64_t extend(uint64_t bits, int bytes, bool is_signed) {
  const int unused = 64 - 8 * bytes;
  return is_signed ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

GATHER_SELDOM uint64_t load_bytewise(const char* at, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) bits |= uint64_t{load_index_bits<1>(at + i)} << (8 * i);
  return bits;
}

struct AnyIndex {  // any width, any address
  template <class Job>
  static GATHER_SHARED int64_t load(const Job& job, const char* at) {
    if (job.index_aligned && job.index_bytes == 8) return static_cast<int64_t>(load_index_bits<8>(at));
    const bool is_word = job.index_aligned && job.index_bytes == 4;
    const uint64_t bits = is_word ? load_index_bits<4>(at) : load_bytewise(at, job.index_bytes);
    return extend(bits, job.index_bytes, job.index_signed);
  }
};

struct WordIndex {  // 4 or 8 bytes, aligned; the job of the kernel has one of both
  template <class Job>
  static GATHER_SHARED int64_t load(const Job& job, const char* at) {
    return job.index_bytes == 8 ? Index8::load(job, at) : Index4::load(job, at);
  }
};

template <class Index, int count, class Job>
GATHER_SHARED void load_values_as(const Job& job, const char* const* tuples, int32_t component, int64_t* values) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) values[i] = Index::load(job, tuples[i] + component * job.index_step);
}

// Loads one component of several tuples. Tests for the most frequent type of index once.
template <class Index, int count, class Job>
GATHER_SHARED void load_values(const Job& job, const char* const* tuples, int32_t component, int64_t* values) {
  if (!Job::is_direct && count > 1 && job.index_aligned && job.index_bytes == 8)
    load_values_as<Index8, count>(job, tuples, component, values);
  else if (std::is_same_v<Index, WordIndex> && count > 1)
    load_values_as<Index4, count>(job, tuples, component, values);
  else
    load_values_as<Index, count>(job, tuples, component, values);
}

// Resolves a value that may be out of range.
GATHER_SELDOM int64_t resolve_seldom(int64_t value, int64_t size, core::IndexPolicy policy) {
  return core::resolve_index(value, size, policy);
}

// Adds the offsets of the rows that `values` select in one component. Values that select no row are marked.
template <int count, class Job>
GATHER_SHARED void select(const Job& job, const JobComponent& component, const int64_t* values, int64_t* offsets,
                          bool* selects) {
  int64_t index[size_t{count}];
  bool are_inside = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    index[i] = core::wrap_index(values[i], component.size, job.policy);
    are_inside &= core::is_in_range(index[i], component.size);
  }
  if (!are_inside) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      index[i] = resolve_seldom(values[i], component.size, job.policy);
      selects[i] &= index[i] >= 0;
    }
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) offsets[i] += index[i] * component.stride;
}

// Returns true if bounds = error accepts the index.
GATHER_SHARED bool is_good(const JobHead& job, const JobComponent& component, int64_t value) {
  return core::is_in_range(core::wrap_index(value, component.size, job.policy), component.size);
}

// Returns true if bounds = error accepts all of the indices.
template <int count>
GATHER_SHARED bool are_good(const JobHead& job, const JobComponent& component, const int64_t* values) {
  bool result = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) result &= is_good(job, component, values[i]);
  return result;
}

template <class Job>
GATHER_SHARED int32_t components_of(const Job& job) {
  return Job::exact_components ? Job::exact_components : job.components;
}

template <class Job>
GATHER_SHARED int32_t loops_of(const Job& job) {
  return Job::exact_loops ? Job::exact_loops : job.loops;
}

// Returns true if the tuple is padding. Precondition: job.has_padding.
template <class Index, class Job>
GATHER_SELDOM bool pads(const Job& job, const char* tuple) {
  for (int32_t c = 0; c < components_of(job); ++c) {
    if (Index::load(job, tuple + c * job.index_step) != job.padding) return false;
  }
  return true;
}

// Returns the address of a tuple in indices.
template <class Job>
GATHER_SHARED const char* locate_tuple(const Job& job, uint32_t tuple) {
  if constexpr (Job::is_direct) {
    return job.indices + static_cast<int64_t>(tuple) * job.loop[0].index;
  } else {
    const char* at = job.indices;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int32_t i = job.walked; i-- > 0;) {
      if (!(job.tuple_loops >> i & 1)) continue;
      const uint32_t next = divide(tuple, job.divider[i]);
      at += static_cast<int64_t>(tuple - next * static_cast<uint32_t>(job.loop[i].extent)) * job.loop[i].index;
      tuple = next;
    }
    return at;
  }
}

// Returns the position of a tuple in errors. In jobs with rows, tuples are numbered by position. Jobs that only
// validate skip the loops that repeat indices.
template <class Job>
GATHER_SELDOM int64_t position_of(const Job& job, uint32_t tuple) {
  int64_t position = job.first_position;
  if (job.units > 0) return position + int64_t{tuple};
  for (int32_t i = job.walked; i-- > 0;) {
    if (!(job.tuple_loops >> i & 1)) continue;
    const uint32_t next = divide(tuple, job.divider[i]);
    position += static_cast<int64_t>(tuple - next * static_cast<uint32_t>(job.loop[i].extent)) * job.loop[i].out;
    tuple = next;
  }
  return position;
}

// Returns the first invalid tuple of first, first + step, .., by its number in the job. It validates several tuples at
// a time, component by component, so that their loads overlap. With at_once, one test covers the values of a component.
// This takes fewer instructions, and more registers in copying kernels of jobs that are slow to decode.
template <bool at_once, class Index, class Job>
GATHER_SHARED Finding find_bad(const Job& job, uint32_t first, uint32_t step) {
  const uint32_t tuples = static_cast<uint32_t>(job.tuples);
  const int32_t components = components_of(job);
  constexpr int together = loads_in_flight, none = together;
  for (; first < tuples; first += step * together) {
    const char* at[together];
    int bad = none;
    Finding finding{-1, 0, 0};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < together; ++i) {
      const uint32_t tuple = first + static_cast<uint32_t>(i) * step;
      at[i] = locate_tuple(job, tuple < tuples ? tuple : first);
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int32_t c = 0; c < components; ++c) {
      int64_t values[together];
      load_values<Index, together>(job, at, c, values);
      if (at_once && are_good<together>(job, job.component[c], values)) continue;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (int i = 0; i < together; ++i) {
        const bool is_there = first + static_cast<uint32_t>(i) * step < tuples;
        if (i >= bad || !is_there || is_good(job, job.component[c], values[i])) continue;
        if (job.has_padding && pads<Index>(job, at[i])) continue;
        bad = i;
        finding = {0, values[i], c};
      }
    }
    if (bad == none) continue;
    finding.position = first + static_cast<uint32_t>(bad) * step;
    return finding;
  }
  return {-1, 0, 0};
}

}  // namespace gather::cuda
