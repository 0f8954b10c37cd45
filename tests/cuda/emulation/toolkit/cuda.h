#pragma once

#include <cstddef>

// The CUDA driver declarations that the library uses, for builds without the toolkit. With the toolkit, its own headers
// are used, and the emulated device is compiled against them.

typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef int CUdevice;

typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_HANDLE = 400,
} CUresult;

typedef enum CUstreamCaptureMode_enum {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
} CUstreamCaptureMode;
