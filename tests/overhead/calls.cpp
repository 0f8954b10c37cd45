// Measures the time of a call in C, and the time that C++ adds. The call gathers one row of 4 bytes, with all data in
// the first cache. A line for each, with the nanoseconds in C and in C++ and the difference within the rounds.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gather/gather.hpp"
#include "rounds.hpp"

namespace {

using rounds::keep;

constexpr int64_t rows = 64;

struct InC {
  float table[rows] = {};
  int64_t index[1] = {7};
  float out[1] = {};
  int64_t table_shape[1] = {rows}, one[1] = {1}, open[1] = {GTH_OPEN};
  gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, table_shape, table);
  gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, one, index);
  gth_tensor_desc output = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, one, out);
  gth_tensor *params_handle = nullptr, *indices_handle = nullptr;
  gth_plan *plan = nullptr, *open_plan = nullptr;
  gth_error err = GTH_ERROR_INIT;

  InC() {
    gth_tensor_desc any = indices;
    any.shape = open;
    const gth_request closed = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, nullptr, nullptr);
    const gth_request open_request = GTH_REQUEST(GTH_OP_GATHER, &params, &any, nullptr, nullptr);
    const bool made = !gth_tensor_borrow(&params, &params_handle, &err) &&
                      !gth_tensor_borrow(&indices, &indices_handle, &err) && !gth_plan_create(&closed, &plan, &err) &&
                      !gth_plan_create(&open_request, &open_plan, &err);
    if (!made) std::abort();
  }
};

struct InCpp {
  std::vector<float> table = std::vector<float>(rows);
  std::vector<int64_t> index = {7};
  std::vector<float> out = std::vector<float>(1);
  gather::View params = table, indices = index, output = out;
  gather::Tensor params_handle = gather::Tensor::borrow(params), indices_handle = gather::Tensor::borrow(indices);
  gather::Plan plan = gather::Plan::gather(params, indices);
  gather::Plan open_plan = gather::Plan::gather(params, gather::View::layout<int64_t>({GTH_OPEN}));
};

struct Row {
  const char* name;
  rounds::Body c, cpp;
};

#define REPEAT(...)          \
  [](int64_t n) {            \
    while (n--) __VA_ARGS__; \
  }

InC c;
InCpp cpp;

const Row shared[] = {
    {"plan run", REPEAT(keep(gth_plan_run(nullptr, c.plan, GTH_OPEN, c.table, c.index, c.out, &c.err))),
     REPEAT(cpp.plan.run(cpp.table.data(), cpp.index.data(), cpp.out.data()))},
    {"plan run, open extent", REPEAT(keep(gth_plan_run(nullptr, c.open_plan, 1, c.table, c.index, c.out, &c.err))),
     REPEAT(cpp.open_plan.run(cpp.table.data(), cpp.index.data(), cpp.out.data(), 1))},
    {"plan run, memory checked", REPEAT({
       const gth_plan_args args = {sizeof(args), GTH_ARGS_EXTENTS, GTH_OPEN,        c.table,      c.index,
                                   c.out,        sizeof(c.table),  sizeof(c.index), sizeof(c.out)};
       keep(gth_plan_run_args(nullptr, c.plan, &args, &c.err));
     }),
     REPEAT(cpp.plan.run(cpp.table, cpp.index, cpp.out))},
    {"gather into an output, operands described once",
     REPEAT(keep(gth_gather(nullptr, &c.params, &c.indices, &c.output, nullptr, &c.err))),
     REPEAT(gather::gather_into(cpp.params, cpp.indices, cpp.output))},
    {"gather into an output, operands described in each call", REPEAT({
       const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, c.table_shape, c.table);
       const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, c.one, c.index);
       const gth_tensor_desc output = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, c.one, c.out);
       keep(gth_gather(nullptr, &params, &indices, &output, nullptr, &c.err));
     }),
     REPEAT(gather::gather_into(cpp.table, cpp.index, cpp.out))},
    {"gather with a new output", REPEAT({
       const gth_tensor_desc params = GTH_TENSOR_DESC_HANDLE(c.params_handle);
       const gth_tensor_desc indices = GTH_TENSOR_DESC_HANDLE(c.indices_handle);
       const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, nullptr, nullptr);
       gth_tensor* made = nullptr;
       keep(gth_make(nullptr, &request, &made, &c.err));
       gth_tensor_release(made);
     }),
     REPEAT(gather::gather(cpp.params_handle, cpp.indices_handle))},
};

const Row alone[] = {
    {"an empty call (gth_dtype_size)", REPEAT(keep(gth_dtype_size(GTH_DTYPE_FLOAT32))), nullptr},
    {"a tensor handle: create and release", REPEAT({
       gth_tensor* handle = nullptr;
       static_cast<void>(gth_tensor_borrow(&c.params, &handle, &c.err));
       gth_tensor_release(handle);
     }),
     nullptr},
};

}  // namespace

int main() {
  std::vector<rounds::Body> bodies;
  for (const Row& row : shared) bodies.insert(bodies.end(), {row.c, row.cpp});
  for (const Row& row : alone) bodies.push_back(row.c);
  const std::vector<rounds::Times> times = rounds::side_by_side(bodies);
  size_t i = 0;
  for (const Row& row : shared) {
    std::printf("%s\t%.1f\t%.1f\t%.1f\n", row.name, rounds::median(times[i]), rounds::median(times[i + 1]),
                rounds::difference(times[i], times[i + 1]));
    i += 2;
  }
  for (const Row& row : alone) std::printf("%s\t%.1f\n", row.name, rounds::median(times[i++]));
}
