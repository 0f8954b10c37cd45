#include "work.hpp"

#include <algorithm>

#include "bench.hpp"
#include "failure.hpp"

namespace bench {
namespace {

Geometry geometry;

int64_t count_runs(int64_t count, int64_t run) { return (count + run - 1) / run; }

}  // namespace

std::string& last_failure() {
  static std::string text;
  return text;
}

}  // namespace bench

using namespace bench;

const char* bench_error() { return last_failure().c_str(); }

int32_t bench_fill(void* table, int64_t bytes) {
  return guarded([&] { for_each(bytes / 8, Fill{static_cast<uint64_t*>(table)}); });
}

int32_t bench_make_indices(void* out, int32_t bytes, int64_t n, int64_t size, int32_t distribution) {
  return guarded([&] { for_each(n, MakeIndices{out, bytes, n, size, static_cast<Distribution>(distribution)}); });
}

int32_t bench_split_indices(void* out, const void* rows, int32_t bytes, int64_t n, int32_t depth, const int64_t* dims) {
  return guarded([&] {
    if (depth < 1 || depth > most_components) throw Failure("a depth that tuples cannot have");
    SplitIndices split{out, rows, bytes, depth, {}};
    std::copy(dims, dims + depth, split.dims);
    for_each(n, split);
  });
}

int32_t bench_set_geometry(const void* indices, int32_t index_bytes, int64_t batch, int64_t outer, int64_t size,
                           int64_t tuples, int64_t row, int64_t offset) {
  geometry = {indices, index_bytes, batch, outer, size, tuples, row, offset};
  return 0;
}

int32_t bench_count_sectors(int64_t* of_32, int64_t* of_64) {
  return guarded([&] {
    for_each(count_runs(geometry.rows(), CountSectors::run), CountSectors{geometry, zeroed_counters()});
    int64_t counters[2];
    read_counters(counters);
    *of_32 = counters[0];
    *of_64 = counters[1];
  });
}

int32_t bench_verify(const void* out, int64_t* wrong) {
  return guarded([&] {
    const int64_t bytes = geometry.rows() * geometry.row;
    for_each(count_runs(bytes, Verify::run), Verify{geometry, static_cast<const uint8_t*>(out), zeroed_counters()});
    int64_t counters[2];
    read_counters(counters);
    *wrong = counters[0];
  });
}
