#pragma once

#include <cuda_runtime_api.h>

// Kernels that are compiled for few devices. They show the errors of CUDA on other devices.
cudaError_t ask_present();
cudaError_t ask_absent_code();
cudaError_t launch_absent_code();
cudaError_t ask_absent_ptx();
cudaError_t launch_absent_ptx();
