#pragma once

#include <cuda_runtime_api.h>

// Kernels that are compiled for few devices. They show the errors of CUDA on other devices.

// There are several present kernels, because a kernel is loaded only once.
constexpr int present_kernels = 12;
cudaError_t ask_present(int number);  // below present_kernels
cudaError_t ask_absent_code();
cudaError_t launch_absent_code();
cudaError_t ask_absent_ptx();
cudaError_t launch_absent_ptx();
