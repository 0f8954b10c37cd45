#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

#include "../ptx/run.hpp"
#include "cuda/bag_job.hpp"
#include "cuda/bag_steps_job.hpp"
#include "cuda/kernel_job.hpp"
#include "cuda/line_job.hpp"
#include "cuda/partition_job.hpp"
#include "cuda/scatter_job.hpp"
#include "cuda/strided.hpp"
#include "state.hpp"

// Runs kernels in the form in which nvcc's objects pass them to the CUDA runtime. They are registered when the library
// is loaded, and launched by the address of their host functions. Their PTX is executed.
namespace emulation {
namespace {

std::string demangle(const char* name) {
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
  const std::string result = readable ? readable : name;
  std::free(readable);
  return result;
}

struct Parameter {
  size_t bytes, alignment;
};

template <class T>
std::pair<std::string, Parameter> parameter() {
  return {demangle(typeid(T).name()), {sizeof(T), alignof(T)}};
}

// Returns the form of a parameter type of the kernels.
Parameter find_parameter(const std::string& type) {
  using namespace gather::cuda;
  static const std::map<std::string, Parameter> types = {
      parameter<DirectJob>(),        parameter<SmallJob>(),          parameter<AnyJob>(),
      parameter<KeyJob>(),           parameter<ExactJob<2, 1>>(),    parameter<ExactJob<3, 1>>(),
      parameter<ExactJob<1, 2>>(),   parameter<ExactJob<1, 3>>(),    parameter<ExactJob<1, 0>>(),
      parameter<CombineJob>(),       parameter<StridedJob>(),        parameter<LineJob>(),
      parameter<PositionJob>(),      parameter<AtomicJob>(),         parameter<Keys>(),
      parameter<uint32_t>(),         parameter<const WideUpdate*>(), parameter<BagsJob>(),
      parameter<PoolJob>(),          parameter<BagStepsJob>(),       parameter<WonJob>(),
      parameter<RankJob>(),          parameter<BorderJob>(),         parameter<PartitionJob>(),
      parameter<gth_error_record*>()};
  const auto found = types.find(type);
  if (found != types.end()) return found->second;
  std::fprintf(stderr, "a kernel takes a type of unknown size: %s\n", type.c_str());
  std::abort();
}

// Returns h<1, 2> and k for "void f<g>(h<1, 2>, k)".
std::vector<std::string> parameters_of(const std::string& function) {
  std::vector<std::string> result(1);
  const size_t end = function.rfind(')');
  int depth = 0;
  for (size_t at = function.rfind('(') + 1; at < end; ++at) {
    const char c = function[at];
    depth += (c == '<') - (c == '>');
    if (c == ',' && depth == 0) {
      result.emplace_back();
      ++at;  // skips the following space
    } else {
      result.back() += c;
    }
  }
  return result;
}

struct Kernel {
  ptx::Run run = nullptr;
  std::vector<Parameter> parameters;
};

std::map<const void*, Kernel>& kernels() {
  static auto& all = *new std::map<const void*, Kernel>;
  return all;
}

// Packs the arguments as for the device.
std::vector<char> pack(const Kernel& kernel, void** given) {
  std::vector<char> result;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const char* begin = static_cast<const char*>(given[i]);
    const auto [bytes, alignment] = kernel.parameters[i];
    result.resize((result.size() + alignment - 1) / alignment * alignment);
    result.insert(result.end(), begin, begin + bytes);
  }
  return result;
}

}  // namespace
}  // namespace emulation

using namespace emulation;

namespace {

int launch(const void* function, dim3 blocks, dim3 threads, void** arguments, size_t shared_bytes, cudaStream_t stream,
           bool overlaps) {
  const auto found = kernels().find(function);
  if (found == kernels().end()) return cudaErrorInvalidDeviceFunction;
  const bool is_line = blocks.y * blocks.z * threads.y * threads.z == 1 && shared_bytes == 0;
  if (!is_line || blocks.x == 0 || threads.x == 0 || threads.x > 1024) return cudaErrorInvalidConfiguration;
  return enqueue(
      stream,
      [run = found->second.run, packed = pack(found->second, arguments), blocks, threads] {
        count_launch();
        ptx::run_grid(run, blocks.x, threads.x, packed);
      },
      overlaps);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return call(Safety::of_stream,
              [&] { return launch(function, blocks, threads, arguments, shared_bytes, stream, false); });
}

// Supports one attribute: the grid may start before the previous one has ended.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return call(Safety::of_stream, [&]() -> int {
    const bool is_known =
        config->numAttrs == 1 && config->attrs[0].id == cudaLaunchAttributeProgrammaticStreamSerialization;
    if (!is_known) return cudaErrorInvalidValue;
    if (!lets_overlap()) count_violation("a grid overlaps with the one in front, and has no code to wait for it");
    return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                  true);
  });
}

// Loads the kernel, and does not enqueue work.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call(Safety::unsafe, [&]() -> int {
    *attributes = {};
    attributes->binaryVersion = attributes->ptxVersion = machine().compiled_for;
    return kernels().count(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

// Returns the number of blocks in a multiprocessor of 2,048 threads, without regard to registers.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, size_t) {
  return call(Safety::unsafe, [&]() -> int {
    if (!kernels().count(function)) return cudaErrorInvalidDeviceFunction;
    *blocks = 2048 / threads;
    return 0;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const int before = this_thread().mode;
  this_thread().mode = *mode;
  *mode = static_cast<cudaStreamCaptureMode>(before);
  return cudaSuccess;
}

// The functions that nvcc's host code calls. No kernel is launched with <<<..>>>.
extern "C" {
void** __cudaRegisterFatBinary(void*) {
  static void* binary = nullptr;
  return &binary;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const std::string readable = demangle(name);
  const ptx::Run run = ptx::find_kernel(readable);
  if (!run) {
    std::fprintf(stderr, "a kernel that is not in the PTX: %s\n", readable.c_str());
    std::abort();
  }
  Kernel& kernel = kernels()[host];
  kernel.run = run;
  for (const std::string& type : parameters_of(readable)) kernel.parameters.push_back(find_parameter(type));
}
char __cudaInitModule(void**) { std::abort(); }  // referenced by code that is not optimised
unsigned __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { std::abort(); }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { std::abort(); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t) { std::abort(); }
}
