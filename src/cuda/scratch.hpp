#pragma once

#include "core/base/checked.hpp"
#include "cuda/device_context.hpp"
#include "cuda/failure.hpp"

// Device memory that the kernels of one call share.
namespace gather::cuda {

// The parts of an allocation.
class ScratchParts {
 public:
  int64_t add(int64_t bytes) {
    const int64_t at = size_;
    size_ += (bytes + 255) / 256 * 256;
    return at;
  }
  int64_t size() const { return size_; }

 private:
  int64_t size_ = 0;
};

// Distributes memory. The first pass, without memory, computes its size.
class Distribution {
 public:
  explicit Distribution(char* memory) : memory_(memory) {}

  template <class T>
  void take(bool is_needed, int64_t count, T** out) {
    if (!is_needed) return;
    int64_t bytes;
    if (!core::multiply(count, int64_t{sizeof(T)}, &bytes)) bytes = INT64_MAX / 64;  // which no device has
    const int64_t at = parts_.add(bytes);
    if (memory_) *out = reinterpret_cast<T*>(memory_ + at);
  }
  int64_t size() const { return parts_.size(); }

 private:
  char* memory_;
  ScratchParts parts_;
};

// The memory of a call: of the caller's hooks, or of the library. That of a captured call is of the library, and is kept
// until its graph is destroyed.
struct Scratch : Retired, core::Allocated {
  Room* owner = nullptr;
  void* hooked = nullptr;  // memory of the hooks
  int64_t bytes = 0;

  char* data() const { return static_cast<char*>(hooked ? hooked : device_memory); }
};

// Allocates the memory. After a failure, nothing remains. Returns CUDA's error number.
int allocate_scratch(Context& context, runtime::Stream stream, int64_t bytes, bool is_captured, Scratch** out);

// Frees the memory of a call that is not captured behind the work of the call. If that fails now, it is freed later.
// Returns CUDA's error number.
int free_behind(Context& context, runtime::Stream stream, Scratch* scratch);

// Allocates the memory of a call, launches its kernels by launch(memory), and frees the memory behind them. launch
// returns CUDA's error number. `what` is the name of the call in errors.
template <class Launch>
int32_t run_in_scratch(Context& context, runtime::Stream stream, int64_t bytes, bool is_captured, const char* what,
                       const Error& error, Launch&& launch) {
  Scratch* scratch = nullptr;
  int code = allocate_scratch(context, stream, bytes, is_captured, &scratch);
  if (code) return fail_cuda(code, what, bytes, error);
  code = launch(scratch->data());
  const int freed = is_captured ? 0 : free_behind(context, stream, scratch);
  if (!code) code = freed;
  return code ? fail_cuda(code, what, 0, error) : GTH_OK;
}

}  // namespace gather::cuda
