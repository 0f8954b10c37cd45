#pragma once

#include "cuda/job.hpp"
#include "cuda/shared.hpp"

// Indices: read once, judged, turned into offsets. The same answers as the CPU gives.
namespace gather::cuda {

// How a kernel reads indices, and in which numbers it counts rows.
struct Index4 {  // of 4 bytes, aligned
  using Number = uint32_t;
  static GATHER_SHARED int64_t load(const JobHead& job, const char* at) {
    const uint32_t bits = load_index_bits<4>(at);
    return job.index_signed ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits};
  }
};

struct Index8 {  // of 8 bytes, aligned; uint64 as its bit pattern
  using Number = uint32_t;
  static GATHER_SHARED int64_t load(const JobHead&, const char* at) {
    return static_cast<int64_t>(load_index_bits<8>(at));
  }
};

// `bits` as a number of `bytes` bytes.
GATHER_SHARED int64_t extend(uint64_t bits, int bytes, bool is_signed) {
  const int unused = 64 - 8 * bytes;
  return is_signed ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

GATHER_SELDOM uint64_t load_unaligned_bits(const char* at, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) bits |= uint64_t{load_index_bits<1>(at + i)} << (8 * i);
  return bits;
}

template <class NumberType>
struct AnyIndex {  // of any width, at any address
  using Number = NumberType;
  static GATHER_SHARED int64_t load(const JobHead& job, const char* at) {
    uint64_t bits;
    if (!job.index_aligned) {
      bits = load_unaligned_bits(at, job.index_bytes);
    } else if (job.index_bytes == 8) {
      bits = load_index_bits<8>(at);
    } else if (job.index_bytes == 4) {
      bits = load_index_bits<4>(at);
    } else if (job.index_bytes == 2) {
      bits = load_index_bits<2>(at);
    } else {
      bits = load_index_bits<1>(at);
    }
    return extend(bits, job.index_bytes, job.index_signed);
  }
};

// One comparison for both ends: what is negative is huge as an unsigned number.
GATHER_SHARED bool is_inside(int64_t value, int64_t size) {
  return static_cast<uint64_t>(value) < static_cast<uint64_t>(size);
}

GATHER_SELDOM int64_t modulo(int64_t value, int64_t size, bool has_negatives) {
  if (!has_negatives) return static_cast<int64_t>(static_cast<uint64_t>(value) % static_cast<uint64_t>(size));
  const int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

// Adds the offset of the row of one component that `value` selects. False: it selects none.
GATHER_SHARED bool select(const JobHead& job, const JobComponent& component, int64_t value, int64_t* offset) {
  int64_t index = job.wraps && value < 0 ? value + component.size : value;
  if (!is_inside(index, component.size)) {
    if (job.bounds == GTH_BOUNDS_CLAMP) {  // the dim has a size: an empty one is refused before anything runs
      index = index < 0 && job.has_negatives ? 0 : component.size - 1;
    } else if (job.bounds == GTH_BOUNDS_MODULO) {
      index = modulo(value, component.size, job.has_negatives);
    } else {
      return false;
    }
  }
  *offset += index * component.stride;
  return true;
}

// The first index of a tuple; apart, so that several loads can be under way before the first is waited for.
template <class Index, class Job>
GATHER_SHARED int64_t load_first(const Job& job, const char* tuple) {
  return Job::is_direct || job.components > 0 ? Index::load(job, tuple) : 0;
}

// A tuple's offset into params. False: it selects nothing; its first bad component is in *bad, if asked for.
template <class Index, class Job>
GATHER_SHARED bool resolve(const Job& job, const char* tuple, int64_t first, int64_t* offset, Finding* bad) {
  if constexpr (Job::is_direct) {
    if (select(job, job.component[0], first, offset)) return true;
    if (bad) *bad = {0, first, 0};
    return false;
  } else {
    int64_t value = first;
    for (int32_t c = 0; c < job.components; ++c) {
      if (c > 0) value = Index::load(job, tuple + c * job.index_step);
      if (select(job, job.component[c], value, offset)) continue;
      if (bad) *bad = {0, value, c};
      return false;
    }
    return true;
  }
}

// Where a tuple lies in indices.
template <class Number, class Job>
GATHER_SHARED const char* locate_tuple(const Job& job, Number tuple) {
  if constexpr (Job::is_direct) {
    return job.indices + static_cast<int64_t>(tuple) * job.loop[0].index;
  } else {
    const char* at = job.indices;
    for (int32_t i = job.walked; i-- > 0;) {
      if (!(job.tuple_loops >> i & 1)) continue;
      const Number next = divide(tuple, job.divider[i], job.loop[i].extent);
      at += static_cast<int64_t>(tuple - next * static_cast<Number>(job.loop[i].extent)) * job.loop[i].index;
      tuple = next;
    }
    return at;
  }
}

// What an error calls a tuple. Where there are rows, tuples are counted as they are named; a job that only judges leaves
// out the loops that repeat indices.
template <class Number, class Job>
GATHER_SELDOM int64_t position_of(const Job& job, Number tuple) {
  if (job.units > 0) return static_cast<int64_t>(tuple);
  int64_t position = 0;
  for (int32_t i = job.walked; i-- > 0;) {
    if (!(job.tuple_loops >> i & 1)) continue;
    const Number next = divide(tuple, job.divider[i], job.loop[i].extent);
    position += static_cast<int64_t>(tuple - next * static_cast<Number>(job.loop[i].extent)) * job.loop[i].out;
    tuple = next;
  }
  return position;
}

// The first bad one of the tuples first, first + step, ..
template <class Index, class Job>
GATHER_SELDOM Finding find_bad(const Job& job, typename Index::Number first, typename Index::Number step) {
  using Number = typename Index::Number;
  const Number tuples = static_cast<Number>(job.tuples);
  constexpr int together = 4;  // loads in flight
  for (; first < tuples; first += step * together) {
    const char* at[together];
    int64_t values[together];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < together; ++i) {
      const Number tuple = first + static_cast<Number>(i) * step;
      at[i] = tuple < tuples ? locate_tuple(job, tuple) : nullptr;
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < together; ++i) values[i] = at[i] ? load_first<Index>(job, at[i]) : 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < together; ++i) {
      int64_t offset = 0;
      Finding bad;
      if (!at[i] || resolve<Index>(job, at[i], values[i], &offset, &bad)) continue;
      bad.position = position_of(job, static_cast<Number>(first + static_cast<Number>(i) * step));
      return bad;
    }
  }
  return {-1, 0, 0};
}

}  // namespace gather::cuda
