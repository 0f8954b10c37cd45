#include <map>
#include <string>

#include "state.hpp"

// The functions of the driver. They do not make a device current.
namespace emulation {
namespace {

CUresult get_current(CUcontext* context) {
  *context = current();
  return CUDA_SUCCESS;
}

CUresult set_current_context(CUcontext context) {
  set_current(context);
  return CUDA_SUCCESS;
}

CUresult push_current(CUcontext context) {
  if (const int code = enter_call()) return static_cast<CUresult>(code);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  this_thread().contexts.push_back(context);
  return CUDA_SUCCESS;
}

CUresult pop_current(CUcontext* context) {
  *context = current();
  if (!*context) return CUDA_ERROR_INVALID_CONTEXT;
  this_thread().contexts.pop_back();
  return CUDA_SUCCESS;
}

CUresult get_stream_context(CUstream stream, CUcontext* context) {
  const Guard guard(machine().lock);
  if (reinterpret_cast<uintptr_t>(stream) <= 2 && !current()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = &machine().contexts[find_stream(stream)->device];
  return CUDA_SUCCESS;
}

CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  const int before = this_thread().mode;
  this_thread().mode = *mode;
  *mode = static_cast<CUstreamCaptureMode>(before);
  return CUDA_SUCCESS;
}

CUresult get_device(CUdevice* device, int id) {
  *device = id;
  return id < devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult get_total_memory(size_t* bytes, CUdevice) {
  *bytes = size_t{1} << 40;
  return CUDA_SUCCESS;
}

}  // namespace

void* find_driver_function(const char* name) {
  static const std::map<std::string, void*> functions = {
      {"cuCtxGetCurrent", reinterpret_cast<void*>(get_current)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(set_current_context)},
      {"cuCtxPushCurrent", reinterpret_cast<void*>(push_current)},
      {"cuCtxPopCurrent", reinterpret_cast<void*>(pop_current)},
      {"cuStreamGetCtx", reinterpret_cast<void*>(get_stream_context)},
      {"cuThreadExchangeStreamCaptureMode", reinterpret_cast<void*>(exchange_capture_mode)},
      {"cuDeviceGet", reinterpret_cast<void*>(get_device)},
      {"cuDeviceTotalMem", reinterpret_cast<void*>(get_total_memory)},
  };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace emulation
