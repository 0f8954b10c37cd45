#include "absent.hpp"

namespace {

__global__ void kernel() {}

}  // namespace

cudaError_t ask_absent_ptx() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
}

cudaError_t launch_absent_ptx() {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, nullptr);
}
