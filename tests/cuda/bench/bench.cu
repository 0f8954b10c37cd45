// Measures gathers on the first CUDA device, beside what the device can do at best: its own copy, a plain copy by
// 16 bytes a thread, and random 32-byte reads. Prints a report in Markdown.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gather/gather.h"

namespace {

void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

void must(int32_t status, const gth_error& error) {
  if (status == GTH_OK) return;
  std::fprintf(stderr, "%s: %s\n", gth_status_name(status), error.message);
  std::exit(1);
}

// ---- what the device does at best

__global__ void copy_by_16(const uint4* from, uint4* to, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    to[i] = from[i];
  }
}

// One 32-byte sector for each index.
__global__ void read_sectors(const uint4* from, const int32_t* at, size_t count, uint32_t* sum) {
  uint32_t mine = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    mine += from[2 * size_t(at[i])].x;
  }
  if (mine == 0x12345678) *sum = mine;
}

// ---- timing

// Seconds of one run: the median of rounds, each of as many runs as take a few milliseconds.
double measure(cudaStream_t stream, const std::function<void()>& run) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  const auto time = [&](int runs) {
    must(cudaEventRecord(begin, stream));
    for (int i = 0; i < runs; ++i) run();
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds / 1e3;
  };
  time(3);
  int runs = 1;
  while (time(runs) < 5e-3 && runs < 10000) runs *= 2;
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) rounds.push_back(time(runs) / runs);
  std::nth_element(rounds.begin(), rounds.begin() + 10, rounds.end());
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  return rounds[10];
}

template <class T>
struct Buffer {
  explicit Buffer(size_t count) { must(cudaMalloc(&data, std::max<size_t>(count * sizeof(T), 16))); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    must(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(data); }
  T* data = nullptr;
};

std::vector<int32_t> random_rows(int64_t count, int64_t rows) {
  std::mt19937_64 random(1);
  std::vector<int32_t> result(static_cast<size_t>(count));
  for (int32_t& each : result) each = static_cast<int32_t>(random() % static_cast<uint64_t>(rows));
  return result;
}

// ---- the cases

struct Case {
  int64_t rows, row_bytes, picks;
};

double gather_seconds(gth_context* context, cudaStream_t stream, const Case& test, int32_t bounds) {
  const Buffer<char> params(static_cast<size_t>(test.rows * test.row_bytes));
  must(cudaMemset(params.data, 1, static_cast<size_t>(test.rows * test.row_bytes)));
  const Buffer<int32_t> indices(random_rows(test.picks, test.rows));
  const Buffer<char> out(static_cast<size_t>(test.picks * test.row_bytes));
  const int64_t params_shape[] = {test.rows, test.row_bytes};
  gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 2, params_shape, params.data);
  gth_tensor_desc i = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 1, &test.picks, indices.data);
  p.device = i.device = GTH_DEVICE_CUDA;
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = bounds;
  gth_error error = GTH_ERROR_INIT;
  gth_plan* plan = nullptr;
  must(gth_gather_plan(&p, &i, &options, nullptr, &plan, &error), error);
  const double seconds = measure(stream, [&] {
    must(gth_plan_run(context, plan, params.data, indices.data, out.data, GTH_OPEN, &error), error);
  });
  must(gth_context_take_error(context, &error), error);
  gth_plan_release(plan);
  return seconds;
}

double gigabytes(double bytes, double seconds) { return bytes / seconds / 1e9; }

}  // namespace

int main() {
  cudaDeviceProp device;
  must(cudaGetDeviceProperties(&device, 0));
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.stream = stream;
  gth_error error = GTH_ERROR_INIT;
  gth_context* context = nullptr;
  must(gth_context_create(&options, &context, &error), error);

  constexpr size_t large = size_t{2} << 30;
  double limit;
  std::printf("Device: %s, compute capability %d.%d, %d multiprocessors, %.0f GB.\n\n", device.name, device.major,
              device.minor, device.multiProcessorCount, static_cast<double>(device.totalGlobalMem) / 1e9);
  {
    const Buffer<char> from(large), to(large);
    const Buffer<int32_t> at(random_rows(1 << 26, static_cast<int64_t>(large / 32)));
    const Buffer<uint32_t> sum(1);
    const int blocks = device.multiProcessorCount * 8;
    const double own = measure(stream, [&] {
      must(cudaMemcpyAsync(to.data, from.data, large, cudaMemcpyDeviceToDevice, stream));
    });
    const double plain = measure(stream, [&] {
      copy_by_16<<<blocks, 256, 0, stream>>>(reinterpret_cast<const uint4*>(from.data),
                                             reinterpret_cast<uint4*>(to.data), large / 16);
    });
    const double sectors = measure(stream, [&] {
      read_sectors<<<blocks, 256, 0, stream>>>(reinterpret_cast<const uint4*>(from.data), at.data, 1 << 26, sum.data);
    });
    limit = gigabytes(2.0 * large, std::min(own, plain));
    std::printf("| What the device does | GB/s, read and written |\n|---|---|\n");
    std::printf("| its own copy, 2 GiB | %.0f |\n", gigabytes(2.0 * large, own));
    std::printf("| a copy by 16 bytes a thread | %.0f |\n", gigabytes(2.0 * large, plain));
    std::printf("| random reads of 32 bytes | %.0f |\n\n", gigabytes(32.0 * (1 << 26), sectors));
  }

  std::printf("Rows from random places of a table, int32 indices. GB/s count indices, rows read and rows written once;\n"
              "the share is that of the quicker copy above.\n\n");
  std::printf("| row, bytes | table, rows | picked | error: us | GB/s | share | clamp: us | GB/s | share |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  for (const int64_t row : {1, 2, 4, 8, 12, 16, 30, 32, 64, 100, 128, 256, 512, 1000, 1024, 4096, 16384}) {
    for (const int64_t output : {int64_t{64} << 10, int64_t{1} << 20, int64_t{1} << 30}) {
      const int64_t picks = std::max<int64_t>(output / std::max<int64_t>(row, 4), 1);
      const Case test{std::max<int64_t>((int64_t{1} << 31) / row / 2, 1), row, picks};
      const double bytes = static_cast<double>(picks) * (4.0 + 2.0 * static_cast<double>(row));
      const double checked = gather_seconds(context, stream, test, GTH_BOUNDS_ERROR);
      const double clamped = gather_seconds(context, stream, test, GTH_BOUNDS_CLAMP);
      std::printf("| %lld | %lld | %lld | %.1f | %.0f | %.2f | %.1f | %.0f | %.2f |\n", static_cast<long long>(row),
                  static_cast<long long>(test.rows), static_cast<long long>(picks), checked * 1e6,
                  gigabytes(bytes, checked), gigabytes(bytes, checked) / limit, clamped * 1e6,
                  gigabytes(bytes, clamped), gigabytes(bytes, clamped) / limit);
    }
  }
  gth_context_release(context);
  must(cudaStreamDestroy(stream));
  return 0;
}
