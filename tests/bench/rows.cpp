#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gather/gather.h"
#include "rounds.hpp"

// Rows a plan gathers, beside the loop over memcpy that a caller would write, in the same rounds.
namespace {

struct Table {
  int64_t rows, bytes;
  std::vector<char> memory, out;
  std::vector<int64_t> ids;
  gth_plan *one_thread, *all_threads;

  Table(int64_t table_bytes, int64_t row_bytes, int64_t count)
      : rows(table_bytes / row_bytes),
        bytes(row_bytes),
        memory(static_cast<size_t>(rows * bytes), 'x'),
        out(static_cast<size_t>(count * bytes)) {
    std::mt19937_64 random(42);
    for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(rows)));
    one_thread = make_plan(1);
    all_threads = make_plan(0);
  }
  ~Table() {
    gth_plan_release(one_thread);
    gth_plan_release(all_threads);
  }
  Table(const Table&) = delete;

  gth_plan* make_plan(int32_t threads) {
    const int64_t shape[2] = {rows, bytes}, count[1] = {static_cast<int64_t>(ids.size())};
    const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 2, shape, memory.data());
    const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, count, ids.data());
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = threads;
    gth_plan* plan = nullptr;
    if (gth_gather_plan(&params, &indices, &options, nullptr, &plan, nullptr)) std::abort();
    return plan;
  }

  void copy_with_memcpy() {
    for (size_t i = 0; i < ids.size(); ++i) {
      std::memcpy(out.data() + i * static_cast<size_t>(bytes), memory.data() + ids[i] * bytes,
                  static_cast<size_t>(bytes));
    }
    bench::keep(out.data());
  }
  void run(const gth_plan* plan) {
    if (gth_plan_run(nullptr, plan, memory.data(), ids.data(), out.data(), GTH_OPEN, nullptr)) std::abort();
  }
};

void measure(const char* name, int64_t table_bytes, int64_t row_bytes) {
  const int64_t count = std::clamp<int64_t>((4 << 20) / row_bytes, 512, 65536);
  Table table(table_bytes, row_bytes, count);
  const auto times = bench::side_by_side({
                                             [&](int64_t n) {
                                               while (n--) table.copy_with_memcpy();
                                             },
                                             [&](int64_t n) {
                                               while (n--) table.run(table.one_thread);
                                             },
                                             [&](int64_t n) {
                                               while (n--) table.run(table.all_threads);
                                             },
                                         },
                                         11);
  const auto [memcpy, one, all] = std::tie(times[0], times[1], times[2]);
  const double rows = static_cast<double>(count);
  std::printf("  %-7s %6lld B %9.2f %9.2f %9.2f   %6.2f   %6.2f\n", name, static_cast<long long>(row_bytes),
              memcpy.median / rows, one.median / rows, all.median / rows, memcpy.median / one.median,
              memcpy.median / all.median);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_full = argc > 1 && std::string(argv[1]) == "--full";
  std::printf("rows by checked random int64 indices, ns a row, and the speed as a ratio to memcpy without checks\n");
  std::printf("  %-7s %8s %9s %9s %9s   %6s   %6s\n", "table", "row", "memcpy", "1 thread", "threads", "ratio",
              "ratio");
  for (int64_t row : {1, 4, 8, 12, 16, 32, 64, 100, 128, 256, 300, 512, 1024, 4096}) {
    measure("256 KB", 256 << 10, row);
    measure("8 MB", 8 << 20, row);
    if (is_full) measure("1 GB", int64_t{1} << 30, row);
  }
  return 0;
}
