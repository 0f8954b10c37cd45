#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "state.hpp"

// Threads, calls and devices.
namespace emulation {

Machine& machine() {
  static Machine& one = *[] {
    auto* made = new Machine;
    made->process = getpid();
    for (int32_t id = 0; id < devices; ++id) {
      made->contexts[id].device = made->default_stream[id].device = id;
      made->default_stream[id].id = ++made->streams_made;
    }
    return made;
  }();
  return one;
}

Thread::Thread() { ++machine().threads; }
Thread::~Thread() { --machine().threads; }

Thread& this_thread() {
  thread_local Thread thread;
  return thread;
}

CUctx_st* current() { return this_thread().contexts.empty() ? nullptr : this_thread().contexts.back(); }

void set_current(CUctx_st* context) {
  std::vector<CUctx_st*>& contexts = this_thread().contexts;
  if (!contexts.empty()) contexts.pop_back();
  if (context) contexts.push_back(context);
}

CUctx_st* need_current() {
  if (!current()) set_current(&machine().contexts[0]);
  return current();
}

int enter_call() {
  const Guard guard(machine().lock);
  if (machine().process != getpid()) return cudaErrorInitializationError;
  if (this_thread().is_in_callback) std::abort();
  ++machine().calls;
  if (machine().refusal) return machine().refusal;
  return machine().failing > 0 && --machine().failing == 0 ? machine().failure : 0;
}

void come_between() {
  if (machine().before_in.load() > 0 && machine().before_in.fetch_sub(1) == 1) machine().before(machine().before_user);
}

void count_violation(const char* what) {
  const Guard guard(machine().lock);
  if (machine().violations++ < 10) std::fprintf(stderr, "violation: %s\n", what);
}

void before_copying(uint32_t block) {
  if (machine().between) machine().between(machine().between_user, block);
}

uint32_t seed() { return machine().seed; }
int64_t least_lines() { return machine().least_lines; }
int64_t counted() { return machine().counted; }
void count_launch() { ++machine().launches; }

// Beside processes with a load, each yield waits for some milliseconds. So a thread alone does not yield.
void let_others_run() {
  if (machine().threads.load() > 1) std::this_thread::yield();
}

}  // namespace emulation

using namespace emulation;

cudaError_t cudaGetLastError() {
  const int code = this_thread().last_error;
  this_thread().last_error = 0;
  return static_cast<cudaError_t>(code);
}

const char* cudaGetErrorName(cudaError_t) { return "an emulated error"; }

// These functions use no device.

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  const int code = enter_call();
  if (!code) *count = devices;
  return keep(code);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  int code = enter_call();
  if (!code && (device < 0 || device >= devices)) code = cudaErrorInvalidDevice;
  if (code) return keep(code);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMultiProcessorCount: *value = 3; break;
    case cudaDevAttrPageableMemoryAccess: *value = machine().reads_pageable; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    default: return keep(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  if (const int code = enter_call()) return keep(code);
  *function = find_driver_function(symbol);
  *status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// Makes no device current, but counts as a call that does not enqueue work.
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  const Guard guard(machine().lock);
  int code = enter_call();
  if (!code) code = forbid_beside_captures();
  return keep(!code && (device < 0 || device >= devices) ? cudaErrorInvalidDevice : code);
}

cudaError_t cudaGetDevice(int* device) {
  return call(Safety::of_stream, [&] {
    *device = current()->device;
    return 0;
  });
}

cudaError_t cudaSetDevice(int device) {
  if (const int code = enter_call()) return keep(code);
  if (device < 0 || device >= devices) return keep(cudaErrorInvalidDevice);
  set_current(&machine().contexts[device]);
  return cudaSuccess;
}
