#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__ inline
#else
#define BENCH_BOTH inline
#endif

// Makes data and checks results. Each struct is called with every number below a count, in any order, by threads of the
// device or by a loop of the rehearsal.
namespace bench {

// Calls work(i) for all 0 <= i < count, in stream order.
template <class Work>
void for_each(int64_t count, const Work& work);
#define BENCH_INSTANTIATE_FOR_EACH                      \
  template void for_each(int64_t, const Fill&);         \
  template void for_each(int64_t, const MakeIndices&);  \
  template void for_each(int64_t, const SplitIndices&); \
  template void for_each(int64_t, const CountSectors&); \
  template void for_each(int64_t, const Verify&);

// Returns two counters in device memory, set to zero.
unsigned long long* zeroed_counters();
// Waits and returns the values of the counters.
void read_counters(int64_t counters[2]);

BENCH_BOTH void add(unsigned long long* counter, unsigned long long value) {
#ifdef __CUDA_ARCH__
  atomicAdd(counter, value);
#else
  *counter += value;
#endif
}

// A permutation of the 64-bit numbers (splitmix64) whose values look random.
BENCH_BOTH uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Converts to a number in [0, 1).
BENCH_BOTH double to_unit(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

BENCH_BOTH int64_t to_below(int64_t limit, double unit) {
  const int64_t value = static_cast<int64_t>(unit * static_cast<double>(limit));
  return value < limit ? value : limit - 1;
}

// Returns byte `at` of a table.
BENCH_BOTH uint64_t table_word(int64_t word) { return mix(static_cast<uint64_t>(word)); }
BENCH_BOTH uint8_t table_byte(int64_t at) { return static_cast<uint8_t>(table_word(at >> 3) >> (8 * (at & 7))); }

BENCH_BOTH int64_t load_index(const void* indices, int32_t bytes, int64_t i) {
  return bytes == 4 ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
}

BENCH_BOTH void store_index(void* indices, int32_t bytes, int64_t i, int64_t value) {
  if (bytes == 4)
    static_cast<int32_t*>(indices)[i] = static_cast<int32_t>(value);
  else
    static_cast<int64_t*>(indices)[i] = value;
}

struct Fill {
  uint64_t* table;

  BENCH_BOTH void operator()(int64_t i) const { table[i] = table_word(i); }
};

enum class Distribution : int32_t { uniform, sorted, zipf };

struct MakeIndices {
  void* out;
  int32_t bytes;
  int64_t n, size;
  Distribution distribution;

  // The inverse of the continuous form of the distribution. The frequent rows are at random places.
  BENCH_BOTH int64_t zipf(double unit) const {
    constexpr double power = 1 - 1.05;
    const double rank = pow((pow(static_cast<double>(size), power) - 1) * unit + 1, 1 / power);
    return to_below(size, to_unit(mix(~static_cast<uint64_t>(rank))));
  }

  BENCH_BOTH void operator()(int64_t i) const {
    // The constant selects another sequence than that of the table's words.
    const double unit = to_unit(mix(static_cast<uint64_t>(i) ^ 0x6a09e667f3bcc908));
    int64_t value;
    if (distribution == Distribution::zipf)
      value = zipf(unit);
    else if (distribution == Distribution::uniform)
      value = to_below(size, unit);
    else
      value = to_below(size, (static_cast<double>(i) + unit) / static_cast<double>(n));
    store_index(out, bytes, i, value);
  }
};

constexpr int32_t most_components = 8;

struct SplitIndices {
  void* out;
  const void* rows;
  int32_t bytes, depth;
  int64_t dims[most_components];

  BENCH_BOTH void operator()(int64_t i) const {
    int64_t row = load_index(rows, bytes, i);
    for (int32_t k = depth; k-- > 0; row /= dims[k]) store_index(out, bytes, i * depth + k, row % dims[k]);
  }
};

// The geometry that bench_set_geometry() describes.
struct Geometry {
  const void* indices;
  int32_t index_bytes;
  int64_t batch, outer, size, tuples, row, offset;

  BENCH_BOTH int64_t rows() const { return batch * outer * tuples; }

  // Returns the place in the table of row `number` of the output.
  BENCH_BOTH int64_t source(int64_t number) const {
    const int64_t slice = number / tuples;
    const int64_t index = load_index(indices, index_bytes, slice / outer * tuples + number % tuples);
    return offset + (slice * size + index) * row;
  }
};

// Each call processes a run of rows or bytes, so that few threads access the counter at the same time.
struct CountSectors {
  static constexpr int64_t run = 64;
  Geometry geometry;
  unsigned long long* counters;

  BENCH_BOTH void operator()(int64_t i) const {
    unsigned long long of_32 = 0, of_64 = 0;
    for (int64_t number = i * run; number < (i + 1) * run && number < geometry.rows(); ++number) {
      const int64_t first = geometry.source(number), last = first + geometry.row - 1;
      of_32 += static_cast<unsigned long long>(last / 32 - first / 32 + 1);
      of_64 += static_cast<unsigned long long>(last / 64 - first / 64 + 1);
    }
    add(counters, of_32);
    add(counters + 1, of_64);
  }
};

struct Verify {
  static constexpr int64_t run = 64;
  Geometry geometry;
  const uint8_t* out;
  unsigned long long* counters;

  BENCH_BOTH void operator()(int64_t i) const {
    const int64_t end = geometry.rows() * geometry.row;
    int64_t byte = i * run;
    int64_t number = byte / geometry.row, at = byte % geometry.row, source = geometry.source(number);
    unsigned long long wrong = 0;
    for (; byte < (i + 1) * run && byte < end; ++byte) {
      wrong += out[byte] != table_byte(source + at);
      if (++at < geometry.row || byte + 1 == end) continue;
      at = 0;
      source = geometry.source(++number);
    }
    if (wrong) add(counters, wrong);
  }
};

}  // namespace bench
