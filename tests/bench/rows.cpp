// Rows of a table of float32 by int64 indices, through a plan, beside the loop over memcpy that a caller would write.
#include <benchmark/benchmark.h>

#include <cstring>
#include <gather/gather.hpp>
#include <random>

namespace {

constexpr int64_t small_table = 1 << 18;  // stays in the second-level cache
constexpr int64_t large_table = 1 << 28;  // stays in memory

// One piece of memory for all tables, so that it is touched once.
const float* memory() {
  static const std::vector<float> values(large_table / 4, 1.0f);
  return values.data();
}

struct Case {
  int64_t row;  // floats
  int64_t batch;
  int64_t rows;
  const float* table = memory();
  std::vector<int64_t> indices;
  std::vector<float> out;

  explicit Case(const benchmark::State& state)
      : row(state.range(0) / 4), batch(state.range(1)), rows(state.range(2) / state.range(0)) {
    out.resize(static_cast<size_t>(row * batch));
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int64_t> any(0, rows - 1);
    // Long enough that it is not the indices that are cached.
    indices.resize(static_cast<size_t>(std::max<int64_t>(batch, 1 << 16) / batch * batch));
    for (int64_t& index : indices) index = any(random);
  }

  template <class Gather>
  void measure(benchmark::State& state, Gather gather) {
    size_t first = 0;
    for (auto _ : state) {
      gather(indices.data() + first);
      benchmark::ClobberMemory();
      first += static_cast<size_t>(batch);
      if (first == indices.size()) first = 0;
    }
    state.SetItemsProcessed(state.iterations() * batch);
    state.SetBytesProcessed(state.iterations() * batch * row * 4);
  }
};

void plan(benchmark::State& state) {
  Case c(state);
  const auto threads = static_cast<int32_t>(state.range(3));
  const gather::Plan plan =
      gather::Plan::gather(gather::View::layout<float>({c.rows, c.row}), gather::View::layout<int64_t>({GTH_OPEN}),
                           gather::Options().threads(threads));
  c.measure(state, [&](const int64_t* indices) {
    if (gth_plan_run(nullptr, plan.get(), c.table, indices, c.out.data(), c.batch, nullptr) != GTH_OK) {
      state.SkipWithError("gth_plan_run failed");
    }
  });
}

void loop(benchmark::State& state) {
  Case c(state);
  c.measure(state, [&](const int64_t* indices) {
    for (int64_t i = 0; i < c.batch; ++i) {
      std::memcpy(c.out.data() + i * c.row, c.table + indices[i] * c.row, static_cast<size_t>(c.row) * 4);
    }
  });
}

const std::vector<int64_t> row_bytes = {4, 16, 64, 400, 4096};
const std::vector<int64_t> batches = {1, 64, 4096};
const std::vector<int64_t> tables = {small_table, large_table};

BENCHMARK(plan)->ArgNames({"row", "batch", "table", "threads"})->ArgsProduct({row_bytes, batches, tables, {1}});
BENCHMARK(plan)
    ->ArgNames({"row", "batch", "table", "threads"})
    ->ArgsProduct({{16, 400, 4096}, {1 << 16}, {large_table}, {1, 0}})
    ->UseRealTime();
BENCHMARK(loop)->ArgNames({"row", "batch", "table"})->ArgsProduct({row_bytes, batches, tables});

}  // namespace
