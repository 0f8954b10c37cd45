#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gather/gather.h"
#include "rounds.hpp"

// What a call costs before the first byte is copied: one row of 4 bytes, everything in L1.
namespace {

using bench::keep;

constexpr int64_t table_rows = 64;

struct Fixture {
  float table[table_rows] = {};
  int64_t index[1] = {7};
  float out[1] = {};
  int64_t table_shape[1] = {table_rows}, one[1] = {1}, open[1] = {GTH_OPEN};
  gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, table_shape, table);
  gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, one, index);
  gth_tensor_desc output = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, one, out);
  gth_tensor *params_handle = nullptr, *indices_handle = nullptr, *output_handle = nullptr;
  gth_plan *plan = nullptr, *open_plan = nullptr;

  Fixture() {
    gth_tensor_desc any_indices = indices;
    any_indices.shape = open;
    const bool made = !gth_tensor_borrow(&params, &params_handle, nullptr) &&
                      !gth_tensor_borrow(&indices, &indices_handle, nullptr) &&
                      !gth_tensor_borrow(&output, &output_handle, nullptr) &&
                      !gth_gather_plan(&params, &indices, nullptr, nullptr, &plan, nullptr) &&
                      !gth_gather_plan(&params, &any_indices, nullptr, nullptr, &open_plan, nullptr);
    if (!made) std::abort();
  }
};

void print(const char* what, bench::Time time, double target) {
  std::printf("  %-52s %8.1f %8.1f", what, time.quickest, time.median);
  if (target > 0) std::printf("   %6.0f  %s", target, time.quickest <= target ? "met" : "MISSED");
  std::printf("\n");
}

}  // namespace

int main() {
  static Fixture f;
  const auto times = bench::side_by_side({
      [](int64_t n) {
        while (n--) keep(gth_dtype_size(GTH_DTYPE_FLOAT32));
      },
      [](int64_t n) {
        while (n--) {
          gth_tensor* handle;
          gth_tensor_borrow(&f.params, &handle, nullptr);
          gth_tensor_release(handle);
        }
      },
      [](int64_t n) {
        while (n--) keep(gth_context_sync(nullptr, nullptr));
      },
      [](int64_t n) {
        gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
        while (n--) keep(gth_tensor_describe(f.params_handle, &desc, nullptr));
      },
      [](int64_t n) {
        while (n--) keep(gth_plan_run(nullptr, f.plan, f.table, f.index, f.out, GTH_OPEN, nullptr));
      },
      [](int64_t n) {
        while (n--) keep(gth_plan_run(nullptr, f.open_plan, f.table, f.index, f.out, 1, nullptr));
      },
      [](int64_t n) {
        while (n--) keep(gth_gather_desc(nullptr, &f.params, &f.indices, nullptr, &f.output, nullptr));
      },
      [](int64_t n) {
        while (n--) {
          keep(gth_gather_into(nullptr, f.params_handle, f.indices_handle, nullptr, f.output_handle, nullptr));
        }
      },
      [](int64_t n) {
        while (n--) {
          gth_tensor* out;
          gth_gather(nullptr, f.params_handle, f.indices_handle, nullptr, &out, nullptr);
          gth_tensor_release(out);
        }
      },
  });
  std::printf("call overhead, one row of 4 bytes: ns of the quickest and of the median of interleaved rounds\n");
  std::printf("  %-52s %8s %8s   %6s\n", "", "quickest", "median", "target");
  print("smallest call into the library", times[0], 0);
  print("tensor handle: borrow and release", times[1], 50);
  print("call with a NULL context that does nothing", times[2], 0);
  print("describe: handle check and a copy of 96 bytes", times[3], 0);
  print("plan run", times[4], 20);
  print("plan run, open extent", times[5], 20);
  print("gather_desc", times[6], 60);
  print("gather_into, three handles", times[7], 0);
  print("gather and release of the new tensor", times[8], 0);
  return 0;
}
