#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "failure.hpp"
#include "gather/gather.h"

// Gathers of the library, through its C ABI.
struct bench_gather {
  std::vector<int64_t> params_shape, indices_shape, out_shape;
  gth_tensor_desc params = GTH_TENSOR_DESC_INIT, indices = GTH_TENSOR_DESC_INIT, out = GTH_TENSOR_DESC_INIT;
  gth_options options = GTH_OPTIONS_INIT;
  int32_t op = GTH_OP_GATHER;
  gth_plan* plan = nullptr;

  ~bench_gather() { gth_plan_release(plan); }
};

namespace bench {
namespace {

gth_context* context = nullptr;

void must(int32_t status, const gth_error& error) {
  if (status != GTH_OK) throw Failure(std::string(gth_status_name(status)) + ": " + error.message);
}

gth_tensor_desc describe(int32_t dtype, const std::vector<int64_t>& shape, const void* data) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(dtype, static_cast<int32_t>(shape.size()), shape.data(), data);
  desc.device = GTH_DEVICE_CUDA;
  return desc;
}

gth_request request_of(const bench_gather& gather) {
  return GTH_REQUEST(gather.op, &gather.params, &gather.indices, nullptr, &gather.options);
}

void describe_output(bench_gather* gather, void* data) {
  gth_error error = GTH_ERROR_INIT;
  int64_t shape[GTH_MAX_NDIM];
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  const gth_request request = request_of(*gather);
  must(gth_infer(&request, &rows, GTH_MAX_NDIM, shape, &error), error);
  gather->out_shape.assign(shape, shape + rows.ndim);
  gather->out = describe(GTH_DTYPE_UINT8, gather->out_shape, data);
}

void make_plan(bench_gather* gather) {
  gth_error error = GTH_ERROR_INIT;
  const gth_request request = request_of(*gather);
  must(gth_plan_create(&request, &gather->plan, &error), error);
}

void run_plan(bench_gather* gather) {
  gth_error error = GTH_ERROR_INIT;
  must(gth_plan_run(context, gather->plan, GTH_OPEN, gather->params.data, gather->indices.data,
                    const_cast<void*>(gather->out.data), &error),
       error);
}

void call(bench_gather* gather) {
  gth_error error = GTH_ERROR_INIT;
  must(gth_run(context, gather->op, &gather->params, &gather->indices, &gather->out, &gather->options, &error), error);
}

void synchronize() {
  gth_error error = GTH_ERROR_INIT;
  must(gth_context_sync(context, &error), error);
}

template <class Call>
double time_on_host(int64_t times, Call&& once) {
  using Clock = std::chrono::steady_clock;
  synchronize();
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < times; ++i) once();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  synchronize();
  return seconds / static_cast<double>(times);
}

}  // namespace
}  // namespace bench

using namespace bench;

int32_t bench_open_gathers() {
  return guarded([] {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    options.stream = static_cast<CUstream_st*>(bench_stream());
    gth_error error = GTH_ERROR_INIT;
    must(gth_context_create(&options, &context, &error), error);
  });
}

int32_t bench_make_gather(const void* params, int32_t params_ndim, const int64_t* params_shape, const void* indices,
                          int32_t index_bytes, int32_t indices_ndim, const int64_t* indices_shape, void* out,
                          int32_t is_nd, int32_t axis, int32_t batch_dims, int32_t bounds, bench_gather** gather) {
  return guarded([&] {
    auto made = std::make_unique<bench_gather>();
    made->params_shape.assign(params_shape, params_shape + params_ndim);
    made->indices_shape.assign(indices_shape, indices_shape + indices_ndim);
    made->params = describe(GTH_DTYPE_UINT8, made->params_shape, params);
    made->indices = describe(index_bytes == 4 ? GTH_DTYPE_INT32 : GTH_DTYPE_INT64, made->indices_shape, indices);
    made->op = is_nd ? GTH_OP_GATHER_ND : GTH_OP_GATHER;
    made->options.has_axis = !is_nd;
    made->options.axis = is_nd ? 0 : axis;
    made->options.batch_dims = batch_dims;
    made->options.bounds = bounds;
    describe_output(made.get(), out);
    make_plan(made.get());
    *gather = made.release();
  });
}

int32_t bench_release_gather(bench_gather* gather) {
  delete gather;
  return 0;
}

int32_t bench_run_gather(bench_gather* gather, int64_t times) {
  return guarded([&] {
    for (int64_t i = 0; i < times; ++i) run_plan(gather);
  });
}

int32_t bench_time_plan(bench_gather* gather, int64_t times, double* seconds) {
  return guarded([&] { *seconds = time_on_host(times, [&] { run_plan(gather); }); });
}

int32_t bench_time_call(bench_gather* gather, int64_t times, double* seconds) {
  return guarded([&] { *seconds = time_on_host(times, [&] { call(gather); }); });
}

int32_t bench_take_error() {
  return guarded([] {
    gth_error error = GTH_ERROR_INIT;
    must(gth_context_take_error(context, &error), error);
  });
}
